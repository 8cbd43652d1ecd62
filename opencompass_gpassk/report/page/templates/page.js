'use strict';
(() => {
  // Everything is in the page already; this filters and opens. Texts come as JSON, deflated.
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const sections = all('.set');
  let here = sections[0];
  const opened = new Map();
  function texts(section) {
    if (!opened.has(section)) {
      const stored = one(`#texts-${section.id.slice(1)}`);
      opened.set(section, stored && JSON.parse(stored.textContent));
    }
    return opened.get(section);
  }

  const unpacked = new Map();
  async function unpack(packed) {
    if (!unpacked.has(packed)) unpacked.set(packed, inflate(packed));
    return unpacked.get(packed);
  }
  async function inflate(packed) {
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).json();
  }

  // The state is in the address: data set, k, and the problem that is open.
  const state = () => new URLSearchParams(location.hash.slice(1));
  function remember(changes) {
    const now = state();
    if (!now.has('d')) [...now.keys()].forEach((key) => now.delete(key));
    for (const [key, value] of Object.entries({ d: here.dataset.name, ...changes })) value === null ? now.delete(key) : now.set(key, value);
    history.replaceState(null, '', `#${now}`);
  }

  async function show() {
    const now = state();
    here = sections.find((section) => section.dataset.name === now.get('d')) || here;
    const choice = one(`#d${here.id.slice(1)}`);
    if (choice) choice.checked = true;
    const k = one(`input[name=k${here.id.slice(1)}][value="${CSS.escape(now.get('k') || '')}"]`);
    if (k) k.checked = true;
    await open(now.has('p') ? Number(now.get('p')) : null, now.get('m'));
  }

  async function open(place, entry) {
    const box = one('#problem');
    const { each, texts: packed } = texts(here) || { each: 1, texts: [] };
    const part = place === null ? null : packed[Math.floor(place / each)];
    box.hidden = !part;
    if (!part) return;
    const made = (await unpack(part))[place % each]; // and escaped, with the page
    const text = new DOMParser().parseFromString(made || '', 'text/html');
    one('#problem-body').replaceChildren(...text.body.childNodes);
    const model = one(`.entry[data-entry="${CSS.escape(entry || '')}"]`, box);
    if (model) {
      all('.entry', box).forEach((other) => { other.open = other === model; });
      one('.entry', box).before(model);
    }
    box.scrollIntoView();
    one('#problem-title').focus({ preventScroll: true });
  }

  // The cells of the problems: a column is a problem, a row a model.
  const heat = (section) => one('.heat', section);
  const heads = (section) => all('thead th', heat(section));
  const shown = (section) => heads(section).filter((head) => !head.hidden);
  const headOf = (cell) => cell.closest('table').tHead.rows[0].cells[cell.cellIndex];
  const cellAt = (row, head) => row.cells[head.cellIndex];
  const rows = (section) => [...heat(section).tBodies[0].rows];

  function openCell(cell) {
    const entry = cell.parentElement.dataset.e;
    remember({ p: headOf(cell).dataset.i, m: entry });
    show();
  }

  function point(cell) {
    const section = cell.closest('.set');
    const [right, missing] = cell.textContent.split('?');
    const model = one('th', cell.parentElement).title;
    const told = right === '–' ? 'no response' : `${right} right${missing ? `, ${missing} without a verdict` : ''}`;
    one('.pointed', section).textContent = cell.title = `${headOf(cell).textContent} · ${model}: ${told}`;
  }

  // One cell is reached with Tab, the others from there with the arrow keys.
  function reach(cell) {
    all('td[tabindex]', heat(cell.closest('.set'))).forEach((other) => other.removeAttribute('tabindex'));
    cell.tabIndex = 0;
  }
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function move(cell, [across, down]) {
    const section = cell.closest('.set');
    const columns = shown(section);
    const head = columns[columns.indexOf(headOf(cell)) + across];
    const row = rows(section)[rows(section).indexOf(cell.parentElement) + down];
    if (!head || !row) return;
    reach(cellAt(row, head));
    cellAt(row, head).focus();
  }

  function step(by) {
    const columns = shown(here);
    const next = columns[columns.findIndex((head) => head.dataset.i === state().get('p')) + by];
    if (next) { remember({ p: next.dataset.i }); show(); }
  }

  function back() {
    const head = heads(here).find((found) => found.dataset.i === state().get('p'));
    const row = rows(here).find((found) => found.dataset.e === state().get('m')) || rows(here)[0];
    remember({ p: null, m: null });
    open(null);
    reach(cellAt(row, head));
    cellAt(row, head).focus();
  }

  document.addEventListener('click', (event) => {
    const cell = event.target.closest('.heat tbody td');
    if (cell) openCell(cell);
    const button = event.target.closest('button[data-step]');
    if (button) Number(button.dataset.step) ? step(Number(button.dataset.step)) : back();
    const link = event.target.closest('a[href^="#s"]');
    if (!link) return;
    event.preventDefault();
    const meant = one(link.hash);
    if (link.dataset.rows) {
      one('.rows', meant).value = link.dataset.rows;
      filter(meant.closest('.set'));
    } else if (meant.matches('details')) meant.open = true;
    meant.scrollIntoView();
  });
  document.addEventListener('mouseover', (event) => {
    const cell = event.target.closest('.heat tbody td');
    if (cell) point(cell);
  });
  document.addEventListener('focusin', (event) => {
    if (event.target.matches('.heat tbody td')) point(event.target);
  });
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const cell = event.target.closest('.heat tbody td');
    if (cell && ARROWS[event.key]) {
      event.preventDefault();
      move(cell, ARROWS[event.key]);
    } else if (cell && event.key === 'Enter') openCell(cell);
    else if (event.key === 'Escape' && !one('#problem').hidden) back();
    else if (event.target.closest('#problem') && !event.target.matches('input') && /^Arrow(Left|Right)$/.test(event.key)) {
      event.preventDefault();
      step(ARROWS[event.key][0]);
    }
  });

  // The filters. A name of a group with its value is one term; every term must stand as whole words.
  const escaped = (term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const han = /\p{Script=Han}/u;
  const pattern = (term) => new RegExp(han.test(term) ? escaped(term) : `(?<![\\p{L}\\p{N}])${escaped(term)}(?![\\p{L}\\p{N}])`, 'iu');
  const groups = (section) => new Map(all('.group option[value]:not([value=""])', section).map((option) => [option.value, `${option.parentElement.label} ${option.textContent}`]));

  const haystacks = new Map();
  async function haystack(section) {
    if (!haystacks.has(section)) {
      const stored = texts(section);
      const questions = stored ? await unpack(stored.questions) : [];
      const names = groups(section);
      haystacks.set(section, new Map(heads(section).map((head) => [head, [
        head.textContent, ...head.dataset.g.split(' ').map((number) => names.get(number) || ''), questions[Number(head.dataset.i)] || '',
      ].join(' · ')])));
    }
    return haystacks.get(section);
  }
  function terms(section, text) {
    const names = new Set([...groups(section).values()].map((name) => name.split(' ')[0].toLowerCase()));
    const words = text.split(/\s+/).filter(Boolean);
    const found = [];
    for (let i = 0; i < words.length; i++) {
      const named = names.has(words[i].toLowerCase()) && i + 1 < words.length;
      found.push(named ? `${words[i]} ${words[++i]}` : words[i]);
    }
    return found.map(pattern);
  }

  const FEW = 40; // problems whose names and numbers stand in the table
  async function filter(section) {
    const tag = one('.rows', section).value;
    const group = one('.group', section)?.value;
    const wanted = terms(section, one('.words', section).value);
    const searched = wanted.length ? await haystack(section) : null;
    const columns = heads(section);
    const has = (list, value) => !value || list.split(' ').includes(value);
    const hide = columns.map((head) => !(has(head.dataset.t, tag) && has(head.dataset.g, group) && wanted.every((term) => term.test(searched.get(head)))));
    columns.forEach((head, at) => { head.hidden = hide[at]; });
    rows(section).forEach((row) => hide.forEach((hidden, at) => { row.cells[at + 1].hidden = hidden; }));
    const left = shown(section);
    heat(section).classList.toggle('large', left.length <= FEW);
    heat(section).hidden = !left.length;
    one('.count', section).textContent = left.length ? `${left.length} of ${columns.length}` : 'No problem fits these filters.';
    if (left.length) reach(cellAt(rows(section)[0], left[0]));
  }

  for (const section of sections.filter(heat)) {
    all('.rows, .group, .words', section).forEach((choice) => choice.addEventListener('input', () => filter(section)));
    filter(section);
  }
  document.addEventListener('change', (event) => {
    const choice = event.target;
    if (choice.name === 'd') {
      here = sections[Number(choice.id.slice(1))];
      remember({ k: null, p: null, m: null });
      open(null);
    } else if (/^k\d/.test(choice.name || '')) remember({ k: choice.value });
  });
  addEventListener('hashchange', show);
  document.documentElement.classList.add('scripted');
  show();
  performance.mark('ready');
})();
