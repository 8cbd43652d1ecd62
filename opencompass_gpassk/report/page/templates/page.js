'use strict';
(() => {
  // Everything is in the page already; this sorts, filters and opens. Data come as JSON, deflated.
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const sections = all('.set');
  let here = sections[0];
  const stored = (section) => JSON.parse(one(`#texts-${section.id.slice(1)}`).textContent);
  const opened = new Map();
  const texts = (section) => opened.get(section) || opened.set(section, stored(section)).get(section);

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
    for (const [key, value] of Object.entries(changes)) value === null ? now.delete(key) : now.set(key, value);
    history.replaceState(null, '', `#${now}`);
  }

  async function show() {
    const now = state();
    here = sections.find((section) => section.dataset.name === now.get('d')) || here;
    const choice = one(`#d${here.id.slice(1)}`);
    if (choice) choice.checked = true;
    const k = one(`input[name=k${here.id.slice(1)}][value="${CSS.escape(now.get('k') || '')}"]`);
    if (k) k.checked = true;
    const place = now.has('p') ? Number(now.get('p')) : null;
    await open(place, now.get('m'));
  }

  async function open(place, entry) {
    const box = one('#problem');
    const { each, texts: packed } = texts(here);
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

  // The shown rows of the map, of which one is open; a question has several versions.
  function step(by) {
    const rows = all('.map tbody tr:not([hidden])', here);
    const links = rows.flatMap((row) => {
      const cell = one('td', row);
      const versions = cell ? all('a', cell) : [];
      return versions.length ? versions.map((link) => link.hash) : [one('a', row).hash];
    });
    const at = links.findIndex((hash) => new URLSearchParams(hash.slice(1)).get('p') === state().get('p'));
    const next = links[at + by];
    if (next) go(next);
  }

  function go(hash, entry = null) {
    const wanted = new URLSearchParams(hash.slice(1));
    remember({ d: wanted.get('d'), p: wanted.get('p'), m: entry });
    show();
  }

  function stepSample(answer, by) {
    const answers = all('.answer', answer.closest('.entry'));
    const next = answers[answers.indexOf(answer) + by];
    if (!next) return;
    answer.open = false;
    next.open = true;
    one('summary', next).focus();
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#d="]');
    const cell = event.target.closest('.map td, .pairs .cells td');
    const row = cell && cell.closest('tr');
    if (link) {
      event.preventDefault();
      const of = link.closest('td');
      go(link.hash, of ? String(all('td', of.parentElement).indexOf(of)) : null);
    } else if (row && one('a', row)) {
      go(one('a', row).hash, row.closest('.map') ? String(all('td', row).indexOf(cell)) : null);
    }
    const button = event.target.closest('button[data-step]');
    if (button) step(Number(button.dataset.step));
  });

  document.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const within = event.target.closest('#problem');
    if (!by || !within || event.target.matches('input') || event.altKey || event.ctrlKey || event.metaKey) return;
    const answer = event.target.closest('.answer[open]');
    event.preventDefault();
    if (answer) stepSample(answer, by); else step(by);
  });

  // Sorting: by the first number of each cell, or by text; cells without one come last.
  const value = (cell) => {
    const number = parseFloat(cell.firstChild ? cell.firstChild.textContent : '');
    return Number.isNaN(number) ? null : number;
  };
  function sortBy(head, column, down) {
    const body = one('tbody', head.closest('table'));
    const rows = all('tr', body).sort((a, b) => {
      const [x, y] = [a.cells[column], b.cells[column]];
      if (x.tagName === 'TH') return (down ? -1 : 1) * x.textContent.localeCompare(y.textContent, 'en', { numeric: true });
      const [p, q] = [value(x), value(y)];
      return p === null || q === null ? (p === null) - (q === null) : (down ? q - p : p - q);
    });
    body.append(...rows);
    all('th', head.parentElement).forEach((other) => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  }
  for (const head of all('.board thead th:not([data-unsorted])')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    const column = [...head.parentElement.children].indexOf(head);
    button.addEventListener('click', () => sortBy(head, column, head.getAttribute('aria-sort') !== 'descending'));
  }

  // The map: a name of a group with its value is one term; every term must stand as whole words.
  const escaped = (term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const han = /\p{Script=Han}/u;
  const pattern = (term) => new RegExp(han.test(term) ? escaped(term) : `(?<![\\p{L}\\p{N}])${escaped(term)}(?![\\p{L}\\p{N}])`, 'iu');
  function terms(text, names) {
    const words = text.split(/\s+/).filter(Boolean);
    const found = [];
    for (let i = 0; i < words.length; i++) {
      const named = names.has(words[i].toLowerCase()) && i + 1 < words.length;
      found.push(named ? `${words[i]} ${words[++i]}` : words[i]);
    }
    return found.map(pattern);
  }

  const haystacks = new Map();
  async function haystack(section) {
    if (!haystacks.has(section)) {
      const questions = await unpack(texts(section).questions);
      const rows = all('.map tbody tr', section);
      haystacks.set(section, new Map(rows.map((row) => [row, `${one('a', row).textContent} · ${one('.about', row).textContent} · ${questions[Number(row.dataset.i)]}`])));
    }
    return haystacks.get(section);
  }

  async function filter(section) {
    const text = one('.filter', section).value;
    const tags = all('.tag:checked', section).map((box) => box.value);
    const names = new Set(all('.map .about', section).flatMap((about) => about.textContent.split(' · ').map((pair) => pair.split(' ')[0].toLowerCase())));
    const wanted = terms(text, names);
    const searched = wanted.length ? await haystack(section) : null;
    const rows = all('.map tbody tr', section);
    for (const row of rows) {
      const marks = (row.dataset.t || '').split('|');
      row.hidden = !(tags.every((tag) => marks.includes(tag)) && wanted.every((term) => term.test(searched.get(row))));
    }
    const left = rows.filter((row) => !row.hidden).length;
    one('.count', section).textContent = `${left} of ${rows.length}`;
  }

  const shares = (row) => all('td', row).flatMap((cell) => (one('a', cell) ? all('a', cell) : [cell]))
    .map((cell) => cell.textContent.match(/^(\d+)\/(\d+)/)).filter((found) => found && Number(found[2]))
    .map((found) => found[1] / found[2]);
  const mean = (values) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
  const orders = {
    unstable: (row) => -mean(shares(row).map((p) => p * (1 - p))),
    hard: (row) => mean(shares(row)),
    easy: (row) => -mean(shares(row)),
    given: (row) => Number(row.dataset.i),
  };
  function order(section) {
    const by = orders[one('.order', section).value];
    const rows = all('.map tbody tr', section).map((row) => [by(row), row]);
    rows.sort((a, b) => a[0] - b[0]);
    one('.map tbody', section).append(...rows.map(([, row]) => row));
  }

  for (const section of sections.filter((found) => one('.filter', found))) {
    one('.filter', section).addEventListener('input', () => filter(section));
    all('.tag', section).forEach((box) => box.addEventListener('input', () => filter(section)));
    one('.order', section).addEventListener('input', () => order(section));
    filter(section);
  }
  document.addEventListener('change', (event) => {
    const choice = event.target;
    if (choice.name === 'd') {
      here = sections[Number(choice.id.slice(1))];
      remember({ d: here.dataset.name, k: null, p: null, m: null });
      open(null);
    } else if (/^k\d/.test(choice.name || '')) remember({ d: here.dataset.name, k: choice.value });
  });
  addEventListener('hashchange', show);
  document.documentElement.classList.add('scripted');
  show();
  performance.mark('ready');
})();
