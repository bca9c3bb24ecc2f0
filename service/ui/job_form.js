// The form of a new job, as the texts that a user writes, and the request that it makes. A field
// that is '' is not sent, so the daemon's default applies.
import {Problem} from './api.js';
import {sizesForm, sizesOf} from './encoder_fields.js';
import {collect, read} from './schema_form.js';

// Chosen in place of a public dataset: the records that the dataset itself holds out. No dataset's name begins with -.
export const HOLDOUT = '-holdout';
// Chosen in place of a preset: the model is written as JSON.
export const WRITTEN = '-written';

const usual = {momentum: 0, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, floor: 0.5, warmup: 0, weight_decay: 0, schedule: 'linear'};
const ofOptimizer = {sgd: ['momentum'], adam: ['beta1', 'beta2', 'epsilon'], adam_bc: ['beta1', 'beta2', 'epsilon', 'floor']};
const start = ['weights', 'trainable', 'fresh', 'init_seed'];

export function emptyForm() {
  return {dataset: '', evaluation: '', measured: '0.1', error_clip: '', scaling: '', standardise: false,
    way: 'epsilon', privacy: {epsilon: '1', budget_fraction: '', noise_multiplier: ''}, delta: '', accountant: '',
    preset: 'linear', written: '', hidden: '', activation: '', bias: '', embed: '', pairs: '', groups: '', sizes: {}, loss: '', huber: '', init_seed: '',
    weights: '', trainable: '', trained: '', rank: '', alpha: '', fresh: '', anew: '', features: '',
    batch_size: '', rows_per_person: '', ranks: '', views: '', flip: '', shift: '', epochs: '', steps: '', optimizer: 'sgd', learning_rate: '', final_rate: '',
    schedule: '', warmup: '', weight_decay: '', momentum: '', beta1: '', beta2: '', epsilon: '', floor: '',
    averaging: 'none', share: '', decay: '', class_weights: '', algorithm: 'dpsgd', parameters: {}, display_name: ''};
}

function text(value) {
  return value == null ? '' : String(value);
}

export function listOf(words) {
  return words.split(/[\s,;]+/).filter(Boolean);
}

// Returns the chosen word, and the patterns that belong to it: ['only', '0.weight, 0.bias'].
function chosen(value, none) {
  if (value == null) return [none, ''];
  if (typeof value === 'string') return [value, ''];
  if (Array.isArray(value)) return ['only', value.join(', ')];
  const [[word, names]] = Object.entries(value);
  return [word, [names].flat().join(', ')];
}

function modelForm(spec) {
  const own = Object.fromEntries(Object.entries(spec).filter(([name]) => !start.includes(name)));
  const lora = spec.trainable?.lora;
  const [trainable, trained] = lora ? ['lora', lora.targets.join(', ')] : chosen(spec.trainable, '');
  const [fresh, anew] = chosen(spec.fresh, '');
  const known = spec.preset && !spec.input;
  return {preset: known ? spec.preset : WRITTEN, written: known ? '' : JSON.stringify(own, null, 1), hidden: (spec.hidden ?? []).join(', '),
    activation: text(spec.activation), bias: text(spec.bias), embed: text(spec.embed), pairs: (spec.pairs ?? []).map((pair) => pair.join(' + ')).join('; '), groups: text(spec.groups), sizes: sizesForm(spec),
    loss: spec.loss?.huber ? 'huber' : text(spec.loss), huber: text(spec.loss?.huber?.delta),
    init_seed: spec.init_seed ? text(spec.init_seed) : '', weights: text(spec.weights), trainable, trained, rank: text(lora?.rank), alpha: text(lora?.alpha), fresh, anew};
}

function optimizerForm({name, learning_rate: rate, ...members}) {
  const form = {optimizer: name, learning_rate: text(rate?.initial ?? rate), final_rate: text(rate?.final)};
  for (const [member, value] of Object.entries(members)) if (value !== usual[member]) form[member] = text(value);
  return form;
}

// Returns the form that makes the same job again.
export function formOf(job) {
  const {name, ...parameters} = job.algorithm;
  const form = {...emptyForm(), ...modelForm(job.model_spec), ...optimizerForm(job.optimizer)};
  const way = job.privacy?.epsilon != null ? 'epsilon' : job.privacy?.budget_fraction != null ? 'budget_fraction' : 'noise_multiplier';
  Object.assign(form, {dataset: job.dataset, evaluation: job.evaluation?.holdout ? HOLDOUT : text(job.evaluation),
    measured: text(job.evaluation?.epsilon ?? '0.1'), error_clip: text(job.evaluation?.error_clip), scaling: text(job.scaling?.statistics), standardise: Boolean(job.standardise), way,
    accountant: job.privacy?.accountant === 'pld' ? 'pld' : '', batch_size: text(job.batch_size), rows_per_person: text(job.rows_per_person), ranks: text(job.ranks),
    views: text(job.augmentation?.views), flip: job.augmentation?.flip ? 'true' : '', shift: job.augmentation?.shift ? text(job.augmentation.shift) : '',
    epochs: text(job.epochs), steps: job.epochs == null ? text(job.steps) : '', averaging: job.averaging?.kind ?? 'none', share: text(job.averaging?.share),
    decay: text(job.averaging?.decay), class_weights: (job.class_weights ?? []).join(', '), features: text(job.features), algorithm: name});
  form.privacy[way] = text(job.privacy?.[way]);
  for (const [key, value] of Object.entries(parameters)) form.parameters[key] = text(value);
  return form;
}

