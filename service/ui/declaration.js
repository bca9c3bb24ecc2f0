// Makes the request that declares a dataset, from a form of texts.
import {WEAK_EPSILON, confirming, isWeak} from './confirmation.js';
import {read} from './schema_form.js';
import {textForm, textMembers} from './text_column.js';

export const formats = {
  csv: {title: 'CSV table', files: ['data'], hasColumns: true},
  jsonl: {title: 'JSON Lines', files: ['data'], hasColumns: true},
  libsvm: {title: 'LIBSVM text', files: ['data']},
  idx: {title: 'IDX (as MNIST has it)', files: ['features', 'labels']},
  npy: {title: 'NumPy arrays', files: ['features', 'labels']},
  cifar10: {title: 'CIFAR-10 binary', files: ['data']},
  cifar100: {title: 'CIFAR-100 binary', files: ['data']},
};

// Returns whether the records have declared columns.
export const hasColumns = ({format}) => formats[format].hasColumns === true;

// A column has the ids of persons. Formats without columns need a separate file for them.
export function filesOf(form) {
  const {files} = formats[form.format];
  return form.privacy_id && !hasColumns(form) ? [...files, 'privacy_id'] : files;
}

// Returns whether the declaration says which person each record belongs to.
export function isOfPersons(form) {
  return hasColumns(form) ? form.columns.some(({kind}) => kind === 'privacy_id') : form.privacy_id;
}

// Every number and range that describes the records starts empty, because the owner has to state it.
export function emptyDeclaration() {
  return {id: '', format: 'csv', task: 'classification', classes: '', header: false, delimiter: ',', decimal: '.', missing: '', ranges: '', columns: [], shape: '', scale: '', count: '',
    low: '', high: '', target_low: '', target_high: '', privacy_id: false, rows_kept: '', privacy: '', epsilon: '2', delta: '0.00001', relation: 'zero_out', held: 'share', holdout: '0.1', confirmed: new Set()};
}

function numbers(text) {
  return text.split(/[\s,x×]+/).filter(Boolean).map(read);
}

// Reads values: one a line if there are several lines, so that a value may contain commas; otherwise with commas between.
export function words(text) {
  return text.split(text.trim().includes('\n') ? '\n' : ',').map((word) => word.trim()).filter((word) => word !== '');
}

function range(low, high) {
  const ends = [read(low), read(high)];
  return ends.every((end) => end === undefined) ? undefined : ends.map((end) => end ?? null);
}

export const isNumeric = ({kind}, task) => kind === 'numeric' || (kind === 'label' && task === 'regression');
export const isUsed = ({kind}) => kind !== 'ignored' && kind !== 'privacy_id';
// An empty text is a text without a word, so only other cells can be missing.
export const takesMissing = (column) => isUsed(column) && column.kind !== 'text';
// True if missing cells can be a category of their own.
export const hasCategory = ({kind}) => kind === 'categorical' || kind === 'hashed';
export const hasWords = ({kind}, task) => kind === 'categorical' || (kind === 'label' && task !== 'regression');

// Reads a text as a boolean. Any other text is returned as it is, so that the daemon reports the error.
function truth(text) {
  if (/^(true|yes|y|t|on|1)$/i.test(text)) return true;
  return /^(false|no|n|f|off|0)$/i.test(text) ? false : text || undefined;
}

const trimmed = (text) => (text ?? '').trim() || null;

// Returns the members that the column's kind needs.
function membersOf(column, task) {
  const {kind} = column;
  if (kind === 'boolean') return {};
  if (kind === 'text') return textMembers(column, read);
  if (kind === 'hashed') return {buckets: read(column.buckets)};
  if (kind === 'date') return {format: column.format, range: [trimmed(column.low), trimmed(column.high)], ...(column.parts?.length && {parts: column.parts})};
  return isNumeric(column, task) ? {range: range(column.low, column.high)} : {values: words(column.values), ...(column.other && kind === 'categorical' && {other: true})};
}

function columnOf(column, task) {
  const {name, kind} = column;
  if (!isUsed(column)) return {name, kind};
  const made = {name, kind, ...membersOf(column, task)};
  if (!takesMissing(column)) return made;
  const numeric = isNumeric(column, task);
  const filler = numeric ? read(column.default) : kind === 'boolean' ? truth(column.default) : column.default || undefined;
  if (column.missing) made.missing = column.missing;
  if (column.if_missing && kind !== 'label') made.if_missing = hasCategory(column) ? 'category' : 'indicator';
  if (filler !== undefined && made.if_missing !== 'category') made.default = filler;
  return made;
}

