// Compares the models of a dataset, by cost and by score, or shows the curves of several jobs in one chart.
import {html, nothing} from './lit-html.js';
import {all, get} from './api.js';
import {age, bare, jobName, plain, quality, rate, shortId} from './format.js';
import {deadEnd, empty, loading, trouble} from './notice.js';
import {rowTable} from './row_table.js';
import {measured, scatter} from './scatter.js';
import {score, scoreColumn} from './score.js';
import './chart.js';

const OVERLAID = 5;
const BEST = 50;
const colours = ['spent', 'asked', 'held', 'bad', 'ink-2'];

// What a chart of several runs can show: measurements on public data, and what training released through noise.
const curves = [
  {member: 'accuracy', of: ({metrics}) => metrics.history, title: 'Accuracy on public data', show: (value) => quality({accuracy: value})},
  {member: 'rmse', of: ({metrics}) => metrics.history, title: 'Error on public data', show: (value) => plain(value)},
  {member: 'clip_norm', of: ({metrics}) => metrics.released, title: 'Clip norm, as released', show: (value) => plain(value, 3)},
  {member: 'gradient_norm', of: ({metrics}) => metrics.released, title: 'Gradient norm, as released', show: (value) => plain(value, 3)},
];

// Returns one chart for each kind of curve that at least one of the jobs has.
function overlays(jobs) {
  return curves.flatMap(({member, of, title, show}) => {
    const having = jobs.filter((job) => of(job).some((point) => point[member] != null));
    if (!having.length) return [];
    const points = [...new Set(having.flatMap((job) => of(job).map(({step}) => step)))].sort((a, b) => a - b);
    return [{
      title,
      sentence: `${having.length} run${having.length === 1 ? '' : 's'} in one chart, at most ${OVERLAID}.`,
      x: {label: 'step', show: (value) => plain(value)},
      y: {label: member.replace('_', ' '), show},
      points,
      series: having.map((job) => {
        const at = new Map(of(job).map((point) => [point.step, point[member]]));
        return {label: jobName(job), kind: 'line', colour: colours[jobs.indexOf(job)], dashed: jobs.indexOf(job) % 2 === 1, values: points.map((step) => at.get(step) ?? null)};
      }),
    }];
  });
}

const cards = (jobs) => overlays(jobs).map((chart) => html`<section class="card"><ui-chart .chart=${chart}></ui-chart></section>`);

// Shows the curves of the jobs that the address names; they may be of different datasets.
async function openJobs(view, ids) {
  view.title('Curves · epsilond');
  view.draw(loading);
  const jobs = await Promise.all(ids.slice(0, OVERLAID).map((id) => get(`/v1/jobs/${encodeURIComponent(id)}`, view.signal)));
  const row = (job) => html`<tr><td><a class="name" href="/ui/jobs/${job.id}">${jobName(job)}</a></td><td data-name="Dataset"><a href="/ui/datasets/${job.dataset}">${job.dataset}</a></td>
    <td data-name="Settings"><small>batch ${job.batch_size}${job.epochs ? `, ${job.epochs} epochs` : ''}, rate ${rate(job.optimizer)}</small></td>
    <td class="number" data-name="ε">${bare(job.privacy?.epsilon_spent)}</td><td class="number" data-name="Quality">${score(job.metrics)}</td></tr>`;
  const charts = cards(jobs);
  view.draw(html`<p class="crumb"><a href="/ui/jobs">Jobs</a> /</p><div class="head"><div><h1>Curves of ${jobs.length} run${jobs.length === 1 ? '' : 's'}</h1></div></div>
    ${charts.length ? charts : empty('No curves', 'These jobs were not measured on public data, and their algorithms release no figures.')}
    <div class="card table"><table class="folds"><thead><tr><th scope="col">Job</th><th scope="col">Dataset</th><th scope="col">Settings</th><th scope="col" class="number">ε</th>
      <th scope="col" class="number">Quality</th></tr></thead><tbody>${jobs.map(row)}</tbody></table></div>`);
}

async function openDataset(view) {
  const whole = new Map(); // jobs with their history, by id
  let datasets = null;
  let jobs = null;
  let more = false; // whether there are further models, which are no better
  let id = view.query.get('dataset');

  // Fetches the chosen jobs with their history, which the list does not have.
  const choose = async () => {
    draw();
    try {
      for (const id of rows.chosen.keys()) if (!whole.has(id)) whole.set(id, await get(`/v1/jobs/${id}`, view.signal));
      draw();
    } catch (error) {
      if (error.name !== 'AbortError') view.draw(trouble(error));
    }
  };
  const columns = [
    {name: 'Model', of: jobName, cell: (job) => html`<a class="name" href="/ui/jobs/${job.id}">${jobName(job)}</a><small>${job.algorithm.name} · <span class="id">${shortId(job.id)}</span></small>`},
    {name: 'Settings', cell: (job) => html`<small>batch ${job.batch_size}${job.epochs ? `, ${job.epochs} epochs` : ''}, rate ${rate(job.optimizer)}</small>`},
    {name: 'ε', number: true, of: ({privacy}) => privacy.epsilon_spent, cell: ({privacy}) => bare(privacy.epsilon_spent)},
    scoreColumn,
    {name: 'Trained', number: true, of: ({end_time: time}) => Date.parse(time), cell: ({end_time: time}) => age(time)},
  ];
  const rows = rowTable(columns, {draw: () => choose(), most: OVERLAID, named: jobName});
  const body = () => {
    if (!jobs) return loading;
    if (!jobs.length) return empty('Nothing to compare yet', 'A model appears here when it was trained with privacy and measured, on its holdout or on public data.');
    const overlaid = [...rows.chosen.keys()].map((one) => whole.get(one)).filter(Boolean);
    return html`<section class="card"><ui-chart .chart=${scatter(jobs, id, true)}></ui-chart></section>
      ${cards(overlaid)}
      ${rows.table(jobs)}`;
  };
  const draw = () => view.draw(html`<div class="head"><div><h1>Compare</h1><p class="quiet">What each model cost, and how good it is: on the holdout, or else on public data.${
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

export async function open(view) {
  const ids = view.query.get('jobs')?.split(',').filter(Boolean);
  try {
    await (ids ? openJobs(view, ids) : openDataset(view));
  } catch (error) {
    if (error.name !== 'AbortError') view.draw(deadEnd(error, 'job', ids?.join(', ') ?? '', ['/ui/jobs', 'all jobs']));
  }
}
