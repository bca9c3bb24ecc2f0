// Runs as lines over parallel axes: an axis for each setting that differs, and the last one for the
// result. Arrow keys step through the runs, and a screen reader speaks the settings of each.
import {html, nothing, svg} from './lit-html.js';
import {plain} from './format.js';

const [TOP, HEIGHT, BOTTOM] = [34, 190, 14]; // pixels: above the axes, the axes, below them
const CROWD = 8; // axes that fit side by side; the user scrolls to further ones
const LINE = 16; // pixels: the height of a line of text
const RATIO = 20; // if the ends have at least this ratio, the axis is logarithmic

const text = (value) => (typeof value === 'number' ? plain(value) : typeof value === 'string' ? value : JSON.stringify(value));

// Returns the ends, and those values between them that have room for a line of text.
function apart(values, place) {
  const kept = values.slice(-1);
  for (const one of values.slice(0, -1)) {
    if (one === values[0] || kept.every((other) => Math.abs(place(one) - place(other)) * HEIGHT >= LINE)) kept.push(one);
  }
  return kept;
}

// values: the value of each run, null if it has none. Numbers get a scale, which is logarithmic if
// their range is large; other values get a place each.
export function axisOf(label, values, show = text) {
  const known = values.filter((value) => value != null);
  const numbers = known.length > 0 && known.every((value) => typeof value === 'number');
  const distinct = numbers ? [...new Set(known)].sort((a, b) => a - b) : [...new Set(known.map((value) => JSON.stringify(value)))];
  const log = numbers && distinct[0] > 0 && distinct.at(-1) / distinct[0] >= RATIO;
  const scale = (value) => (numbers ? (log ? Math.log(value) : value) : distinct.indexOf(JSON.stringify(value)));
  const [low, high] = numbers ? [scale(distinct[0]), scale(distinct.at(-1))] : [0, distinct.length - 1];
  const place = (value) => (value == null ? null : high > low ? (scale(value) - low) / (high - low) : 0.5);
  return {label, values, show, place, ticks: apart(distinct.map((one) => (numbers ? one : JSON.parse(one))), place)};
}

function said(axes, runs, i) {
  return `${runs[i].label}: ${axes.map(({label, values, show}) => `${label} ${values[i] == null ? 'as in the job' : show(values[i])}`).join(', ')}`;
}

function lineOf(axes, x, i, kind) {
  const y = (axis) => {
    const place = axis.place(axis.values[i]);
    return place == null ? null : TOP + (1 - place) * HEIGHT;
  };
  return axes.slice(1).map((axis, k) => {
    const [from, to] = [y(axes[k]), y(axis)];
    return from == null || to == null ? nothing : svg`<line class=${kind} x1=${`${x(k)}%`} y1=${from} x2=${`${x(k + 1)}%`} y2=${to}></line>`;
  });
}

// Returns a function that makes the chart from axes (axisOf) and runs ({label, best}). Each axis has
// one value for each run. draw() redraws the page.
export function parallelChart(draw) {
  let at = -1;
  const step = (count) => (event) => {
    const change = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!change) return;
    event.preventDefault();
    at = (at + change + count) % count;
    draw();
  };
  return (title, sentence, axes, runs) => {
    const x = (k) => (100 * (k + 0.5)) / axes.length;
    const order = runs.map((run, i) => i).sort((a, b) => Boolean(runs[a].best) - Boolean(runs[b].best));
    return html`<section class="card chart"><h2>${title}</h2><p class="quiet small">${sentence}</p>
      <div class="parallel" tabindex="0" role="group" aria-roledescription="chart" aria-label="${title}. ${sentence} Arrow keys step through the runs." @keydown=${step(runs.length)}>
      <svg aria-hidden="true" width=${axes.length > CROWD ? `${100 * axes.length / CROWD}%` : '100%'} height=${TOP + HEIGHT + BOTTOM}>
        ${axes.map(({label}, k) => svg`<line class="axis" x1=${`${x(k)}%`} x2=${`${x(k)}%`} y1=${TOP} y2=${TOP + HEIGHT}></line>
          <text class="name" x=${`${x(k)}%`} y="14">${label}</text>`)}
        ${order.map((i) => lineOf(axes, x, i, runs[i].best ? 'best' : 'run'))}${at in runs ? lineOf(axes, x, at, 'chosen') : nothing}
        ${axes.map(({ticks, place, show}, k) => ticks.map((value) => svg`<text x=${`${x(k)}%`} dx="6" y=${TOP + (1 - place(value)) * HEIGHT - 5}>${show(value)}</text>`))}
      </svg></div><p class="spoken" aria-live="polite">${at in runs ? said(axes, runs, at) : ''}</p></section>`;
  };
}
