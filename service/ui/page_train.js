// A new job. Shows its price while the user describes it.
import {html, nothing} from './lit-html.js';
import {all, get, keyring, post} from './api.js';
import {age, bare, bytes, classWords, count, delta, duration, epsilon, percent, plain, shortId, units} from './format.js';
import {encoderFields, encoders} from './encoder_fields.js';
import {gauge, swatch} from './gauge.js';
import {HOLDOUT, WRITTEN, bodyOf, emptyForm, formOf} from './job_form.js';
import {loading, trouble} from './notice.js';
import {measured, scatter} from './scatter.js';
import {area, choice, field, fields, input, read} from './schema_form.js';
import {share} from './share.js';
import {startCard} from './start_card.js';
import {sweepCard} from './sweep_card.js';
import './chart.js';

const CLASSES_SHOWN = 12; // names in the hint of their weights
const DEBOUNCE_MS = 250;
const BOOSTED = {preset: 'histograms', algorithm: 'boosted_histograms'}; // neither goes without the other
const presets = ['linear', 'mlp', BOOSTED.preset, 'cnn_mnist', 'cnn_cifar', 'resnet18_gn', 'resnet34_gn', 'scatter', ...encoders, 'char_lstm'];
const losses = ['softmax_cross_entropy', 'logistic', 'squared', 'huber'];
const activations = ['relu', 'tanh', 'sigmoid', 'softplus', 'gelu', 'gelu_tanh'];
const averages = [['none', 'the last step (default)'], ['tail', 'mean of the last steps'], ['ema', 'exponential mean of all steps']];
const accountants = [['', 'Rényi (default)'], ['pld', 'privacy losses, numerically']];
const ways = {epsilon: 'By epsilon', budget_fraction: 'By share of what is left', noise_multiplier: 'By noise'};
const wayHints = {
  epsilon: 'Smaller is stronger privacy and a noisier model.',
  budget_fraction: 'Between 0 and 1: the job takes at most this share of what is free now.',
  noise_multiplier: 'Standard deviation of the noise over the clip norm; more is stronger privacy.',
};

// The slider goes from epsilon 0.05 to 20, on a logarithmic scale.
const SLIDER = 1000;
const [SLIDER_LOW, SLIDER_HIGH] = [0.05, 20];
function fromSlider(place) {
  return Number((SLIDER_LOW * (SLIDER_HIGH / SLIDER_LOW) ** (place / SLIDER)).toPrecision(2));
}
function toSlider(value) {
  const place = SLIDER * Math.log(value / SLIDER_LOW) / Math.log(SLIDER_HIGH / SLIDER_LOW);
  return Number.isFinite(place) ? Math.max(0, Math.min(SLIDER, place)) : 0;
}

// Rounds down to hundredths: if it were rounded up, an epsilon that fits might no longer fit.
const below = (value) => Math.floor(100 * value) / 100;

// Returns whether the page has a field for an error at this pointer.
function stands(pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf('/'))) if (document.getElementById(at)) return true;
  return false;
}

class Page {
  constructor(view) {
    this.view = view;
    this.form = emptyForm();
    this.estimate = null;
    this.problem = null; // the error of the estimate or the submission
    this.budget = null;
    this.quantiles = []; // statistics of the dataset that have quantiles
    this.earlier = null; // jobs on the same dataset
    this.waiting = false;
    this.sending = false;
    this.opened = {}; // parts of the form that are open: from the start, or after an error
    this.timer = null;
    this.asked = null; // AbortController of the running estimate
    this.key = keyring();
    this.sweep = sweepCard(() => this.ask());
    this.start = startCard({form: () => this.form, set: (name, value) => this.set(name, value), draw: () => this.draw()});
    matchMedia('(min-width: 901px)').addEventListener('change', () => this.draw(), {signal: view.signal});
    view.signal.addEventListener('abort', () => {
      clearTimeout(this.timer);
      this.asked?.abort();
    });
  }

