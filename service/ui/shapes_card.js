// The step functions of a model of histograms: what each column adds to the score of a record.
import {html, nothing} from './lit-html.js';
import {readValue, valueText} from './column_value.js';
import {plain} from './format.js';
import {choice, field} from './schema_form.js';
import './chart.js';

const CELLS = 256; // of a number (engine/nn/layers/histograms.h)
const CLASSES_SHOWN = 4;
const colours = ['spent', 'asked', 'held', 'bad'];
const dateParts = {quarter: ['1', '2', '3', '4'], month: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  weekday: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']};
const orderOfParts = Object.keys(dateParts);

// Returns the columns of the model, each with its words or with the range of its numbers, from those of the dataset.
function columnsOf(dataset, widths) {
  const found = [];
  const words = (name, list) => found.push({name, words: [...list, '(none of them)']});
  for (const column of dataset.columns) {
    const {name, kind} = column;
    if (kind === 'categorical') words(name, [...column.values, ...(column.other ? ['other'] : []), ...(column.if_missing === 'category' ? ['missing'] : [])]);
    else if (kind === 'hashed') words(name, Array.from({length: widths[found.length]}, (_, i) => `bucket ${i}`));
    else if (kind === 'numeric' || kind === 'date' || kind === 'boolean') {
      found.push({name, range: kind === 'date' ? column.range.map((text) => readValue(column, text)) : column.range ?? [0, 1], show: (value) => valueText(column, value)});
      for (const part of orderOfParts.filter((one) => column.parts?.includes(one))) words(`${part} of ${name}`, dateParts[part]);
      if (column.if_missing === 'indicator') found.push({name: `${name} is missing`, range: [0, 1], show: plain});
    }
  }
  return found;
}

const cellsOf = (width) => (width === 1 ? CELLS : width + 1);

// Returns the table of a safetensors file, (rows, outputs), and its number of outputs.
function tableOf(buffer) {
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const [, {shape, data_offsets: [from, to]}] = Object.entries(header).find(([name]) => name.endsWith('.weight'));
  return {values: new Float32Array(buffer.slice(8 + size + from, 8 + size + to)), outputs: shape[1]};
}

// classes: the names of the label's values; a table of two classes has the score of the second one.
export function shapesCard(draw, signal) {
  let asked = false;
  let table = null;
  let problem = null;
  let shown = 0;

  const load = async (model) => {
    asked = true;
    try {
      const response = await fetch(`/v1/models/${encodeURIComponent(model.id)}/content`, {signal});
      if (!response.ok) throw new Error(`The model's file cannot be read: the daemon answered ${response.status}.`);
      table = tableOf(await response.arrayBuffer());
    } catch (error) {
      problem = error;
    }
    draw();
  };
  const score = (row, output) => table.values[row * table.outputs + output];
  const names = (classes) => (table.outputs === 1 ? [classes[1] ? `score of ${classes[1]}` : 'score'] : Array.from({length: table.outputs}, (_, k) => classes[k] ?? `class ${k}`));
  const chart = (column, first, scaled, classes) => {
    const [low, high] = scaled ? [-1, 1] : column.range;
    return {
      title: column.name, level: 3,
      sentence: `The number${scaled ? ' after scaling' : ''}, and what it adds to the ${table.outputs === 1 ? names(classes)[0] : 'scores of the classes'}.`,
      x: {label: column.name, show: scaled ? plain : column.show}, y: {label: 'adds', show: plain},
      points: Array.from({length: CELLS}, (_, k) => low + (k * (high - low)) / CELLS),
      series: names(classes).slice(0, CLASSES_SHOWN).map((label, output) => ({label, kind: 'step', colour: colours[output],
        values: Array.from({length: CELLS}, (_, k) => score(first + k, output))})),
    };
  };
  const words = (column, first, classes) => html`<h3>${column.name}</h3><table><thead><tr><th scope="col">Word</th>${names(classes).map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
    <tbody>${column.words.map((word, k) => html`<tr><td>${word}</td>${names(classes).map((name, output) => html`<td class="number" data-name=${name}>${plain(score(first + k, output))}</td>`)}</tr>`)}</tbody></table>`;

  return ({model, job, dataset, classes}) => {
    const spec = job?.model_spec;
    if (spec?.preset !== 'histograms' || !dataset?.columns) return nothing;
    if (!asked) load(model);
    if (!table) return html`<section class="card" id="shapes"><h2>What each column adds</h2>${problem ? html`<p class="wrong" role="alert">${problem.message}</p>` : html`<p class="quiet">Loading …</p>`}</section>`;
    const columns = columnsOf(dataset, spec.columns);
    const first = spec.columns.slice(0, shown).reduce((sum, width) => sum + cellsOf(width), 0);
    const column = columns[shown];
    const scaled = Boolean(job.scaling || job.standardise);
    return html`<section class="card" id="shapes"><h2>What each column adds</h2>
      <p class="quiet">The score of a record is the sum of what its columns add. Everything here was released with noise: small steps may be noise.</p>
      ${field({id: 'shape', label: 'Column', control: choice({id: 'shape', value: String(shown), options: columns.map(({name}, i) => [String(i), name]), changed: (value) => {
        shown = Number(value);
        draw();
      }})})}
      ${column.words ? words(column, first, classes) : html`<ui-chart .chart=${chart(column, first, scaled, classes)}></ui-chart>`}
      ${spec.pairs.length ? html`<p class="quiet small">Pairs are not drawn: ${spec.pairs.map(([a, b]) => `${columns[a].name} with ${columns[b].name}`).join(', ')}.</p>` : nothing}</section>`;
  };
}
