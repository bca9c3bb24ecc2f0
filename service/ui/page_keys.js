// Keys: who has access, and until when. Makes keys, shows a new one once, rotates and revokes.
import {html, nothing} from './lit-html.js';
import {get, post} from './api.js';
import {age} from './format.js';
import {empty, loading, trouble} from './notice.js';
import {policyFields, policyForm, policyOf, policyWords} from './policy_form.js';
import {choice, field, input, read} from './schema_form.js';
import {watch} from './watch.js';
import {logIn, may, principal} from './who.js';

const SIZE = 50;
const roles = [['analyst', 'analyst: trains and predicts'], ['operator', 'operator: keeps it running, makes keys'],
  ['auditor', 'auditor: reads ledgers and certificates']];
// Users can give a key only the rights that they have: the daemon refuses the other roles.
const offered = () => roles.filter(([role]) => principal()?.via === 'local' || role === (principal()?.role === 'operator' ? 'operator' : 'analyst'));
const makers = ['operator', 'data_owner']; // roles whose keys can make keys
const states = {ACTIVE: ['✓', 'Active', 'good'], EXPIRED: ['◌', 'Expired', 'calm'], REVOKED: ['✕', 'Revoked', 'bad']};

function state(word) {
  const [glyph, name, kind] = states[word] ?? ['?', word, 'calm'];
  return html`<span class="badge ${kind}"><span aria-hidden="true">${glyph}</span> ${name}</span>`;
}

const day = (time) => time?.slice(0, 10) ?? '–';

class Page {
  constructor(view) {
    this.view = view;
    this.form = {owner: '', project: principal()?.project ?? '', role: principal()?.via === 'local' ? 'operator' : offered()[0][0], days: ''};
    this.policy = policyForm(); // of the new key
    this.limiting = null; // {key, form}: the key whose policy the user edits
    this.tokens = [null]; // page tokens, up to that of the page shown
    this.list = null;
    this.made = null; // the key that was just made, shown once
    this.asking = null; // {id, act}: the act that needs a second click
    this.problem = null;
    view.title('Keys · epsilond');
  }

  set(name) {
    return (value) => {
      this.form[name] = value;
      this.draw();
    };
  }

  // Sends one act, then reloads the list. Once the first key exists, every request needs a key, so this browser logs in
  // with the new key at once.
  async act(path, body, done) {
    this.problem = this.made = this.asking = null;
    this.draw();
    try {
      done(await post(path, body));
      if (this.made && principal()?.via === 'local') await logIn(this.made.key);
      if (may('keys:admin')) await this.load();
    } catch (error) {
      this.problem = error;
      this.view.say(error.message);
    }
    this.draw();
  }

  create(event) {
    event.preventDefault();
    const {owner, project, role, days} = this.form;
    const body = {owner, project, role};
    if (read(days) !== undefined) body.days = read(days);
    if (policyOf(this.policy)) body.policy = policyOf(this.policy);
    this.act('/v1/keys', body, (made) => this.shown(made));
  }

  shown(made) {
    this.made = made;
    this.view.say('The key was made. It is shown this once.');
  }

  rotate(id) {
    this.act(`/v1/keys/${id}:rotate`, {}, (made) => this.shown(made));
  }

  revoke(id) {
    this.act(`/v1/keys/${id}:revoke`, {}, () => this.view.say('The key is revoked.'));
  }

  limit(event) {
    event.preventDefault();
    const {key, form} = this.limiting;
    this.act(`/v1/keys/${key.id}:policy`, {policy: policyOf(form)}, ({policy_proposed: waits}) => {
      this.limiting = null;
      this.view.say(waits ? 'It waits for a second person.' : 'It holds from now on.');
    });
  }

  async load(signal) {
    const token = this.tokens.at(-1);
    this.list = await get(`/v1/keys?order=desc&page_size=${SIZE}${token ? `&page_token=${encodeURIComponent(token)}` : ''}`, signal);
    this.draw();
    return 15;
  }

  turn(change) {
    return () => {
      change();
      this.load(this.view.signal).catch((error) => this.fail(error));
    };
  }

  fail(error) {
    if (error.name === 'AbortError') return;
    this.problem = error;
    this.draw();
  }

  // --- drawing ---

  madeCard() {
    if (!this.made) return nothing;
    const {key, owner, role, project, expire_time: end} = this.made;
    return html`<section class="card made"><h2>The new key of ${owner}</h2>
      <p><b>It is shown this once.</b> Whoever has it is ${owner}, ${role.replace('_', ' ')} in ${project}, until ${day(end)}.</p>
      <pre id="key" tabindex="0">${key}</pre>
      <p class="quiet">From a shell:</p><pre tabindex="0">curl -s -H 'Authorization: Bearer ${key}' ${location.origin}/v1/datasets</pre>
      <p><button class="button" @click=${() => navigator.clipboard?.writeText(key).then(() => this.view.say('Copied.'))}>Copy the key</button>
      <button class="button" @click=${() => this.putAway()}>I have kept it</button></p></section>`;
  }

  putAway() {
    this.made = null;
    this.draw();
  }

