// A model's quality on the records held out: each figure with its interval, and the price of the measurement.
import {html, nothing} from './lit-html.js';
import {bare, className, count, delta, epsilon, percent, plain} from './format.js';

const unknown = 'lost in the noise';

function range(one, show) {
  return one ? `${show(one.low)} to ${show(one.high)}` : unknown;
}

const share = (value) => percent(value, 1);

function row(name, one, show) {
  return html`<tr><td>${name}</td><td class="number"><b>${one ? show(one.value) : '–'}</b></td><td class="number">${range(one, show)}</td></tr>`;
}

function rows(quality, words) {
  if (!quality.classes.length) return [row('RMSE', quality.rmse, plain), row('R²', quality.r_squared, (value) => plain(value, 3))];
  const {classes} = quality;
  const found = [row('Accuracy', quality.accuracy, share)];
  if (classes.length === 2) {
    found.push(row('AUC', quality.auc, (value) => plain(value, 3)), row(`Precision of ${className(words, 1)}`, classes[1].precision, share),
      row(`Recall of ${className(words, 1)}`, classes[1].recall, share), row('F1', classes[1].f1, share));
  }
  return found;
}

function classesTable({classes}, words) {
  if (classes.length < 3) return nothing;
  return html`<details><summary>Each of the ${classes.length} classes</summary><div class="scroll" tabindex="0" role="region" aria-label="Classes">
    <table><thead><tr><th scope="col">Class</th><th scope="col">Precision</th><th scope="col">Recall</th><th scope="col">F1</th></tr></thead>
    <tbody>${classes.map((one, i) => html`<tr><td>${words[i] ?? i}</td><td>${range(one.precision, share)}</td><td>${range(one.recall, share)}</td>
      <td>${range(one.f1, share)}</td></tr>`)}</tbody></table></div></details>`;
}

// Returns the most important figure as text, or null if nothing was measured.
export function headline(quality) {
  if (!quality) return null;
  const one = quality.classes.length ? quality.accuracy : quality.rmse;
  if (!one) return unknown;
  return quality.classes.length ? share(one.value) : `rmse ${plain(one.value)}`;
}

// words: those of the classes.
export function qualityCard({quality, evaluation}, words) {
  if (!evaluation?.holdout) return nothing;
  if (!quality) {
    return html`<section class="card"><h2>Quality on the holdout</h2><p class="quiet">Measured once, when the model is trained, for
      ${epsilon(evaluation.epsilon)} of the holdout's budget.</p></section>`;
  }
  return html`<section class="card table"><h2>Quality on the holdout</h2><p class="quiet">${count(quality.records)} records that no job was trained
    on. One look, paid with ${epsilon(quality.epsilon)} (δ ${delta(quality.delta)}) of the holdout's budget; each count has noise of ${bare(quality.deviation)}.</p>
    <table><thead><tr><th scope="col">Figure</th><th scope="col" class="number">Value</th><th scope="col" class="number">95 % interval</th></tr></thead>
    <tbody>${rows(quality, words)}</tbody></table>${classesTable(quality, words)}
    <p class="quiet">The intervals cover the noise, and that the records are a sample.</p></section>`;
}
