// Two entries on the problems that both answered.
function compared(first, second, name) {
  const { metrics, rows } = benchmark().pairs;
  const column = metrics.indexOf(name);
  if (column < 0 || first === second) return null;
  const swapped = first > second;
  const row = rows.find(([a, b]) => a === Math.min(first, second) && b === Math.max(first, second));
  const found = row && row[2][column];
  if (!found) return null;
  const [difference, low, high, one, other, problems] = found;
  if (!isNumber(difference)) return null;
  const [p, claim] = name === benchmark().pairs.figure ? row.slice(3) : [null, ''];
  const test = { difference, low, high, p, claim, problems, figures: [one, other] };
  return swapped ? { ...test, difference: -difference, low: -high, high: -low, figures: [other, one] } : test;
}

function drawPair() {
  const here = benchmark();
  byId('pair').hidden = here.entries.length < 2;
  if (byId('pair').hidden) return;
  const [a, b] = [Number(byId('first').value), Number(byId('second').value)];
  const [first, second] = [here.entries[a], here.entries[b]];
  const rows = testedNames(here).map((name) => [name, compared(a, b, name)]).filter(([, test]) => test);
  const common = here.problems.map((problem, index) => ({ problem, index }))
    .filter(({ problem }) => problem.n[a] && problem.n[b])
    .map((row) => ({ ...row, gap: row.problem.c[b] / row.problem.n[b] - row.problem.c[a] / row.problem.n[a] }));
  const apart = common.filter((row) => row.gap !== 0 && inGroup(row.problem)).sort((x, y) => Math.abs(y.gap) - Math.abs(x.gap));
  const isPair = ([one, other]) => one === Math.min(a, b) && other === Math.max(a, b);
  const claim = (here.pairs.rows.find(isPair) || [])[5];
  const why = here.pairs.incomparable.find(isPair);
  show('pair-body',
    claim ? el('p', { class: 'claim' }, claim) : '',
    why ? el('p', { class: 'notice' }, `Not comparable, so not tested: ${why[2]}.`) : '',
    a === b ? el('p', { class: 'hint' }, 'Choose two different models.') : el('p', { class: 'hint' },
      `Over the problems that both have. Differences are ${second.label}${cross(second)} minus ${first.label}${cross(first)}, in points, with intervals for a population of such problems. p: paired sign-flip test of the primary figure${here.pairs.ranks.filter(present).length > 2 ? ', corrected for all pairs of models' : ''}.`),
    rows.length ? differenceTable(rows, first, second) : '',
    apart.length ? el('h3', null, 'Problems that differ most') : '',
    apart.length ? gapTable(apart.slice(0, 20), a, b) : '');
}

// The tested figures at the chosen k; G-Pass@k_0.0 is left out, as it is pass@k.
function testedNames(here) {
  const k = `@${chosen.k}`;
  return here.pairs.metrics.filter((name) => !/(pass|Pass|loss)@/.test(name)
    || (name.endsWith(k) || name.includes(`${k}_`)) && !name.endsWith('_0.0'));
}

function differenceTable(rows, first, second) {
  return el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Differences, can be scrolled' }, el('table', { id: 'differences' },
    el('thead', null, el('tr', null, ['Metric', first.label, second.label, 'Difference', '95 % interval', 'p', 'Problems'].map((text) => el('th', { scope: 'col' }, text)))),
    el('tbody', null, rows.map(([name, test]) => el('tr', { class: test.claim ? 'alike' : '' },
      el('th', { scope: 'row' }, name), test.figures.map((value, i) => el('td', null, percent(value) + cross(i ? second : first))),
      el('td', null, signed(test.difference)),
      el('td', null, isNumber(test.low) ? `${signed(test.low)} to ${signed(test.high)}` : '–'),
      el('td', null, isNumber(test.p) ? probability(test.p) : '–'),
      el('td', null, String(test.problems)))))));
}

function gapTable(rows, a, b) {
  const share = (problem, i) => el('td', { class: `p${tone(problem.c[i], problem.n[i])}` }, `${problem.c[i]}/${problem.n[i]}`);
  return el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Problems that differ most, can be scrolled' }, el('table', { id: 'gaps' },
    el('thead', null, el('tr', null, ['Problem', benchmark().entries[a].label, benchmark().entries[b].label, 'Difference'].map((text) => el('th', { scope: 'col' }, text)))),
    el('tbody', null, rows.map(({ problem, index, gap }) => el('tr', null,
      el('th', { scope: 'row' }, el('button', { type: 'button', onclick: () => openProblem(index, b) }, problemName(problem))),
      share(problem, a), share(problem, b), el('td', null, signed(100 * gap)))))));
}
