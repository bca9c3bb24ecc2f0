// All datasets, those with the least budget left first.
import {html, nothing} from './lit-html.js';
import {get} from './api.js';
import {badge, barred, waits} from './badge.js';
import {tags} from './caption.js';
import {bare, count, delta, epsilon, percent} from './format.js';
import {gauge, scarcity} from './gauge.js';
import {empty, loading, trouble} from './notice.js';
import {rowTable} from './row_table.js';
import {share} from './share.js';
import {isAlive} from './stream.js';
import {watch} from './watch.js';
import {may} from './who.js';

const SIZE = 50;
const SCARCE = 0.1;

function tile(number, text) {
  return html`<div class="tile"><b>${number}</b><span>${text}</span></div>`;
}

// Shows the daemon's counts (/v1/status). scarce: how many datasets have less than a tenth left, or null if that is unknown.
function tiles({datasets, jobs}, scarce) {
  const open = jobs.QUEUED + jobs.RUNNING + jobs.CANCELLING;
  return html`<div class="tiles">${tile(count(datasets.private), 'protected datasets')}
    ${scarce == null ? tile('–', 'with less than a tenth left') : tile(scarce, 'with less than a tenth left')}
    ${tile(count(open), html`<a href="/ui/jobs?state=QUEUED,RUNNING,CANCELLING">jobs queued or running</a>`)}
    ${datasets.waiting ? tile(count(datasets.waiting), html`<a href="/ui/approvals">waiting for approval</a>`)
      : tile(count(datasets.public), 'public, for measuring quality')}</div>`;
}

// Counts the datasets with less than a tenth left on the first page, which has those with least left first.
function scarceOf({datasets: list, next_page_token: more}) {
  const scarce = list.filter(({budget}) => budget && share(budget).left < SCARCE).length;
  return more && scarce === list.length ? `${scarce} or more` : count(scarce);
}

function budgetCell({budget, grant}) {
  if (barred(grant)) return waits(grant);
  if (!budget) return html`<span><span class="tag">public</span> <span class="quiet">no budget, anybody may see it</span></span>`;
  const part = share(budget);
  const [, word] = scarcity(part);
  return html`<div class="used">${gauge(part)}<span>${percent(part.spent + part.held)}</span></div>${word ? html`<small>${word}</small>` : nothing}`;
}

// Returns a figure of the budget, or a dash if the dataset has none that is granted.
const figure = (show) => ({budget, grant}) => (!budget || barred(grant) ? html`<span class="quiet">–</span>` : show(budget));
const used = ({budget}) => budget && share(budget).spent + share(budget).held;

const columns = [
  {name: 'Dataset', of: (one) => one.display_name ?? one.id, cell: (one) => html`<a class="name" href="/ui/datasets/${one.id}">${one.display_name ?? one.id}</a>
      <small>${one.display_name ? html`<span class="id">${one.id}</span> · ` : nothing}${one.format} · ${one.task} ${tags(one)}</small>`},
  {name: 'Budget used', of: used, cell: budgetCell},
  {name: 'Guarantee so far', number: true, of: ({budget}) => budget?.epsilon_spent, cell: figure((budget) => epsilon(budget.epsilon_spent))},
  {name: 'Largest job left', number: true, of: ({budget}) => budget?.epsilon_remaining, cell: figure((budget) => (budget.frozen ? 'frozen' : epsilon(budget.epsilon_remaining)))},
  {name: 'Promised', number: true, of: ({budget}) => budget?.epsilon, cell: figure((budget) => html`<span>ε ${bare(budget.epsilon)} <small>δ ${delta(budget.delta)}</small></span>`)},
  {name: 'Records', number: true, of: ({records}) => records, cell: ({records}) => count(records)},
  {name: 'State', of: ({state}) => state, cell: ({state}) => badge(state)},
];

export function open(view) {
  const tokens = [null]; // page tokens, up to that of the page shown
  let page = null;
  let status = null; // the daemon's counts
  let scarce = null;
  let wanted = '';
  let problem = null;
  let turned = null; // AbortController of the requests for the page shown

  const rows = rowTable(columns, {draw: () => draw()});

  const find = (event) => {
    wanted = event.target.value.trim();
    tokens.splice(1);
    follow(0.2);
  };
  const turn = (change) => () => {
    change();
    follow();
  };
  const draw = () => view.draw(html`<div class="head"><div><h1>Datasets</h1>
    <p class="quiet">Each dataset, its promised budget, and how much of it is used.</p></div>
    <div class="actions"><input type="search" aria-label="Find a dataset" placeholder="Find by name or tag" maxlength="100" @input=${find}>
    ${may('datasets:admin') ? html`<a class="button" href="/ui/register">Register a dataset</a>` : nothing}</div></div>
    ${trouble(problem)}${page ? (status ? tiles(status, scarce) : nothing) : loading}
    ${!page ? nothing : page.datasets.length ? html`${rows.table(page.datasets)}
      <p class="quiet">Guarantees do not add up: two jobs of ε 1 cost less than 2 together. The bar shows what does add up.</p>`
      : empty(wanted ? 'No dataset has this name or tag' : 'No datasets yet', wanted || !may('datasets:admin') ? '' : 'Register one to begin.')}
    ${tokens.length > 1 || page?.next_page_token ? html`<div class="pages">
      <button class="button" ?disabled=${tokens.length === 1} @click=${turn(() => tokens.splice(1))}>Least left</button>
      <button class="button" ?disabled=${!page?.next_page_token} @click=${turn(() => tokens.push(page.next_page_token))}>More</button></div>` : nothing}`);

  async function load(signal) {
    const asked = new URLSearchParams({view: 'summary', order_by: 'left', state: 'CREATED,IMPORTING,READY,FAILED', page_size: SIZE});
    if (wanted) asked.set('q', wanted);
    if (tokens.at(-1)) asked.set('page_token', tokens.at(-1));
    page = await get(`/v1/datasets?${asked}`, signal);
    if (may('jobs:read')) status = await get('/v1/status', signal);
    if (!wanted && tokens.length === 1) scarce = scarceOf(page);
    problem = null;
    draw();
    return isAlive() ? 3 : 15;
  }

  function follow(after = 0) {
    turned?.abort();
    turned = new AbortController();
    const {signal} = turned;
    view.signal.addEventListener('abort', () => turned.abort(), {once: true});
    setTimeout(() => watch(signal, load, (error) => {
      problem = error;
      draw();
    }, ({name}) => name === 'budget'), 1000 * after);
  }

  view.title('Datasets · epsilond');
  draw();
  follow();
}
