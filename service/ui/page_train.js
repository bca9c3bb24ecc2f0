// A new job, and what it would cost while it is being described.
import {html, nothing} from './lit-html.js';
import {all, get, keyring, post} from './api.js';
import {bare, bytes, count, delta, duration, epsilon, percent, plain, units} from './format.js';
import {gauge, swatch} from './gauge.js';
import {loading, trouble} from './notice.js';
import {measured, scatter} from './scatter.js';
import {choice, collect, field, fields, input, read} from './schema_form.js';
import {share} from './share.js';
import './chart.js';

const DEBOUNCE_MS = 250;
const presets = ['linear', 'mlp', 'cnn_mnist', 'cnn_cifar', 'resnet18_gn', 'resnet34_gn'];
const activations = ['relu', 'tanh', 'sigmoid', 'softplus', 'gelu', 'gelu_tanh'];
const averages = [['none', 'of the last step (default)'], ['tail', 'mean of the second half of the steps'], ['ema', 'exponential mean of all steps']];
const ways = {epsilon: 'By epsilon', budget_fraction: 'By share of what is left', noise_multiplier: 'By noise'};
const wayHints = {
  epsilon: 'Smaller is stronger privacy and a noisier model.',
  budget_fraction: 'Between 0 and 1: the job takes at most this share of what is free now.',
  noise_multiplier: 'Standard deviation of the noise over the clip norm; more is stronger privacy.',
};

// The slider goes from epsilon 0.05 to 20, evenly in its logarithm.
const SLIDER = 1000;
const [SLIDER_LOW, SLIDER_HIGH] = [0.05, 20];
function fromSlider(place) {
  return Number((SLIDER_LOW * (SLIDER_HIGH / SLIDER_LOW) ** (place / SLIDER)).toPrecision(2));
}
function toSlider(value) {
  const place = SLIDER * Math.log(value / SLIDER_LOW) / Math.log(SLIDER_HIGH / SLIDER_LOW);
  return Number.isFinite(place) ? Math.max(0, Math.min(SLIDER, place)) : 0;
}

// Instead of a dataset's name, which never begins so: the records that the dataset itself holds out.
const HOLDOUT = '-holdout';

// The form: texts as they were typed; '' where nothing was.
function emptyForm() {
  return {dataset: '', evaluation: '', measured: '0.1', way: 'epsilon', privacy: {epsilon: '1', budget_fraction: '', noise_multiplier: ''}, delta: '',
    preset: 'linear', hidden: '', activation: '', batch_size: '', rows_per_person: '', epochs: '', optimizer: 'sgd', learning_rate: '', averaging: 'none', algorithm: 'dpsgd', parameters: {}};
}

function text(value) {
  return value == null ? '' : String(value);
}

// A form that would make the same job again; only presets can be shown.
function formOf(job) {
  const form = emptyForm();
  const {name, ...parameters} = job.algorithm;
  const way = job.privacy?.epsilon != null ? 'epsilon' : job.privacy?.budget_fraction != null ? 'budget_fraction' : 'noise_multiplier';
  Object.assign(form, {dataset: job.dataset, evaluation: job.evaluation?.holdout ? HOLDOUT : job.evaluation ?? '',
    measured: text(job.evaluation?.epsilon ?? '0.1'), way, preset: job.model_spec.preset ?? 'linear',
    hidden: (job.model_spec.hidden ?? []).join(', '), activation: job.model_spec.activation ?? '', batch_size: text(job.batch_size), rows_per_person: text(job.rows_per_person),
    epochs: text(job.epochs), optimizer: job.optimizer.name, learning_rate: text(job.optimizer.learning_rate), averaging: job.averaging?.kind ?? 'none', algorithm: name});
  form.privacy[way] = text(job.privacy?.[way]);
  for (const [key, value] of Object.entries(parameters)) if (typeof value !== 'object') form.parameters[key] = text(value);
  return form;
}

