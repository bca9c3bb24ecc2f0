// A dataset's budget: the gauge with its words, and how much is left at each order.
import {html, nothing} from './lit-html.js';
import {delta, epsilon, percent, plain} from './format.js';
import {gauge, scarcity, swatch} from './gauge.js';
import {rooms, share} from './share.js';

function legend(kind, share, word, text) {
  return html`<div>${swatch(kind)}<b>${percent(share, 1)} ${word}</b><small>${text}</small></div>`;
}

// If a dataset is divided, each part has a budget of its own.
export function budgetCards(budget) {
  if (!budget.parts) return budgetCard(budget);
  const titles = {train: 'Budget of the records that are trained on', holdout: 'Budget of the records held out'};
  return budget.parts.map((part) => budgetCard({...budget, ...part}, titles[part.part]));
}

export function budgetCard(budget, title = 'Budget') {
  const part = share(budget);
  const [colour, word] = scarcity(part);
  const after = budget.epsilon_held > 0 ? (budget.epsilon_spent ?? 0) + budget.epsilon_held : null;
  return html`<section class="card"><div class="line"><h2>${title} ${word && !budget.frozen ? html`<span class="badge ${colour === 'scarce' ? 'warn' : 'bad'}"><span aria-hidden="true">!</span> ${word}</span>` : nothing}</h2>
    <span class="quiet">promised: <b class="ink">${epsilon(budget.epsilon)}</b> with δ ${delta(budget.delta)}, for each ${budget.unit}</span></div>
    ${budget.frozen ? html`<div class="notice bad"><b>Frozen.</b> The database is older than its last known head: nothing may be spent
      until its owner decides again, here or with <code>epsilond regrant</code> on the host.</div>` : nothing}
    ${budget.epochs.length > 1 ? html`<div class="notice">Granted ${budget.epochs.length} times, since a restored backup lost what was spent. <b>All of it together: at most
      ${epsilon(budget.guarantee.epsilon)}</b> at δ ${delta(budget.guarantee.delta)}.</div>` : nothing}
    ${budget.guarantee.timelines ? html`<div class="notice bad"><b>Forked:</b> at least ${budget.guarantee.timelines} timelines of the ledger, those that are known. <b>All of it
      together: at most ${epsilon(budget.guarantee.epsilon)}</b> at δ ${delta(budget.guarantee.delta)}.</div>` : nothing}
    ${budget.conditional ? html`<div class="notice"><b>Conditional:</b> ${budget.condition}.</div>` : nothing}
    ${gauge(part, 28)}
    <div class="legends">${legend(colour, part.spent, budget.frozen ? 'on record' : 'spent', budget.exposure ? `with all that was lost, counts as ${epsilon(budget.exposure.epsilon_spent)}`
        : `guarantee of everything released so far: ${epsilon(budget.epsilon_spent)}`)}
      ${legend('held', part.held, 'held', after == null ? 'no open job or lease' : `by open jobs, would bring it to ${epsilon(after)}`)}
      ${budget.frozen ? nothing : legend('left', part.left, 'left', `one more job of at most ${epsilon(budget.epsilon_remaining)}`)}</div>
    <details><summary>Why do these not add up to ${epsilon(budget.epsilon)}?</summary>
      <p>An epsilon is a bound on what can be learned about a person. Two jobs have independent noise, so their bound together is smaller than
      the sum of their bounds. Rényi curves do add up. When the dataset was registered, the promise became a capacity at
      ${rooms(budget).length === 1 ? 'one order' : 'a few orders'} of such a curve. The bar shows the used part of the capacity at the order with most
      left (order ${plain(part.order)}); the epsilons next to it are computed from the curves, at fixed orders, and rounded to two digits. So after one
      job of ε 1 the guarantee may be 1.0004, which is shown as 1.00.</p>
      <p><b>The largest job</b> that is shown here, ${epsilon(budget.epsilon_remaining)}, is one that reads all records in each step. A job that reads random batches
      uses the curve in another way, so the form of a new job shows a slightly different largest epsilon, for its own settings.</p></details></section>`;
}

function roomLine(room, several, first) {
  const name = !several ? 'The whole budget' : first ? 'Many steps, small random batches' : 'Few steps, whole batches';
  return html`<div class="room"><div class="line"><b>${name}</b><span>${room.left < 0.0005 ? 'full' : `${percent(room.left)} free`}</span></div>${gauge(room, 9)}</div>`;
}

// The curves up to twice the highest order that carries weight, with the capacities as marks.
export function curves(budget) {
  const marks = rooms(budget);
  const end = 2 * Math.max(...marks.map(({order}) => order));
  const within = budget.orders.map((order, i) => i).filter((i) => budget.orders[i] <= end);
  const top = 1.15 * Math.max(...marks.map(({order}) => budget.capacity[budget.orders.indexOf(order)]));
  const left = new Map(marks.map(({order, left}) => [order, left]));
  const of = (pick) => within.map((i) => pick(i));
  return {
    title: 'Spending at each order',
    sentence: `Each mark is the capacity at one order. ${marks.length > 1 ? 'A job needs room under one of them.' : ''}`,
    height: 200,
    level: 3,
    x: {label: 'order', show: (value) => plain(value), max: end, min: 1},
    y: {label: 'Rényi divergence', show: (value) => plain(value, 3), min: 0, max: top},
    points: of((i) => budget.orders[i]),
    series: [
      {label: 'spent', kind: 'line', colour: 'spent', filled: true, dots: false, values: of((i) => budget.committed[i])},
      {label: 'spent and held', kind: 'line', colour: 'held', dashed: true, values: of((i) => budget.committed[i] + budget.held[i])},
      {label: 'capacity', kind: 'marks', colour: 'bad', values: of((i) => budget.capacity[i]), notes: of((i) => {
        const free = left.get(budget.orders[i]);
        return free == null ? null : free < 0.0005 ? 'full here' : `room for ${percent(free)}`;
      })},
    ],
  };
}

export function roomCard(budget) {
  const list = rooms(budget).sort((a, b) => b.order - a.order);
  return html`<section class="card"><h2>Room for the next job</h2>
    <p class="quiet">${list.length > 1 ? 'The budget has two measures. A job fits if it needs no more than is free under one of them.'
      : 'A job fits if it needs no more than this.'}</p>
    ${list.map((room, i) => roomLine(room, list.length > 1, i === 0))}
    <details><summary>Spending at each Rényi order</summary><ui-chart .chart=${curves(budget)}></ui-chart></details></section>`;
}
