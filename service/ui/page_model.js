// One model: its guarantee, what was measured of it after the training, the form to measure it again, and predictions
// for a file.
import {html, nothing} from './lit-html.js';
import {get} from './api.js';
import {badge, reason} from './badge.js';
import {age, classWords, delta, epsilon, jobName, plain, quality as shown, shortId} from './format.js';
import {evaluateCard} from './evaluate_card.js';
import {deadEnd, loading, trouble} from './notice.js';
import {predictFileCard} from './predict_file_card.js';
import {headline, qualityCard} from './quality_card.js';
import {qualityCurves} from './quality_curves.js';
import {shapesCard} from './shapes_card.js';
import {watch} from './watch.js';
import {may} from './who.js';

const LISTED = 25;

function resultText({state, state_reason: why, scores, quality}) {
  if (state === 'RUNNING') return 'is being measured';
  if (state === 'FAILED') return reason(why);
  return quality ? headline(quality) : scores ? shown(scores) : 'show it';
}

export function open(view) {
  const path = `/v1/models/${encodeURIComponent(view.id)}`;
  const whole = new Map(); // evaluations with their results, by id
  let model = null;
  let job = null;
  let dataset = null;
  let list = [];
  let chosen = null; // the evaluation that is shown; 'own': that of the job
  let problem = null;

  const fetchOne = async (id) => {
    const one = await get(`/v1/evaluations/${id}`, view.signal);
    if (one.state !== 'RUNNING') whole.set(id, one);
    return one;
  };
  const form = evaluateCard({
    draw: () => draw(),
    made: ({id}) => {
      chosen = id;
      view.say('The model is being measured.');
      follow();
    },
    signal: view.signal,
  });
  const curves = qualityCurves(() => draw());
  const shapes = shapesCard(() => draw(), view.signal);
  const predictions = predictFileCard(() => draw(), view.signal);
  const choose = (id) => async () => {
    chosen = id;
    draw();
    try {
      if (id !== 'own' && !whole.has(id)) await fetchOne(id);
    } catch (error) {
      problem = error;
    }
    draw();
  };
  const button = (id, text) => html`<button class="button" aria-pressed=${chosen === id ? 'true' : 'false'} @click=${choose(id)}>${text}</button>`;
  const line = (on, price, time, result) => html`<tr><td>${on} <small>${price}, ${age(time)}</small></td><td class="number" data-name="Result">${result}</td></tr>`;
  const row = (one) => line(one.guarantee ? `${one.dataset}, holdout` : one.dataset, one.guarantee ? epsilon(one.guarantee.epsilon) : 'public, free', one.create_time,
    one.state === 'SUCCEEDED' ? button(one.id, resultText(whole.get(one.id) ?? one)) : html`${badge(one.state)} <small>${resultText(one)}</small>`);
  const own = () => (job?.quality ? line(`${job.dataset}, holdout`, `with the training, ${epsilon(job.quality.epsilon)}`, job.end_time, button('own', headline(job.quality))) : nothing);
  const past = () => html`<section class="card table"><h2>Measured</h2>${list.length || job?.quality ? html`<table class="folds"><thead><tr><th scope="col">On</th>
      <th scope="col" class="number">Result</th></tr></thead><tbody>${list.map(row)}${own()}</tbody></table>` : html`<p class="quiet">Nothing yet. What is measured stays here, and showing it again is free.</p>`}</section>`;
  const result = () => {
    const one = chosen === 'own' ? job : whole.get(chosen);
    if (chosen && !one) return html`<section class="card"><p class="quiet">${list.some(({id, state}) => id === chosen && state === 'RUNNING') ? 'The records are being read …' : 'Loading …'}</p></section>`;
    if (one?.quality) return html`${qualityCard({quality: one.quality, evaluation: one.evaluation}, classWords(dataset))}${curves(one.quality, classWords(dataset))}`;
    if (!one?.scores) return nothing;
    return html`<section class="card" id="scores"><h2>On ${one.dataset}</h2><dl>${Object.entries(one.scores).map(([name, value]) => html`<div><dt>${name}</dt>
      <dd>${name === 'loss' ? plain(value) : shown({[name]: value})}</dd></div>`)}</dl><p class="quiet">Exact, on every record of a public dataset.</p></section>`;
  };
  const draw = () => {
    if (!model) return view.draw(problem ? deadEnd(problem, 'model', view.id, ['/ui/models', 'all models']) : loading);
    const name = model.display_name ?? (job ? jobName(job) : `${model.algorithm} on ${model.dataset}`);
    const {guarantee} = model.certificate;
    view.title(`${name} · epsilond`);
    view.draw(html`<p class="crumb"><a href="/ui/models">Models</a> / <span class="id">${model.id}</span></p>
      <div class="head"><div><h1>${name}</h1><p class="quiet">${model.algorithm} on <a href="/ui/datasets/${model.dataset}">${model.dataset}</a>,
      ${guarantee ? `${epsilon(guarantee.epsilon)}, δ ${delta(guarantee.delta)}` : 'public data'}, by job <a href="/ui/jobs/${model.job}">${shortId(model.job)}</a></p></div></div>
      ${trouble(problem)}<div class="main-aside"><div>${result()}${shapes({model, job, dataset, classes: classWords(dataset)})}</div><div>${dataset && may('jobs:submit') && may('models:read') ? form(model, dataset) : nothing}${past()}
      ${dataset && may('models:read') ? predictions(model, dataset) : nothing}</div></div>`);
  };

  async function load(signal) {
    model ??= await get(path, signal);
    if (may('jobs:read')) {
      job ??= await get(`/v1/jobs/${model.job}`, signal);
      list = (await get(`/v1/evaluations?model=${encodeURIComponent(view.id)}&order=desc&page_size=${LISTED}`, signal)).evaluations;
    }
    dataset ??= await get(`/v1/datasets/${encodeURIComponent(model.dataset)}`, signal).catch(() => null);
    if (!chosen && job?.quality) chosen = 'own';
    const here = list.find(({id}) => id === chosen);
    if (here?.state === 'SUCCEEDED' && !whole.has(chosen)) await fetchOne(chosen);
    problem = null;
    draw();
    return list.some(({state}) => state === 'RUNNING') ? 1 : false;
  }

  function follow() {
    watch(view.signal, load, (error) => {
      problem = error;
      draw();
    });
  }

  draw();
  follow();
}
