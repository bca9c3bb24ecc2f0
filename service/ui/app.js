// The frame: the header, the table of pages by path, and everything that all pages share.
import {html, render, nothing} from './lit-html.js';
import {get} from './api.js';
import {trouble} from './notice.js';
import {start as startStream, want as wantStream} from './stream.js';
import {watch} from './watch.js';
import {forget, isSomebody, learn, logOut, may, principal} from './who.js';

const LOGIN = '/ui/login';

// Each row has the pattern of a page's path, the module that draws the page (fetched on the first visit), its place in
// the header, and the scope that it needs.
const pages = [
  [/^\/ui\/(?:datasets)?$/, () => import('./page_datasets.js'), '/ui/datasets', 'budgets:read'],
  [/^\/ui\/datasets\/([^/]+)$/, () => import('./page_dataset.js'), '/ui/datasets', 'budgets:read'],
  [/^\/ui\/jobs$/, () => import('./page_jobs.js'), '/ui/jobs', 'jobs:read'],
  [/^\/ui\/jobs\/([^/]+)$/, () => import('./page_job.js'), '/ui/jobs', 'jobs:read'],
  [/^\/ui\/sweeps$/, () => import('./page_sweeps.js'), '/ui/sweeps', 'jobs:read'],
  [/^\/ui\/sweeps\/([^/]+)$/, () => import('./page_sweeps.js'), '/ui/sweeps', 'jobs:read'],
  [/^\/ui\/models$/, () => import('./page_models.js'), '/ui/models', 'certificates:read'],
  [/^\/ui\/models\/([^/]+)$/, () => import('./page_model.js'), '/ui/models', 'certificates:read'],
  [/^\/ui\/train$/, () => import('./page_train.js'), null, 'jobs:submit'],
  [/^\/ui\/statistics$/, () => import('./page_statistics.js'), '/ui/datasets', 'jobs:read'],
  [/^\/ui\/register$/, () => import('./page_register.js'), '/ui/datasets', 'datasets:admin'],
  [/^\/ui\/compare$/, () => import('./page_compare.js'), '/ui/compare', 'jobs:read'],
  [/^\/ui\/approvals$/, () => import('./page_approvals.js'), '/ui/approvals', 'budgets:read'],
  [/^\/ui\/audit$/, () => import('./page_audit.js'), '/ui/audit', 'audit:read'],
  [/^\/ui\/keys$/, () => import('./page_keys.js'), '/ui/keys', 'keys:admin'],
  [/^\/ui\/login$/, () => import('./page_login.js'), null],
];

const main = document.getElementById('main');
const status = {ready: null, running: null, queued: null};
let leave = null; // AbortController of the page that is shown
let section = null;

export function say(text) {
  document.getElementById('live').textContent = text;
}

function link(scope, path, name) {
  if (!may(scope)) return nothing;
  return html`<a href=${path} aria-current=${section === path ? 'page' : nothing}>${name}</a>`;
}

function counted(state, word, number) {
  return number == null ? nothing : html`<a class="count" href="/ui/jobs?state=${state}">${number} ${word}</a>`;
}

// Shows the user's name and the button to log out; nothing if the daemon has no keys.
function whose() {
  const {name, via} = principal() ?? {};
  if (!name || via === 'local') return nothing;
  return html`<span class="whose" title=${principal().role.replace('_', ' ')}>${name}</span>
    ${via === 'session' ? html`<button class="button" @click=${end}>Log out</button>` : nothing}`;
}

function becomeNobody() {
  forget();
  wantStream(false);
}

async function end() {
  await logOut().catch(() => {});
  becomeNobody();
  go(LOGIN);
}

