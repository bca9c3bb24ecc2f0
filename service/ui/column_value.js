// How the numbers of a column are shown: days as dates, and yes or no. Others are plain numbers.
import {plain} from './format.js';

const DAY_MS = 86400e3;

// Returns whether the column is stored as a number. A boolean is 0 or 1, a date the number of its day since 1970.
export const isNumber = (column) => column?.range != null || column?.kind === 'boolean';

// Returns a number of the column as text.
export function valueText(column, value, digits) {
  return column?.kind === 'date' ? new Date(Math.round(value) * DAY_MS).toISOString().slice(0, 10) : plain(value, digits);
}

// Returns the name of a bin. A boolean has two: no and yes.
export function binName(column, bin) {
  if (bin.value !== undefined) return bin.value;
  if (column?.kind === 'boolean' && bin.to - bin.from === 0.5) return bin.from < 0.5 ? 'no' : 'yes';
  return `${valueText(column, bin.from, 8)} to ${valueText(column, bin.to, 8)}`;
}

// Reads what a person types as a number of the column; undefined if it is empty.
export function readValue(column, text, read) {
  if (column?.kind !== 'date' || text.trim() === '') return read(text);
  const day = Date.parse(`${text.trim()}T00:00:00Z`);
  return Number.isNaN(day) ? text : day / DAY_MS;
}
