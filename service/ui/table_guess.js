// Guesses format, delimiter, decimal sign, header, and the names and kinds of the columns from the beginning of a file
// of CSV or JSON Lines, and lists what else its cells show: words, formats of dates, texts that may stand for missing cells.
// The page offers these to the owner, one by one, and declares none that the owner has not confirmed. Ranges are never
// taken from the file: they become public, so they would reveal something about the records.
const DELIMITERS = [',', ';', '\t', '|'];
const FEW = 20; // so few distinct words are categories, however often each occurs
const WORDS_MOST = 100; // more distinct words are names, ids or codes, as is a word that seldom comes again
const OFTEN = 4; // cells for each word, on average
const MARKERS = ['NA', 'N/A', 'n/a', 'NaN', 'nan', 'NULL', 'Null', 'null', 'None', 'none', '?', '-', '--', '.', 'missing'];
const BOOLEAN = /^(true|yes|y|t|on|1|false|no|n|f|off|0)$/i;
// Each format of dates, with the places of its month and day among the parts in brackets.
const DATES = [['%Y-%m-%d', /^\d{4}-(\d\d)-(\d\d)$/, 1, 2], ['%Y/%m/%d', /^\d{4}\/(\d\d)\/(\d\d)$/, 1, 2], ['%d.%m.%Y', /^(\d\d)\.(\d\d)\.\d{4}$/, 2, 1],
  ['%d/%m/%Y', /^(\d\d)\/(\d\d)\/\d{4}$/, 2, 1], ['%m/%d/%Y', /^(\d\d)\/(\d\d)\/\d{4}$/, 1, 2], ['%d-%m-%Y', /^(\d\d)-(\d\d)-\d{4}$/, 2, 1],
  ['%Y-%m-%dT%H:%M:%S', /^\d{4}-(\d\d)-(\d\d)T\d\d:\d\d:\d\d$/, 1, 2], ['%Y-%m-%d %H:%M:%S', /^\d{4}-(\d\d)-(\d\d) \d\d:\d\d:\d\d$/, 1, 2]];

// Returns the cells of one line, without their quotes. A cell in quotes may contain the delimiter.
export function cells(line, delimiter) {
  const found = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quoted) {
      if (c === '"' && line[i + 1] === '"') cell += line[++i];
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"' && cell.trim() === '') [cell, quoted] = ['', true];
    else if (c === delimiter) {
      found.push(cell);
      cell = '';
    } else cell += c;
  }
  return [...found, cell].map((text) => text.trim());
}

function isNumber(text, decimal = '.') {
  const number = decimal === ',' ? text.replace('.', 'x').replace(',', '.') : text;
  return text !== '' && Number.isFinite(Number(number));
}

// Returns the decimal sign that makes more cells of the rows numbers. A comma needs another delimiter.
function decimalOf(rows, delimiter) {
  const count = (decimal) => rows.flat().filter((text) => isNumber(text, decimal)).length;
  return delimiter !== ',' && count(',') > count('.') ? ',' : '.';
}

// Returns the delimiter that splits all lines into the same number of cells, and into the most.
function delimiterOf(lines) {
  const widths = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => cells(line, delimiter).length);
    return counts.every((width) => width === counts[0]) ? counts[0] : 1;
  });
  return DELIMITERS[widths.indexOf(Math.max(...widths))];
}

// Returns the formats in which all cells are dates. If the order of day and month does not show, both are in the list.
function datesOf(full) {
  return DATES.filter(([, pattern, month, day]) => full.length && full.every((cell) => {
    const parts = pattern.exec(cell);
    return parts && Number(parts[month]) >= 1 && Number(parts[month]) <= 12 && Number(parts[day]) >= 1 && Number(parts[day]) <= 31;
  })).map(([format]) => format);
}

// Returns whether the cells are numbers or dates, apart from those that may be missing. The name of such a column is neither.
function isQuantity(column, decimal) {
  const full = column.filter((cell) => cell !== '' && !MARKERS.includes(cell));
  return full.length > 0 && (full.every((cell) => isNumber(cell, decimal)) || datesOf(full).length > 0);
}

// Returns whether most cells are sentences, of several words. A name of one word is none.
function areSentences(column) {
  return column.filter((cell) => /\s/.test(cell)).length > 0.8 * column.length;
}

// Returns whether the distinct words of the cells are categories.
function areCategories(words, full, isText) {
  return words.length <= FEW || (isText && words.length <= WORDS_MOST && words.length * OFTEN <= full.length);
}