// The request: a field that is empty is not sent.
function bodyOf(form, algorithm) {
  const model = {preset: form.preset};
  if (form.preset === 'mlp') {
    if (form.hidden.trim()) model.hidden = form.hidden.split(/[\s,;-]+/).filter(Boolean).map(read);
    if (form.activation) model.activation = form.activation;
  }
  const body = {dataset: form.dataset, model, algorithm: {name: form.algorithm, ...collect(algorithm.schema, form.parameters)}};
  if (form.evaluation === HOLDOUT) body.evaluation = {holdout: true, epsilon: read(form.measured)};
  else if (form.evaluation) body.evaluation = form.evaluation;
  for (const name of ['batch_size', 'rows_per_person', 'epochs']) if (read(form[name]) !== undefined) body[name] = read(form[name]);
  const rate = read(form.learning_rate);
  if (rate !== undefined || form.optimizer !== 'sgd') body.optimizer = {name: form.optimizer, ...(rate !== undefined && {learning_rate: rate})};
  if (form.averaging !== 'none') body.averaging = {kind: form.averaging};
  if (algorithm.private) {
    body.privacy = {[form.way]: read(form.privacy[form.way])};
    if (read(form.delta) !== undefined) body.privacy.delta = read(form.delta);
  }
  return body;
}

// How many columns a model or a measurement reads.
function columnsRead({columns}) {
  return columns?.filter(({kind}) => kind !== 'ignored' && kind !== 'privacy_id').length;
}

// What a dataset has to have in common with another to measure on it.
function alike(a, b) {
  return a.task === b.task && a.classes === b.classes && columnsRead(a) === columnsRead(b)
    && JSON.stringify(a.features?.shape ?? a.features?.count) === JSON.stringify(b.features?.shape ?? b.features?.count);
}

class Page {
  constructor(view) {
    this.view = view;
    this.form = emptyForm();
    this.estimate = null;
    this.problem = null; // with the estimate or the submission
    this.budget = null;
    this.earlier = null; // jobs on the same dataset
    this.waiting = false;
    this.sending = false;
    this.timer = null;
    this.asked = null; // AbortController of the estimate under way
    this.key = keyring();
    view.signal.addEventListener('abort', () => {
      clearTimeout(this.timer);
      this.asked?.abort();
    });
  }

  async begin() {
    const {query, signal} = this.view;
    this.view.title('New job · epsilond');
    this.view.draw(loading);
    const list = '/v1/datasets?state=READY&order_by=id';
    const [secret, open, {algorithms}] = await Promise.all([all(`${list}&privacy=private&view=summary`, 'datasets', signal, 100),
      all(`${list}&privacy=public`, 'datasets', signal, 200), get('/v1/algorithms', signal)]);
    this.datasets = [...secret, ...open]; // whole where public, for they may be measured on
    this.algorithms = algorithms;
    if (query.get('from')) this.form = formOf(await get(`/v1/jobs/${encodeURIComponent(query.get('from'))}`, signal));
    const wanted = query.get('dataset') || this.form.dataset || this.datasets.find((one) => one.privacy !== 'public')?.id || this.datasets[0]?.id || '';
    const evaluation = this.form.evaluation;
    if (wanted && !this.datasets.some(({id}) => id === wanted)) { // behind the first of very many
      const one = await get(`/v1/datasets/${encodeURIComponent(wanted)}`, signal);
      if (one.state === 'READY') this.datasets.unshift(one);
    }
    await this.choose(wanted);
    if (evaluation) this.form.evaluation = evaluation;
    this.ask(0);
  }

  get dataset() {
    return this.datasets.find((one) => one.id === this.form.dataset);
  }

  get algorithm() {
    return this.algorithms.find((one) => one.name === this.form.algorithm);
  }

  publicOnes() {
    const {dataset} = this;
    return dataset ? this.datasets.filter((one) => one.privacy === 'public' && alike(one, dataset)) : [];
  }

  async choose(id) {
    const path = `/v1/datasets/${encodeURIComponent(id)}`;
    this.form.dataset = id;
    if (this.dataset && this.dataset.privacy !== 'public') Object.assign(this.dataset, await get(path, this.view.signal));
    this.form.evaluation = this.publicOnes()[0]?.id ?? (this.dataset?.holdout ? HOLDOUT : '');
    if (this.dataset?.unit !== 'person') this.form.rows_per_person = '';
    this.budget = this.earlier = this.estimate = null;
    if (this.dataset?.privacy === 'public') this.form.algorithm = 'sgd';
    else if (this.form.algorithm === 'sgd') this.form.algorithm = 'dpsgd';
    this.draw();
    if (!this.dataset) return;
    if (this.dataset.privacy !== 'public') this.budget = await get(`${path}/budget`, this.view.signal);
    this.earlier = measured((await get(`/v1/jobs?dataset=${encodeURIComponent(id)}&state=SUCCEEDED&view=summary&page_size=50`, this.view.signal)).jobs);
    this.draw();
  }

