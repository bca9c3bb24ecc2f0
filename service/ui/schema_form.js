// Makes form fields from a JSON Schema: a choice for an enum or boolean, an input for a number. Each
// has its description and default, and the error that the daemon reported for it.
import {html, nothing} from './lit-html.js';

// Finds the daemon's error for the member at id or, with `within`, for a member inside it.
function faultOf({id, errors, within}) {
  return errors?.find(({pointer}) => pointer === id || (within && pointer.startsWith(`${id}/`)));
}

const said = [[/^must match \[a-z0-9\]/, 'Use small letters, digits, dots and dashes, and begin with a letter or a digit.'],
  [/^must match \[a-z0-9-\]/, 'Use small letters, digits and dashes.'], [/^must have (\d+) to \d+ elements$/, 'Enter at least $1.'],
  [/^must have low below high.*/, 'The smallest value must be below the largest.'], [/^must be \[low, high\].*/, 'Enter the smallest and the largest value.'],
  [/^stands? (here )?a second time$|^stands twice$/, 'This is there twice.']];

// Says the daemon's error about a field as a sentence for people.
export function inWords({code, detail}) {
  if (code === 'missing') return 'This is needed: please fill it in.';
  const [form, words] = said.find(([pattern]) => pattern.test(detail)) ?? [];
  if (form) return detail.replace(form, words);
  const text = /^(must|has|is|needs|does|leaves|makes) /.test(detail) ? `It ${detail}` : detail[0].toUpperCase() + detail.slice(1);
  return text.endsWith('.') ? text : `${text}.`;
}

// Makes one field. id is the JSON pointer that an error would name.
export function field({id, label, hint, control, errors, within}) {
  const wrong = faultOf({id, errors, within});
  return html`<div class="field"><label for=${id}>${label}</label>${control}
    ${wrong ? html`<small class="wrong" id="${id}-wrong">${inWords(wrong)}</small>` : hint ? html`<small>${hint}</small>` : nothing}</div>`;
}

export function input({id, value, placeholder, kind = 'text', changed, errors, within}) {
  const wrong = faultOf({id, errors, within});
  return html`<input id=${id} type="text" inputmode=${kind === 'number' ? 'decimal' : 'text'} .value=${value ?? ''} placeholder=${placeholder ?? ''}
    autocomplete="off" spellcheck="false" aria-invalid=${wrong ? 'true' : nothing} aria-describedby=${wrong ? `${id}-wrong` : nothing}
    @input=${(event) => changed(event.target.value)}>`;
}

// Makes a field for several lines of text.
export function area({id, value, rows = 6, changed, errors, within}) {
  const wrong = faultOf({id, errors, within});
  return html`<textarea id=${id} rows=${rows} spellcheck="false" .value=${value} aria-invalid=${wrong ? 'true' : nothing}
    aria-describedby=${wrong ? `${id}-wrong` : nothing} @input=${(event) => changed(event.target.value)}></textarea>`;
}

// Makes a choice. Each option is [value, text].
export function choice({id, value, options, changed}) {
  return html`<select id=${id} @change=${(event) => changed(event.target.value)}>
    ${options.map(([one, text]) => html`<option value=${one} .selected=${one === (value ?? '')}>${text}</option>`)}</select>`;
}

// Reads a text as a number. Returns undefined if it is empty. A text that is no number is returned
// as it is, so that the daemon reports the error.
export function read(text) {
  if (text == null || text.trim() === '') return undefined;
  const number = Number(text.trim().replace(',', '.'));
  return Number.isFinite(number) ? number : text;
}

export function readAs(schema, text) {
  if (text == null || text === '') return undefined;
  if (schema.type === 'boolean') return text === 'true';
  return schema.enum || schema.type === 'string' ? text : read(text);
}

// Returns whether the schema allows the member, given the values of the others: by its `allOf` some
// members are allowed only if another one has a certain value.
function applies(schema, name, values) {
  return (schema.allOf ?? []).every(({if: when, else: otherwise}) => {
    if (otherwise?.properties?.[name] !== false) return true;
    return Object.entries(when.properties).every(([other, {const: wanted}]) => {
      const set = values[other] || undefined;
      return wanted === (set ?? schema.properties[other]?.default);
    });
  });
}

// Makes the fields of all members of the schema except `name`. values has their texts.
export function fields(schema, {at, values, changed, errors}) {
  return Object.entries(schema.properties).filter(([name]) => name !== 'name' && applies(schema, name, values)).map(([name, one]) => {
    const id = `${at}/${name}`;
    const set = (text) => changed(name, text);
    const words = one.enum ?? (one.type === 'boolean' ? ['true', 'false'] : null);
    const usual = one.default == null ? 'as it suits' : String(one.default);
    const control = words
      ? choice({id, value: values[name], changed: set, options: [['', `${usual} (default)`], ...words.filter((word) => word !== usual).map((word) => [word, word])]})
      : input({id, value: values[name], placeholder: usual, kind: 'number', changed: set, errors});
    return field({id, label: name.replaceAll('_', ' '), hint: one.description, control, errors});
  });
}

// Returns the values that are set and allowed, with their types.
export function collect(schema, values) {
  const found = {};
  for (const [name, one] of Object.entries(schema.properties)) {
    const value = readAs(one, values[name]);
    if (name !== 'name' && value !== undefined && applies(schema, name, values)) found[name] = value;
  }
  return found;
}
