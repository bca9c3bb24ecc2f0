// Controls that fill in many columns at once: ranges that a person pastes, the words that the file shows, and what missing
// cells become. Ranges are never taken from the file. Words are listed in full, and nothing is declared before the person has
// pressed the button.
import {html, nothing} from './lit-html.js';
import {shownWords} from './column_row.js';
import {hasCategory, isNumeric} from './declaration.js';
import {area, field} from './schema_form.js';

// A line: the name of a column, the smallest and the largest value. Between them: blanks, a comma, a semicolon or "to".
const LINE = /^(.+?)[\s:=,;]+([-+.\d]\S*?)(?:\s*[,;]\s*|\s+to\s+|\s+)([-+.\d]\S*)$/;

const isRanged = (column, task) => isNumeric(column, task) || column.kind === 'date';

// Fills in the ranges of the form's columns from its pasted lines. Returns the lines that name no column with a range.
export function fillRanges({ranges, columns, task}) {
  const lines = ranges.split('\n').map((line) => line.trim()).filter(Boolean);
  return lines.filter((line) => {
    const [, name, low, high] = LINE.exec(line) ?? [];
    const column = columns.find((one) => one.name === name && isRanged(one, task));
    if (column) Object.assign(column, {low, high});
    return !column;
  });
}

// Makes the field of all ranges, if several columns have one. unread: the lines that fillRanges returned.
export function rangesField({ranges, columns, task}, unread, changed) {
  if (columns.filter((column) => isRanged(column, task)).length < 2) return nothing;
  const errors = unread.length ? [{pointer: '/ranges', detail: `No column with a range is named in: ${unread.join('; ')}.`}] : [];
  return html`<div class="fields">${field({id: '/ranges', label: 'All ranges at once', errors,
    hint: 'Paste or type one column a line: its name, the smallest and the largest value, as “age 0 120”. The columns below show what was read.',
    control: area({id: '/ranges', value: ranges, rows: 3, errors, changed})})}</div>`;
}

// Makes the list of all words that the file shows, with a button that declares them.
export function wordsOfFile({columns, task}, isPartial, draw) {
  const found = columns.map((column) => [column, shownWords(column, task, isPartial)]).filter(([, changes]) => changes);
  if (found.length < 2) return nothing;
  const use = () => {
    for (const [column, changes] of found) Object.assign(column, changes);
    draw();
  };
  const other = found.some(([, changes]) => changes.other);
  return html`<details open><summary>Words in your file, of ${found.length} columns</summary>
    <ul class="entries">${found.map(([{name, shows}]) => html`<li><small><b>${name}</b>: ${shows.words.join(', ')}</small></li>`)}</ul>
    <p class="suggestion"><small>Confirm that all of these may be public${other ? '; other words of the file then count as other' : ''}.</small>
      <button type="button" class="button" id="all-words" @click=${use}>Use all these words</button></p></details>`;
}

// Makes the button that gives missing cells a category of their own, in all columns of words that the file shows to have
// such cells.
export function gapsOfFile({columns}, draw) {
  const found = columns.filter((column) => column.gaps && hasCategory(column) && !column.default && !column.if_missing);
  if (found.length < 2) return nothing;
  const use = () => {
    for (const column of found) column.if_missing = true;
    draw();
  };
  return html`<p class="suggestion"><small>From your file: cells are missing in ${found.map(({name}) => name).join(', ')}. Confirm that this may be public, and these columns get a category for missing cells.</small>
    <button type="button" class="button" id="all-gaps" @click=${use}>Make them a category of their own</button></p>`;
}
