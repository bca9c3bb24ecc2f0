// The frame: header, the pages by their paths, and what belongs to all of them.
import {html, render, nothing} from './lit-html.js';
import {get} from './api.js';
import {start as startStream} from './stream.js';
import {watch} from './watch.js';

// A path, the module that draws it, fetched when it is first wanted, and its place in the header.
const pages = [
  [/^\/ui\/(?:datasets)?$/, () => import('./page_datasets.js'), '/ui/datasets'],
  [/^\/ui\/datasets\/([^/]+)$/, () => import('./page_dataset.js'), '/ui/datasets'],
  [/^\/ui\/jobs$/, () => import('./page_jobs.js'), '/ui/jobs'],
  [/^\/ui\/jobs\/([^/]+)$/, () => import('./page_job.js'), '/ui/jobs'],
  [/^\/ui\/train$/, () => import('./page_train.js'), null],
  [/^\/ui\/register$/, () => import('./page_register.js'), '/ui/datasets'],
  [/^\/ui\/compare$/, () => import('./page_compare.js'), '/ui/compare'],
  [/^\/ui\/approvals$/, () => import('./page_approvals.js'), '/ui/approvals'],
  [/^\/ui\/audit$/, () => import('./page_audit.js'), '/ui/audit'],
];

const main = document.getElementById('main');
const status = {ready: null, running: null, queued: null};
let leave = null; // AbortController of the page that is shown
let section = null;

export function say(text) {
  document.getElementById('live').textContent = text;
}

function link(path, name) {
  return html`<a href=${path} aria-current=${section === path ? 'page' : nothing}>${name}</a>`;
}

function counted(state, word, number) {
  return number == null ? nothing : html`<a class="count" href="/ui/jobs?state=${state}">${number} ${word}</a>`;
}

function drawHeader() {
  const word = status.ready == null ? '…' : status.ready ? 'ready' : 'not ready';
  render(html`<div class="frame">
    <a class="brand" href="/ui/" aria-label="epsilond, start page"><svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8"></rect><path d="M21.500 10.500C20 8.800 18 8.300 16 8.300c-3 0-5.200 1.400-5.200 3.700s2 3.600 4.700 3.600h2-2c-3.200 0-5.500 1.300-5.500 4s2.500 4.100 6 4.100c2.400 0 4.500-.7 6-2.200"></path></svg>
      <b>epsilond</b></a>
    <nav aria-label="Main">${link('/ui/datasets', 'Datasets')}${link('/ui/jobs', 'Jobs')}${link('/ui/compare', 'Compare')}${link('/ui/approvals', 'Approvals')}${link('/ui/audit', 'Audit')}</nav>
    <div class="status"><span class="state ${status.ready === false ? 'bad' : ''}"><svg width="8" height="8" aria-hidden="true">
      <circle cx="4" cy="4" r="4"></circle></svg> ${word}</span>
      ${counted('RUNNING', 'running', status.running)}${counted('QUEUED', 'queued', status.queued)}</div>
    <button class="theme" @click=${turnTheme} aria-label="Light or dark" title="Light or dark"><span aria-hidden="true">◐</span></button>
    <a class="button accent" href="/ui/train">New job</a></div>`, document.getElementById('header'));
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
  const {ready, jobs} = await get('/v1/status', signal);
  Object.assign(status, {ready, running: jobs.RUNNING, queued: jobs.QUEUED});
  drawHeader();
  return 5;
}

function statusFailed() {
  status.ready = false;
  drawHeader();
}

// A page is a module whose open(view) draws it and begins to watch. view:
//   id, query   of the address        draw(template)  shows it
//   signal      aborted when it is left    title(text)     of the tab
export async function show() {
  leave?.abort();
  leave = new AbortController();
  const found = pages.map(([form, page, path]) => [form.exec(location.pathname), page, path]).find(([match]) => match);
  section = found?.[2] ?? null;
  drawHeader();
  document.title = 'epsilond';
  render(nothing, main);
  if (!found) return render(html`<h1>There is no such page</h1>`, main);
  const {signal} = leave;
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
addEventListener('popstate', show);
show();
startStream();
watch(new AbortController().signal, refreshStatus, statusFailed, ({name}) => name === 'state');
