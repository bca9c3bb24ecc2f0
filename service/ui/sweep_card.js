// Values to try: a job becomes a sweep of every combination of them.
import {html, nothing} from './lit-html.js';
import {choice, field, input, read} from './schema_form.js';

const MOST = 4; // settings, of which every combination is a run
const always = [['/optimizer/learning_rate', 'learning rate'], ['/batch_size', 'batch size'], ['/epochs', 'epochs'], ['/privacy/epsilon', 'epsilon'],
  ['/privacy/noise_multiplier', 'noise multiplier'], ['/optimizer/weight_decay', 'weight decay'], ['/optimizer/warmup', 'warm-up'], ['/optimizer/momentum', 'momentum']];

// What can be tried: the above, and what the algorithm takes as a number.
function settable({schema}) {
  const own = Object.entries(schema.properties).filter(([, one]) => one.type === 'number' || one.type === 'integer');
  return [...always, ...own.map(([name]) => [`/algorithm/${name}`, name.replaceAll('_', ' ')])];
}

const escaped = (pointer) => pointer.replaceAll('~', '~0').replaceAll('/', '~1');
const valuesOf = (text) => text.split(/[\s;,]+/).filter(Boolean).map(read);

// {grid, place, card}: the grid of settings, null where nothing is to be tried; the field that
// shows what is wrong at a pointer into a job; and the card, of what the daemon says of the
// algorithm. changed() is called with each key.
export function sweepCard(changed) {
  const rows = [{pointer: '/optimizer/learning_rate', text: ''}];
  const used = () => rows.filter(({text}) => valuesOf(text).length);
  const grid = () => (used().length ? Object.fromEntries(used().map(({pointer, text}) => [pointer, valuesOf(text)])) : null);
  const count = () => used().reduce((runs, {text}) => runs * valuesOf(text).length, 1);

  const place = (pointer) => (used().some((row) => row.pointer === pointer) ? `/grid/${escaped(pointer)}` : pointer);

  const change = (row, name) => (value) => {
    row[name] = value;
    changed();
  };
  const line = (row, i, options, errors) => {
    const id = `/grid/${escaped(row.pointer)}`;
    return html`${field({id: `setting-${i}`, label: 'Setting', control: choice({id: `setting-${i}`, value: row.pointer, changed: change(row, 'pointer'),
      options: options.filter(([pointer]) => pointer === row.pointer || rows.every((other) => other.pointer !== pointer))})})}
      ${field({id, label: 'Values to try', hint: i ? '' : 'With spaces between: 0.5 1 2. Empty: as it stands above.', within: true, errors,
        control: input({id, value: row.text, within: true, errors, changed: change(row, 'text')})})}`;
  };
  const card = (algorithm, errors, isOpen) => {
    const options = settable(algorithm);
    const next = options.find(([pointer]) => rows.every((row) => row.pointer !== pointer));
    const add = () => {
      rows.push({pointer: next[0], text: ''});
      changed();
    };
    return html`<section class="card"><h2>Several at once</h2><details ?open=${isOpen}>
      <summary>${used().length ? `A sweep of ${count()} runs` : 'Try several settings, at one price'}</summary><p class="quiet">Every combination is a run. All of them
      are paid for before the first begins, and the best by its quality is shown. Stopping as soon as one is good would cost no less, so it is not offered.</p>
      <div class="fields">${rows.map((row, i) => line(row, i, options, errors))}</div>
      ${rows.length < MOST ? html`<button type="button" class="button" id="another" @click=${add}>Another setting</button>` : nothing}</details></section>`;
  };
  return {grid, place, card};
}
