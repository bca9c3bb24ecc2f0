// Guesses delimiter, decimal sign, header, and the names and kinds of the columns from the beginning
// of a CSV file. Ranges and values are never taken from the file: they become public, so they would
// reveal something about the records. Apart from the dialect and header, this module returns
// only the names and kinds of columns, and whether a column has gaps.
const DELIMITERS = [',', ';', '\t', '|'];
const FEW = 20; // a column with more distinct words is probably a name or an id

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

function kindOf(column, decimal) {
  const full = column.filter((cell) => cell !== '');
  if (full.every((cell) => isNumber(cell, decimal))) return 'numeric';
  return new Set(full).size > FEW ? 'ignored' : 'categorical';
}

// text: whole lines from the beginning of the file. known: the delimiter and the decimal sign, if the
// user has chosen them; the others are guessed.
// Returns {delimiter, decimal, header, columns: [{name, kind, gaps}]}, or null if there is nothing to read.
export function guess(text, known = {}) {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  if (!lines.length) return null;
  const delimiter = known.delimiter ?? delimiterOf(lines.slice(0, 50));
  const rows = lines.map((line) => cells(line, delimiter)).filter((row, i, all) => row.length === all[0].length);
  const names = rows[0];
  const body = rows.slice(1);
  const decimal = delimiter === ',' ? '.' : known.decimal ?? decimalOf(rows, delimiter);
  const header = body.length > 0 && names.every((name) => name !== '' && !isNumber(name))
    && new Set(names).size === names.length && body[0].some((text) => isNumber(text, decimal));
  const read = header ? body : rows;
  const columns = names.map((name, i) => {
    const column = read.map((row) => row[i]);
    return {name: header ? name : `column${i + 1}`, kind: kindOf(column, decimal), gaps: column.some((cell) => cell === '')};
  });
  columns[columns.length - 1].kind = 'label';
  return {delimiter, decimal, header, columns};
}

const HEAD = 64 << 10;

// Returns the first 64 KiB of a file, decompressed if it is gzip-ed, up to the last line end.
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
  return whole || text;
}
