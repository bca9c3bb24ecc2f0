// The fields of the form that registers a dataset which are empty or cannot be right. The page finds them before it
// sends anything, so that a person sees all of them at once, in plain words.
import {WEAK_EPSILON, isWeak} from './confirmation.js';
import {filesOf, hasColumns, isNumeric, isUsed, takesMissing} from './declaration.js';
import {read} from './schema_form.js';
import {missingFiles} from './text_column.js';

const needs = {range: 'a range', values: 'their values', default: 'a value for empty cells', name: 'a name', format: 'a format', buckets: 'a number of buckets', length: 'a number of tokens', tokenizer: 'a file of the tokenizer'};
const isNumber = (text) => typeof read(text) === 'number';

// Returns what is wrong with the two ends of a range, or null.
function rangeFault(low, high) {
  for (const text of [low, high]) {
    if (text.trim() === '') return 'Enter the smallest and the largest value that can occur.';
    if (!isNumber(text)) return `“${text.trim()}” is not a number.`;
  }
  return read(low) < read(high) ? null : 'The smallest value must be below the largest.';
}

// Returns the id of the end that is empty or no number; of the first one if both are fine.
function endAt(at, low, high, names) {
  return `${at}/${isNumber(low) && !isNumber(high) ? names[1] : names[0]}`;
}

// Returns what is wrong with the first and the last day, or null.
function daysFault(low, high) {
  if (![low, high].every((day) => /^\d{4}-\d\d-\d\d$/.test(day.trim()))) return 'Enter the first and the last day that can occur, as 2000-01-31.';
  return low.trim() < high.trim() ? null : 'The first day must be before the last.';
}

function* columnFields(column, i, {task, header}) {
  const at = `/columns/${i}`;
  const {kind, low, high, values} = column;
  if (!header && column.name.trim() === '') yield {id: `${at}/name`, column: i, need: 'name', text: 'Give this column a name.'};
  if (!isUsed(column)) return;
  if (kind === 'date' && !column.format) yield {id: `${at}/format`, column: i, need: 'format', text: 'Enter how the dates are written, as %d.%m.%Y.'};
  if (kind === 'date' && daysFault(low, high)) yield {id: `${at}/low`, column: i, need: 'range', text: daysFault(low, high)};
  if (kind === 'hashed' && !(read(column.buckets) >= 2)) yield {id: `${at}/buckets`, column: i, need: 'buckets', text: 'Enter how many buckets the texts are divided into.'};
  if (kind === 'text' && !(read(column.length ?? '') >= 2)) yield {id: `${at}/length`, column: i, need: 'length', text: 'Enter how many tokens.'};
  if (kind === 'text') for (const [member, name] of missingFiles(column)) yield {id: `${at}/tokenizer/${member}`, column: i, need: 'tokenizer', text: `Choose the file ${name}.`};
  if (isNumeric(column, task)) {
    const text = rangeFault(low, high);
    if (text) yield {id: endAt(at, low, high, ['low', 'high']), column: i, need: 'range', text};
  } else if (!['boolean', 'date', 'hashed', 'text'].includes(kind) && values.trim() === '') yield {id: `${at}/values`, column: i, need: 'values', text: 'Enter every value that can occur.'};
  if (takesMissing(column) && column.gaps && column.default === '' && !column.if_missing) yield {id: `${at}/default`, column: i, need: 'default', text: ''};
}

// Makes a field that must have a number.
function number(id, text, need) {
  if (text.trim() === '') return [{id, need, text: 'Enter a number.'}];
  return isNumber(text) ? [] : [{id, need, text: `“${text.trim()}” is not a number.`}];
}

function span(at, low, high, need) {
  const text = rangeFault(low, high);
  return text ? [{id: endAt(at, low, high, [0, 1]), need, text}] : [];
}

function* shapeFields(form) {
  const {format, task} = form;
  if (task === 'classification' && format !== 'cifar10') yield* number('/classes', form.classes, 'the number of classes');
  if (format === 'libsvm') yield* number('/features/count', form.count, 'the number of features');
  if (format === 'libsvm' && (form.low || form.high)) yield* span('/features/range', form.low, form.high, 'the range of the features');
  if (['idx', 'npy'].includes(format) && form.shape.trim() === '') yield {id: '/features/shape', need: 'the shape of one record', text: 'Enter whole numbers, with commas between.'};
  if (task === 'regression') yield* span('/target/range', form.target_low, form.target_high, 'the range of the answers');
}

function* privacyFields(form, asked) {
  if (form.privacy === '') yield {id: 'privacy-private', need: 'who may see the records', text: 'Choose one of the two.'};
  if (form.privacy !== 'private') return;
  yield* number('/privacy/epsilon', form.epsilon, 'an epsilon');
  yield* number('/privacy/delta', form.delta, 'a delta');
  if ([...(isWeak(read(form.epsilon)) ? [WEAK_EPSILON] : []), ...asked].some((name) => !form.confirmed.has(name))) yield {id: '/acknowledge', need: 'your confirmation of the weak promise', text: 'Tick this to confirm it.'};
  if (form.held === 'share') yield* number('/holdout', form.holdout, 'the share that is held out');
}

// Returns the open fields from the top of the page to its end, as {id, column, need, text}. id is the id of the
// element, column the index of the column that it belongs to. files and places have what is to be sent, by name; asked
// has the names of the confirmations that an import asked for.
export function openFields(form, {files, places, stated, asked}) {
  const found = [];
  for (const name of filesOf(form)) if (!files[name] && !places[name]?.url) found.push({id: `file-${name}`, need: filesOf(form).length > 1 ? `the file “${name}”` : 'a file', text: 'Choose a file, or give its address.'});
  if (form.id.trim() === '') found.push({id: '/id', need: 'a name', text: 'Give the dataset a name.'});
  if (hasColumns(form)) form.columns.forEach((column, i) => found.push(...columnFields(column, i, form)));
  else found.push(...shapeFields(form));
  found.push(...privacyFields(form, asked));
  if (!stated) found.push({id: 'state', need: 'your statement', text: 'Tick this to register.'});
  return found;
}

// Says how many fields are open: "14 columns still need a range; a name is missing".
export function openWords(fields) {
  const said = Object.entries(needs).map(([need, words]) => [fields.filter((one) => one.column !== undefined && one.need === need).length, words])
    .filter(([number]) => number).map(([number, words]) => (number === 1 ? `1 column still needs ${words.replace('their', 'its')}` : `${number} columns still need ${words}`));
  const rest = fields.filter(({column}) => column === undefined).map(({need}) => need);
  if (rest.length) said.push(`still missing: ${rest.join(', ')}`);
  return `${said.join('; ')}.`;
}
