// One column in the form of a new dataset: its kind, what that kind needs, and what the owner's own file suggests.
// A suggestion is a button: nothing of the file is in the declaration before its owner has pressed it.
import {html, nothing} from './lit-html.js';
import {hasWords, isNumeric, isUsed, takesMissing} from './declaration.js';
import {columnFaults} from './import_report.js';
import {inWords} from './schema_form.js';
import {textFields} from './text_column.js';

const kinds = [['numeric', 'number'], ['categorical', 'words'], ['boolean', 'yes or no'], ['date', 'date'], ['hashed', 'codes, hashed'], ['text', 'text'], ['label', 'predicted'],
  ['ignored', 'not used'], ['privacy_id', 'whose row it is']];
const parts = [['quarter', 'quarter'], ['month', 'month'], ['weekday', 'day of the week']];
const WORDS_SHOWN = 12;

// Returns the changes that declare the words which the file shows, or null if it shows none or words are declared.
export function shownWords(column, task, isPartial) {
  const {words = []} = column.shows ?? {};
  if (!hasWords(column, task) || !words.length || column.values.trim() !== '') return null;
  const other = isPartial && column.kind === 'categorical';
  return {values: words.join(words.some((word) => word.includes(',')) ? '\n' : ', '), ...(other && {other})};
}

// Returns the choices that the file suggests for the column, as [text, button, changes].
function suggestions(column, {task, isPartial}) {
  const {kind, shows} = column;
  const found = [];
  if (!shows || kind === 'privacy_id') return found;
  if (kind !== 'label' && kind !== 'boolean' && shows.isBoolean) found.push(['only yes and no.', 'Make it yes or no', {kind: 'boolean'}]);
  if (kind !== 'label' && kind !== 'date') for (const format of shows.dates) found.push([`dates as ${format}.`, `Make it dates, ${format}`, {kind: 'date', format}]);
  if (kind === 'ignored' && shows.isLong && !shows.dates.length) found.push(['many different texts.', 'Make it hashed codes', {kind: 'hashed'}], ['many different texts.', 'Make it a text', {kind: 'text'}]);
  const declared = shownWords(column, task, isPartial);
  if (declared) {
    const some = shows.words.slice(0, WORDS_SHOWN).join(', ') + (shows.words.length > WORDS_SHOWN ? `, … ${shows.words.length} in all` : '');
    found.push([`${some}. Confirm that these may be public${declared.other ? '; other words of the file then count as other' : ''}.`, 'Use these words', declared]);
  }
  return found;
}

// Only one column is predicted. The one predicted before becomes a column of words if it has some, else of numbers.
function leavePrediction(columns) {
  for (const column of columns.filter(({kind}) => kind === 'label')) Object.assign(column, {kind: column.values ? 'categorical' : 'numeric', chosen: true});
}

// A text is the whole input of a model. The other columns that were used are left out, which the top of the page says.
function leaveOthers(columns) {
  for (const column of columns.filter((one) => isUsed(one) && one.kind !== 'label')) Object.assign(column, {kind: 'ignored', chosen: true});
}

