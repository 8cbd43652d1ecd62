// Curves over τ, drawn by Plotly, which is compressed in the page and unpacked when needed.
const light = ['#0072b2', '#b84d00', '#007a5a', '#a03d78', '#7a6200', '#3f57c4', '#8a2f2f', '#3b6f8f'];
const dark = ['#56b4e9', '#f0a44b', '#35c79b', '#ec9ac6', '#f0e442', '#a9b8ff', '#ff8f8f', '#9fd0e6'];
// Colour, symbol and dashes together distinguish more models than a reader can follow.
const shapes = {
  circle: 'M4 0a4 4 0 1 1-8 0a4 4 0 1 1 8 0z', square: 'M-4-4h8v8h-8z', diamond: 'M0-5l5 5-5 5-5-5z',
  'triangle-up': 'M0-5l5 9h-10z', cross: 'M-1.7-5h3.4v3.3H5v3.4H1.7V5h-3.4V1.7H-5v-3.4h3.3z',
  x: 'M-4-2.2l2.2-1.8L0-1.9 1.8-4 4-2.2 1.9 0 4 2.2 1.8 4 0 1.9-1.8 4-4 2.2-1.9 0z',
  star: 'M0-5.5l1.3 3.8h4L2.1.7l1.2 3.9L0 2.3l-3.3 2.3L-2.1.7l-3.2-2.4h4z',
};
const symbols = Object.keys(shapes);
const dashes = { solid: null, dash: '6 3', dot: '2 2', dashdot: '6 2 2 2' };
const darkness = matchMedia('(prefers-color-scheme: dark)');
const colour = (index) => (darkness.matches ? dark : light)[index % light.length];
const symbol = (index) => symbols[index % symbols.length];
const dash = (index) => Object.keys(dashes)[Math.floor(index / light.length) % Object.keys(dashes).length];
let source = null;
let plotly = null;

function decoded(text) {
  return Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

async function unpack(text) {
  const stream = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

// Unpacking runs while the tables are drawn; running the library would delay them.
function loadPlotly() {
  source ??= unpack(byId('plotting').textContent.trim());
  plotly ??= source.then((text) => {
    const script = document.createElement('script');
    script.textContent = text; // the policy of the page knows its hash
    document.head.append(script);
    return window.Plotly;
  });
  return plotly;
}

// Plotly reads a few HTML tags in texts; names hold none.
const plain = (text) => text.replaceAll('<', '‹').replaceAll('>', '›').replace(/&(?=[#\w]+;)/g, '＆');

// A sample of a model's curve, beside its name.
function swatch(index) {
  const drawn = (name, attributes, ...children) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  return drawn('svg', { class: 'swatch', viewBox: '-15 -7 30 14', 'aria-hidden': 'true' },
    drawn('path', { d: 'M-15 0h30', stroke: colour(index), 'stroke-width': 2.5, 'stroke-dasharray': dashes[dash(index)] }),
    drawn('path', { d: shapes[symbol(index)], fill: colour(index) }));
}

function curveOf(entry) {
  return benchmark().taus.map((tau) => figure(entry, `G-Pass@${chosen.k}_${tau}`));
}

function drawCurves() {
  const here = benchmark();
  const taus = here.taus.map(Number);
  const lines = shownEntries().filter(([entry]) => curveOf(entry).some((value) => value !== null));
  const any = here.entries.some((entry) => curveOf(entry).some((value) => value !== null));
  for (const part of byId('curves').querySelectorAll('#plot, #curves-hint, details')) part.hidden = !any;
  byId('curves').hidden = !any && here.entries.length < 2;
  if (!any) return;
  byId('curves-hint').textContent = `G-Pass@${chosen.k} in percent. τ = 0 is pass@${chosen.k}; at τ = 1 all ${chosen.k} samples must be right.`;
  show('curve-values', el('caption', null, `G-Pass@${chosen.k} of ${here.name}${chosen.group ? `, ${groupName()}` : ''}, percent`),
    el('thead', null, el('tr', null, el('th', { scope: 'col' }, 'Model'), here.taus.map((tau) => el('th', { scope: 'col' }, `τ = ${tau}`)))),
    el('tbody', null, lines.map(([entry]) => el('tr', null, el('th', { scope: 'row' }, entry.label),
      curveOf(entry).map((value) => el('td', null, value === null ? '–' : percent(value) + cross(entry)))))));
  const ink = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
  const line = getComputedStyle(document.documentElement).getPropertyValue('--line').trim();
  const traces = lines.map(([entry, index]) => ({
    x: taus, y: curveOf(entry), mode: 'lines+markers', name: plain(entry.label),
    line: { color: colour(index), width: 2.5, dash: dash(index) },
    marker: { symbol: symbol(index), size: 8 },
    customdata: curveOf(entry).map((value) => [plain(entry.label) + cross(entry), percent(value)]),
    // The name is not part of the template, since it may contain text that Plotly replaces.
    hovertemplate: '%{customdata[0]}<br>τ = %{x}: %{customdata[1]} %<extra></extra>',
  }));
  const axis = { color: ink, gridcolor: line, zeroline: false, linecolor: line };
  const layout = {
    paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font: { color: ink, family: 'inherit', size: 13 },
    margin: { l: 55, r: 15, t: 10, b: 45 }, showlegend: false, hovermode: 'closest',
    xaxis: { ...axis, title: { text: 'τ' }, range: [-0.03, 1.03] },
    yaxis: { ...axis, title: { text: `G-Pass@${chosen.k}, %` }, rangemode: 'tozero' },
  };
  loadPlotly().then((Plotly) => Plotly.react('plot', traces, layout, { responsive: true, displayModeBar: false }))
    .then(() => performance.mark('curves'));
}