  async begin() {
    const {query, signal} = this.view;
    this.view.title('New job · epsilond');
    this.view.draw(loading);
    const list = '/v1/datasets?state=READY&order_by=id&view=summary';
    const [secret, open, {algorithms}] = await Promise.all([all(`${list}&privacy=private`, 'datasets', signal, 100),
      all(`${list}&privacy=public`, 'datasets', signal, 100), get('/v1/algorithms', signal)]);
    this.datasets = [...secret, ...open];
    this.algorithms = algorithms;
    const copied = query.get('from') ? await get(`/v1/jobs/${encodeURIComponent(query.get('from'))}`, signal) : null;
    if (copied) this.form = formOf(copied);
    this.opened = {more: this.says('final_rate', 'schedule', 'warmup', 'weight_decay', 'momentum', 'steps', 'loss', 'init_seed'),
      start: this.says('weights') || this.form.trainable !== '', exact: this.says('accountant')};
    const wanted = query.get('dataset') || this.form.dataset || this.datasets.find((one) => one.privacy !== 'public')?.id || this.datasets[0]?.id || '';
    const evaluation = this.form.evaluation;
    if (wanted && !this.datasets.some(({id}) => id === wanted)) { // there are more datasets than were listed
      const one = await get(`/v1/datasets/${encodeURIComponent(wanted)}`, signal);
      if (one.state === 'READY') this.datasets.unshift(one);
    }
    await this.choose(wanted);
    if (evaluation) this.form.evaluation = evaluation;
    if (copied?.privacy && copied.privacy.delta !== this.budget?.delta) [this.form.delta, this.opened.exact] = [String(copied.privacy.delta), true];
    this.ask(0);
  }

  // Returns whether one of these fields is filled in.
  says(...names) {
    return names.some((name) => this.form[name] !== '');
  }

  get dataset() {
    return this.datasets.find((one) => one.id === this.form.dataset);
  }

  get algorithm() {
    return this.algorithms.find((one) => one.name === this.form.algorithm);
  }

  // Returns the public datasets on which a model of this dataset can be measured.
  publicOnes() {
    return this.dataset?.evaluations ?? [];
  }

  async choose(id) {
    const path = `/v1/datasets/${encodeURIComponent(id)}`;
    if (id !== this.form.dataset) this.form.scaling = ''; // statistics belong to one dataset
    this.form.dataset = id;
    if (this.dataset) Object.assign(this.dataset, await get(path, this.view.signal));
    this.suitTexts();
    this.form.evaluation = this.publicOnes()[0] ?? (this.dataset?.holdout ? HOLDOUT : '');
    if (this.dataset?.unit !== 'person') this.form.rows_per_person = '';
    if (!this.ofImages) this.form.views = '';
    this.budget = this.earlier = this.estimate = null;
    this.quantiles = [];
    if (this.dataset?.privacy === 'public') Object.assign(this.form, {algorithm: 'sgd', standardise: false});
    else if (this.form.algorithm === 'sgd') this.form.algorithm = 'dpsgd';
    if (!this.hasTable() || this.form.algorithm !== BOOSTED.algorithm) this.leaveHistograms();
    this.draw();
    if (!this.dataset) return;
    if (this.dataset.privacy !== 'public') this.budget = await get(`${path}/budget`, this.view.signal);
    this.quantiles = (await get(`/v1/statistics?dataset=${encodeURIComponent(id)}&order=desc&page_size=50`, this.view.signal)).statistics
      .filter(({state, statistics}) => state === 'SUCCEEDED' && statistics.some(({kind}) => kind === 'quantiles'));
    this.earlier = measured((await get(`/v1/jobs?dataset=${encodeURIComponent(id)}&state=SUCCEEDED&view=summary&page_size=50`, this.view.signal)).jobs);
    this.draw();
  }

