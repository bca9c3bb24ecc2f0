// Measures a published model after its training: free on a public dataset, for a price on a holdout.
import {html, nothing} from './lit-html.js';
import {keyring, post} from './api.js';
import {count, epsilon, plain} from './format.js';
import {trouble} from './notice.js';
import {choice, field, input, read} from './schema_form.js';

const HOLDOUT = ' holdout'; // no dataset has such an id
const PAUSE = 400; // ms after the last key, before a price is asked for

// Returns a function that makes the card for a model and its dataset. draw() redraws the page; made(evaluation) is
// called with each evaluation that was begun.
export function evaluateCard({draw, made, signal}) {
  const form = {on: null, epsilon: '0.1', clip: ''};
  let price = null; // of a look, from the estimate
  let problem = null;
  let sending = false;
  let keyOf = keyring(); // a second click repeats the answer; once it has come, the same body is another look
  let timer = null;

  const look = () => ({holdout: true, epsilon: read(form.epsilon), ...(read(form.clip) !== undefined && {error_clip: read(form.clip)})});
  const body = () => ({evaluation: form.on === HOLDOUT ? look() : form.on});
  const ask = (model) => {
    clearTimeout(timer);
    price = problem = null;
    draw();
    if (form.on !== HOLDOUT || read(form.epsilon) === undefined) return;
    timer = setTimeout(async () => {
      try {
        price = (await post(`/v1/models/${encodeURIComponent(model.id)}:estimate`, body(), {signal})).measurement;
      } catch (error) {
        if (error.name !== 'AbortError') problem = error;
      }
      draw();
    }, PAUSE);
  };
  const change = (name, model) => (value) => {
    form[name] = value;
    ask(model);
  };
  const send = (model) => async (event) => {
    event.preventDefault();
    sending = true;
    problem = null;
    draw();
    try {
      const evaluation = await post(`/v1/models/${model.id}:evaluate`, body(), {key: keyOf(body())});
      keyOf = keyring();
      made(evaluation);
    } catch (error) {
      problem = error;
    }
    sending = false;
    draw();
  };

  const verdict = () => {
    if (!price) return nothing;
    const fits = price.fits === 'yes';
    return html`<div class="notice ${fits ? 'good' : 'bad'}" id="verdict">${fits ? `✓ It fits, ${count(price.jobs_like_this)} times.` : 'The holdout\'s budget has no room for it.'}
      Each count of ${count(price.records)} records will have noise of ${plain(price.deviation, 2)}.</div>`;
  };
  const costs = (dataset) => (form.on === HOLDOUT
    ? html`<p class="quiet">Each look is charged to the holdout of ${dataset.id}, also a second one at the same model. The result stays on record, and showing it again is free.</p>${verdict()}`
    : html`<p class="quiet" id="verdict">Free: nothing of this dataset needs protection. The result is exact.</p>`);
  const button = (priced) => (sending ? 'Asking …' : priced ? `Spend ${epsilon(read(form.epsilon))} and look` : 'Evaluate, for free');

  return (model, dataset) => {
    const options = [...(dataset.evaluations ?? []).map((id) => [id, `${id}: free`]), ...(dataset.holdout ? [[HOLDOUT, 'the holdout: charged']] : [])];
    if (!options.length) {
      return html`<section class="card"><h2>Measure it</h2><p class="quiet">${dataset.id} has no holdout, and there is no public dataset like it.</p></section>`;
    }
    if (form.on === null) {
      form.on = options[0][0];
      if (form.on === HOLDOUT) ask(model);
    }
    const priced = form.on === HOLDOUT;
    const errors = problem?.body?.errors ?? [];
    return html`<section class="card" id="evaluate"><h2>Measure it</h2><form @submit=${send(model)}>
      <div class="fields">${field({id: '/evaluation', label: 'On', errors, control: choice({id: '/evaluation', value: form.on, options, changed: change('on', model)})})}
      ${priced ? field({id: '/evaluation/epsilon', label: 'Epsilon of the look', hint: 'Taken of the holdout\'s budget alone.', errors,
        control: input({id: '/evaluation/epsilon', kind: 'number', value: form.epsilon, errors, changed: change('epsilon', model)})}) : nothing}
      ${priced && dataset.task === 'regression' ? field({id: '/evaluation/error_clip', label: 'Errors count up to', hint: 'In the unit of the label.', errors,
        control: input({id: '/evaluation/error_clip', kind: 'number', value: form.clip, placeholder: 'a quarter of its range', errors, changed: change('clip', model)})}) : nothing}</div>
      ${costs(dataset)}${trouble(problem)}
      <button class="button accent" id="measure" ?disabled=${sending || (priced && price?.fits !== 'yes')}>${button(priced)}</button></form></section>`;
  };
}
