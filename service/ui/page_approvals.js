// Proposals that wait for a second person: grants, with the promise and its proposer, and wider policies of keys.
import {html, nothing} from './lit-html.js';
import {get, post} from './api.js';
import {confirming, ticks} from './confirmation.js';
import {age, epsilon} from './format.js';
import {facts, promise} from './grant_card.js';
import {empty, loading, trouble} from './notice.js';
import {policyWords} from './policy_form.js';
import {LAPSE_MS, waitingPolicies} from './waiting_policies.js';
import {watch} from './watch.js';
import {may} from './who.js';

const decided = {APPROVED: ['✓', 'Approved', 'good'], REJECTED: ['✕', 'Rejected', 'bad'], LAPSED: ['■', 'Lapsed', 'calm']};

function past(grant) {
  const [glyph, word, kind] = decided[grant.state];
  return html`<tr><td><a class="name" href="/ui/datasets/${grant.dataset}">${grant.dataset}</a></td>
    <td data-name="What">${grant.kind === 'words' ? `words of ${grant.words.column}` : grant.privacy === 'public' ? 'public' : epsilon(grant.privacy.epsilon)}${grant.kind === 'regrant' ? ' further' : ''}</td>
    <td data-name="State"><span><span class="badge ${kind}"><span aria-hidden="true">${glyph}</span> ${word}</span>${grant.reason ? html`<small>${grant.reason}</small>` : nothing}</span></td>
    <td data-name="Proposed by">${grant.proposed_by}</td><td data-name="Decided by">${grant.decided_by ?? '–'}</td>
    <td class="number quiet" data-name="When">${age(grant.decide_time ?? grant.lapse_time)}</td></tr>`;
}

export function open(view) {
  const reasons = new Map(); // the texts typed so far, by id of the grant or key
  const confirmed = new Map(); // what is ticked so far, by id of the grant
  let waiting = null; // the pending grants
  let policies = [];
  let done = [];
  let problem = null;
  let busy = false;

  const failed = (error) => {
    problem = error;
    draw();
  };
  const decide = (path, id, name, verb, more = {}) => async () => {
    busy = true;
    draw();
    try {
      await post(`${path}:${verb}`, {...(verb === 'approve' && more), reason: reasons.get(id).trim()}, {signal: view.signal});
      view.say(`${name}: ${verb === 'approve' ? 'approved' : 'rejected'}`);
      await load(view.signal);
    } catch (error) {
      if (error.name !== 'AbortError') failed(error);
    }
    busy = false;
    draw();
  };
  // Makes the field for the reason, and the buttons that decide about the proposal at path.
  const answers = (path, id, name, record, more, weak = []) => {
    if (!may('grants:approve')) return html`<p class="quiet">Your key may not approve grants.</p>`;
    const ready = !busy && (reasons.get(id) ?? '').trim() !== '';
    if (!confirmed.has(id)) confirmed.set(id, new Set());
    const meant = weak.every((one) => confirmed.get(id).has(one));
    return html`${ticks(weak, confirmed.get(id), () => draw())}<div class="field"><label for=${id}>Why, for the ${record}</label><input type="text" id=${id} maxlength="200" .value=${reasons.get(id) ?? ''}
        @input=${({target}) => (reasons.set(id, target.value), draw())}></div>
      <div class="actions"><button class="button accent" ?disabled=${!ready || !meant} @click=${decide(path, id, name, 'approve', {...more, ...confirming(weak)})}>Approve</button>
      <button class="button" ?disabled=${!ready} @click=${decide(path, id, name, 'reject')}>Reject</button></div>`;
  };
  const card = (grant) => html`<section class="card"><h2><a href="/ui/datasets/${grant.dataset}">${grant.dataset}</a></h2>
      <p>${promise(grant)}</p>${facts(grant)}
      ${grant.kind !== 'declaration' ? nothing : html`<p class="quiet">What its columns may hold is on its page, and becomes public with the approval.</p>`}${answers(`/v1/grants/${grant.id}`, grant.id, grant.dataset, 'ledger', {}, grant.acknowledge)}</section>`;
  const policyCard = (one) => html`<section class="card"><h2>The limits of ${one.owner ? `${one.owner}’s key` : 'a key'} <span class="id">${one.id}</span></h2>
      <p><b>${policyWords(one.policy)}</b>, which is more than the key may spend now.</p>
      ${facts({proposed_by: one.proposed_by, propose_time: one.time, lapse_time: new Date(Date.parse(one.time) + LAPSE_MS).toISOString()})}
      <p class="quiet">It also lapses if the daemon starts again.</p>
      ${answers(`/v1/keys/${one.id}`, one.id, one.owner ?? one.id, 'audit trail', {policy: one.policy})}</section>`;
  const waits = () => (waiting.length + policies.length ? [...waiting.map(card), ...policies.map(policyCard)]
    : empty('Nothing waits', 'If keys are in use, new datasets, further epochs and wider limits of keys appear here.'));
  const draw = () => view.draw(html`<div class="head"><div><h1>Approvals</h1><p class="quiet">Private budgets, public datasets and wider limits of keys need the approval of
    a second person.</p></div></div>
    ${trouble(problem)}${!waiting ? (problem ? nothing : loading) : waits()}
    ${done.length ? html`<div class="card table"><table class="folds"><thead><tr><th scope="col">Dataset</th><th scope="col">What</th><th scope="col">State</th>
      <th scope="col">Proposed by</th><th scope="col">Decided by</th><th scope="col" class="number">When</th></tr></thead><tbody>${done.map(past)}</tbody></table></div>` : nothing}`);

  async function load(signal) {
    const {grants} = await get('/v1/grants?state=PENDING&order=asc&page_size=50', signal);
    policies = await waitingPolicies(signal);
    waiting = grants;
    done = (await get('/v1/grants?state=APPROVED,REJECTED,LAPSED&page_size=20', signal)).grants;
    problem = null;
    draw();
    return 15;
  }

  view.title('Approvals · epsilond');
  draw();
  watch(view.signal, load, failed);
}