// Makes the row of column i. page: {form, errors, isPartial, report, draw}.
export function columnRow(column, i, {form, errors, isPartial, report, draw}) {
  const change = (changes) => {
    if (changes.kind === 'label') leavePrediction(form.columns.filter((other) => other !== column));
    if (changes.kind === 'text') leaveOthers(form.columns.filter((other) => other !== column));
    Object.assign(column, changes, 'kind' in changes && {chosen: true});
    draw();
  };
  const at = `/columns/${i}`;
  const {name, kind} = column;
  const wrong = errors.find(({pointer}) => pointer === at || pointer.startsWith(`${at}/`));
  const isWrong = (member) => errors.some(({pointer}) => pointer === `${at}/${member}` || (pointer.startsWith(`${at}/range`) && ['low', 'high'].includes(member)));
  const cell = (member, label, mode, placeholder = '') => html`<input type="text" id="${at}/${member}" aria-label="${label} of ${name}"
    inputmode=${mode} autocomplete="off" placeholder=${placeholder} aria-invalid=${isWrong(member) ? 'true' : nothing} .value=${column[member] ?? ''} @input=${({target}) => change({[member]: target.value})}>`;
  const tick = (member, text, isSet, changes) => html`<label class="check"><input type="checkbox" id="${at}/${member}" .checked=${isSet} @change=${({target}) => change(changes(target.checked))}>${text}</label>`;
  const numeric = isNumeric(column, form.task);
  const ends = (mode, low, high, title) => html`<div class="range">${cell('low', title[0], mode, low)} to ${cell('high', title[1], mode, high)}</div>`;
  const needs = () => {
    if (kind === 'privacy_id') return html`<small>The import compares these values and does not store them. All rows of one person are protected together.</small>`;
    if (kind === 'boolean') return html`<small>true, yes, y, t, on, 1 or false, no, n, f, off, 0</small>`;
    if (kind === 'text') return textFields(column, {at, cell, tick, change});
    if (kind === 'hashed') return html`${cell('buckets', 'Buckets', 'numeric', 'how many buckets: 64')}<small>Each text falls into one of them, by a seed that the daemon draws.</small>`;
    if (kind === 'date') return html`${cell('format', 'Format', 'text', 'as %Y-%m-%d')}${ends('text', 'first: 2000-01-01', 'last: 2030-12-31', ['First day', 'Last day'])}
      ${parts.map(([part, word]) => tick(`parts/${part}`, `and its ${word}`, (column.parts ?? []).includes(part), (isSet) => ({parts: parts.map(([one]) => one).filter((one) => (one === part ? isSet : column.parts?.includes(one)))})))}`;
    if (numeric) return ends('decimal', 'smallest', 'largest', ['Smallest value', 'Largest value']);
    if (!isUsed(column)) return nothing;
    return html`<textarea id="${at}/values" rows=${Math.min(6, column.values.split('\n').length)} aria-label="Values of ${name}" autocomplete="off" spellcheck="false"
      placeholder="all values, with commas between, or one a line" aria-invalid=${isWrong('values') ? 'true' : nothing} .value=${column.values} @input=${({target}) => change({values: target.value})}></textarea>
      ${kind === 'categorical' ? tick('other', 'and a category for all other words', column.other ?? false, (other) => ({other})) : nothing}`;
  };
  const fillers = () => html`${cell('default', 'Value for empty cells', numeric ? 'decimal' : 'text', column.gaps ? 'needed' : kind === 'date' ? '2000-01-01' : kind === 'boolean' ? 'yes' : '')}
    ${kind === 'label' ? nothing : tick('if_missing', numeric || kind === 'boolean' || kind === 'date' ? 'and an indicator' : 'a category of its own', column.if_missing ?? false, (isSet) => ({if_missing: isSet}))}
    ${column.gaps && !column.default && !column.if_missing ? html`<small class="wrong">This column has empty cells: enter the value that they take.</small>` : nothing}`;
  return html`<tr><td data-name="Column">${form.header ? html`<b>${name}</b>` : cell('name', 'Name', 'text')}</td>
    <td data-name="Kind"><select aria-label="Kind of ${name}" @change=${({target}) => change({kind: target.value})}>
      ${kinds.map(([one, word]) => html`<option value=${one} ?selected=${one === kind}>${word}</option>`)}</select></td>
    <td data-name="Range or values">${needs()}${wrong ? html`<small class="wrong">${inWords(wrong)}</small>` : nothing}${columnFaults(report, i)}
      ${suggestions(column, {task: form.task, isPartial}).map(([text, button, changes]) => html`<p class="suggestion"><small>From your file: ${text}</small> <button type="button" class="button"
        aria-label="${button}: ${name}" @click=${() => change(changes)}>${button}</button></p>`)}</td>
    <td data-name="If empty">${takesMissing(column) ? fillers() : nothing}</td></tr>`;
}
