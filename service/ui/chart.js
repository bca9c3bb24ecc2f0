// <ui-chart>: a chart that is drawn, read aloud, and shown as a table. Its member `chart`:
//   title, sentence          shown above the chart
//   x: {label, show, max}    show(value) returns a value as text; max is the end of the axis
//   y: {label, show, min}
//   points: [x ...]          ascending
//   level                    the level of the heading, 2 by default
//   series: [{label, kind: line|step|marks, colour, shape, dashed, filled, dots, values, notes}]
//                            one value for each point, null if there is none; notes are
//                            shown next to marks
// Arrow keys step through the points, and a screen reader speaks their values.
import {html, render, nothing, svg} from './lit-html.js';

const shapes = {
  circle: (path, x, y, r) => path.arc(x, y, r, 0, 2 * Math.PI),
  square: (path, x, y, r) => path.rect(x - r, y - r, 2 * r, 2 * r),
  diamond: (path, x, y, r) => outline(path, [[x, y - 1.3 * r], [x + 1.3 * r, y], [x, y + 1.3 * r], [x - 1.3 * r, y]]),
  triangle: (path, x, y, r) => outline(path, [[x, y - 1.2 * r], [x + 1.2 * r, y + r], [x - 1.2 * r, y + r]]),
};
export const shapeNames = Object.keys(shapes);

