// Asks for a further epoch of a budget that a restored backup froze.
import {html, nothing} from './lit-html.js';
import {post} from './api.js';
import {WEAK_EPSILON, askedBy, confirming, isWeak, ticks} from './confirmation.js';
import {epsilon} from './format.js';
import {trouble} from './notice.js';
import {field, input, read} from './schema_form.js';
import {may} from './who.js';

// Returns a function that makes the card of a frozen budget. granted(budget) is called if no
// second person had to approve. draw() redraws the page.
export function regrantCard({path, granted, draw}) {
  const form = {epsilon: '', delta: ''};
  const confirmed = new Set();
  let asked = []; // by the daemon, which knows n and the other epochs
  let problem = null;
  let waits = null; // the grant, if a second person has to approve it

  const send = async (event) => {
    event.preventDefault();
    problem = null;
    try {
      const answer = await post(`${path}:regrant`, {epsilon: read(form.epsilon) ?? null, delta: read(form.delta) ?? null, ...confirming(weak())});
      if (answer.state === 'PENDING') waits = answer;
      else granted(answer);
    } catch (error) {
      problem = error;
      if (askedBy(error).length) asked = askedBy(error);
    }
    draw();
  };
  // All that has to be confirmed: what the daemon asked for, and a large epsilon before it is sent.
  const weak = () => [...new Set([...(isWeak(read(form.epsilon)) ? [WEAK_EPSILON] : []), ...asked])];
  const text = (name, label, hint) => field({id: `/${name}`, label, hint, errors: problem?.body?.errors, control: input({id: `/${name}`, kind: 'number',
    value: form[name], errors: problem?.body?.errors, changed: (value) => {
      form[name] = value;
      asked = [];
      confirmed.clear();
      draw();
    }})});

  return (budget) => {
    if (!budget.frozen || !may('grants:propose')) return nothing;
    if (waits) return html`<section class="card"><h2>A further epoch waits</h2><p>${epsilon(waits.privacy.epsilon)} is asked for. Nothing is granted until
      <a href="/ui/approvals">somebody else approves it</a>.</p></section>`;
    return html`<section class="card"><h2>Grant a further epoch</h2><p class="quiet">A restored backup has forgotten what was spent since it was made. What was promised
      before counts whole from now on, and what is granted here is promised in addition.</p><form @submit=${send}><div class="fields">
      ${text('epsilon', 'Epsilon', 'Of the further epoch alone.')}${text('delta', 'Delta', 'Beside that of the epochs before.')}</div>${ticks(weak(), confirmed, draw)}${trouble(problem)}
      <button class="button accent" id="regrant" ?disabled=${!form.epsilon || !form.delta || weak().some((name) => !confirmed.has(name))}>Promise a further ${form.epsilon ? epsilon(Number(read(form.epsilon)) || null) : 'epoch'}</button></form></section>`;
  };
}
