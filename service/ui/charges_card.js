// Charges of a dataset: work that other engines run on its records. Each charge leases a part of the budget.
import {html, nothing} from './lit-html.js';
import {age, bare, count, shortId} from './format.js';

const states = {OPEN: 'open', SETTLED: 'settled', LAPSED: 'its lease ended'};

function kinds(charge) {
  return [...new Set(charge.mechanism.map(({kind}) => kind.replaceAll('_', ' ')))].join(', ');
}

function row(charge) {
  const ends = charge.end_time ? `${states[charge.state]} ${age(charge.end_time)}` : `open, until ${charge.lease_end_time.slice(11, 16)} UTC`;
  return html`<tr id=${charge.id}><td><b>${charge.engine}</b><small>${kinds(charge)} · by ${charge.created_by} · <span class="id">${shortId(charge.id)}</span></small></td>
    <td>${ends}</td><td class="number">${count(charge.authorised_steps)} of ${count(charge.steps)}</td>
    <td class="number">${bare(charge.epsilon_spent)}</td></tr>`;
}

export function chargesCard(charges) {
  if (!charges?.length) return nothing;
  return html`<section class="card table"><table><thead><tr><th scope="col">Work elsewhere</th><th scope="col">Lease</th>
    <th scope="col" class="number">Steps granted</th><th scope="col" class="number">ε spent alone</th></tr></thead><tbody>${charges.map(row)}</tbody></table></section>`;
}

export const isCharge = (holder) => Boolean(holder?.startsWith('chg_'));
