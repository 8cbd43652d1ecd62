// One problem: its text, its gold answer, and each model's answers and responses.
const packedTexts = new Map();
const long = 1500;
const longAnswer = 200;
const mostAnswers = 24;

async function problemText(index) {
  const where = `texts-${chosen.benchmark}`;
  if (!packedTexts.has(where)) packedTexts.set(where, JSON.parse(byId(where).textContent));
  return JSON.parse(await unpack(packedTexts.get(where)[index]));
}

async function openProblem(index, entry = null, focus = true) {
  chosen.problem = index;
  const text = await problemText(index);
  if (chosen.problem !== index) return; // the reader has opened another problem
  const here = benchmark();
  const problem = here.problems[index];
  byId('problem-title').textContent = `Problem ${problemName(problem)}`;
  const asked = here.entries.map((one, i) => [one, i]).filter(([, i]) => text.entries[i]);
  const opened = entry === null ? asked.slice(0, 3).map(([, i]) => i) : [entry];
  show('problem-body', neighbours(index),
    el('p', { class: 'hint' }, Object.entries(problem.groups).map(([name, value]) => `${name}: ${value}`).join(' · ')),
    el('h3', null, 'Question'),
    el('div', { class: 'question text' }, text.question.length ? withMathematics(text.question) : 'The text is not in the results.',
      text.out ? el('p', { class: 'hint' }, `${text.out.toLocaleString('en')} more characters are not in this page.`) : null),
    el('h3', null, 'Gold answer'),
    el('div', { class: 'text', id: 'gold' }, withMathematics(text.gold),
      text.goldOut ? el('p', { class: 'hint' }, `${text.goldOut.toLocaleString('en')} more characters are not in this page.`) : null),
    el('h3', null, 'Models'),
    asked.map(([one, i]) => entryBox(one, problem, i, text.entries[i], opened.includes(i))));
  if (focus) {
    byId('problem').scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    byId('problem-title').focus({ preventScroll: true });
  }
}

function neighbours(index) {
  const place = mapRows.findIndex((row) => row.index === index);
  const to = (step) => {
    const row = place < 0 ? null : mapRows[place + step];
    return { disabled: !row, onclick: () => openProblem(row.index) };
  };
  return el('div', { class: 'steps' },
    el('button', { type: 'button', ...to(-1) }, '← Previous in the map'),
    el('button', { type: 'button', ...to(1) }, 'Next in the map →'),
    el('a', { href: '#map' }, 'Back to the map'));
}

function withMathematics(parts) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    const math = mathematics(part.tree);
    math.setAttribute('alttext', part.tex);
    return math;
  });
}

function mathematics([name, attributes, children]) {
  const element = document.createElementNS('http://www.w3.org/1998/Math/MathML', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.map((child) => (typeof child === 'string' ? child : mathematics(child))));
  return element;
}

function entryBox(entry, problem, index, text, open) {
  const score = `${problem.c[index]} of ${problem.n[index]} right`;
  const box = el('details', { class: 'entry', open }, el('summary', null, `${entry.label}${cross(entry)}: `,
    el('span', { class: `mark-score p${problem.n[index] ? tone(problem.c[index], problem.n[index]) : 5}` }, ` ${score} `)));
  const fill = () => {
    if (box.open && box.children.length === 1) box.append(...entryBody(text, entry.label).filter(present));
  };
  box.addEventListener('toggle', fill);
  fill();
  return box;
}

function entryBody(text, label) {
  const answers = text.answers.map((row) => ['', row]).concat(text.greedy.map((row) => ['greedy', row]));
  const rows = answers.map(([mode, [answer, count, verdict, source, out, hash]]) => el('tr', null,
    el('td', null, answer === null ? el('i', null, 'no answer') : folded(answer, out, hash)),
    el('td', null, mode || String(count)),
    el('td', { class: verdict === 'correct' || verdict === 'incorrect' ? verdict : '' }, verdict),
    el('td', null, source)));
  const body = el('tbody', null, rows.length > mostAnswers ? rows.slice(0, mostAnswers - 2) : rows);
  const more = rows.length <= mostAnswers ? null : el('button', { type: 'button', class: 'more', onclick: () => {
    body.replaceChildren(...rows);
    more.remove();
  } }, `Show all ${rows.length} answers`);
  return [
    el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': `Distinct answers of ${label}, can be scrolled` }, el('table', { class: 'answers' },
      el('caption', null, 'Distinct answers' + (text.more ? `, the ${text.answers.length} most frequent of ${text.answers.length + text.more}` : '')),
      el('thead', null, el('tr', null, ['Answer', 'Times', 'Verdict', 'By'].map((name) => el('th', { scope: 'col' }, name)))),
      body)), more,
    el('div', { class: 'sides' }, [['right', 'A right response'], ['wrong', 'A wrong response']].map(([name, title]) => side(title, text[name], label)))];
}

// A long answer is folded. If the page holds only its beginning, a hash distinguishes it.
function folded(answer, out, hash) {
  const told = out ? ` … ${out.toLocaleString('en')} more characters are in the file of trials alone (hash ${hash})` : '';
  if (answer.length <= longAnswer) return answer + told;
  const more = el('button', { type: 'button', class: 'more', onclick: () => cell.replaceChildren(answer + told) },
    `Show all ${answer.length.toLocaleString('en')} characters`);
  const cell = el('span', null, `${answer.slice(0, longAnswer)} … ${out ? `(hash ${hash}) ` : ''}`, more);
  return cell;
}

function side(title, response, label) {
  if (!response) return el('div', { class: 'response' }, el('h4', null, title), el('p', { class: 'hint' }, 'None.'));
  const whole = el('div', { class: 'text', tabindex: '0', role: 'region', 'aria-label': `${title} of ${label}` });
  const full = [response.head];
  if (response.out) {
    full.push(el('p', { class: 'mark' }, `${response.out.toLocaleString('en')} characters are left out of this page; the whole stands in the file named below`), response.tail);
  }
  const length = response.head.length + (response.tail || '').length;
  const box = el('div', { class: 'response' }, el('h4', null, title), whole);
  const end = response.tail || response.head;
  if (length > long) {
    whole.append(`${response.head.slice(0, 1000)}`, el('p', { class: 'hint' }, '…'), end.slice(-400));
    const more = el('button', { type: 'button', class: 'more', 'aria-expanded': 'false', onclick: () => {
      whole.replaceChildren(...full);
      more.remove();
      whole.focus();
    } }, `Show all ${length.toLocaleString('en')} characters`);
    box.append(more);
  } else whole.append(...full);
  box.append(el('p', { class: 'hint' }, response.where));
  return box;
}