function outline(path, corners) {
  corners.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function drawMarks(plot, chart) {
  const {ctx} = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  chart.series.forEach((series) => {
    const many = chart.points.length > (series.kind === 'line' ? 150 : 1);
    if (series.dashed || series.dots === false || (series.kind !== 'marks' && many)) return;
    const size = (series.kind === 'marks' ? 4.5 : 2.5) * ratio;
    ctx.fillStyle = colour(series.colour);
    series.values.forEach((value, i) => {
      if (value == null) return;
      const x = plot.valToPos(chart.points[i], 'x', true);
      const y = plot.valToPos(value, 'y', true);
      const path = new Path2D();
      shapes[series.shape ?? 'circle'](path, x, y, size);
      ctx.fill(path);
      if (!series.notes?.[i]) return;
      const right = x < plot.bbox.left + plot.bbox.width / 2;
      ctx.textAlign = right ? 'left' : 'right';
      ctx.textBaseline = 'middle';
      ctx.save();
      ctx.fillStyle = colour('ink');
      ctx.fillText(series.notes[i], x + (right ? 10 : -10) * ratio, y);
      ctx.restore();
    });
  });
  ctx.restore();
}

function axis(side, chart) {
  const line = {stroke: colour('line'), width: 1};
  return {
    ...(side === 'y' ? {size: 62} : {size: 34}),
    label: chart[side].label,
    labelSize: 18,
    labelFont: '12px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    stroke: colour('ink-2'),
    grid: line,
    ticks: {...line, size: 4},
    values: (plot, values) => values.map((value) => (value == null ? '' : chart[side].show(value))),
  };
}

function lines(series) {
  const stroke = colour(series.colour);
  const hidden = series.kind === 'marks';
  return {
    label: series.label,
    stroke,
    width: hidden ? 0 : 2,
    spanGaps: true,
    dash: series.dashed ? [6, 5] : undefined,
    fill: series.filled ? `${stroke}18` : undefined,
    paths: hidden ? () => null : series.kind === 'step' ? uPlot.paths.stepped({align: 1}) : undefined,
    points: {show: false},
  };
}

// Returns the ends of an axis: those of the values, with a little room.
function ends(low, high, fixed) {
  if (low == null || high == null) return [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [fixed ?? low - room, high + room];
}

class Chart extends HTMLElement {
  #chart = null;
  #plot = null;
  #form = '';
  #at = -1;
  #watcher = null;
  #themed = () => this.#redraw(true);

  connectedCallback() {
    this.#watcher = new ResizeObserver(() => this.#redraw());
    this.#watcher.observe(this);
    document.addEventListener('theme', this.#themed);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.#themed);
  }

  disconnectedCallback() {
    this.#watcher.disconnect();
    document.removeEventListener('theme', this.#themed);
    matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.#themed);
    this.#plot?.destroy();
    this.#plot = null;
  }

  set chart(chart) {
    this.#chart = chart;
    this.#frame();
    this.#redraw();
  }

  #frame() {
    const {title, sentence, series, level} = this.#chart;
    render(html`${level === 3 ? html`<h3>${title}</h3>` : html`<h2>${title}</h2>`}<p class="quiet">${sentence}</p>
      <div class="plot" tabindex="0" role="group" aria-roledescription="chart" @keydown=${(event) => this.#step(event)}
        aria-label=${`${title}. ${sentence} Arrow keys step through the points.`}></div>
      <p class="spoken" aria-live="polite"></p>
      ${series.length > 1 ? html`<ul class="legend">${series.map((one) => this.#legend(one))}</ul>` : nothing}
      <details><summary>As a table</summary>${this.#table()}</details>`, this);
  }

  #legend({label, shape, kind, colour: name, dashed}) {
    const corners = {diamond: '5.500,0 11,5.500 5.500,11 0,5.500', triangle: '5.500,0 11,10 0,10'}[shape];
    const drawn = dashed ? svg`<path class=${`stroke-${name}`} d="M0 5.500h4M7 5.500h4"></path>`
      : corners ? svg`<polygon class=${`fill-${name}`} points=${corners}></polygon>`
      : kind === 'marks' && shape !== 'square' ? svg`<circle class=${`fill-${name}`} cx="5.500" cy="5.500" r="5"></circle>`
      : svg`<rect class=${`fill-${name}`} width="11" height="11" rx="2"></rect>`;
    return html`<li><svg class="swatch" width="11" height="11" aria-hidden="true">${drawn}</svg> ${label}</li>`;
  }

  #table() {
    const {points, series, x, y} = this.#chart;
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${`${this.#chart.title}, as a table`}><table>
      <thead><tr><th scope="col">${x.label}</th>${series.map((one) => html`<th scope="col" class="number">${one.label}</th>`)}</tr></thead>
      <tbody>${points.map((point, i) => html`<tr><td>${x.show(point)}</td>
        ${series.map((one) => html`<td class="number">${one.values[i] == null ? '' : y.show(one.values[i])}</td>`)}</tr>`)}</tbody></table></div>`;
  }

  #step(event) {
    const {points, series, x, y} = this.#chart;
    const moves = {ArrowRight: 1, ArrowLeft: -1, Home: -points.length, End: points.length};
    if (!(event.key in moves) || !points.length) return;
    event.preventDefault();
    this.#at = Math.max(0, Math.min(points.length - 1, this.#at + moves[event.key]));
    const shown = series.filter((one) => one.values[this.#at] != null);
    this.querySelector('.spoken').textContent = `${x.label} ${x.show(points[this.#at])}: ${
      shown.map((one) => `${one.label} ${y.show(one.values[this.#at])}`).join(', ')}`;
    const value = shown[0]?.values[this.#at];
    this.#plot?.setCursor({
      left: this.#plot.valToPos(points[this.#at], 'x'),
      top: value == null ? -10 : this.#plot.valToPos(value, 'y'),
    });
  }

  #redraw(anew = false) {
    const chart = this.#chart;
    const place = this.querySelector('.plot');
    if (!chart || !place || !this.clientWidth) return;
    const form = JSON.stringify([chart.series.map((one) => [one.label, one.kind, one.colour, one.dashed]), chart.y.label]);
    const data = [chart.points, ...chart.series.map((one) => one.values)];
    const size = {width: this.clientWidth, height: chart.height ?? 250};
    if (this.#plot && !anew && form === this.#form) {
      if (this.#plot.width !== size.width) this.#plot.setSize(size);
      return this.#plot.setData(data);
    }
    this.#form = form;
    this.#plot?.destroy();
    this.#plot = new uPlot({
      ...size,
      legend: {show: false},
      cursor: {drag: {x: false, y: false}, points: {show: false}, y: false},
      scales: {
        x: {time: false, range: (plot, low, high) => {
          const {min, max} = this.#chart.x;
          return [min ?? Math.min(0, low ?? 0), max ?? (high > 0 ? high * 1.05 : 1)];
        }},
        y: {range: (plot, low, high) => {
          const [from, to] = ends(low, high, this.#chart.y.min);
          return [from, this.#chart.y.max ?? to];
        }},
      },
      axes: [axis('x', chart), axis('y', chart)],
      series: [{}, ...chart.series.map(lines)],
      hooks: {draw: [(plot) => drawMarks(plot, this.#chart)]},
    }, data, place);
  }
}

customElements.define('ui-chart', Chart);
