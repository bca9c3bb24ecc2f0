// Shows the report of a refused import: what is wrong in each column, and the words that it does not declare.
import {html, nothing} from './lit-html.js';
import {words as wordsOf} from './declaration.js';

const WORDS_SHOWN = 20;

function count(faults, one, many) {
  return faults === 1 ? `1 ${one}` : `${faults} ${many}`;
}

// The faults of the declared column i, for its row of the form.
export function columnFaults(report, i) {
  const column = report?.columns.find(({index}) => index === i);
  if (!column) return nothing;
  return html`<details class="faults" open><summary class="wrong">${count(column.faults, 'cell is', 'cells are')} not as declared</summary><ul>
    ${column.cells.map(({line, cell, reason}) => html`<li>line ${line}: <q>${cell}</q><br><small>${reason}</small></li>`)}</ul></details>`;
}

function list({name, words, words_complete: complete}) {
  const rest = words.length - WORDS_SHOWN;
  return html`<li><b>${name}</b>: ${words.slice(0, WORDS_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}${
    complete ? '' : ' (the file has further ones)'}</li>`;
}

// The lines that do not have the declared cells, and one button that adds all undeclared words.
export function reportCard(report, add) {
  if (!report) return nothing;
  const columns = report.columns.filter(({words}) => words.length);
  return html`<div class="notice bad" id="report"><b>${count(report.faults, 'fault', 'faults')} in the file. Only you are shown this.</b>
    ${report.lines.length ? html`<ul>${report.lines.map(({line, cell, reason}) => html`<li>line ${line}: ${cell ? html`<q>${cell}</q> ` : nothing}${reason}</li>`)}</ul>
      ${report.faulty_lines > report.lines.length ? html`<p>${report.faulty_lines} such lines in all.</p>` : nothing}` : nothing}
    ${columns.length ? html`<p>From your file: confirm that these words may be public.</p><ul>${columns.map(list)}</ul>
      <button class="button" id="add-words" @click=${add}>They may be public: add and import</button>` : nothing}</div>`;
}

// Adds words to the values of a column of the form. Values with commas are written one a line.
export function addTo(column, words) {
  const known = wordsOf(column.values);
  const all = [...known, ...words.filter((word) => !known.includes(word))];
  column.values = all.length > 1 && all.some((word) => word.includes(',')) ? all.join('\n') : all.join(', ');
}
