// The audit trail: acts and refusals, newest first, a page at a time.
import {html, nothing} from './lit-html.js';
import {get, lines} from './api.js';
import {age, plain, shortId} from './format.js';
import {empty, loading, trouble} from './notice.js';
import {watch} from './watch.js';

const SIZE = 50;
const results = {ok: ['✓', 'Done', 'good'], denied: ['✕', 'Denied', 'bad'], error: ['✕', 'Failed', 'bad']};
// What was attempted; the result says whether it was done.
const kinds = {
  'dataset.create': 'Register a dataset', 'dataset.upload': 'Upload a file', 'dataset.import': 'Import the records', 'dataset.delete': 'Delete a dataset',
  'dataset.fetch': 'Fetch a file', 'dataset.fetch_cancel': 'Stop a fetch', 'dataset.rename': 'Rename a dataset', 'dataset.regrant': 'Ask for a new epoch',
  'file.create': 'Upload weights', 'file.delete': 'Delete weights',
  'job.create': 'Submit a job', 'job.cancel': 'Cancel a job', 'job.rename': 'Rename a job', 'job.delete': 'Delete a job',
  'sweep.create': 'Submit a sweep', 'sweep.cancel': 'Cancel a sweep', 'sweep.delete': 'Delete a sweep',
  'model.download': 'Download a model', 'model.evaluate': 'Evaluate a model', 'model.rename': 'Rename a model', 'model.delete': 'Delete a model',
  'statistics.create': 'Ask for statistics', 'charge.create': 'Reserve for external work', 'charge.authorise': 'Authorise external work', 'charge.settle': 'Settle external work',
  'grant.approve': 'Approve a grant', 'grant.reject': 'Reject a grant',
  'key.create': 'Make a key', 'key.revoke': 'Revoke a key', 'key.rotate': 'Rotate a key', 'key.policy': 'Change the limits of a key',
  'key.policy.approve': 'Approve the limits of a key', 'key.policy.reject': 'Reject the limits of a key',
  'webhook.create': 'Make a webhook', 'webhook.delete': 'Delete a webhook', 'webhook.test': 'Test a webhook', 'webhook.rotate': 'Renew the secret of a webhook',
  'session.create': 'Log in', 'session.delete': 'Log out', read: 'Read', refusals: 'Further refusals, only counted',
};
const filters = ['actor', 'action', 'object', 'result'];

// Returns the dataset that an act was about, if the row names one.
function datasetOf({action, object, detail: {dataset}}) {
  const isOfDataset = action.startsWith('dataset.') || (action.startsWith('grant.') && !object?.startsWith('grt_'));
  return dataset ?? (isOfDataset ? object : null);
}

function thing(act) {
  const {action, object} = act;
  const dataset = datasetOf(act);
  const short = object && (object.length > 24 ? shortId(object) : object);
  const id = !object || object === dataset ? nothing : action.startsWith('job.') && action !== 'job.delete' ? html`<a class="id" href="/ui/jobs/${object}" title=${object}>${short}</a>`
    : html`<span class="id" title=${object}>${short}</span>`;
  if (!dataset) return object ? id : '–';
  return html`<span><a class="name" href="/ui/datasets/${dataset}">${dataset}</a>${id === nothing ? nothing : html`<small>${id}</small>`}</span>`;
}

function text(value) {
  return typeof value === 'number' ? plain(value) : value && typeof value === 'object' ? JSON.stringify(value) : value;
}

function detail(members) {
  return Object.entries(members).filter(([name]) => name !== 'dataset').map(([name, value]) => `${name.replaceAll('_', ' ')} ${text(value)}`).join(', ');
}

function row(act) {
  const [glyph, word, kind] = results[act.result];
  return html`<tr><td><b>${kinds[act.action] ?? act.action}</b><small>${detail(act.detail)}</small></td>
    <td data-name="What">${thing(act)}</td>
    <td data-name="Who"><span>${act.actor ?? '–'}<small>${[act.key && `key ${act.key}`, act.project, act.ip].filter(Boolean).join(' · ')}</small></span></td>
    <td data-name="Result"><span><span class="badge ${kind}"><span aria-hidden="true">${glyph}</span> ${word}</span>${act.code ? html`<small>${act.code.replaceAll('_', ' ')}</small>` : nothing}</span></td>
    <td class="number quiet" data-name="When"><time datetime=${act.time} title=${act.time}>${age(act.time)}</time></td>
    <td class="number quiet" data-name="Row" title="hash ${act.hash}">${act.seq}</td></tr>`;
}

