// The curves of a measurement on a holdout: all of them are computed from the noisy counts that were released once,
// so drawing them and choosing a threshold from them is free.
import {html, nothing} from './lit-html.js';
import {className, percent, plain} from './format.js';
import './chart.js';

const FEW = 10; // classes whose confusion matrix fits on a page
const share = (value) => percent(value, 1);
const middle = ({from, to}) => (from + to) / 2;
const line = (label, colour, values, dashed = false) => ({label, kind: 'line', colour, dashed, dots: !dashed, values});
const ends = (figures) => [line('95 % interval, low', 'ink-2', figures.map((one) => one?.low ?? null), true), line('95 % interval, high', 'ink-2', figures.map((one) => one?.high ?? null), true)];
const card = (chart) => html`<section class="card"><ui-chart .chart=${chart}></ui-chart></section>`;

function confusion({confusion: counts, deviation}, words) {
  if (counts.length > FEW) return nothing;
  const names = counts.map((_, i) => className(words, i));
  return html`<section class="card table"><h2>Confusion</h2><p class="quiet">Records of the holdout by their class and the class that the model says. Each count has noise of
    ${plain(deviation, 3)}, so a small one may be below 0.</p><div class="scroll" tabindex="0" role="region" aria-label="Confusion">
    <table><thead><tr><th scope="col">Is</th>${names.map((name) => html`<th scope="col" class="number">says ${name}</th>`)}</tr></thead>
    <tbody>${counts.map((row, i) => html`<tr><th scope="row">${names[i]}</th>${row.map((one, k) => html`<td class="number">${i === k ? html`<b>${plain(Math.round(one), 6)}</b>` : plain(Math.round(one), 6)}</td>`)}</tr>`)}</tbody></table></div></section>`;
}

function precisionRecall({thresholds, classes}) {
  const known = thresholds.filter(({precision, recall}) => precision && recall).sort((a, b) => a.recall.value - b.recall.value);
  if (known.length < 2) return nothing;
  const two = classes.length === 2;
  return card({
    title: two ? 'Precision and recall' : 'Sure answers only',
    sentence: two ? 'A point for each threshold; the further up and to the right, the better.' : 'If unsure answers are left out: how many of the others are right, and how many right ones are kept.',
    x: {label: 'recall', show: share, max: 1},
    y: {label: 'precision', show: share, max: 1},
    points: known.map(({recall}) => recall.value),
    series: [line('precision', 'spent', known.map(({precision}) => precision.value)), ...ends(known.map(({precision}) => precision))],
  });
}

function calibration({calibration: bins, classes}, words) {
  if (bins.filter((one) => one.share).length < 2) return nothing;
  return card({
    title: 'Calibration',
    sentence: `How often ${classes.length === 2 ? `it is ${className(words, 1)}` : 'the answer is right'}, by the probability that the model says; on the diagonal both agree.`,
    x: {label: 'probability that the model says', show: share, max: 1},
    y: {label: 'share that is so', show: share, min: 0, max: 1},
    points: bins.map(middle),
    series: [line('is so', 'spent', bins.map((one) => one.share?.value ?? null)), ...ends(bins.map((one) => one.share)), line('both agree', 'asked', bins.map(middle), true)],
  });
}

function residuals({residuals: bins, error_clip: clip}) {
  return card({
    title: 'Errors',
    sentence: `Noisy counts of prediction minus truth, in the unit of the label; errors beyond ${plain(clip)} are in the last bins.`,
    x: {label: 'error', show: (value) => plain(value, 3), min: -clip, max: clip},
    y: {label: 'records', show: (value) => plain(value, 4)},
    points: bins.map(middle),
    series: [{...line('records', 'spent', bins.map((one) => one.count)), filled: true}],
  });
}

// Returns a function that draws the curves of a measurement; words: those of the classes. draw() redraws the page, after
// another threshold was chosen.
export function qualityCurves(draw) {
  let chosen = 10; // place among the thresholds
  const choose = ({target}) => {
    chosen = Number(target.value);
    draw();
  };
  const tile = (figure, words) => html`<div class="tile"><b>${figure ? share(figure.value) : '–'}</b><span>${words}<br>${figure ? `${share(figure.low)} to ${share(figure.high)}` : 'lost in the noise'}</span></div>`;
  const threshold = ({thresholds, classes}, words) => {
    const {threshold: at, precision, recall, selected} = thresholds[chosen];
    const two = classes.length === 2;
    const event = className(words, 1);
    return html`<section class="card" id="threshold"><h2>Choose a threshold</h2><p class="quiet">${two ? `The model says ${event} if its probability is at least this` : 'An answer counts if the model is at least this sure'}.
      Choosing is free: nothing is measured again.</p>
      <div class="field"><label for="threshold-at">Threshold <b>${plain(at, 2)}</b></label><input id="threshold-at" type="range" min="0" max=${thresholds.length - 1} step="1" .value=${String(chosen)}
        aria-valuetext=${plain(at, 2)} @input=${choose}></div>
      <div class="tiles">${tile(precision, two ? `of these are ${event} (precision)` : 'of these are right')}${tile(recall, two ? `of ${event} are found (recall)` : 'of the right ones are kept')}${tile(selected, 'of all records')}</div></section>`;
  };
  return (quality, words) => {
    if (!quality) return nothing;
    if (quality.residuals.length) return residuals(quality);
    const cuts = quality.thresholds?.length ? html`${threshold(quality, words)}${precisionRecall(quality)}` : nothing;
    return html`${confusion(quality, words)}${cuts}${calibration(quality, words)}`;
  };
}
