// The models: the versions of each name, with stage, guarantee and quality.
import {html, nothing} from './lit-html.js';
import {get, patch} from './api.js';
import {tags} from './caption.js';
import {age, delta, epsilon, jobName, shortId} from './format.js';
import {empty, loading, trouble} from './notice.js';
import {rowTable} from './row_table.js';
import {scoreColumn} from './score.js';
import {watch} from './watch.js';
import {may} from './who.js';

const SIZE = 25;
const MOST = 5; // models whose curves fit into one chart
const stages = ['candidate', 'production', 'retired'];

// Adds to each model its name and, if all models of that name are in the list, its version: 1 is the oldest. A model
// without a name has that of its job.
function withVersions(models, jobs, complete) {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const seen = new Map();
  const named = models.map((model) => {
    const job = byId.get(model.job);
    return {...model, name: model.display_name ?? (job ? jobName(job) : `${model.algorithm} on ${model.dataset}`)};
  });
  const total = (name) => named.filter((one) => one.name === name).length;
  return named.map((model) => {
    seen.set(model.name, (seen.get(model.name) ?? 0) + 1);
    const place = seen.get(model.name);
    return {...model, isNewest: place === 1, version: complete ? total(model.name) - place + 1 : null};
  });
}

function versionWords({version, isNewest}) {
  if (version == null) return isNewest ? 'newest' : 'older';
  return `version ${version}`;
}

export function open(view) {
  const {query} = view;
  const tokens = [null]; // page tokens, up to that of the page shown
  let page = null;
  let problem = null;
  let turned = null; // AbortController of the requests for the page shown

  const promote = (model) => async ({target}) => {
    try {
      await patch(`/v1/models/${model.id}`, {tags: {stage: target.value || null}}, '*');
      view.say(`${model.name}: ${target.value || 'no stage'}`);
      follow();
    } catch (error) {
      failed(error);
    }
  };
  const stage = (model) => {
    const now = model.tags.stage ?? '';
    if (!may('models:edit')) return now || '–';
    const known = [...new Set(['', ...stages, now])];
    return html`<select aria-label="Stage of ${model.name}" @change=${promote(model)}>${known.map((one) => html`<option value=${one} ?selected=${one === now}>${one || 'no stage'}</option>`)}</select>`;
  };
  const columns = [
    {name: 'Model', of: ({name}) => name, cell: (model) => html`<a class="name" href="/ui/models/${model.id}">${model.name}</a>
      <small>${versionWords(model)} · ${model.algorithm} · <span class="id">${shortId(model.id)}</span> ${tags({tags: Object.fromEntries(Object.entries(model.tags).filter(([key]) => key !== 'stage'))})}</small>`},
    {name: 'Stage', of: ({tags: all}) => all.stage, cell: stage},
    {name: 'Dataset', of: ({dataset}) => dataset, cell: ({dataset}) => html`<a href="/ui/datasets/${dataset}">${dataset}</a>`},
    {name: 'Certificate', number: true, of: ({certificate}) => certificate.guarantee?.epsilon, cell: ({certificate: {guarantee}}) => (guarantee
      ? html`<span>${epsilon(guarantee.epsilon)} <small>δ ${delta(guarantee.delta)}, ledger entry ${guarantee.reserve?.seq ?? '–'}</small></span>` : 'public data')},
    scoreColumn,
    {name: 'Trained', number: true, of: ({create_time: time}) => Date.parse(time), cell: ({create_time: time}) => age(time)},
  ];
  const rows = rowTable(columns, {draw: () => draw(), most: MOST, named: ({name}) => name});

  const find = (event) => {
    const wanted = event.target.value.trim();
    wanted ? query.set('q', wanted) : query.delete('q');
    history.replaceState(null, '', `/ui/models${query.size ? `?${query}` : ''}`);
    tokens.splice(1);
    follow(0.2);
  };
  const turn = (change) => {
    change();
    page = null;
    follow();
  };
  const failed = (error) => {
    problem = error;
    draw();
  };
  const bar = () => (!rows.chosen.size ? nothing : html`<div class="notice" id="chosen">${rows.chosen.size} of at most ${MOST} chosen
    <a class="button" href="/ui/compare?jobs=${[...rows.chosen.values()].map(({job}) => job).join()}">Compare their curves</a></div>`);
  const draw = () => view.draw(html`<div class="head"><div><h1>Models</h1><p class="quiet">Newest first. Models of one name are its versions.</p></div>
    <div class="actions"><input type="search" aria-label="Find a model" placeholder="Find by name or tag" maxlength="100" .value=${query.get('q') ?? ''} @input=${find}></div></div>
    ${trouble(problem)}${!page ? (problem ? nothing : loading) : page.models.length ? html`${bar()}${rows.table(page.models)}`
      : empty('No models', query.get('q') ? 'No model has this name or tag.' : 'A model appears here when its job has succeeded.')}
    ${tokens.length > 1 || page?.next ? html`<div class="pages"><button class="button" ?disabled=${tokens.length === 1} @click=${() => turn(() => tokens.splice(1))}>Newest</button>
    <button class="button" ?disabled=${!page?.next} @click=${() => turn(() => tokens.push(page.next))}>Older</button></div>` : nothing}`);

  async function load(signal) {
    const asked = new URLSearchParams({page_size: SIZE});
    for (const name of ['q', 'tag', 'dataset']) if (query.get(name)) asked.set(name, query.get(name));
    if (tokens.at(-1)) asked.set('page_token', tokens.at(-1));
    const {models, next_page_token: next} = await get(`/v1/models?${asked}`, signal);
    const jobs = models.length && may('jobs:read') ? (await get(`/v1/jobs?view=summary&state=SUCCEEDED&page_size=${SIZE}`, signal)).jobs : [];
    page = {models: withVersions(models, jobs, tokens.length === 1 && !next && !query.get('q')), next};
    problem = null;
    draw();
    return 15;
  }

  function follow(after = 0) {
    turned?.abort();
    turned = new AbortController();
    const {signal} = turned;
    view.signal.addEventListener('abort', () => turned.abort(), {once: true});
    setTimeout(() => watch(signal, load, failed), 1000 * after);
  }

  view.title('Models · epsilond');
  draw();
  follow();
}