  set(name, value) {
    this.form[name] = value;
    if (BOOSTED[name] === value) Object.assign(this.form, BOOSTED, {parameters: {}});
    else if (name in BOOSTED) this.leaveHistograms();
    if (encoders.includes(value)) this.form.sizes.vocabulary ||= String(this.tokens ?? '');
    if (value === WRITTEN) this.form.written ||= JSON.stringify({layers: [{type: 'dense', out: this.dataset?.classes > 2 ? this.dataset.classes : 1}]});
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
      this.estimate = await post(`${this.path()}:estimate`, this.body(), {signal});
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

  // Returns where the request goes: to sweeps if the user tries several settings, otherwise to jobs.
  path() {
    return this.sweep.part() ? '/v1/sweeps' : '/v1/jobs';
  }

  body() {
    const job = bodyOf(this.form, this.algorithm);
    const part = this.sweep.part();
    if (!part) return job;
    if (Object.keys(part.grid ?? part.random.settings).some((pointer) => pointer.startsWith('/optimizer/'))) job.optimizer ??= {name: this.form.optimizer};
    return {job, ...part};
  }

  async submit() {
    this.sending = true;
    this.draw();
    try {
      const body = this.body();
      const path = this.path();
      const made = await post(path, body, {key: this.key(body)});
      this.view.go(`${path.replace('/v1', '/ui')}/${made.id}`);
    } catch (error) {
      this.sending = false;
      this.problem = error;
      this.draw();
    }
  }

  verdict() {
    const {fits, largest_epsilon: largest} = this.estimate;
    if (fits === 'yes') return 'It fits.';
    const most = largest == null ? '' : `With these settings at most ${epsilon(below(largest))}.`;
    return fits === 'held' ? `Not now: open jobs hold what it would need. ${most}` : `It does not fit. ${most}`;
  }

  // --- drawing ---

  // Returns the errors, each with the id of its field: a pointer into the job, or into the sweep.
  get errors() {
    return (this.problem?.errors ?? []).map((one) => ({...one, pointer: this.sweep.place(one.pointer.replace(/^\/job(?=\/)/, ''))}));
  }

  text(id, name, label, hint, placeholder, {kind = 'number', within = false} = {}) {
    const errors = this.errors;
    return field({id, label, hint, errors, within, control: input({id, kind, value: this.form[name], placeholder, errors, within,
      changed: (value) => this.set(name, value)})});
  }

  select(id, name, label, options, hint = '') {
    return field({id, label, hint, errors: this.errors, control: choice({id, value: this.form[name], options, changed: (value) => this.set(name, value)})});
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
        options: [['', 'nothing'], ...(dataset?.holdout ? [[HOLDOUT, 'the records held out']] : []), ...others.map((id) => [id, id])],
        changed: (value) => this.set('evaluation', value)})})}
      ${form.evaluation === HOLDOUT ? html`${this.text('/evaluation/epsilon', 'measured', 'Epsilon of the look', this.lookHint())}
        ${dataset?.task === 'regression' ? this.text('/evaluation/error_clip', 'error_clip', 'Errors count up to', 'In the unit of the label.', 'a quarter of its range') : nothing}` : nothing}
      ${dataset?.columns || form.scaling ? this.select('/scaling/statistics', 'scaling', 'Ranges of columns', [['', 'as declared'], ...this.released()], 'Quantiles that were released and paid for before; using them is free.') : nothing}
      ${dataset && dataset.privacy !== 'public' ? html`<label class="check"><input type="checkbox" id="/standardise" .checked=${form.standardise} @change=${(event) => this.set('standardise', event.target.checked)}>
        Scale by means and deviations${this.standardiseHint()}</label>` : nothing}
      ${this.text('/display_name', 'display_name', 'Name of the job', 'What people will call it.', 'none', {kind: 'text'})}</div></section>`;
  }

  // Returns the released quantiles as options, with the one that a copied job names.
  released() {
    const found = this.quantiles.map(({id, statistics, create_time: time}) => [id, `quantiles of ${statistics.filter(({kind}) => kind === 'quantiles').map(({column}) => column).join(', ')}, ${age(time)}`]);
    const {scaling} = this.form;
    return !scaling || found.some(([id]) => id === scaling) ? found : [...found, [scaling, shortId(scaling)]];
  }

  // Says what means and deviations would cost, from the estimate.
  standardiseHint() {
    const moments = this.estimate?.standardise;
    if (!moments) return ', which are bought once for each dataset.';
    return moments.statistics ? ': they were bought before and cost nothing.' : `: they cost ${epsilon(moments.epsilon)} once; later jobs use them for nothing.`;
  }

  // Says how precise the measurement on the holdout would be, from the estimate.
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
      ${form.way !== 'epsilon' ? nothing
        : html`<div class="field"><label for="slider">Stronger privacy ↔ better model</label><input id="slider" type="range" min="0" max=${SLIDER}
          .value=${String(toSlider(read(form.privacy.epsilon)))} aria-valuetext=${epsilon(read(form.privacy.epsilon))}
          @input=${(event) => changed(String(fromSlider(Number(event.target.value))))}>
          <small>${largest == null ? '' : `at most ${epsilon(below(largest))} fits with these settings`}${this.otherLargest(largest)}</small></div>`}</div>
      <details ?open=${this.isOpen('exact', '/privacy/delta', '/privacy/accountant')}><summary>Delta, and how epsilon is computed</summary><div class="fields">
      ${this.text('/privacy/delta', 'delta', 'Delta', 'At most the dataset’s, which is the default.', delta(this.budget?.delta))}
      ${this.select('/privacy/accountant', 'accountant', 'Computed by', accountants, 'For the epsilon of this job: the numerical way needs less noise for the same epsilon. The ledger charges the Rényi curve in both cases.')}
      </div></details></section>`;
  }

  // Explains why the dataset's page shows another largest epsilon, if it does.
  otherLargest(largest) {
    const whole = this.budget?.epsilon_remaining;
    return largest == null || whole == null || bare(below(largest)) === bare(whole) ? '' : `; ${bare(whole)} on the dataset's page is for steps that read all records`;
  }

  // Returns whether a part of the form is open. It stays open once the daemon has reported an error
  // below one of these pointers.
  isOpen(part, ...pointers) {
    this.opened[part] ||= this.errors.some(({pointer}) => pointers.some((one) => pointer.startsWith(one)));
    return this.opened[part];
  }

  // Makes the fields of the chosen preset, or the field for a whole model.
  presetFields() {
    const {form, errors} = this;
    if (form.preset === WRITTEN)
      return field({id: '/model', label: 'The model, as JSON', hint: 'As the API takes it: {"layers": [{"type": "dense", "out": 10}]}.', within: true, errors,
        control: area({id: '/model', value: form.written, within: true, errors, changed: (value) => this.set('written', value)})});
    if (form.preset.startsWith('resnet')) return this.text('/model/groups', 'groups', 'Groups', 'Of each group norm; a divisor of 64.', '32');
    if (encoders.includes(form.preset)) return encoderFields(form, this.sizeFields());
    if (form.preset === BOOSTED.preset) return this.text('/model/pairs', 'pairs', 'Pairs of columns', 'That have a function together, for example: longitude + latitude; age + hours.', 'none', {kind: 'text', within: true});
    if (form.preset !== 'mlp') return nothing;
    return html`${this.text('/model/hidden', 'hidden', 'Hidden layers', 'Units of each, with commas between.', '128', {within: true})}
      ${this.select('/model/activation', 'activation', 'Activation', [['', 'relu (default)'], ...activations.slice(1).map((name) => [name, name])])}
      ${this.hasWords() ? this.text('/model/embed', 'embed', 'Embed words to', 'Trained numbers of each column of words; left empty, each word is a feature.', 'not embedded') : nothing}`;
  }

  // Returns whether the dataset has columns of numbers or words.
  hasTable() {
    return this.dataset?.columns?.every(({kind}) => kind !== 'text') ?? false;
  }

  // Takes the usual model and algorithm in place of a boosted one, if one half of it was changed.
  leaveHistograms() {
    const {form} = this;
    if (form.preset === BOOSTED.preset) form.preset = 'linear';
    if (form.algorithm === BOOSTED.algorithm) Object.assign(form, {algorithm: this.dataset?.privacy === 'public' ? 'sgd' : 'dpsgd', parameters: {}});
  }

  hasWords() {
    return this.dataset?.columns?.some(({kind}) => kind === 'categorical' || kind === 'hashed');
  }

  // Chooses a model that reads texts for a dataset of them, unless one is chosen already.
  suitTexts() {
    const {form} = this;
    const text = this.dataset?.columns?.find(({kind}) => kind === 'text');
    if (!text || [...encoders, 'char_lstm', WRITTEN].includes(form.preset)) return;
    this.set('preset', {wordpiece: 'bert', byte_pair: 'roberta', bytes: 'char_lstm'}[text.tokenizer.kind]);
  }

  // The number of tokens of the dataset's texts, if it has any.
  get tokens() {
    return this.dataset?.columns?.find(({kind}) => kind === 'text')?.tokenizer.tokens;
  }

  sizeFields() {
    const {form, errors} = this;
    const change = (name) => (value) => {
      form.sizes[name] = value;
      this.ask();
    };
    return {text: (name, label, hint, placeholder) => field({id: `/model/${name}`, label, hint, errors, control: input({id: `/model/${name}`, kind: 'number', value: form.sizes[name], placeholder, errors, changed: change(name)})}),
      select: (name, label, options, hint) => field({id: `/model/${name}`, label, hint, errors, control: choice({id: `/model/${name}`, value: form.sizes[name], options, changed: change(name)})})};
  }

  // Only images can have views.
  get ofImages() {
    return [2, 3].includes(this.dataset?.features?.shape?.length);
  }

  viewFields() {
    if (!this.ofImages) return nothing;
    const first = this.select('/augmentation/views', 'views', 'Views of each record', [['', 'as it is (default)'], ...['1', '2', '4', '8', '16'].map((views) => [views, views])],
      'Their mean counts once, so the price stays the same; a step takes that many times as long.');
    return this.form.views === '' ? first : html`${first}${this.select('/augmentation', 'flip', 'Mirrored', [['', 'never (default)'], ['true', 'half of the time']])}
      ${this.text('/augmentation/shift', 'shift', 'Moved by', 'Pixels at most, along each side.', '0')}`;
  }

  averageField() {
    const {averaging} = this.form;
    if (averaging === 'tail') return this.text('/averaging/share', 'share', 'Share of the steps', 'The last ones, whose mean is kept.', '0.5');
    return averaging === 'ema' ? this.text('/averaging/decay', 'decay', 'Decay', 'The share of the mean that each step keeps.', '0.999') : nothing;
  }

  // The weights of the classes, in plain sight: without them a rare class is hardly learned.
  weightsField() {
    const {dataset} = this;
    if (!dataset || dataset.task === 'regression') return nothing;
    const names = classWords(dataset);
    const order = names.length && names.length <= CLASSES_SHOWN ? `, in the order ${names.join(', ')}` : ', in their order';
    return this.text('/class_weights', 'class_weights', 'Class weights', `One for each class${order}, for example a larger one for a rare class. They become public: do not compute them from the records.`,
      'all alike', {kind: 'text', within: true});
  }

  modelCard() {
    const {form, estimate} = this;
    const persons = this.dataset?.unit === 'person';
    const rate = form.final_rate === '' ? '/optimizer/learning_rate' : '/optimizer/learning_rate/initial';
    return html`<section class="card"><h2>Model and training</h2><div class="fields">
      ${this.select('/model/preset', 'preset', 'Model', [...presets.filter((name) => name !== BOOSTED.preset || this.hasTable()).map((name) => [name, name]), [WRITTEN, 'layers, as JSON']],
        estimate?.parameters == null ? '' : `${count(estimate.parameters)} parameters, ${bytes(estimate.memory)} of memory`)}
      ${this.text('/batch_size', 'batch_size', 'Batch size', `Expected: each ${persons ? 'person' : 'record'} is drawn by chance.`, estimate?.batch_size == null ? '' : count(estimate.batch_size))}${this.presetFields()}
      ${persons ? this.text('/rows_per_person', 'rows_per_person', 'Rows per person', 'The largest number in a step: 1, 2, 4, 8 or 16. It does not change the price.', '4') : nothing}${form.ranks === '' ? nothing : this.text('/ranks', 'ranks', 'Ranks', 'Processes that take the steps together.', '1')}${this.viewFields()}
      ${this.text('/epochs', 'epochs', 'Epochs', estimate?.steps == null ? '' : `${count(estimate.steps)} steps`, form.steps ? 'steps are given' : 'default')}
      ${this.text(rate, 'learning_rate', 'Learning rate', 'Private training likes large batches and rates.', 'default')}
      ${this.select('/optimizer/name', 'optimizer', 'Optimizer', [['sgd', 'sgd'], ['adam', 'adam'], ['adam_bc', 'adam without the noise']])}
      ${this.select('/averaging/kind', 'averaging', 'What is kept', averages, 'Averages cost no privacy, and take out some of the noise.')}${this.averageField()}${this.weightsField()}</div>
      <details ?open=${this.isOpen('more', '/optimizer/', '/steps', '/model/loss', '/model/init_seed')}>
        <summary>Schedule, decay, loss</summary><div class="fields">${this.moreFields()}</div></details></section>`;
  }

  moreFields() {
    const {form} = this;
    const ofOptimizer = form.optimizer === 'sgd' ? this.text('/optimizer/momentum', 'momentum', 'Momentum', 'Below 1.', '0')
      : html`${this.text('/optimizer/beta1', 'beta1', 'Beta 1', 'Of the mean of the gradients.', '0.9')}${this.text('/optimizer/beta2', 'beta2', 'Beta 2', 'Of the mean of their squares.', '0.999')}
        ${this.text('/optimizer/epsilon', 'epsilon', 'Adam’s epsilon', 'Added to a denominator; nothing to do with privacy.', '1e-8')}
        ${form.optimizer === 'adam_bc' ? this.text('/optimizer/floor', 'floor', 'Floor', 'The least square of a gradient, as a share of the variance of the noise.', '0.5') : nothing}`;
    return html`${this.text('/optimizer/learning_rate/final', 'final_rate', 'Last learning rate', 'It goes there from the first one, which must be given too.', 'stays the same')}
      ${this.select('/optimizer/schedule', 'schedule', 'On its way', [['', 'in a straight line (default)'], ['cosine', 'along a cosine']], 'A cosine ends at 0 unless a last rate is given.')}
      ${this.text('/optimizer/warmup', 'warmup', 'Warm-up', 'The share of the steps over which the rate rises.', '0')}
      ${this.text('/optimizer/weight_decay', 'weight_decay', 'Weight decay', 'Times the rate: what each parameter loses in a step.', '0')}${ofOptimizer}
      ${this.text('/steps', 'steps', 'Steps', 'Instead of epochs.', form.epochs ? 'epochs are given' : 'of the epochs')}
      ${form.preset === WRITTEN ? nothing : html`${this.select('/model/loss', 'loss', 'Loss', [['', 'as it suits the task (default)'], ...losses.map((name) => [name, name.replaceAll('_', ' ')])])}
        ${form.loss === 'huber' ? this.text('/model/loss/huber/delta', 'huber', 'Huber’s delta', 'Errors beyond it count in a straight line.') : nothing}`}
      ${form.preset === 'mlp' ? this.select('/model/bias', 'bias', 'Biases', [['', 'with (default)'], ['false', 'without']]) : nothing}
      ${this.text('/model/init_seed', 'init_seed', 'Seed of the first weights', 'Only for these weights; the noise has no seed.', '0')}`;
  }

  algorithmCard() {
    const {form, algorithm} = this;
    const fit = this.algorithms.filter((one) => (one.name !== BOOSTED.algorithm || this.hasTable()) && (one.private || this.dataset?.privacy === 'public'));
    return html`<section class="card"><h2>Algorithm</h2>${field({id: '/algorithm/name', label: 'Algorithm', hint: algorithm.when_to_use, errors: this.errors,
      control: choice({id: '/algorithm/name', value: form.algorithm, options: fit.map((one) => [one.name, one.title]), changed: (name) => {
        form.parameters = {};
        this.set('algorithm', name);
      }})})}<details ?open=${this.isOpen('parameters', '/algorithm/')}><summary>Parameters of ${algorithm.name}</summary>
      <div class="fields">${fields(algorithm.schema, {at: '/algorithm', values: form.parameters, errors: this.errors, changed: (name, value) => {
        form.parameters[name] = value;
        this.ask();
      }})}</div></details><p class="quiet small">${algorithm.paper}</p></section>`;
  }

  verdictBox() {
    const {estimate, form} = this;
    const use = () => {
      form.way = 'epsilon';
      form.privacy.epsilon = String(below(estimate.largest_epsilon));
      this.ask(0);
    };
    const kind = {yes: 'good', held: 'warn', no: 'bad'}[estimate.fits];
    const offers = estimate.fits !== 'yes' && estimate.largest_epsilon >= 0.01;
    return html`<div class="notice ${kind}" id="verdict"><b>${estimate.fits === 'yes' ? '✓ ' : ''}</b>${this.verdict()}
      ${offers ? html`<button type="button" class="button" @click=${use}>Use ε ${bare(below(estimate.largest_epsilon))}</button>` : nothing}</div>
      ${(estimate.warnings ?? []).map((warning) => html`<p class="notice warn" data-warning=${warning.code}>${warning.text}</p>`)}`;
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

  // Returns the other figures of the estimate, for a job or for all runs of a sweep.
  figures() {
    const {estimate} = this;
    if (!estimate) return [];
    const after = ['guarantee of the dataset after it', estimate.epsilon_after != null ? epsilon(estimate.epsilon_after) : null];
    if (estimate.run_count) {
      const steps = estimate.runs.map((run) => run.steps);
      return [['runs', count(estimate.run_count)], after, ['of the holdout’s budget', estimate.epsilon_holdout == null ? null : epsilon(estimate.epsilon_holdout)],
        ['steps of all of them', count(steps.reduce((sum, one) => sum + one, 0))]];
    }
    return [after, ['jobs like this that still fit', estimate.jobs_like_this != null ? count(estimate.jobs_like_this) : null],
      ['noise multiplier', plain(estimate.noise_multiplier)], ['batch, expected', `${count(estimate.batch_size)} (${percent(estimate.sampling_rate, 2)})`],
      ['steps', count(estimate.steps)], ['memory', bytes(estimate.memory)], ['time, about', estimate.seconds != null ? duration(estimate.seconds) : null]];
  }

  costCard() {
    const {estimate, problem} = this;
    const stray = problem && !this.errors.some(({pointer}) => stands(pointer));
    const runs = estimate?.run_count;
    const price = runs ? estimate.epsilon : estimate?.epsilon_planned;
    const figures = html`<dl>${this.figures().filter(([, value]) => value != null).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
    const whose = runs ? `all ${count(runs)} runs together` : 'this job alone';
    const wide = matchMedia('(min-width: 901px)').matches;
    return html`<section class="card cost" aria-busy=${String(this.waiting)}><h2>What it costs</h2>
      <p class="price">${price != null ? epsilon(price) : estimate ? 'no ε' : '…'}</p>
      <p class="quiet">${price != null ? `${whose}, at δ ${delta(estimate.delta)}` : estimate ? 'public data, without privacy' : ''}</p>
      ${wide ? this.shares() : nothing}${estimate ? this.verdictBox() : nothing}${problem ? stray ? trouble(problem) : html`<div class="notice bad">${problem.message}</div>` : nothing}
      ${wide ? figures : html`<details><summary>All figures</summary>${this.shares()}${figures}</details>`}
      <button class="button accent" id="submit" ?disabled=${!estimate || estimate.fits !== 'yes' || this.waiting || this.sending} @click=${() => this.submit()}>
        ${price != null ? `Spend ${epsilon(price)} and train` : 'Train'}${runs ? ` ${count(runs)} times` : ''}</button></section>`;
  }

  draw() {
    if (!this.datasets) return;
    if (!this.datasets.length)
      return this.view.draw(html`<h1>New job</h1><div class="card empty"><b>There is no dataset to train on</b><br><a href="/ui/register">Register one first.</a></div>`);
    this.view.draw(html`<div class="head"><div><h1>New job</h1><p class="quiet">Empty fields take the daemon's defaults. Nothing is charged until you submit.</p></div></div>
      <div class="main-aside priced"><div>${this.dataCard()}${this.privacyCard()}${this.modelCard()}${this.algorithmCard()}${this.start(this.errors, this.isOpen('start', '/model/weights', '/model/trainable', '/model/fresh', '/features'))}${
        this.sweep.card(this.algorithm, this.errors, this.isOpen('sweep', '/grid', '/random'))}</div><div>${this.costCard()}
      ${this.earlier?.length ? html`<section class="card"><ui-chart .chart=${{...scatter(this.earlier, this.form.dataset), title: 'What earlier jobs got', height: 190}}></ui-chart></section>` : nothing}</div></div>`);
  }
}

export function open(view) {
  new Page(view).begin().catch((error) => error.name !== 'AbortError' && view.draw(trouble(error)));
}
