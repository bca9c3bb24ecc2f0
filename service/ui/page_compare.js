// Compares the models of a dataset: cost and quality.
import {html, nothing} from './lit-html.js';
import {all, get} from './api.js';
import {age, bare, plain, quality, rate, shortId} from './format.js';
import {empty, loading, trouble} from './notice.js';
import {measured, scatter} from './scatter.js';
import './chart.js';

const OVERLAID = 5;
const BEST = 50;
const colours = ['spent', 'asked', 'held', 'bad', 'ink-2'];

function overlay(jobs) {
  const points = [...new Set(jobs.flatMap((job) => job.metrics.history.map(({step}) => step)))].sort((a, b) => a - b);
  const share = jobs[0].metrics.evaluation.accuracy != null;
  const member = share ? 'accuracy' : 'rmse';
  return {
    title: 'Chosen models as they were trained',
    sentence: `${jobs.length} of at most ${OVERLAID}, measured on public data.`,
    x: {label: 'step', show: (value) => plain(value)},
    y: {label: member, show: (value) => quality({[member]: value})},
    points,
    series: jobs.map((job, i) => {
      const at = new Map(job.metrics.history.map((point) => [point.step, point[member]]));
      return {label: `${job.algorithm.name}, ε ${bare(job.privacy.epsilon_spent)}`, kind: 'line', colour: colours[i], values: points.map((step) => at.get(step) ?? null)};
    }),
  };
}

export async function open(view) {
  const chosen = new Map(); // full jobs, with their history, by id
  let datasets = null;
  let jobs = null;
  let more = false; // whether there are further models, which are no better
  let id = view.query.get('dataset');

  const choose = (job) => async ({target}) => {
    if (!target.checked) chosen.delete(job.id);
    else if (chosen.size < OVERLAID) chosen.set(job.id, await get(`/v1/jobs/${job.id}`, view.signal));
    target.checked = chosen.has(job.id);
    draw();
  };
  const row = (job) => html`<tr><td><label class="pick"><input type="checkbox" .checked=${chosen.has(job.id)} @change=${choose(job)}
      aria-label="Show ${job.algorithm.name} of ε ${bare(job.privacy.epsilon_spent)} as it was trained"></label>
      <a class="name" href="/ui/jobs/${job.id}">${job.display_name ?? job.algorithm.name}</a><small>${job.model_spec.preset ?? 'layers'} · <span class="id">${shortId(job.id)}</span></small></td>
    <td data-name="Settings"><small>batch ${job.batch_size}${job.epochs ? `, ${job.epochs} epochs` : ''}, rate ${rate(job.optimizer)}</small></td>
    <td class="number" data-name="ε">${bare(job.privacy.epsilon_spent)}</td><td class="number" data-name="On public data"><b>${quality(job.metrics.evaluation)}</b></td>
    <td class="number quiet" data-name="Trained">${age(job.end_time)}</td></tr>`;
  const body = () => {
    if (!jobs) return loading;
    if (!jobs.length) return empty('Nothing to compare yet', 'A model appears here when it was trained with privacy and measured on public data.');
    const overlaid = [...chosen.values()];
    return html`<section class="card"><ui-chart .chart=${scatter(jobs, id, true)}></ui-chart></section>
      ${overlaid.length ? html`<section class="card"><ui-chart .chart=${overlay(overlaid)}></ui-chart></section>` : nothing}
      <div class="card table"><table class="folds"><thead><tr><th scope="col">Model</th><th scope="col">Settings</th><th scope="col" class="number">ε</th>
      <th scope="col" class="number">On public data</th><th scope="col" class="number">Trained</th></tr></thead><tbody>${jobs.map(row)}</tbody></table></div>`;
  };
  const draw = () => view.draw(html`<div class="head"><div><h1>Compare</h1><p class="quiet">What each model cost, and how good it is on public data.${
    more ? ` The best ${BEST} are shown.` : ''}</p></div>
    <div class="actions">${datasets?.length ? html`<select aria-label="Dataset" @change=${(event) => view.go(`/ui/compare?dataset=${event.target.value}`, {replace: true})}>
      ${datasets.map((name) => html`<option value=${name} ?selected=${name === id}>${name}</option>`)}</select>` : nothing}</div></div>${body()}`);

  view.title('Compare · epsilond');
  draw();
  try {
    const list = await all('/v1/datasets?view=summary&privacy=private&state=READY&order_by=id', 'datasets', view.signal, 100);
    datasets = list.map((one) => one.id);
    id ??= datasets[0];
    const order = list.find((one) => one.id === id)?.task === 'regression' ? 'asc' : 'desc';
    const page = id ? await get(`/v1/jobs?view=summary&state=SUCCEEDED&order_by=quality&order=${order}&page_size=${BEST}&dataset=${encodeURIComponent(id)}`,
      view.signal) : {jobs: [], next_page_token: null};
    jobs = measured(page.jobs);
    more = Boolean(page.next_page_token);
    draw();
  } catch (error) {
    if (error.name !== 'AbortError') view.draw(trouble(error));
  }
}
