// Sweeps: all of them, or one with the settings and the quality of each run, and the best run.
import {html, nothing} from './lit-html.js';
import {all, get, post, remove} from './api.js';
import {badge} from './badge.js';
import {age, bare, epsilon, plain, quality, shortId} from './format.js';
import {deadEnd, empty, loading, question, trouble} from './notice.js';
import {axisOf, parallelChart} from './parallel.js';
import {rowTable} from './row_table.js';
import {figure, score} from './score.js';
import {watch} from './watch.js';
import {may} from './who.js';
import './chart.js';

const EVERY = 2; // seconds, while runs are open
const LISTED = 100;

const words = ({states}) => Object.entries(states).filter(([, number]) => number).map(([state, number]) => `${number} ${state.toLowerCase()}`).join(', ');

function scatter(sweep) {
  const share = sweep.metric === 'accuracy';
  const runs = sweep.runs.filter((run) => figure(run) != null && run.epsilon_spent != null).sort((a, b) => a.epsilon_spent - b.epsilon_spent);
  if (runs.length < 2) return nothing;
  return html`<section class="card"><ui-chart .chart=${{
    title: `${share ? 'Accuracy' : 'Error'} against epsilon`,
    sentence: `${runs.length} runs; ${share ? 'up' : 'down'} is better, left is more private.`,
    x: {label: 'epsilon of the run', show: bare},
    y: {label: sweep.metric, show: (value) => quality({[sweep.metric]: value})},
    points: runs.map((run) => run.epsilon_spent),
    series: [{label: 'run', kind: 'marks', colour: 'spent', shape: 'circle', values: runs.map((run) => (run.job === sweep.winner ? null : figure(run)))},
      {label: 'the best', kind: 'marks', colour: 'asked', shape: 'diamond', values: runs.map((run) => (run.job === sweep.winner ? figure(run) : null))}],
  }}></ui-chart></section>`;
}

// Settings that at least one run has of its own, and their names.
const settings = (sweep) => [...new Set(sweep.runs.flatMap((run) => Object.keys(run.settings)))];
const called = (pointer) => pointer.split('/').slice(1).filter((part, i, all) => i > 0 || all.length === 1).join(' ').replaceAll('_', ' ');

// Draws an axis for each setting and one for the quality, with the runs whose quality is known.
function parallel(sweep, chart) {
  const runs = sweep.runs.filter((run) => figure(run) != null);
  if (runs.length < 2) return nothing;
  const axes = settings(sweep).map((name) => axisOf(called(name), runs.map((run) => run.settings[name] ?? null)));
  axes.push(axisOf(sweep.metric, runs.map(figure), (value) => quality({[sweep.metric]: value})));
  return chart('Settings side by side', `A line for each of ${runs.length} runs; ${sweep.winner ? 'the thick one is the best' : 'none is the best yet'}.`, axes,
    runs.map((run) => ({label: `Run ${run.run + 1}`, best: run.job === sweep.winner})));
}

function tiles(sweep) {
  const tile = (number, words) => html`<div class="tile"><b>${number}</b><span>${words}</span></div>`;
  const ended = sweep.states.SUCCEEDED + sweep.states.FAILED + sweep.states.CANCELLED;
  const best = sweep.runs.find((run) => run.job === sweep.winner);
  return html`<div class="tiles">${tile(`${ended} of ${sweep.run_count}`, 'runs have ended')}
    ${tile(sweep.epsilon == null ? 'public' : epsilon(sweep.epsilon), sweep.epsilon == null ? 'trained without privacy' : `all runs together, held before the first began; ${epsilon(sweep.epsilon_spent)} of it spent${ended === sweep.run_count && sweep.epsilon_spent < sweep.epsilon ? ', the rest free again' : ''}`)}
    ${tile(best ? quality({[sweep.metric]: figure(best)}) : '–', best ? html`the best, <a href="/ui/jobs/${best.job}">run ${best.run + 1}</a>` : 'no run has been measured')}
    ${tile(best?.epsilon_spent != null ? epsilon(best.epsilon_spent) : '–', 'that run alone')}</div>`;
}

// Has a column for each setting that at least one run has of its own.
function table(sweep) {
  const names = settings(sweep);
  const show = (value) => (typeof value === 'number' ? plain(value) : typeof value === 'string' ? value : JSON.stringify(value));
  const row = (run) => html`<tr><td><a class="name" href="/ui/jobs/${run.job}">Run ${run.run + 1}</a>${run.job === sweep.winner ? html` <span class="badge good"><span aria-hidden="true">✓</span> best</span>` : nothing}
      <small class="id">${shortId(run.job)}</small></td>
    ${names.map((name) => html`<td class="number" data-name=${called(name)}>${name in run.settings ? show(run.settings[name]) : '–'}</td>`)}
    <td data-name="State">${badge(run.state)}</td>
    <td class="number" data-name="ε planned">${bare(run.epsilon_planned)}</td><td class="number" data-name="ε spent">${bare(run.epsilon_spent)}</td>
    <td class="number" data-name="Quality">${score(run)}</td></tr>`;
  return html`<div class="card table"><table class="folds"><thead><tr><th scope="col">Run</th>
    ${names.map((name) => html`<th scope="col" class="number">${called(name)}</th>`)}<th scope="col">State</th>
    <th scope="col" class="number">ε planned</th><th scope="col" class="number">ε spent</th><th scope="col" class="number">Quality</th></tr></thead>
    <tbody>${sweep.runs.map(row)}</tbody></table></div>`;
}