function drawHeader() {
  const word = status.ready == null ? '…' : status.ready ? 'ready' : 'not ready';
  render(html`<div class="frame">
    <a class="brand" href="/ui/" aria-label="epsilond, start page"><svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8"></rect><path d="M21.500 10.500C20 8.800 18 8.300 16 8.300c-3 0-5.200 1.400-5.200 3.700s2 3.600 4.700 3.600h2-2c-3.200 0-5.500 1.300-5.500 4s2.500 4.100 6 4.100c2.400 0 4.500-.7 6-2.200"></path></svg>
      <b>epsilond</b></a>
    <nav aria-label="Main">${link('budgets:read', '/ui/datasets', 'Datasets')}${link('jobs:read', '/ui/jobs', 'Jobs')}
      ${link('jobs:read', '/ui/sweeps', 'Sweeps')}${link('certificates:read', '/ui/models', 'Models')}${link('jobs:read', '/ui/compare', 'Compare')}${link('budgets:read', '/ui/approvals', 'Approvals')}${link('keys:admin', '/ui/keys', 'Keys')}${link('audit:read', '/ui/audit', 'Audit')}</nav>
    <div class="status" ?hidden=${!isSomebody()}><span class="state ${status.ready === false ? 'bad' : ''}"><svg width="8" height="8" aria-hidden="true">
      <circle cx="4" cy="4" r="4"></circle></svg> ${word}</span>
      ${counted('RUNNING', 'running', status.running)}${counted('QUEUED', 'queued', status.queued)}</div>
    <button class="theme" @click=${turnTheme} aria-label="Light or dark" title="Light or dark"><span aria-hidden="true">◐</span></button>
    ${whose()}${may('jobs:submit') ? html`<a class="button accent" href="/ui/train">New job</a>` : nothing}</div>`, document.getElementById('header'));
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
  document.dispatchEvent(new Event('theme'));
}

async function refreshStatus(signal) {
  if (!isSomebody()) return 1;
  const {ready, jobs} = await get('/v1/status', signal);
  Object.assign(status, {ready, running: jobs.RUNNING, queued: jobs.QUEUED});
  drawHeader();
  return 5;
}

function statusFailed() {
  status.ready = false;
  drawHeader();
}

// Returns whether this user may see a page at this address. If not, goes to the login page, or from it to the start.
async function isLetIn(signal) {
  try {
    if (!isSomebody()) await learn(signal);
    wantStream(isSomebody());
  } catch (problem) {
    if (!signal.aborted) render(trouble(problem), main);
    return false;
  }
  const wantsLogin = location.pathname === LOGIN;
  if (isSomebody() && wantsLogin) go('/ui/', {replace: true});
  else if (!isSomebody() && !wantsLogin) go(`${LOGIN}?next=${encodeURIComponent(location.pathname + location.search)}`, {replace: true});
  return isSomebody() !== wantsLogin;
}

// Shows the page of the current address. A page is a module whose open(view) draws it and begins to watch. view:
//   id, query   parts of the address                     draw(template)  shows the page
//   signal      aborted when the user leaves the page    title(text)     sets the tab's title
export async function show() {
  leave?.abort();
  leave = new AbortController();
  const found = pages.map(([form, ...rest]) => [form.exec(location.pathname), ...rest]).find(([match]) => match);
  const {signal} = leave;
  section = found?.[2] ?? null;
  drawHeader();
  document.title = 'epsilond';
  render(nothing, main);
  if (!found) return render(html`<h1>There is no such page</h1><p>The address ${location.pathname} leads nowhere.</p><p><a class="button" href="/ui/">Back to the datasets</a></p>`, main);
  if (!(await isLetIn(signal)) || signal.aborted) return;
  drawHeader();
  if (found[3] && !may(found[3])) return render(html`<h1>Not for this key</h1><p>This page needs the scope ${found[3]}, which the role of ${principal().name} does not have.</p><p><a class="button" href="/ui/">Back to the start</a></p>`, main);
  const page = await found[1]();
  if (signal.aborted) return;
  page.open({
    id: found[0][1] ? decodeURIComponent(found[0][1]) : null,
    query: new URLSearchParams(location.search),
    signal,
    draw: (template) => signal.aborted || render(template, main),
    title: (text) => signal.aborted || (document.title = text),
    say,
    go,
  });
}

export function go(path, {replace = false} = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  show();
  scrollTo(0, 0);
  main.focus({preventScroll: true});
}

document.addEventListener('click', (event) => {
  const anchor = event.target.closest?.('a[href^="/ui"]');
  if (!anchor || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go(anchor.getAttribute('href'));
});
// A click on a row of a table opens what the row's name links to. The keyboard uses the link itself.
main.addEventListener('click', ({target, defaultPrevented}) => {
  const link = target.closest('tbody tr')?.querySelector('a.name[href^="/ui"]');
  if (!link || defaultPrevented || target.closest('a, button, input, label, select, summary') || String(getSelection())) return;
  go(link.getAttribute('href'));
});
addEventListener('popstate', show);
// An answer of 401: the key or the session has ended. Or the request was sent before the first key was made, which
// brings a session: then the page stays, because it shows the key only once.
document.addEventListener('nobody', async () => {
  await learn().catch(forget);
  if (isSomebody()) return;
  becomeNobody();
  if (location.pathname !== LOGIN) show();
});
show();
startStream();
watch(new AbortController().signal, refreshStatus, statusFailed, ({name}) => name === 'state');