// --- the request ---

// Returns the members of `found` that the user has filled in.
function given(found) {
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== ''));
}

function written(form) {
  try {
    return JSON.parse(form.written);
  } catch (error) {
    const detail = `It is no JSON: ${error.message}.`;
    throw new Problem(0, {detail: 'The model is no JSON.', errors: [{pointer: '/model', detail}]});
  }
}

// Returns the names of a pair of columns, or their numbers: 'age + hours'.
function pairOf(words) {
  return words.split('+').map((side) => (/^\d+$/.test(side.trim()) ? Number(side) : side.trim()));
}

function trainableOf({trainable, trained, rank, alpha}) {
  if (['', 'all', 'head', 'bias'].includes(trainable)) return trainable;
  if (trainable === 'last') return {last: read(trained) ?? null};
  if (trainable === 'lora') return {lora: {rank: read(rank) ?? null, alpha: read(alpha) ?? null, targets: listOf(trained)}};
  return {[trainable]: listOf(trained)};
}

function modelOf(form) {
  const begun = given({weights: form.weights, init_seed: read(form.init_seed),
    trainable: trainableOf(form),
    fresh: form.fresh === 'only' ? listOf(form.anew) : form.fresh});
  if (form.preset === WRITTEN) return {...written(form), ...begun};
  const loss = form.loss === 'huber' ? {huber: {delta: read(form.huber) ?? null}} : form.loss;
  const layered = form.preset === 'mlp' && {hidden: form.hidden.trim() ? listOf(form.hidden.replaceAll('-', ' ')).map(read) : '', activation: form.activation,
    bias: form.bias === '' ? '' : form.bias === 'true', embed: read(form.embed)};
  const paired = form.preset === 'histograms' && {pairs: form.pairs.trim() ? form.pairs.split(';').filter((pair) => pair.trim()).map(pairOf) : ''};
  const grouped = form.preset.startsWith('resnet') && {groups: read(form.groups)};
  return {preset: form.preset, ...given({...layered, ...paired, ...grouped, ...sizesOf(form), loss}), ...begun};
}

// Returns the optimizer, or undefined if every field of it has its default.
function optimizerOf(form) {
  const [rate, final] = [read(form.learning_rate), read(form.final_rate)];
  const said = given({learning_rate: final === undefined ? rate : {initial: rate ?? null, final}, schedule: form.schedule,
    warmup: read(form.warmup), weight_decay: read(form.weight_decay), ...Object.fromEntries(ofOptimizer[form.optimizer].map((name) => [name, read(form[name])]))});
  return Object.keys(said).length || form.optimizer !== 'sgd' ? {name: form.optimizer, ...said} : undefined;
}

function averagingOf({averaging: kind, share, decay}) {
  if (kind === 'none') return undefined;
  return {kind, ...given(kind === 'tail' ? {share: read(share)} : {decay: read(decay)})};
}

// Returns the views in which a step sees each record, or undefined if a step sees records unchanged.
function augmentationOf({views, flip, shift}) {
  return views ? {views: read(views), ...given({flip: flip === 'true' || undefined, shift: read(shift)})} : undefined;
}

function evaluationOf(form) {
  if (form.evaluation !== HOLDOUT) return form.evaluation;
  return {holdout: true, epsilon: read(form.measured), ...given({error_clip: read(form.error_clip)})};
}

// algorithm: the daemon's description of the chosen one.
export function bodyOf(form, algorithm) {
  return {dataset: form.dataset, model: modelOf(form), algorithm: {name: form.algorithm, ...collect(algorithm.schema, form.parameters)}, ...given({
    evaluation: evaluationOf(form), scaling: form.scaling.trim() ? {statistics: form.scaling.trim()} : '', standardise: form.standardise || '', batch_size: read(form.batch_size), rows_per_person: read(form.rows_per_person), ranks: read(form.ranks),
    augmentation: augmentationOf(form), epochs: read(form.epochs),
    steps: read(form.steps), optimizer: optimizerOf(form), averaging: averagingOf(form), features: form.features, display_name: form.display_name.trim(),
    class_weights: form.class_weights.trim() ? listOf(form.class_weights).map(read) : '',
    privacy: algorithm.private ? {[form.way]: read(form.privacy[form.way]), ...given({delta: read(form.delta), accountant: form.accountant})} : ''})};
}
