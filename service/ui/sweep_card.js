// Values to try: turns a job into a sweep of every combination of them, or of random draws.
import {html, nothing} from './lit-html.js';
import {choice, field, input, read} from './schema_form.js';

const MOST = 4; // settings of one sweep
const always = [['/optimizer/learning_rate', 'learning rate'], ['/batch_size', 'batch size', true], ['/epochs', 'epochs', true], ['/privacy/epsilon', 'epsilon'],
  ['/privacy/noise_multiplier', 'noise multiplier'], ['/optimizer/weight_decay', 'weight decay'], ['/optimizer/warmup', 'warm-up'], ['/optimizer/momentum', 'momentum']];
const ways = [['grid', 'every combination'], ['random', 'random draws']];
const scales = [['log', 'between two, evenly in the logarithm'], ['linear', 'between two, evenly'], ['values', 'one of the values']];

// Returns the settings that a sweep can vary, [pointer, name, whether it is an integer] each: those above
// and the numeric parameters of the algorithm.
function settable({schema}) {
  const own = Object.entries(schema.properties).filter(([, one]) => one.type === 'number' || one.type === 'integer');
  return [...always, ...own.map(([name, {type}]) => [`/algorithm/${name}`, name.replaceAll('_', ' '), type === 'integer'])];
}

const escaped = (pointer) => pointer.replaceAll('~', '~0').replaceAll('/', '~1');
const valuesOf = (text) => text.split(/[\s;,]+/).filter(Boolean).map(read);

// If more than two numbers are written for a range, they are sent as text, so that the daemon reports the error.
function drawn({text, scale, whole}) {
  const values = valuesOf(text);
  if (scale === 'values') return {values};
  const [low, ...rest] = values;
  return {low, high: rest.length > 1 ? rest.join(' ') : rest[0], scale, ...(whole && {whole})};
}

// Returns three functions. part(): the member that a sweep has next to its job, a grid or random draws, or
// null if nothing is varied. place(): the id of the field that shows an error at a pointer into the job.
// card(): the card, from the daemon's description of the algorithm. changed() is called after each change.
export function sweepCard(changed) {
  const form = {way: 'grid', count: '10', seed: ''};
  const rows = [{pointer: '/optimizer/learning_rate', text: '', scale: 'log'}];
  const used = () => rows.filter(({text}) => valuesOf(text).length);
  const settings = (valueOf) => Object.fromEntries(used().map((row) => [row.pointer, valueOf(row)]));
  const part = () => {
    if (!used().length) return null;
    if (form.way === 'grid') return {grid: settings(({text}) => valuesOf(text))};
    return {random: {count: read(form.count), seed: read(form.seed), settings: settings(drawn)}};
  };
  const count = () => (form.way === 'random' ? form.count : used().reduce((runs, {text}) => runs * valuesOf(text).length, 1));

  const idOf = (pointer) => `/${form.way === 'grid' ? 'grid' : 'random/settings'}/${escaped(pointer)}`;
  const place = (pointer) => (used().some((row) => row.pointer === pointer) ? idOf(pointer) : pointer);

  const change = (row, name) => (value) => {
    row[name] = value;
    changed();
  };
  const line = (row, i, options, errors) => {
    const id = idOf(row.pointer);
    const between = form.way === 'random' && row.scale !== 'values';
    const take = (pointer) => {
      row.whole = options.find(([one]) => one === pointer)[2];
      change(row, 'pointer')(pointer);
    };
    return html`${field({id: `setting-${i}`, label: 'Setting', control: choice({id: `setting-${i}`, value: row.pointer, changed: take,
      options: options.filter(([pointer]) => pointer === row.pointer || rows.every((other) => other.pointer !== pointer))})})}
      ${form.way === 'grid' ? nothing : field({id: `scale-${i}`, label: 'Drawn', control: choice({id: `scale-${i}`, value: row.scale, options: scales, changed: change(row, 'scale')})})}
      ${field({id, label: between ? 'Least and greatest' : 'Values to try', hint: i ? '' : `With ${between ? 'a space between: 0.1 10' : 'spaces between: 0.5 1 2'}. Empty: as it stands above.`, within: true, errors,
        control: input({id, value: row.text, within: true, errors, changed: change(row, 'text')})})}`;
  };
  const number = (name, label, hint, errors) => field({id: `/random/${name}`, label, hint, errors,
    control: input({id: `/random/${name}`, kind: 'number', value: form[name], errors, changed: change(form, name)})});
  const wayFields = (errors) => html`${field({id: 'way', label: 'What is tried', control: choice({id: 'way', value: form.way, options: ways, changed: change(form, 'way')})})}
    ${form.way === 'grid' ? nothing : html`${number('count', 'Runs', 'At most 100.', errors)}${number('seed', 'Seed of the draws', 'Public; another one draws others. Empty: 0.', errors)}`}`;
  const card = (algorithm, errors, isOpen) => {
    const options = settable(algorithm);
    const next = options.find(([pointer]) => rows.every((row) => row.pointer !== pointer));
    const add = () => {
      rows.push({pointer: next[0], text: '', scale: 'log', whole: next[2]});
      changed();
    };
    return html`<section class="card"><h2>Several at once</h2><details ?open=${isOpen}>
      <summary>${used().length ? `A sweep of ${count()} runs` : 'Try several settings, at one price'}</summary><p class="quiet">Every ${form.way === 'grid' ? 'combination' : 'draw'} is a run. All of them
      are paid for before the first begins, and the best by its quality is shown. Stopping as soon as one is good would cost no less, so it is not offered.</p>
      <div class="fields">${wayFields(errors)}</div>${rows.map((row, i) => html`<div class="fields">${line(row, i, options, errors)}</div>`)}
      ${rows.length < MOST ? html`<button type="button" class="button" id="another" @click=${add}>Another setting</button>` : nothing}</details></section>`;
  };
  return {part, place, card};
}