  set(name, value) {
    this.form[name] = value;
    this.ask();
  }

  ask(after = DEBOUNCE_MS) {
    clearTimeout(this.timer);
    this.waiting = true;
    this.timer = setTimeout(() => this.fetchEstimate(), after);
    this.draw();
  }

  async fetchEstimate() {
    this.asked?.abort();
    this.asked = new AbortController();
    const {signal} = this.asked;
    if (!this.dataset) return;
    try {
      this.estimate = await post('/v1/jobs:estimate', bodyOf(this.form, this.algorithm), {signal});
      this.problem = null;
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.estimate = null;
      this.problem = error;
    }
    this.waiting = false;
    this.draw();
    this.view.say(this.estimate ? this.verdict() : this.problem.message);
  }

  async submit() {
    const body = bodyOf(this.form, this.algorithm);
    this.sending = true;
    this.draw();
    try {
      const job = await post('/v1/jobs', body, {key: this.key(body)});
      this.view.go(`/ui/jobs/${job.id}`);
    } catch (error) {
      this.sending = false;
      this.problem = error;
      this.draw();
    }
  }

  verdict() {
    const {fits, largest_epsilon: largest} = this.estimate;
    if (fits === 'yes') return 'It fits.';
    const most = largest == null ? '' : `With these settings at most ${epsilon(largest)}.`;
    return fits === 'held' ? `Not now: open jobs hold what it would need. ${most}` : `It does not fit. ${most}`;
  }

  // --- drawing ---

  get errors() {
    return this.problem?.errors ?? [];
  }

  text(id, name, label, hint, placeholder) {
    const errors = this.errors;
    return field({id, label, hint, errors, control: input({id, kind: 'number', value: this.form[name], placeholder, errors,
      changed: (value) => this.set(name, value)})});
  }

  dataCard() {
    const {form, dataset} = this;
    const others = this.publicOnes();
    return html`<section class="card"><h2>Data</h2><div class="fields">
      ${field({id: '/dataset', label: 'Train on', errors: this.errors, hint: dataset ? `${units(dataset)}, ${dataset.task}${dataset.privacy === 'public' ? ', public' : ''}` : '',
        control: choice({id: '/dataset', value: form.dataset, options: this.datasets.map(({id}) => [id, id]), changed: (id) => this.choose(id).then(() => this.ask(0))})})}
      ${field({id: '/evaluation', label: 'Measure quality on', errors: this.errors, hint: dataset?.holdout ? 'Public data costs nothing; the records held out have a budget of their own.'
        : others.length ? 'Public data only: measuring on the private records would cost budget.'
        : 'There is no public dataset of the same form.', control: choice({id: '/evaluation', value: form.evaluation,
        options: [['', 'nothing'], ...(dataset?.holdout ? [[HOLDOUT, 'the records held out']] : []), ...others.map(({id}) => [id, id])],
        changed: (value) => this.set('evaluation', value)})})}
      ${form.evaluation === HOLDOUT ? this.text('/evaluation/epsilon', 'measured', 'Epsilon of the look', this.lookHint()) : nothing}</div></section>`;
  }

  // What the look would say, of the estimate.
  lookHint() {
    const look = this.estimate?.measurement;
    if (!look) return 'Taken of the holdout\'s budget alone.';
    return `Noise of ${plain(look.deviation, 2)} on each count of ${count(look.records)} records. ${look.fits === 'yes' ? `Fits ${count(look.jobs_like_this)} times.` : 'The holdout\'s budget has no room for it.'}`;
  }

