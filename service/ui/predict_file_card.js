// A model's predictions for a csv file of any length. The browser sends the file and keeps the answer on the disk; the
// page holds neither.
import {html, nothing} from './lit-html.js';
import {upload} from './api.js';
import {bytes, percent} from './format.js';
import {bar} from './gauge.js';
import {field, inWords} from './schema_form.js';

// Returns a function that makes the card for a model and its dataset. draw() redraws the page.
export function predictFileCard(draw, signal) {
  let file = null;
  let share = null; // of the file, while it is sent
  let answer = null; // {name, size, url}
  let problem = null;

  const forget = () => {
    if (answer) URL.revokeObjectURL(answer.url);
    answer = problem = null;
  };
  signal.addEventListener('abort', forget);
  const take = ({target}) => {
    [file] = target.files;
    forget();
    draw();
  };
  // A browser reports no change if the same file is chosen again, although its content may have changed.
  const clear = (event) => {
    event.target.value = '';
    take(event);
  };
  const send = (model) => async (event) => {
    event.preventDefault();
    forget();
    share = 0;
    draw();
    try {
      const blob = await upload(`/v1/models/${encodeURIComponent(model.id)}:predict-file`, file, (now) => {
        share = now;
        draw();
      }, {method: 'POST', type: 'text/csv', signal});
      answer = {name: `${file.name.replace(/\.[^.]*$/, '')}-predictions.csv`, size: blob.size, url: URL.createObjectURL(blob)};
    } catch (error) {
      problem = error;
    }
    share = null;
    draw();
  };
  const faults = () => html`<div class="notice bad" role="alert"><b>No row is predicted.</b> ${problem.errors.length
    ? html`<ul>${problem.errors.map((one) => html`<li>${inWords(one)}</li>`)}</ul>` : problem.message}</div>`;
  const needed = (columns) => columns.filter(({kind}) => !['label', 'ignored', 'privacy_id'].includes(kind)).map(({name}) => name);

  const form = ({format, header}) => (format === 'jsonl' ? 'With commas between the cells, and names in the first line'
    : `In the form of the dataset's own file${header ? ', with names in the first line' : ''}`);

  return (model, {columns, ...dataset}) => {
    if (!columns) return nothing;
    const names = needed(columns);
    return html`<section class="card" id="predict-file"><h2>Predict a file</h2><form @submit=${send(model)}>
      ${field({id: 'rows-file', label: 'CSV file', hint: `${form(dataset)}: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}.`,
        control: html`<input type="file" id="rows-file" accept=".csv,text/csv" @click=${clear} @change=${take}>`})}
      ${problem ? faults() : nothing}<button class="button" id="predict-rows" ?disabled=${!file || share !== null}>Predict</button></form>
      ${share !== null ? html`<p role="status">${share < 1 ? `Predicting … ${percent(share)}` : 'Waiting for the answer …'}</p>${bar(share, 'Predicting')}` : nothing}
      ${answer ? html`<p role="status"><a class="button accent" href=${answer.url} download=${answer.name}>Download ${answer.name}</a> <small>${bytes(answer.size)}</small></p>` : nothing}
      <p class="quiet small">The file is not stored, and predictions cost nothing.</p></section>`;
  };
}
