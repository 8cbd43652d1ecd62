// The leaderboard: one row per model, sorted by any column, with marks on the best figures.
const sorting = { key: null, down: true };

function drawLeaderboard() {
  const here = benchmark();
  const columns = here.columns
    .map((column) => ({ ...column, name: filled(column.key) }))
    .filter((column) => here.entries.some((entry) => figure(entry, column.name) !== null));
  const standard = columns.find((c) => c.name === here.pairs.figure) || columns.find((c) => c.key.startsWith('mG-Pass')) || columns.find((c) => c.key !== 'greedy') || columns[0];
  if (!columns.some((column) => column.key === sorting.key)) {
    sorting.key = standard ? standard.key : 'label';
    sorting.down = standard ? !standard.lower : false;
  }
  const entries = here.entries.map((entry, index) => ({ entry, index }));
  const by = columns.find((column) => column.key === sorting.key);
  entries.sort((a, b) => compareRows(a.entry, b.entry, by));
  const leaders = new Map(columns.map((column) => [column.name, leading(here, column)]));
  const ranks = by ? ranksOf(by.name) : null;
  const head = el('tr', null,
    heading('label', 'Model', 'model, and reasons why its figures can’t be compared'),
    ranks ? el('th', { scope: 'col', title: 'ranks that are compatible with the data' }, 'ranks') : null,
    el('th', { scope: 'col' }, 'n'),
    columns.map((column) => heading(column.key, filled(column.heading), filled(column.about))));
  const rows = entries.map(({ entry, index }) => el('tr', null,
    el('th', { scope: 'row' }, entry.label, entry.marks.map(([word, text]) => el('span', { class: 'mark', title: text }, word)),
      el('span', { class: 'about' }, `${entry.dataset}, ${entry.time}${entry.greedy ? `; greedy of another run, ${entry.greedy}` : ''}`)),
    ranks ? el('td', null, ranks[index] ? [...new Set(ranks[index])].join('–') : '–') : null,
    el('td', null, String(entry.n)),
    columns.map((column) => cell(entry, index, column, leaders.get(column.name)))));
  const count = (here.groups.find((group) => group.label === chosen.group) || { problems: here.size }).problems;
  show('board', el('caption', null, `${here.name}${chosen.group ? `, ${groupName()}` : ''}: ${count || '?'} problems; percent`),
    el('thead', null, head), el('tbody', null, rows));
  byId('claim').textContent = (chosen.group === '' && here.claim) || '';
  show('notes', here.notes.map((note) => el('li', null, note)));
  byId('board-hint').textContent = hints(here, columns);
  show('meanings', meanings(here, columns).map(([word, text]) => el('div', null, el('dt', null, word), el('dd', null, text))));
}

// The meaning of headings, marks and intervals, for readers who can't point at them.
function meanings(here, columns) {
  const methods = new Map();
  for (const column of columns) {
    for (const entry of here.entries) {
      const method = (interval(entry, column.name) || [])[2];
      if (method) methods.set(method, (methods.get(method) || new Set()).add(filled(column.heading)));
    }
  }
  const marks = here.entries.flatMap((entry) => entry.marks.map(([word, text]) => [`${entry.label}: ${word}`, text]));
  return [...columns.map((column) => [filled(column.heading), filled(column.about)]), ...marks,
    ...[...methods].map(([method, names]) => [`intervals by ${method}`, [...names].join(', ')])];
}

function compareRows(a, b, column) {
  const way = sorting.down ? -1 : 1;
  if (!column) return way * a.label.localeCompare(b.label, 'en', { numeric: true });
  const [x, y] = [figure(a, column.name), figure(b, column.name)];
  if (x === null || y === null) return (x === null) - (y === null);
  return way * (x - y);
}

function heading(key, text, about) {
  const sorted = sorting.key === key ? (sorting.down ? 'descending' : 'ascending') : 'none';
  const sort = () => {
    sorting.down = sorting.key === key ? !sorting.down : key !== 'label';
    sorting.key = key;
    drawLeaderboard();
    byId('board').querySelector(`[data-key="${CSS.escape(key)}"]`).focus();
  };
  return el('th', { scope: 'col', 'aria-sort': sorted, title: about },
    el('button', { type: 'button', 'data-key': key, onclick: sort }, text));
}

function cell(entry, index, column, leader) {
  const value = figure(entry, column.name);
  const ends = interval(entry, column.name);
  const truth = trueFigure(entry, column.name);
  const chance = figure(entry, `${column.name} by chance`);
  const best = leader && leader.best.has(index);
  const alike = leader && !best && leader.alike.has(index);
  return el('td', { class: best ? 'best' : alike ? 'alike' : '' },
    value === null ? '–' : `${best ? '★ ' : alike ? '≈ ' : ''}${percent(value)}${cross(entry)}`,
    value === null || chance === null ? null : ` (chance ${percent(chance)})`,
    best ? el('span', { class: 'unseen' }, ' best') : alike ? el('span', { class: 'unseen' }, ' not told apart from the best') : null,
    ends && value !== null ? el('span', { class: 'range', title: ends[2] ? `by ${ends[2]}` : null }, range(ends)) : null,
    truth ? el('span', { class: 'range', title: 'estimate under true verdicts, from an audit: its range, and that with sampling' },
      `true: ${percent(truth[0])} ${range(truth.slice(1, 3))}${truth.length > 3 ? `; ${range(truth.slice(3))}` : ''}`) : null);
}

// The best of a tested column, and those that may be the first as far as the data show.
function leading(here, column) {
  const ranks = ranksOf(column.name);
  if (!ranks) return null;
  const values = here.entries.map((entry, i) => (ranks[i] ? figure(entry, column.name) : null));
  if (values.filter((value) => value !== null).length < 2) return null;
  const alike = new Set([...values.keys()].filter((i) => values[i] !== null && ranks[i][0] === 1));
  const known = [...alike].map((i) => values[i]);
  const top = column.lower ? Math.min(...known) : Math.max(...known);
  return { best: new Set([...alike].filter((i) => values[i] === top)), alike };
}

// The best and the worst rank of each entry; only for all problems, not for groups.
function ranksOf(name) {
  const { figure: primary, ranks } = benchmark().pairs;
  return chosen.group === '' && name === primary && ranks.some(present) ? ranks : null;
}

function hints(here, columns) {
  const parts = [];
  if (here.pairs.rows.length && chosen.group !== '') {
    parts.push('Groups are not tested, so the best is not marked.');
  } else if (here.pairs.rows.length) {
    parts.push(`Models are ranked by ${filled(here.pairs.figure)}. ★ the best of those that may be the first, ≈ the others of these, by paired tests on the same problems, at a level of 5 % corrected for all pairs.`);
    if (here.pairs.incomparable.length) parts.push('Models whose data, judge or prompt differ from those of the others have no rank.');
  }
  if (columns.some((column) => here.entries.some((entry) => figure(entry, `${column.name} by chance`) !== null))) {
    parts.push('Chance: what a figure is on average if the original is like one of its versions.');
  }
  parts.push(...here.intervals.map((note) => `${note}.`));
  if (here.entries.some((entry) => entry.marks.length)) parts.push('† another measurement, or not a whole one: the words beside the model say why; their meaning is explained below.');
  if (columns.some((column) => column.lower)) {
    parts.push(`Lower is better: ${columns.filter((column) => column.lower).map((column) => filled(column.heading)).join(', ')}.`);
  }
  return parts.join(' ');
}
