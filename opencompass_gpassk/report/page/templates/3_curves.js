// Curves over τ, drawn by Plotly, which the page holds packed and unpacks when it is shown.
const light = ['#0072b2', '#b84d00', '#007a5a', '#a03d78', '#7a6200', '#3f57c4', '#8a2f2f', '#3b6f8f'];
const dark = ['#56b4e9', '#f0a44b', '#35c79b', '#ec9ac6', '#f0e442', '#a9b8ff', '#ff8f8f', '#9fd0e6'];
const symbols = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x', 'star'];
const darkness = matchMedia('(prefers-color-scheme: dark)');
const colour = (index) => (darkness.matches ? dark : light)[index % light.length];
let source = null;
let plotly = null;

function decoded(text) {
  return Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

async function unpack(text) {
  const stream = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

// Unpacking goes on beside the drawing of the tables; running the library would hold them up.
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
  show('curve-values', el('caption', null, `G-Pass@${chosen.k} of ${here.name}${chosen.group ? `, ${chosen.group}` : ''}, percent`),
    el('thead', null, el('tr', null, el('th', { scope: 'col' }, 'Model'), here.taus.map((tau) => el('th', { scope: 'col' }, `τ = ${tau}`)))),
    el('tbody', null, lines.map(([entry]) => el('tr', null, el('th', { scope: 'row' }, entry.label),
      curveOf(entry).map((value) => el('td', null, value === null ? '–' : percent(value) + cross(entry)))))));
  const ink = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
  const line = getComputedStyle(document.documentElement).getPropertyValue('--line').trim();
  const traces = lines.map(([entry, index]) => ({
    x: taus, y: curveOf(entry), mode: 'lines+markers', name: plain(entry.label),
    line: { color: colour(index), width: 2.5 },
    marker: { symbol: symbols[index % symbols.length], size: 8 },
    hovertemplate: `${plain(entry.label)}${cross(entry)}<br>τ = %{x}: %{y:.1f} %<extra></extra>`,
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
