// All jobs, newest first, a page at a time.
import {html, nothing} from './lit-html.js';
import {all, get} from './api.js';
import {badge, isOpen, reason} from './badge.js';
import {tags} from './caption.js';
import {age, bare, count, jobName, shortId} from './format.js';
import {bar} from './gauge.js';
import {empty, loading, trouble} from './notice.js';
import {rowTable} from './row_table.js';
import {scoreColumn} from './score.js';
import {isAlive} from './stream.js';
import {watch} from './watch.js';

const SIZE = 50;
const states = ['QUEUED', 'RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];

function progress({state, progress: {step, steps}}) {
  if (state === 'RUNNING' || state === 'CANCELLING') return bar(step / steps, `step ${step} of ${steps}`);
  return html`<small>${count(state === 'QUEUED' ? steps : step)} steps</small>`;
}

const MOST = 5; // jobs whose curves fit into one chart

const columns = [
  {name: 'Job', of: jobName, cell: (job) => html`<a class="name" href="/ui/jobs/${job.id}">${jobName(job)}</a>
    <small>${job.algorithm.name} · ${job.model_spec.preset ?? 'layers'} · <span class="id">${shortId(job.id)}</span> ${tags(job, '/ui/jobs')}</small>`},
  {name: 'Dataset', of: ({dataset}) => dataset, cell: ({dataset}) => html`<a href="/ui/datasets/${dataset}">${dataset}</a>`},
  {name: 'State', of: ({state}) => state, cell: (job) => html`<span>${badge(job.state)}${job.state_reason ? html`<small>${reason(job.state_reason)}</small>` : nothing}</span>`},
  {name: 'Progress', of: ({progress: {step, steps}}) => step / steps, cell: progress},
  {name: 'ε planned', number: true, of: ({privacy}) => privacy?.epsilon_planned, cell: ({privacy}) => bare(privacy?.epsilon_planned)},
  {name: 'ε spent', number: true, of: ({privacy}) => privacy?.epsilon_spent, cell: ({privacy}) => bare(privacy?.epsilon_spent)},
  scoreColumn,
  {name: 'Submitted', number: true, of: ({create_time: time}) => Date.parse(time), cell: ({create_time: time}) => age(time)},
];

function options(names, chosen, any) {
  return html`<option value="" ?selected=${!chosen}>${any}</option>
    ${names.map((name) => html`<option value=${name} ?selected=${name === chosen}>${name[0] + (states.includes(name) ? name.slice(1).toLowerCase() : name.slice(1))}</option>`)}`;
}

export function open(view) {
  const {query} = view;
  const tokens = [null]; // page tokens, up to that of the page shown
  let page = null;
  let datasets = [];
  let problem = null;
  let turned = null; // AbortController of the requests for the page shown
  const rows = rowTable(columns, {draw: () => draw(), most: MOST, named: jobName});

  const choose = (name) => (event) => {
    event.target.value ? query.set(name, event.target.value) : query.delete(name);
    view.go(`/ui/jobs${query.size ? `?${query}` : ''}`, {replace: true});
  };
  const find = (event) => {
    const wanted = event.target.value.trim();
    wanted ? query.set('q', wanted) : query.delete('q');
    history.replaceState(null, '', `/ui/jobs${query.size ? `?${query}` : ''}`);
    tokens.splice(1);
    follow(0.2);
  };
  const turn = (change) => {
    change();
    page = null;
    follow();
  };
  const chosenBar = () => (!rows.chosen.size ? nothing : html`<div class="notice" id="chosen">${count(rows.chosen.size)} of at most ${MOST} chosen
    <a class="button" href="/ui/compare?jobs=${[...rows.chosen.keys()].join()}">Compare their curves</a></div>`);
  const draw = () => view.draw(html`<div class="head"><div><h1>Jobs</h1><p class="quiet">Newest first. ${query.get('tag') ? html`Only those with the tag <a class="tag" href="/ui/jobs" title="Show all jobs">${query.get('tag')} ✕</a>` : nothing}</p></div><div class="actions">
    <input type="search" aria-label="Find a job" placeholder="Find by name or tag" maxlength="100" .value=${query.get('q') ?? ''} @input=${find}>
    <select aria-label="State" @change=${choose('state')}>${options(states, query.get('state'), 'Any state')}</select>
    <select aria-label="Dataset" @change=${choose('dataset')}>${options(datasets, query.get('dataset'), 'Any dataset')}</select></div></div>
    ${trouble(problem)}${!page ? loading : page.jobs.length ? html`${chosenBar()}${rows.table(page.jobs)}`
      : empty('No jobs', 'No job matches this list.')}
    <div class="pages"><button class="button" ?disabled=${tokens.length === 1} @click=${() => turn(() => tokens.splice(1))}>Newest</button>
    <button class="button" ?disabled=${!page?.next_page_token} @click=${() => turn(() => tokens.push(page.next_page_token))}>Older</button></div>`);

  async function load(signal) {
    const asked = new URLSearchParams({view: 'summary', page_size: SIZE});
    for (const name of ['q', 'tag', 'state', 'dataset', 'algorithm']) if (query.get(name)) asked.set(name, query.get(name));
    if (tokens.at(-1)) asked.set('page_token', tokens.at(-1));
    page = await get(`/v1/jobs?${asked}`, signal);
    problem = null;
    draw();
    return isAlive() || page.jobs.some(isOpen) ? 3 : 15;
  }

  function follow(after = 0) {
    turned?.abort();
    turned = new AbortController();
    const {signal} = turned;
    view.signal.addEventListener('abort', () => turned.abort(), {once: true});
    setTimeout(() => watch(signal, load, (error) => {
      problem = error;
      draw();
    }, ({name}) => name !== 'budget'), 1000 * after);
  }

  view.title('Jobs · epsilond');
  draw();
  follow();
  all('/v1/datasets?view=summary&order_by=id', 'datasets', view.signal, 60).then((list) => {
    const ids = list.filter(({state}) => state !== 'DELETED').map(({id}) => id);
    const chosen = query.get('dataset');
    datasets = chosen && !ids.includes(chosen) ? [chosen, ...ids] : ids;
    draw();
  }).catch(() => {});
}