  formCard() {
    const errors = this.problem?.errors ?? [];
    const text = (name, label, hint, placeholder = '', kind = 'text') => field({id: `/${name}`, label, hint, errors,
      control: input({id: `/${name}`, kind, value: this.form[name], placeholder, errors, changed: this.set(name)})});
    const first = principal()?.via === 'local';
    return html`<section class="card"><h2>Make a key</h2>${first ? html`<div class="notice warn"><b>This daemon does not require keys yet.</b>
      With the first one it begins to ask everybody, for ever. Begin with an operator's, which can make the others.</div>` : nothing}<form @submit=${(event) => this.create(event)}><div class="fields">
      ${text('owner', 'Owner', 'Who it is for: their jobs carry this name.', 'ana')}
      ${text('project', 'Project', 'What it reaches lies in this project.')}
      ${field({id: '/role', label: 'Role', hint: 'Other keys, and further ones in a name that was used, are made on the host: epsilond key create.', errors,
        control: choice({id: '/role', value: this.form.role, options: offered(), changed: this.set('role')})})}
      ${text('days', 'Days', 'How long it lasts.', '90', 'number')}</div>
      <details ?open=${!this.limiting && errors.some(({pointer}) => pointer.startsWith('/policy'))}><summary>Limit what it may spend</summary>${this.limiting ? nothing
        : policyFields(this.policy, {errors, changed: () => this.draw()})}</details>
      <button class="button accent" id="create">Make the key</button></form></section>`;
  }

  // A key that can make keys could make one without limits, so it cannot have limits itself.
  policyButton(one) {
    if (makers.includes(one.role) || one.scopes.includes('keys:admin')) return nothing;
    const change = () => {
      this.limiting = {key: one, form: policyForm(one.policy)};
      this.draw();
      document.querySelector('.limits input').focus();
    };
    return html`<button class="button" aria-label="Change the limits of the key ${one.id} of ${one.owner}" @click=${change}>Limits</button>`;
  }

  policyCard() {
    if (!this.limiting) return nothing;
    const {key, form} = this.limiting;
    return html`<section class="card limits"><h2>What the key of ${key.owner} may spend</h2><p class="quiet">Less than now holds at once. More than now waits until a second
      person approves it, where one has to. Now: ${policyWords(key.policy)}.</p><form @submit=${(event) => this.limit(event)}>
      ${policyFields(form, {errors: this.problem?.errors ?? [], changed: () => this.draw()})}
      <div class="actions"><button class="button accent" id="limit">${policyOf(form) ? 'Set these limits' : 'Limit nothing'}</button>
      <button class="button" type="button" @click=${() => this.unlimit()}>Leave it</button></div></form></section>`;
  }

  unlimit() {
    this.limiting = null;
    this.draw();
  }

  actions(one) {
    const {id, state: now, owner} = one;
    if (now !== 'ACTIVE') return nothing;
    if (this.asking?.id === id) return html`<span role="alertdialog" aria-label="Revoke the key of ${owner}?">
      <button class="button danger" @click=${() => this.revoke(id)}>Revoke it</button>
      <button class="button" @click=${() => this.ask(null)}>Keep it</button></span>`;
    return html`${this.policyButton(one)} <button class="button" aria-label="Rotate the key ${id} of ${owner}" @click=${() => this.rotate(id)}>Rotate</button>
      <button class="button danger" aria-label="Revoke the key ${id} of ${owner}" @click=${() => this.ask({id})}>Revoke</button>`;
  }

  ask(what) {
    this.asking = what;
    this.draw();
  }

  row(one) {
    return html`<tr><td><b>${one.owner}</b><small class="id">${one.id}</small></td><td data-name="Role">${one.role.replace('_', ' ')}</td>
      <td data-name="Project">${one.project}</td><td data-name="State">${state(one.state)}</td>
      <td data-name="Limits"><span><small>${policyWords(one.policy)}</small>${one.policy_proposed ? html`<small><b>Waits:</b> ${policyWords(one.policy_proposed.policy)}</small>` : nothing}</span></td>
      <td class="number quiet" data-name="Made">${age(one.create_time)}</td><td class="number" data-name="Expires">${day(one.expire_time)}</td>
      <td class="number" data-name="Last used">${one.last_used ?? '–'}</td><td class="number">${this.actions(one)}</td></tr>`;
  }

  table() {
    if (!this.list) return loading;
    if (!this.list.keys.length) return empty('No keys', 'None that you may see.');
    return html`<div class="card table"><table class="folds"><thead><tr><th scope="col">Owner</th><th scope="col">Role</th><th scope="col">Project</th>
      <th scope="col">State</th><th scope="col">Limits</th><th scope="col" class="number">Made</th><th scope="col" class="number">Expires</th>
      <th scope="col" class="number">Last used</th><th scope="col" class="number"><span class="unseen">Change</span></th></tr></thead>
      <tbody>${this.list.keys.map((one) => this.row(one))}</tbody></table></div>
      <div class="pages"><button class="button" ?disabled=${this.tokens.length === 1} @click=${this.turn(() => this.tokens.splice(1))}>Newest</button>
      <button class="button" ?disabled=${!this.list.next_page_token} @click=${this.turn(() => this.tokens.push(this.list.next_page_token))}>Older</button></div>`;
  }

  draw() {
    this.view.draw(html`<div class="head"><div><h1>Keys</h1><p class="quiet">Keys give access. A revoked key gives none from then on,
      and its browsers are logged out; a rotated key stays valid for a day next to its successor.</p></div></div>
      ${trouble(this.problem)}${this.madeCard()}${this.policyCard()}${this.table()}${this.formCard()}`);
  }
}

export function open(view) {
  const page = new Page(view);
  page.draw();
  watch(view.signal, (signal) => page.load(signal), (error) => page.fail(error));
}