  privacyCard() {
    const {form} = this;
    if (!this.algorithm.private) return nothing;
    const id = `/privacy/${form.way}`;
    const changed = (value) => {
      form.privacy[form.way] = value;
      this.ask();
    };
    const largest = this.estimate?.largest_epsilon;
    return html`<section class="card"><h2>Privacy</h2><div class="ways" role="group" aria-label="How the noise is chosen">
      ${Object.entries(ways).map(([way, name]) => html`<button type="button" aria-pressed=${String(form.way === way)} @click=${() => this.set('way', way)}>${name}</button>`)}</div>
      <div class="fields">${field({id, label: {epsilon: 'Epsilon', budget_fraction: 'Share', noise_multiplier: 'Noise multiplier'}[form.way], hint: wayHints[form.way],
        errors: this.errors, control: input({id, kind: 'number', value: form.privacy[form.way], changed, errors: this.errors})})}
      ${form.way !== 'epsilon' ? this.text('/privacy/delta', 'delta', 'Delta', 'At most the dataset’s, which is the default.', delta(this.budget?.delta))
        : html`<div class="field"><label for="slider">Stronger privacy ↔ better model</label><input id="slider" type="range" min="0" max=${SLIDER}
          .value=${String(toSlider(read(form.privacy.epsilon)))} aria-valuetext=${epsilon(read(form.privacy.epsilon))}
          @input=${(event) => changed(String(fromSlider(Number(event.target.value))))}>
          <small>${largest == null ? '' : `at most ${epsilon(largest)} fits with these settings`}</small></div>`}</div></section>`;
  }

  modelCard() {
    const {form, estimate} = this;
    const persons = this.dataset?.unit === 'person';
    const layered = form.preset === 'mlp' ? html`${this.text('/model/hidden', 'hidden', 'Hidden layers', 'Units of each, with commas between.', '128')}
      ${field({id: '/model/activation', label: 'Activation', control: choice({id: '/model/activation', value: form.activation,
        options: [['', 'relu (default)'], ...activations.slice(1).map((name) => [name, name])], changed: (value) => this.set('activation', value)})})}` : nothing;
    return html`<section class="card"><h2>Model and training</h2><div class="fields">
      ${field({id: '/model/preset', label: 'Model', errors: this.errors, hint: estimate ? `${count(estimate.parameters)} parameters, ${bytes(estimate.memory)} of memory` : '',
        control: choice({id: '/model/preset', value: form.preset, options: presets.map((name) => [name, name]), changed: (value) => this.set('preset', value)})})}
      ${this.text('/batch_size', 'batch_size', 'Batch size', `Expected: each ${persons ? 'person' : 'record'} is drawn by chance.`, estimate ? count(estimate.batch_size) : '')}${layered}
      ${persons ? this.text('/rows_per_person', 'rows_per_person', 'Rows per person', 'At most so many in a step: 1, 2, 4, 8 or 16. No part of the price.', '4') : nothing}
      ${this.text('/epochs', 'epochs', 'Epochs', estimate ? `${count(estimate.steps)} steps` : '', 'default')}
      ${this.text('/optimizer/learning_rate', 'learning_rate', 'Learning rate', 'Private training likes large batches and rates.', 'default')}
      ${field({id: '/optimizer/name', label: 'Optimizer', errors: this.errors, control: choice({id: '/optimizer/name', value: form.optimizer,
        options: [['sgd', 'sgd'], ['adam', 'adam']], changed: (value) => this.set('optimizer', value)})})}
      ${field({id: '/averaging/kind', label: 'What is kept', errors: this.errors, hint: 'Averages cost no privacy, and take out some of the noise.', control: choice({id: '/averaging/kind',
        value: form.averaging, options: averages, changed: (value) => this.set('averaging', value)})})}</div></section>`;
  }

  algorithmCard() {
    const {form, algorithm} = this;
    const fit = this.algorithms.filter((one) => one.private || this.dataset?.privacy === 'public');
    return html`<section class="card"><h2>Algorithm</h2>${field({id: '/algorithm/name', label: 'Algorithm', hint: algorithm.when_to_use, errors: this.errors,
      control: choice({id: '/algorithm/name', value: form.algorithm, options: fit.map((one) => [one.name, one.title]), changed: (name) => {
        form.parameters = {};
        this.set('algorithm', name);
      }})})}<details ?open=${this.errors.some(({pointer}) => pointer.startsWith('/algorithm/'))}><summary>Parameters of ${algorithm.name}</summary>
      <div class="fields">${fields(algorithm.schema, {at: '/algorithm', values: form.parameters, errors: this.errors, changed: (name, value) => {
        form.parameters[name] = value;
        this.ask();
      }})}</div></details><p class="quiet small">${algorithm.paper}</p></section>`;
  }

