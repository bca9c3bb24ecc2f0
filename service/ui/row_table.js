// A table whose rows can be sorted by each column, and chosen by a checkbox. A click on a row opens what its name links
// to (app.js). Only the rows that are shown are sorted.
import {html, nothing} from './lit-html.js';

function compare(a, b) {
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
}

// Sorts a copy of the rows. Rows without a value come last in both directions.
function sorted(rows, of, down) {
  const known = rows.filter((row) => of(row) != null);
  known.sort((a, b) => (down ? -1 : 1) * compare(of(a), of(b)));
  return [...known, ...rows.filter((row) => of(row) == null)];
}

// Each column is {name, of, cell, number}: its title; the value to sort by, or none if it cannot be sorted; what a cell
// shows; whether it is a figure. The first column names the row. draw() redraws the page. At most `most` rows can be
// chosen, and named(row) names a row for its checkbox.
// Returns table(rows), and chosen: the chosen rows by their ids.
export function rowTable(columns, {draw, most = 0, named}) {
  const chosen = new Map();
  let by = null;
  let down = false;
  const turn = (column) => () => {
    down = by === column ? !down : Boolean(column.number);
    by = column;
    draw();
  };
  const pick = (row) => ({target}) => {
    if (!target.checked) chosen.delete(row.id);
    else if (chosen.size < most) chosen.set(row.id, row);
    target.checked = chosen.has(row.id);
    draw();
  };
  const head = (column) => html`<th scope="col" class=${column.number ? 'number' : nothing} aria-sort=${by === column ? (down ? 'descending' : 'ascending') : nothing}>${
    column.of ? html`<button type="button" class="sort" @click=${turn(column)}>${column.name}${by === column ? html` <span aria-hidden="true">${down ? '▾' : '▴'}</span>` : nothing}</button>`
      : column.name}</th>`;
  const box = (row) => html`<label class="pick"><input type="checkbox" .checked=${chosen.has(row.id)} @change=${pick(row)} aria-label="Choose ${named(row)}"></label>`;
  const line = (row) => html`<tr>${columns.map(({name, cell, number}, i) => html`<td class=${number ? 'number' : nothing} data-name=${i ? name : nothing}>${
    i === 0 && most ? box(row) : nothing}${cell(row)}</td>`)}</tr>`;
  const table = (rows) => html`<div class="card table"><table class="folds"><thead><tr>${columns.map(head)}</tr></thead>
    <tbody>${(by ? sorted(rows, by.of, down) : rows).map(line)}</tbody></table></div>`;
  return {table, chosen};
}
