// A grant that waits for a second person: what is requested, of whom, and until when.
import {html, nothing} from './lit-html.js';
import {age, delta, epsilon, plain} from './format.js';
import {principal} from './who.js';

// Says what a grant would promise.
export function promise({kind, privacy, replaces, words}) {
  if (kind === 'words') return html`<b>The words of column ${words.column}</b> that at least ${plain(words.threshold)} share, counted with noise of deviation ${plain(words.deviation)}. With probability <b>${delta(words.discovery_delta)}</b> a text that only one of the people has is shown in full.`;
  if (kind === 'regrant') return html`<b>A further ${epsilon(privacy.epsilon)} at δ ${delta(privacy.delta)}</b>, after a restored backup has frozen the budget. The earlier budget counts as spent in full.`;
  if (privacy === 'public') return html`<b>Everybody may see these records.</b> Nothing protects them from then on.`;
  const before = replaces ? html`It replaces <b>${epsilon(replaces.epsilon)} at δ ${delta(replaces.delta)}</b>, which was granted before` : 'Nothing was promised before';
  return html`<b>${epsilon(privacy.epsilon)} at δ ${delta(privacy.delta)}</b>, for all jobs on it together. ${before}, and nothing is spent.`;
}

function days(time) {
  const left = Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / 86400e3));
  return `${time.slice(0, 10)}, in ${left} day${left === 1 ? '' : 's'}`;
}

// Says who requested a grant, who may decide on it, and until when.
export function facts({proposed_by: by, propose_time: since, lapse_time: until}) {
  const rows = [['requested by', `${by}, ${age(since)}`], ['decided by', `a privacy officer other than ${by}`], ['until', days(until)]];
  return html`<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

// The card on the page of a dataset. follows: its import starts by itself after the approval.
export function grantCard({grant, privacy, id}, follows) {
  if (grant?.state !== 'PENDING') return nothing;
  const own = grant.proposed_by === principal()?.name;
  return html`<section class="card" id="grant"><h2>Waits for approval</h2><p>${promise({kind: 'declaration', privacy, replaces: null})}</p>${facts(grant)}
    <p class="quiet">${follows ? 'Once it is approved, the import starts by itself: at once if this page is open, otherwise when you open it again.' : 'Once it is approved, its owner can import the records.'}
      The declaration, with its ranges and values, is kept. ${own ? nothing : html`<a href="/ui/approvals">Decide on the page of approvals</a>`}</p></section>`;
}

// Remembers in this browser that the import of a dataset is to start after its approval.
const place = (id) => `import-${id}`;
export const remember = (id) => localStorage.setItem(place(id), 'after approval');
export const isRemembered = (id) => localStorage.getItem(place(id)) != null;
export const forgetImport = (id) => localStorage.removeItem(place(id));