function showsOf(full, decimal) {
  const words = [...new Set(full)];
  const isText = !full.every((cell) => isNumber(cell, decimal));
  const isShort = areCategories(words, full, isText);
  return {isBoolean: full.length > 0 && words.every((word) => BOOLEAN.test(word)), dates: datesOf(full), isLong: isText && !isShort, words: isShort ? words.sort() : []};
}

function kindOf(full, decimal) {
  if (full.every((cell) => isNumber(cell, decimal))) return 'numeric';
  return areCategories([...new Set(full)], full, true) ? 'categorical' : 'ignored';
}

// Returns what the rows of cells show of the columns with these names.
function shown(names, rows, decimal, missing) {
  const columns = names.map((name, i) => {
    const column = rows.map((row) => row[i]);
    const full = column.filter((cell) => cell !== '' && !missing.includes(cell));
    return {name, kind: kindOf(full, decimal), gaps: full.length < column.length, shows: showsOf(full, decimal)};
  });
  columns[columns.length - 1].kind = 'label';
  const cellsRead = new Set(rows.flat());
  return {columns, markers: MARKERS.filter((text) => cellsRead.has(text) && !missing.includes(text))};
}

function guessCells(lines, {delimiter: given, decimal: sign, missing = []}) {
  const delimiter = given ?? delimiterOf(lines.slice(0, 50));
  const rows = lines.map((line) => cells(line, delimiter)).filter((row, i, all) => row.length === all[0].length);
  const names = rows[0];
  const body = rows.slice(1);
  const decimal = delimiter === ',' ? '.' : sign ?? decimalOf(rows, delimiter);
  const header = body.length > 0 && names.every((name) => name !== '' && !isNumber(name))
    && new Set(names).size === names.length && names.some((name, i) => [isQuantity, areSentences].some((are) => are(body.map((row) => row[i]), decimal) && !are([name], decimal)));
  return {format: 'csv', delimiter, decimal, header,
    ...shown(header ? names : names.map((name, i) => `column${i + 1}`), header ? body : rows, decimal, missing)};
}

// Returns the object of one line of JSON Lines, with its values as the texts of cells; null if the line is none. A
// number keeps its digits, if the browser passes its text.
function objectOf(line) {
  try {
    const read = JSON.parse(line, (name, value, context) => (typeof value === 'number' ? context?.source ?? String(value) : value));
    return read && typeof read === 'object' && !Array.isArray(read) ? new Map(Object.entries(read).map(([name, value]) => [name, value == null ? '' : String(value).trim()])) : null;
  } catch {
    return null;
  }
}

function guessObjects(objects, {missing = []}) {
  const names = [...new Set(objects.flatMap((object) => [...object.keys()]))];
  return {format: 'jsonl', delimiter: ',', decimal: '.', header: true,
    ...shown(names, objects.map((object) => names.map((name) => object.get(name) ?? '')), '.', missing)};
}

// text: whole lines from the beginning of the file, which is a table with a sign between cells, or JSON Lines. known:
// the delimiter and the decimal sign, if the user has chosen them; the others are guessed; and the texts of missing
// cells. Returns {format, delimiter, decimal, header, markers, columns: [{name, kind, gaps, shows}]}, or null if there
// is nothing to read. markers: texts that may mark missing cells. shows: {isBoolean, dates, isLong, words}.
export function guess(text, known = {}) {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  if (!lines.length) return null;
  const objects = objectOf(lines[0])?.size ? lines.map(objectOf).filter(Boolean) : [];
  return objects.length ? guessObjects(objects, known) : guessCells(lines, known);
}

const HEAD = 64 << 10;

// Returns the first 64 KiB of a file, decompressed if it is gzip-ed, up to the last line end; and whether it goes on.
export async function head(file) {
  const bytes = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  let text = '';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const reader = file.slice(0, HEAD).stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let piece = await reader.read(); !piece.done && text.length < HEAD; piece = await reader.read()) text += piece.value;
    } catch {
      // The slice ends inside the compressed data; the text read so far is enough.
    }
    reader.cancel().catch(() => {});
  } else {
    text = new TextDecoder().decode(bytes);
  }
  const whole = file.size > HEAD || text.length >= HEAD ? text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1) : text;
  return {text: whole || text, isPartial: file.size > HEAD || text.length >= HEAD};
}