const columns = [
  {name: 'Sweep', of: ({run_count: runs}) => runs, cell: (sweep) => html`<a class="name" href="/ui/sweeps/${sweep.id}">${sweep.run_count} runs</a> <small class="id">${shortId(sweep.id)}</small>`},
  {name: 'Dataset', of: ({dataset}) => dataset, cell: ({dataset}) => html`<a href="/ui/datasets/${dataset}">${dataset}</a>`},
  {name: 'Runs', of: ({state}) => state, cell: (sweep) => html`<small>${words(sweep)}</small>`},
  {name: 'ε together', number: true, of: (sweep) => sweep.epsilon, cell: (sweep) => bare(sweep.epsilon)},
  {name: 'Best', cell: ({winner}) => (winner ? html`<a href="/ui/jobs/${winner}">${shortId(winner)}</a>` : '–')},
  {name: 'Quality of the best', number: true, of: ({winner_metrics: metrics}) => metrics && figure(metrics), cell: ({winner_metrics: metrics}) => (metrics ? score(metrics) : '–')},
  {name: 'Submitted', number: true, of: ({create_time: time}) => Date.parse(time), cell: ({create_time: time}) => age(time)},
];

function list(sweeps, rows) {
  if (!sweeps.length) return empty('No sweeps yet', html`Many runs of one job, paid for together: <a href="/ui/train">describe a job</a> and the values to try.`);
  return rows.table(sweeps);
}

export function open(view) {
  const {id} = view;
  let shown = null;
  let problem = null;
  let asking = null; // the act to confirm: cancel, delete
  const chart = parallelChart(() => draw());
  const rows = rowTable(columns, {draw: () => draw()});
  const ask = (now) => () => {
    asking = now;
    draw();
  };
  const attempt = (act) => async () => {
    asking = null;
    try {
      await act();
    } catch (error) {
      problem = error;
    }
    draw();
  };
  const cancel = attempt(async () => {
    shown = await post(`/v1/sweeps/${id}:cancel`, {});
    view.say('What has not ended is being cancelled.');
  });
  const drop = attempt(async () => {
    await remove(`/v1/sweeps/${id}`);
    view.go('/ui/sweeps', {replace: true});
  });
  const asked = () => (asking === 'cancel' ? question('Cancel what has not ended?', 'What its steps have taken stays spent; what was never begun is given back.', ['Cancel it', cancel], ['Let it run', ask(null)])
    : asking ? question('Delete this sweep?', 'Its runs go with it; their entries stay in the ledger, and what was spent stays spent.', ['Delete it', drop], ['Keep it', ask(null)]) : nothing);
  // The best runs, at most five, whose curves fit into one chart.
  const best = () => shown.runs.filter((run) => figure(run) != null).sort((a, b) => (shown.metric === 'rmse' ? 1 : -1) * (figure(a) - figure(b))).slice(0, 5).map(({job}) => job);
  const actions = () => (shown.state === 'ACTIVE' ? may('jobs:cancel') ? html`<button class="button danger" @click=${ask('cancel')}>Cancel what has not ended</button>` : nothing
    : may('jobs:edit') ? html`<button class="button danger" @click=${ask('delete')}>Delete</button>` : nothing);
  const one = () => html`<p class="crumb"><a href="/ui/sweeps">Sweeps</a> / <span class="id">${id}</span></p>
    <div class="head"><div><h1>Sweep of ${shown.run_count} runs</h1><p class="quiet">On <a href="/ui/datasets/${shown.dataset}">${shown.dataset}</a>: ${words(shown)}.</p></div>
    <div class="actions">${best().length > 1 ? html`<a class="button" href="/ui/compare?jobs=${best().join()}">Curves of the best runs</a>` : nothing}${actions()}</div></div>
    ${asked()}${tiles(shown)}<div class="two">${parallel(shown, chart)}${scatter(shown)}</div>${table(shown)}`;
  const many = () => html`<div class="head"><div><h1>Sweeps</h1><p class="quiet">Many runs of one job, paid for together, and the best of them.</p></div></div>${list(shown, rows)}`;
  const draw = () => view.draw(problem && !shown && id ? deadEnd(problem, 'sweep', id, ['/ui/sweeps', 'all sweeps']) : html`${problem ? trouble(problem) : nothing}${!shown ? loading : id ? one() : many()}`);

  view.title(id ? 'Sweep · epsilond' : 'Sweeps · epsilond');
  draw();
  watch(view.signal, async (signal) => {
    shown = id ? await get(`/v1/sweeps/${id}`, signal) : await all('/v1/sweeps', 'sweeps', signal, LISTED);
    problem = null;
    draw();
    const open = id ? shown.state === 'ACTIVE' : shown.some((sweep) => sweep.state === 'ACTIVE');
    return open ? EVERY : false;
  }, (error) => {
    problem = error;
    draw();
  }, ({name, data}) => (name === 'sweep' ? !id || data.id === id : name === 'progress' && shown?.runs?.some(({job}) => job === data.id)));
}