function table(acts) {
  return html`<div class="card table"><table class="folds"><thead><tr><th scope="col">Act</th><th scope="col">What</th><th scope="col">Who</th><th scope="col">Result</th>
    <th scope="col" class="number">When</th><th scope="col" class="number">Row</th></tr></thead><tbody>${acts.map(row)}</tbody></table></div>`;
}

function asked(query) {
  const wanted = new URLSearchParams();
  for (const name of filters) if (query.get(name)) wanted.set(name, query.get(name));
  return wanted;
}

// Saves all rows that match the filters as one NDJSON file, oldest first.
async function save(query, signal) {
  const wanted = asked(query);
  wanted.set('page_size', 1000);
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(new Blob(await lines(`/v1/audit?${wanted}`, signal), {type: 'application/x-ndjson'}));
  anchor.download = 'audit.ndjson';
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000); // by then the browser has begun to save the file
}

export function open(view) {
  const {query} = view;
  const tokens = [null]; // page tokens, up to that of the page shown
  let page = null;
  let problem = null;
  let turned = null; // AbortController of the requests for the page shown

  const choose = (name) => ({target}) => {
    target.value.trim() ? query.set(name, target.value.trim()) : query.delete(name);
    view.go(`/ui/audit${query.size ? `?${query}` : ''}`, {replace: true});
  };
  const failed = (error) => {
    problem = error;
    draw();
  };
  const turn = (change) => {
    change();
    page = null;
    follow();
  };
  const select = (name, label, choices) => html`<select aria-label=${label} @change=${choose(name)}><option value="" ?selected=${!query.get(name)}>Any ${label.toLowerCase()}</option>
    ${choices.map(([value, word]) => html`<option value=${value} ?selected=${value === query.get(name)}>${word}</option>`)}</select>`;
  const field = (name, label) => html`<input type="search" aria-label=${label} placeholder=${label} maxlength="64" .value=${query.get(name) ?? ''} @change=${choose(name)}>`;
  const draw = () => view.draw(html`<div class="head"><div><h1>Audit</h1><p class="quiet">Who did what, and what was refused. Rows are chained, and
    <code>epsilond verify</code> checks them.</p></div><div class="actions"><button class="button" @click=${() => save(query, view.signal).catch(failed)}>Export</button></div></div>
    <div class="actions">${field('actor', 'Who')}${field('object', 'Dataset, job or model')}
    ${select('action', 'Act', Object.entries(kinds))}${select('result', 'Result', Object.entries(results).map(([name, [, word]]) => [name, word]))}</div>
    ${trouble(problem)}${!page ? (problem ? nothing : loading) : page.acts.length ? table(page.acts) : empty('No acts', 'No act matches these filters.')}
    <div class="pages"><button class="button" ?disabled=${tokens.length === 1} @click=${() => turn(() => tokens.splice(1))}>Newest</button>
    <button class="button" ?disabled=${!page?.next_page_token} @click=${() => turn(() => tokens.push(page.next_page_token))}>Older</button></div>`);

  async function load(signal) {
    const wanted = asked(query);
    wanted.set('order', 'desc');
    wanted.set('page_size', SIZE);
    if (tokens.at(-1)) wanted.set('page_token', tokens.at(-1));
    page = await get(`/v1/audit?${wanted}`, signal);
    problem = null;
    draw();
    return tokens.length === 1 ? 15 : false; // older rows never change
  }

  function follow() {
    turned?.abort();
    turned = new AbortController();
    view.signal.addEventListener('abort', () => turned.abort(), {once: true});
    watch(turned.signal, load, failed);
  }

  view.title('Audit · epsilond');
  draw();
  follow();
}
