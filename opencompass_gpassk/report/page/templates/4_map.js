// The stability map: one row per problem, one column per model, right responses of n in each cell.
let mapRows = [];
const few = 120;
let wholeMap = false;

const tone = (c, n) => (c === 0 ? 0 : c === n ? 10 : Math.min(9, Math.max(1, Math.round((10 * c) / n))));

function shares(problem, entries) {
  return entries.map(([, i]) => (problem.n[i] ? problem.c[i] / problem.n[i] : null)).filter((p) => p !== null);
}

const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : NaN);
const byNumber = (a, b) => (Number.isNaN(a) - Number.isNaN(b)) || a - b || 0;

function sortedRows(entries) {
  const order = byId('order').value;
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const sometimes = byId('sometimes').checked;
  const rows = benchmark().problems.map((problem, index) => {
    const values = shares(problem, entries);
    return { problem, index, mean: mean(values), unstable: mean(values.map((p) => 4 * p * (1 - p))) };
  }).filter(({ problem, unstable }) => inGroup(problem) && (!sometimes || unstable > 0)
    && words.every((word) => `${problem.id} ${problem.version} ${Object.values(problem.groups).join(' ')}`.toLowerCase().includes(word)));
  if (order === 'unstable') rows.sort((a, b) => byNumber(-a.unstable, -b.unstable));
  if (order === 'hard') rows.sort((a, b) => byNumber(a.mean, b.mean));
  if (order === 'easy') rows.sort((a, b) => byNumber(-a.mean, -b.mean));
  return rows;
}

function drawMap() {
  const entries = shownEntries();
  byId('map').hidden = byId('problem').hidden = !benchmark().problems.length;
  mapRows = sortedRows(entries);
  const rows = wholeMap ? mapRows : mapRows.slice(0, few);
  const unstable = mapRows.filter((row) => row.unstable > 0).length;
  byId('map-count').replaceChildren(
    `${mapRows.length} problems, ${unstable} of them solved only sometimes by a model shown. `,
    rows.length < mapRows.length
      ? el('button', { type: 'button', class: 'more', onclick: () => { wholeMap = true; drawMap(); } }, `Show all ${mapRows.length}`) : '');
  byId('cells').classList.toggle('many', entries.length > 6);
  show('cells', el('caption', { class: 'unseen' }, 'Right responses of n, for each problem and model'),
    el('thead', null, el('tr', null, el('th', { scope: 'col' }, 'Problem'),
      entries.map(([entry]) => el('th', { scope: 'col' }, el('span', null, entry.label + cross(entry)))))),
    el('tbody', null, rows.map((row) => mapRow(row, entries))));
  show('map-legend', 'right responses: ', [['p0', 'none'], ['p2', ''], ['p4', ''], ['p5', 'half'], ['p6', ''], ['p8', ''], ['p10', 'all']]
    .map(([tint, text]) => el('span', { class: tint }, text || '\u00a0\u00a0')));
}

function mapRow({ problem, index }, entries) {
  const row = document.createElement('tr');
  row.dataset.problem = index;
  row.append(el('th', { scope: 'row' }, el('button', { type: 'button' }, problemName(problem)),
    el('span', { class: 'tags' }, Object.values(problem.groups).join(' · '))));
  for (const [, i] of entries) {
    const cell = document.createElement('td');
    cell.className = problem.n[i] ? `p${tone(problem.c[i], problem.n[i])}` : 'none';
    cell.textContent = problem.n[i] ? `${problem.c[i]}/${problem.n[i]}` : '–';
    cell.dataset.entry = i;
    row.append(cell);
  }
  return row;
}

// The name of a problem may already contain its version.
const problemName = (problem) =>
  (problem.version && !problem.id.endsWith(problem.version) ? `${problem.id}, ${problem.version}` : problem.id);

function openFromMap(event) {
  const row = event.target.closest('tr[data-problem]');
  if (!row || !event.target.closest('button, td')) return;
  const cell = event.target.closest('td');
  openProblem(Number(row.dataset.problem), cell ? Number(cell.dataset.entry) : null);
}
