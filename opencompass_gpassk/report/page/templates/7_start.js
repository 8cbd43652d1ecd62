// The choices at the top, and their effects.
function draw() {
  drawLeaderboard();
  drawMap();
  drawPair();
  if (document.readyState === 'complete') drawCurves(); // else the page is shown first
}

function chooseBenchmark(index) {
  chosen.benchmark = index;
  const here = benchmark();
  const ks = here.ks.map(String);
  if (!ks.includes(chosen.k)) chosen.k = ks.at(-1) || '';
  if (!here.taus.includes(chosen.tau)) chosen.tau = here.taus.at(-1) || '';
  if (!here.groups.some((group) => group.label === chosen.group)) chosen.group = '';
  chosen.off = new Set();
  chosen.problem = null;
  options('k', ks.map((k) => [k, k]), chosen.k);
  options('tau', here.taus.map((tau) => [tau, tau]), chosen.tau);
  options('group', [['', 'all'], ...here.groups.map((group) => [group.label, `${group.name} (${group.problems})`])], chosen.group);
  byId('k').parentElement.hidden = byId('tau').parentElement.hidden = !ks.length;
  const names = here.entries.map((entry, i) => [String(i), entry.label]);
  options('first', names, '0');
  options('second', names, String(Math.min(1, names.length - 1)));
  show('models', here.entries.map((entry, i) => {
    return el('label', null, el('input', { type: 'checkbox', value: i, checked: true }), swatch(i), entry.label);
  }));
  byId('problem-title').textContent = 'Problem';
  show('problem-body', el('p', { class: 'hint' }, 'Choose a problem in the map.'));
  draw();
  if (here.problems.length && mapRows.length) openProblem(mapRows[0].index, null, false);
}

// On paper nothing can be opened, so print the whole map and the contents of closed boxes.
function openForPaper() {
  for (const box of document.querySelectorAll('details:not([open])')) {
    box.open = true;
    box.classList.add('for-paper');
    box.dispatchEvent(new Event('toggle'));
  }
  const before = wholeMap;
  wholeMap = true;
  drawMap();
  addEventListener('afterprint', () => {
    document.querySelectorAll('.for-paper').forEach((box) => { box.open = false; box.classList.remove('for-paper'); });
    wholeMap = before;
    drawMap();
  }, { once: true });
}

function start() {
  if (all.benchmarks.some((one) => one.taus.length)) source = unpack(byId('plotting').textContent.trim());
  options('benchmark', all.benchmarks.map((one, i) => [String(i), one.name]), '0');
  const redraw = { k: draw, tau: draw, group: draw, filter: drawMap, order: drawMap, sometimes: drawMap, first: drawPair, second: drawPair };
  for (const id of ['k', 'tau', 'group']) byId(id).addEventListener('change', () => { chosen[id] = byId(id).value; redraw[id](); });
  for (const id of ['filter', 'order', 'sometimes', 'first', 'second']) byId(id).addEventListener('input', redraw[id]);
  byId('benchmark').addEventListener('change', () => chooseBenchmark(Number(byId('benchmark').value)));
  byId('choices').addEventListener('submit', (event) => event.preventDefault());
  byId('models').addEventListener('change', (event) => {
    const index = Number(event.target.value);
    if (event.target.checked) chosen.off.delete(index); else chosen.off.add(index);
    drawMap();
    drawCurves();
  });
  byId('cells').addEventListener('click', openFromMap);
  addEventListener('beforeprint', openForPaper);
  addEventListener('load', () => requestAnimationFrame(() => setTimeout(drawCurves)));
  darkness.addEventListener('change', () => {
    byId('models').querySelectorAll('.swatch').forEach((one, i) => one.replaceWith(swatch(i)));
    drawCurves();
  });
  chooseBenchmark(0);
  performance.mark('tables');
}

start();
