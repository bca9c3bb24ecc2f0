// A model's predictions for records that the user types in. Nothing of them is kept, and they cost nothing.
import {html, nothing} from './lit-html.js';
import {get, post} from './api.js';
import {cells} from './table_guess.js';
import {percent, plain} from './format.js';
import {trouble} from './notice.js';
import {area, field} from './schema_form.js';

const ROWS = 50;

// Returns the cells of a line as values of the columns, null for an empty cell.
function cellsOf(line, columns) {
  if (columns?.length === 1 && columns[0].kind === 'text') return [line];
  return cells(line, line.includes('\t') ? '\t' : ',').map((text, i) => {
    if (text === '') return null;
    const kind = columns?.[i]?.kind ?? 'numeric';
    if (kind === 'boolean') return /^(true|yes|y|t|on|1)$/i.test(text) || (/^(false|no|n|f|off|0)$/i.test(text) ? false : text);
    return kind !== 'numeric' || !Number.isFinite(Number(text)) ? text : Number(text);
  });
}

function said({class: name, probabilities, value}) {
  if (name === undefined) return [plain(value, 5), ''];
  return [String(name), percent(Math.max(...probabilities), 1)];
}

// Returns a function that makes the card of a job's model. draw() redraws the page.
export function predictCard(draw) {
  let dataset = null;
  let text = '';
  let rows = null; // [line, output] each
  let problem = null;

  const attempt = async (act) => {
    try {
      await act();
      problem = null;
    } catch (error) {
      problem = error;
      rows = null;
    }
    draw();
  };
  const read = () => dataset.columns?.filter(({kind}) => !['label', 'ignored', 'privacy_id'].includes(kind));
  const open = (job) => ({target}) => target.open && !dataset && attempt(async () => {
    dataset = await get(`/v1/datasets/${encodeURIComponent(job.dataset)}`);
  });
  const ask = (job) => (event) => {
    event.preventDefault();
    const lines = text.split('\n').filter((line) => line.trim()).slice(0, ROWS);
    attempt(async () => {
      const {outputs} = await post(`/v1/models/${job.model}/predict`, {inputs: lines.map((line) => cellsOf(line, read()))});
      rows = outputs.map((output, i) => [lines[i], output]);
    });
  };
  const table = () => html`<div class="scroll" tabindex="0" role="region" aria-label="Predictions"><table><thead><tr><th scope="col">Record</th><th scope="col" class="number">Says</th>
    <th scope="col" class="number">How sure</th></tr></thead><tbody>${rows.map(([line, output]) => {
      const [word, sure] = said(output);
      return html`<tr><td><small>${line.length > 40 ? `${line.slice(0, 40)}…` : line}</small></td><td class="number"><b>${word}</b></td><td class="number quiet">${sure}</td></tr>`;
    })}</tbody></table></div>`;

  return (job) => html`<section class="card"><h2>Predictions</h2><details @toggle=${open(job)}><summary>Ask the model about records</summary>${!dataset ? trouble(problem) : html`<form @submit=${ask(job)}>
    ${field({id: 'records', label: 'Records, one a line', hint: read()?.[0]?.kind === 'text' ? `A text on each line: its ${read()[0].name}.` : read() ? `Cells with commas between, in quotes if a cell has a comma itself: ${read().slice(0, 20).map(({name}) => name).join(', ')}${read().length > 20 ? ', …' : ''}.`
      : 'The values of each, with commas between, not scaled.', control: area({id: 'records', value: text, rows: 4, changed: (now) => {
        text = now;
      }})})}
    ${trouble(problem)}<button class="button">Predict</button></form>${rows ? table() : nothing}
    <p class="quiet small">Nothing is kept of what is asked, and it costs nothing: the model is what was paid for.</p>`}</details></section>`;
}
