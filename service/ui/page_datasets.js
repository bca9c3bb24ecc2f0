// All datasets, those with least left first.
import {html, nothing} from './lit-html.js';
import {all, get} from './api.js';
import {badge} from './badge.js';
import {bare, count, delta, epsilon, percent} from './format.js';
import {gauge} from './gauge.js';
import {empty, loading, trouble} from './notice.js';
import {share} from './share.js';
import {watch} from './watch.js';

async function withBudgets(signal) {
  const list = (await all('/v1/datasets', 'datasets', signal)).filter((one) => one.state !== 'DELETED');
  for (const one of list)
    if (one.privacy !== 'public' && !one.budget) one.budget = await get(`/v1/datasets/${one.id}/budget`, signal);
  return list;
}

function leastFirst(a, b) {
  if (!a.budget || !b.budget) return !a.budget - !b.budget || a.id.localeCompare(b.id);
  return share(a.budget).left - share(b.budget).left || a.id.localeCompare(b.id);
}

function tile(number, text) {
  return html`<div class="tile"><b>${number}</b><span>${text}</span></div>`;
}

function tiles(list) {
  const shares = list.filter((one) => one.budget).map((one) => share(one.budget));
  return html`<div class="tiles">${tile(shares.length, 'protected datasets')}
    ${tile(shares.filter(({left}) => left < 0.1).length, 'with less than a tenth left')}
    ${tile(shares.filter(({held}) => held > 0).length, 'with budget held by open jobs')}
    ${tile(list.length - shares.length, 'public, for measuring quality')}</div>`;
}

function budgetCells({budget}) {
  if (!budget) return html`<td data-name="Budget"><span><span class="tag">public</span> <span class="quiet">no budget, anybody may see it</span></span></td>
    <td class="number wide"></td><td class="number wide"></td><td class="number wide">–</td>`;
  const part = share(budget);
  return html`<td data-name="Budget used"><div class="used">${gauge(part)}<span>${percent(part.spent + part.held)}</span></div></td>
    <td class="number" data-name="Guarantee so far">${epsilon(budget.epsilon_spent)}</td>
    <td class="number" data-name="Largest job left">${budget.frozen ? 'frozen' : epsilon(budget.epsilon_remaining)}</td>
    <td class="number" data-name="Promised"><span>ε ${bare(budget.epsilon)} <small>δ ${delta(budget.delta)}</small></span></td>`;
}

function row(one) {
  return html`<tr><td><a class="name" href="/ui/datasets/${one.id}">${one.id}</a><small>${one.format} · ${one.task}</small></td>
    ${budgetCells(one)}<td class="number" data-name="Records">${count(one.records)}</td>
    <td data-name="State">${badge(one.state)}</td></tr>`;
}

function table(list) {
  return html`<div class="card table"><table class="folds"><thead><tr><th scope="col">Dataset</th><th scope="col">Budget used</th>
    <th scope="col" class="number">Guarantee so far</th><th scope="col" class="number">Largest job left</th>
    <th scope="col" class="number">Promised</th><th scope="col" class="number">Records</th><th scope="col">State</th></tr></thead>
    <tbody>${list.map(row)}</tbody></table></div>
    <p class="quiet">Guarantees do not add up: two jobs of ε 1 cost less than 2 together. The bar shows what does add up.</p>`;
}

export function open(view) {
  let list = null;
  let wanted = '';
  let problem = null;
  const draw = () => {
    const found = list?.filter((one) => one.id.startsWith(wanted));
    view.draw(html`<div class="head"><div><h1>Datasets</h1>
      <p class="quiet">What is protected, what was promised about it, and how much of the promise is used.</p></div>
      <div class="actions"><input type="search" aria-label="Find a dataset" placeholder="Find a dataset" @input=${(event) => {
        wanted = event.target.value.trim().toLowerCase();
        draw();
      }}><a class="button" href="/ui/register">Register a dataset</a></div></div>
      ${trouble(problem)}${list ? tiles(list) : loading}
      ${!list ? nothing : found.length ? table(found)
        : empty(wanted ? 'No dataset begins like this' : 'No datasets yet', wanted ? '' : 'Register one to begin.')}`);
  };
  view.title('Datasets · epsilond');
  draw();
  watch(view.signal, async (signal) => {
    list = (await withBudgets(signal)).sort(leastFirst);
    problem = null;
    draw();
    return 15;
  }, (error) => {
    problem = error;
    draw();
  });
}