function featuresOf(form) {
  if (form.format === 'libsvm') {
    const ends = range(form.low, form.high);
    return {count: read(form.count), ...(ends && {range: ends})};
  }
  return {shape: numbers(form.shape), scale: read(form.scale)};
}

function privacyOf(form) {
  if (form.privacy === 'public') return 'public';
  if (form.privacy === '') return undefined;
  return {epsilon: read(form.epsilon), delta: read(form.delta), relation: form.relation};
}

export function declarationOf(form) {
  const body = {id: form.id.trim(), format: form.format, task: form.task, privacy: privacyOf(form)};
  if (form.privacy === 'private' && isWeak(read(form.epsilon))) Object.assign(body, confirming([WEAK_EPSILON].filter((name) => form.confirmed.has(name))));
  if (form.privacy === 'private' && form.held === 'share') body.holdout = read(form.holdout);
  if (form.privacy === 'private' && isOfPersons(form) && form.rows_kept) body.rows_kept = read(form.rows_kept);
  if (form.format === 'csv') {
    body.header = form.header;
    if (form.delimiter !== ',') body.delimiter = form.delimiter;
    if (form.decimal !== '.') body.decimal = form.decimal;
  }
  if (hasColumns(form)) {
    if (words(form.missing).length) body.missing = words(form.missing);
    body.columns = form.columns.map((column) => columnOf(column, form.task));
    return body;
  }
  if (form.task === 'classification') body.classes = form.format === 'cifar10' ? 10 : read(form.classes);
  if (!form.format.startsWith('cifar')) body.features = featuresOf(form);
  if (form.task === 'regression') body.target = {range: range(form.target_low, form.target_high)};
  if (form.privacy_id) body.privacy_id = true;
  return body;
}

// --- the form of a dataset that was declared before ---

const text = (value) => (value == null ? '' : String(value));

// Writes values with commas between, or one a line if a value contains a comma.
function listText(values = []) {
  return values.join(values.some((value) => value.includes(',')) ? '\n' : ', ');
}

function columnForm({name, kind, range, values, default: filler, other, if_missing: ifMissing, missing, format, parts, buckets, length, tokenizer}) {
  return {name, kind, chosen: true, gaps: false, low: text(range?.[0]), high: text(range?.[1]), values: listText(values), default: text(filler),
    other: other ?? false, if_missing: ['indicator', 'category'].includes(ifMissing), missing, format, parts, buckets: text(buckets), ...(tokenizer && textForm(length, tokenizer))};
}

// Returns the forms of the columns, and the texts of missing cells if all columns that can have them have the same.
function columnForms(columns = []) {
  const lists = columns.filter(takesMissing).map(({missing = []}) => JSON.stringify(missing));
  const isShared = new Set(lists).size === 1;
  return {missing: isShared ? listText(JSON.parse(lists[0])) : '', columns: columns.map((column) => columnForm(isShared ? {...column, missing: undefined} : column))};
}

// Returns the form that declares the dataset again.
export function formOf({id, format, task, classes, header, delimiter, decimal, columns, features, target, unit, privacy, holdout, rows_kept: rows}) {
  return {...emptyDeclaration(), id, format, task, classes: text(classes), header: header ?? false, delimiter: delimiter ?? ',', decimal: decimal ?? '.',
    ...columnForms(columns ?? []),
    shape: (features?.shape ?? []).join(', '), scale: text(features?.scale), count: text(features?.count), low: text(features?.range?.[0]), high: text(features?.range?.[1]),
    target_low: text(target?.range?.[0]), target_high: text(target?.range?.[1]), privacy_id: unit === 'person' && !hasColumns({format}), rows_kept: text(rows),
    ...(privacy === 'public' ? {privacy} : {privacy: 'private', epsilon: text(privacy.epsilon), delta: text(privacy.delta), relation: privacy.relation,
      held: holdout ? 'share' : 'none', holdout: text(holdout ?? 0.1)})};
}

// Returns the columns of a file, with what was declared before for columns of the same name.
export function kept(declared, columns) {
  const before = new Map(declared.map((column) => [column.name, column]));
  return columns.map((column) => (before.has(column.name) ? {...before.get(column.name), gaps: column.gaps, shows: column.shows} : column));
}
