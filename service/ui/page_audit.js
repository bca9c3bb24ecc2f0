// The audit trail: acts and refusals, newest first, a page at a time.
import {html, nothing} from './lit-html.js';
import {get, lines} from './api.js';
import {age, plain, shortId} from './format.js';
import {empty, loading, trouble} from './notice.js';
import {watch} from './watch.js';

const SIZE = 50;
const results = {ok: ['✓', 'Done', 'good'], denied: ['✕', 'Denied', 'bad'], error: ['!', 'Failed', 'warn']};
const kinds = {
  'dataset.create': 'Registered', 'file.create': 'Uploaded weights', 'file.delete': 'Deleted weights', 'dataset.delete': 'Deleted', 'dataset.upload': 'Uploaded a file', 'dataset.import': 'Began to import',
  'dataset.rename': 'Renamed', 'job.rename': 'Renamed', 'model.rename': 'Renamed', 'job.delete': 'Deleted', 'model.delete': 'Deleted',
  'dataset.fetch': 'Had a file fetched', 'dataset.fetch_cancel': 'Stopped a fetch', 'key.create': 'Made a key', 'key.revoke': 'Revoked a key', 'key.rotate': 'Rotated a key',
  'webhook.create': 'Made a webhook', 'webhook.delete': 'Deleted a webhook', 'webhook.test': 'Tried a webhook', 'webhook.rotate': 'Renewed a webhook\'s secret',
  'grant.approve': 'Approved a grant', 'grant.reject': 'Rejected a grant', 'dataset.regrant': 'Asked for a new epoch', 'key.policy': 'Changed a policy', 'key.policy.approve': 'Approved a policy', 'key.policy.reject': 'Rejected a policy', 'job.create': 'Submitted', 'job.cancel': 'Cancelled', 'model.download': 'Downloaded',
  'sweep.create': 'Submitted a sweep', 'sweep.cancel': 'Cancelled a sweep', 'sweep.delete': 'Deleted a sweep',
  'charge.create': 'Reserved for work elsewhere', 'charge.authorise': 'Authorised work elsewhere', 'charge.settle': 'Settled work elsewhere', 'statistics.create': 'Asked for statistics',
  'session.create': 'Logged in', 'session.delete': 'Logged out', read: 'Read', refusals: 'Refused more than is listed',
};
const filters = ['actor', 'action', 'object', 'result'];

function thing({action, object}) {
  if (!object) return '–';
  if (action.startsWith('dataset.') || (action.startsWith('grant.') && !object.startsWith('grt_'))) return html`<a href="/ui/datasets/${object}">${object}</a>`;
  if (action.startsWith('job.')) return html`<a class="id" href="/ui/jobs/${object}" title=${object}>${shortId(object)}</a>`;
  return html`<span class="id" title=${object}>${object.length > 24 ? shortId(object) : object}</span>`;
}

function text(value) {
  return typeof value === 'number' ? plain(value) : value && typeof value === 'object' ? JSON.stringify(value) : value;
}

function detail(members) {
  return Object.entries(members).map(([name, value]) => `${name.replaceAll('_', ' ')} ${text(value)}`).join(', ');
}

function row(act) {
  const [glyph, word, kind] = results[act.result];
  return html`<tr><td><b>${kinds[act.action] ?? act.action}</b><small>${detail(act.detail)}</small></td>
    <td data-name="What">${thing(act)}</td>
    <td data-name="Who"><span>${act.actor ?? '–'}<small>${[act.key && `key ${act.key}`, act.project, act.ip].filter(Boolean).join(' · ')}</small></span></td>
    <td data-name="Result"><span><span class="badge ${kind}"><span aria-hidden="true">${glyph}</span> ${word}</span>${act.code ? html`<small>${act.code}</small>` : nothing}</span></td>
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
    ${select('action', 'Act', Object.keys(kinds).map((name) => [name, name]))}${select('result', 'Result', Object.entries(results).map(([name, [, word]]) => [name, word]))}</div>
    ${trouble(problem)}${!page ? (problem ? nothing : loading) : page.acts.length ? table(page.acts) : empty('No acts', 'None that this list would show.')}
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
