// Reads the subset of YAML that openapi.yaml uses: block and flow mappings and sequences, plain and quoted
// scalars, texts after | and > (|-, >-), anchors, aliases and comments. Throws at anything else, such as tags,
// merge keys and several documents.

const word = (text) => {
  if (text === 'null' || text === '~' || text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[-+]?\d+$/.test(text) || /^[-+]?\d*\.\d*(e[-+]\d+)?$/i.test(text) && /\d/.test(text)) return Number(text);
  return text;
};

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.anchors = new Map();
  }

  fail(what) {
    throw new Error(`line ${this.text.slice(0, this.at).split('\n').length}: ${what}`);
  }

  // Skips blanks, line ends and comments. Returns whether anything follows.
  skip() {
    this.match(/(?:\s|(?<=^|\s)#[^\n]*)*/y);
    return this.at < this.text.length;
  }

  // Returns the column of the current position, from 0.
  column() {
    return this.at - this.text.lastIndexOf('\n', this.at - 1) - 1;
  }

  match(form) {
    form.lastIndex = this.at;
    const found = form.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }

  // --- scalars ---

  quoted() {
    const found = this.match(/'((?:[^']|'')*)'|"((?:[^"\\]|\\[^])*)"/y) ?? this.fail('a quote without an end');
    const folded = (found[1] ?? found[2]).replace(/[ \t]*\n\s*/g, ' ');
    return found[1] != null ? folded.replaceAll("''", "'") : JSON.parse(`"${folded}"`);
  }

  // Reads a text after | or >: the lines with a deeper indent than the owner, without their common indent. A minus
  // drops the last line end. After > a line end becomes a blank, and an empty line becomes a line end.
  literal(owner) {
    const [, mark, minus] = this.match(/([|>])(-?)[ \t]*\n/y) ?? this.fail('a text of a kind that is not read here');
    const lines = [];
    for (let line; (line = /[^\n]*\n?/y, line.lastIndex = this.at, line = line.exec(this.text)[0]) !== '';) {
      const indent = line.search(/\S/);
      if (indent >= 0 && indent <= owner) break;
      lines.push(line.trimEnd());
      this.at += line.length;
    }
    const depth = lines.find((line) => line !== '').search(/\S/);
    const text = lines.map((line) => line.slice(depth)).join('\n').trimEnd();
    if (mark === '>' && /^[ \t]/m.test(text)) this.fail('an indented line in a text behind >');
    return (mark === '|' ? text : text.replace(/\n+/g, (ends) => ends.slice(1) || ' ')) + (minus ? '' : '\n');
  }

  plain(form) {
    return word((this.match(form) ?? this.fail('a value that is not read here'))[0].trim().replace(/\s*\n\s*/g, ' '));
  }

  // --- inside brackets ---

  flow() {
    this.skip();
    const mark = this.text[this.at];
    if (mark === '{') return this.members();
    if (mark === '[') return this.items();
    if (mark === "'" || mark === '"') return this.quoted();
    if (mark === '*') return this.alias();
    return this.plain(/(?:[^,{}[\]:#]|:(?![\s,{}[\]])|(?<!\s)#)+/y);
  }

  items() {
    const list = [];
    for (this.at++; this.skip() && this.text[this.at] !== ']'; this.match(/,/y)) {
      list.push(this.flow());
      this.skip();
    }
    this.at++;
    return list;
  }

  members() {
    const object = {};
    for (this.at++; this.skip() && this.text[this.at] !== '}'; this.match(/,/y)) {
      const key = String(this.flow());
      this.skip();
      if (!this.match(/:/y)) this.fail(`no value of ${key}`);
      object[key] = this.flow();
      this.skip();
    }
    this.at++;
    return object;
  }

  alias() {
    const [, name] = this.match(/\*(\w+)/y);
    return this.anchors.has(name) ? this.anchors.get(name) : this.fail(`no anchor ${name}`);
  }

  // --- by indents ---

  // Reads a value after a key or a dash at the column `owner`.
  value(owner) {
    this.match(/[ \t]*(?:#[^\n]*)?/y);
    const anchor = this.match(/&(\w+)[ \t]*/y);
    const value = this.bare(owner);
    if (anchor) this.anchors.set(anchor[1], value);
    return value;
  }

  bare(owner) {
    const mark = this.text[this.at];
    if (mark === '|' || mark === '>') return this.literal(owner);
    if (mark === '{' || mark === '[' || mark === "'" || mark === '"' || mark === '*') return this.flow();
    if (mark !== '\n' && mark !== undefined)
      return this.plain(new RegExp(`(?:[^\\n#]|(?<=\\S)#)+(?:\\n {${owner + 1},}[^\\n]*)*`, 'y'));
    this.skip();
    const dash = /-\s/y;
    dash.lastIndex = this.at;
    return this.column() > owner || (this.column() === owner && dash.test(this.text)) ? this.block() : null;
  }

  block() {
    const column = this.column();
    const dash = /-(?=\s)/y;
    dash.lastIndex = this.at;
    return dash.test(this.text) ? this.sequence(column) : this.mapping(column);
  }

  sequence(column) {
    const list = [];
    while (this.skip() && this.column() === column && this.match(/-(?=\s)/y)) {
      this.match(/ */y);
      const key = /(?:'(?:[^']|'')*'|[^\s'"{[&*|#][^\n]*?):(?=\s)/y;
      key.lastIndex = this.at;
      list.push(key.test(this.text) ? this.mapping(this.column()) : this.value(column));
    }
    return list;
  }

  mapping(column) {
    const object = {};
    while (this.skip() && this.column() === column) {
      const key = this.text[this.at] === "'" ? this.quoted() : this.match(/[^\n]*?(?=:(?:\s|$))/y)?.[0];
      if (key == null || !this.match(/:/y)) this.fail('no key');
      object[key] = this.value(column);
    }
    return object;
  }
}

export function parse(text) {
  const reader = new Reader(text);
  reader.skip();
  const value = reader.block();
  if (reader.skip()) reader.fail('something is left');
  return value;
}