  verdictBox() {
    const {estimate, form} = this;
    const use = () => {
      form.way = 'epsilon';
      form.privacy.epsilon = String(Math.floor(estimate.largest_epsilon * 100) / 100);
      this.ask(0);
    };
    const kind = {yes: 'good', held: 'warn', no: 'bad'}[estimate.fits];
    const offers = estimate.fits !== 'yes' && estimate.largest_epsilon >= 0.01;
    return html`<div class="notice ${kind}" id="verdict"><b>${estimate.fits === 'yes' ? '✓ ' : ''}</b>${this.verdict()}
      ${offers ? html`<button type="button" class="button" @click=${use}>Use ε ${bare(Math.floor(estimate.largest_epsilon * 100) / 100)}</button>` : nothing}</div>`;
  }

  shares() {
    const {estimate, budget} = this;
    if (!budget) return nothing;
    const part = estimate?.share ?? share(budget);
    const asked = estimate?.share?.asked ?? null;
    const over = estimate ? estimate.fits !== 'yes' : false;
    const box = (kind, value, word) => html`<div>${swatch(kind)}<b>${percent(value)}</b><small>${word}</small></div>`;
    return html`${gauge({...part, asked: asked ?? 0, over}, 24)}<div class="legends">${box('spent', part.spent, 'spent')}
      ${part.held > 0 ? box('held', part.held, 'held') : nothing}${asked == null ? nothing : box(over ? 'over' : 'asked', asked, 'this job')}
      ${box('left', Math.max(0, 1 - part.spent - part.held - (asked ?? 0)), asked == null ? 'left' : 'left after')}</div>`;
  }

  costCard() {
    const {estimate, problem} = this;
    const stray = problem && !this.errors.some(({pointer}) => pointer && document.getElementById(pointer));
    const price = estimate?.epsilon_planned;
    const pairs = estimate ? [['guarantee of the dataset after it', estimate.epsilon_after != null ? epsilon(estimate.epsilon_after) : null],
      ['jobs like this that still fit', estimate.jobs_like_this != null ? count(estimate.jobs_like_this) : null],
      ['noise multiplier', plain(estimate.noise_multiplier)], ['batch, expected', `${count(estimate.batch_size)} (${percent(estimate.sampling_rate, 2)})`],
      ['steps', count(estimate.steps)], ['memory', bytes(estimate.memory)], ['time, about', estimate.seconds != null ? duration(estimate.seconds) : null]] : [];
    return html`<section class="card cost" aria-busy=${String(this.waiting)}><h2>What it costs</h2>
      <p class="price">${price != null ? epsilon(price) : estimate ? 'no ε' : '…'}</p>
      <p class="quiet">${price != null ? `this job alone, at δ ${delta(estimate.delta)}` : estimate ? 'public data, without privacy' : ''}</p>
      ${this.shares()}${estimate ? this.verdictBox() : nothing}${problem ? stray ? trouble(problem) : html`<div class="notice bad">${problem.message}</div>` : nothing}
      <dl>${pairs.filter(([, value]) => value != null).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
      <button class="button accent" id="submit" ?disabled=${!estimate || estimate.fits !== 'yes' || this.waiting || this.sending} @click=${() => this.submit()}>
        ${price != null ? `Spend ${epsilon(price)} and train` : 'Train'}</button></section>`;
  }

  draw() {
    if (!this.datasets) return;
    if (!this.datasets.length)
      return this.view.draw(html`<h1>New job</h1><div class="card empty"><b>There is no dataset to train on</b><br><a href="/ui/register">Register one first.</a></div>`);
    this.view.draw(html`<div class="head"><div><h1>New job</h1><p class="quiet">Empty fields take the daemon's defaults. Nothing is charged until you submit.</p></div></div>
      <div class="main-aside"><div>${this.dataCard()}${this.privacyCard()}${this.modelCard()}${this.algorithmCard()}</div><div>${this.costCard()}
      ${this.earlier?.length ? html`<section class="card"><ui-chart .chart=${{...scatter(this.earlier, this.form.dataset), title: 'What earlier jobs got', height: 190}}></ui-chart></section>` : nothing}</div></div>`);
  }
}

export function open(view) {
  new Page(view).begin().catch((error) => error.name !== 'AbortError' && view.draw(trouble(error)));
}
