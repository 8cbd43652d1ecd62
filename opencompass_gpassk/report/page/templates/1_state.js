// The page's data and the reader's choices. All text is inserted as text, never as HTML.
const all = JSON.parse(document.getElementById('document').textContent);
const chosen = { benchmark: 0, k: '', tau: '', group: '', off: new Set(), problem: null };
const byId = (id) => document.getElementById(id);
const benchmark = () => all.benchmarks[chosen.benchmark];

// Leave out null and undefined, which would be shown as these words.
const present = (child) => child !== null && child !== undefined;

function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'class') element.className = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter(present));
  return element;
}

const show = (id, ...children) => byId(id).replaceChildren(...children.flat().filter(present));
const isNumber = (value) => typeof value === 'number';

// Round like the tables: a value halfway between two goes to the even one, 6.25 to 6.2.
function percent(value) {
  if (!isNumber(value)) return '–';
  const even = Math.abs(value) % 1 === 0.25 ? Math.trunc(10 * value) / 10 : value;
  return even.toFixed(1).replace(/^-0\.0$/, '0.0');
}


const signed = (value) => (isNumber(value) ? (value > 0 ? '+' : '') + percent(value).replace('-', '−') : '–');
const range = (ends) => `[${percent(ends[0])}, ${percent(ends[1])}]`;
const probability = (p) => (p < 0.001 ? '< 0.001' : p.toFixed(3));
const filled = (text) =>
  text.replaceAll('{k}', chosen.k).replaceAll('{tau}', chosen.tau).replaceAll('{m}', benchmark().m);

function figure(entry, key) {
  const value = (entry.figures[chosen.group] || {})[key];
  return value === undefined ? null : value;
}

function interval(entry, key) {
  const ends = ((entry.intervals || {})[chosen.group] || {})[key];
  return ends && isNumber(ends[0]) && isNumber(ends[1]) ? ends : null;
}

// A figure under true verdicts: estimate, range, and range with sampling.
function trueFigure(entry, key) {
  const found = ((entry.true || {})[chosen.group] || {})[key];
  return found && found.every(isNumber) ? found : null;
}

// A cross marks every figure that can't be compared with the others; its row explains why.
const cross = (entry) => (entry.marks.length ? '†' : '');
const shownEntries = () => benchmark().entries.map((entry, i) => [entry, i]).filter(([, i]) => !chosen.off.has(i));

function options(id, pairs, value) {
  show(id, pairs.map(([key, text]) => el('option', { value: key, selected: key === value }, text)));
}

const groupName = () => (benchmark().groups.find((one) => one.label === chosen.group) || { name: '' }).name;

function inGroup(problem) {
  const group = benchmark().groups.find((one) => one.label === chosen.group);
  if (!group) return problem.version !== 'original' || benchmark().problems.every((p) => p.version === 'original');
  return Object.entries(group.fields).every(([name, value]) =>
    (name === 'version' ? problem.version : problem.groups[name]) === value);
}
