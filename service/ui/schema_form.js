// Fields from a JSON Schema: enum a choice, number an input, boolean a choice, each with
// its description and its default, and the problem that the daemon had with it.
import {html, nothing} from './lit-html.js';

// What the daemon says is wrong with the member at id; with `within`, with what is in it too.
function faultOf({id, errors, within}) {
  return errors?.find(({pointer}) => pointer === id || (within && pointer.startsWith(`${id}/`)));
}

// One field. id is the JSON pointer that a problem would name.
export function field({id, label, hint, control, errors, within}) {
  const wrong = faultOf({id, errors, within});
  return html`<div class="field"><label for=${id}>${label}</label>${control}
    ${wrong ? html`<small class="wrong" id="${id}-wrong">${wrong.detail}</small>` : hint ? html`<small>${hint}</small>` : nothing}</div>`;
}

export function input({id, value, placeholder, kind = 'text', changed, errors, within}) {
  const wrong = faultOf({id, errors, within});
  return html`<input id=${id} type="text" inputmode=${kind === 'number' ? 'decimal' : 'text'} .value=${value ?? ''} placeholder=${placeholder ?? ''}
    autocomplete="off" spellcheck="false" aria-invalid=${wrong ? 'true' : nothing} aria-describedby=${wrong ? `${id}-wrong` : nothing}
    @input=${(event) => changed(event.target.value)}>`;
}

// Several lines of text.
export function area({id, value, rows = 6, changed, errors, within}) {
  const wrong = faultOf({id, errors, within});
  return html`<textarea id=${id} rows=${rows} spellcheck="false" .value=${value} aria-invalid=${wrong ? 'true' : nothing}
    aria-describedby=${wrong ? `${id}-wrong` : nothing} @input=${(event) => changed(event.target.value)}></textarea>`;
}

// options: [value, text] each.
export function choice({id, value, options, changed}) {
  return html`<select id=${id} @change=${(event) => changed(event.target.value)}>
    ${options.map(([one, text]) => html`<option value=${one} ?selected=${one === (value ?? '')}>${text}</option>`)}</select>`;
}

// Text as what the schema wants: undefined where there is none. What is no number stays
// text, so that the daemon says what is wrong with it.
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

// Whether the schema takes the member, as the others are: its `allOf` says of some members
// that they stand only where another has a value.
function applies(schema, name, values) {
  return (schema.allOf ?? []).every(({if: when, else: otherwise}) => {
    if (otherwise?.properties?.[name] !== false) return true;
    return Object.entries(when.properties).every(([other, {const: wanted}]) => {
      const set = values[other] || undefined;
      return wanted === (set ?? schema.properties[other]?.default);
    });
  });
}

// The members of an object's schema but `name`; values holds their texts.
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

// The values that are set and apply, typed.
export function collect(schema, values) {
  const found = {};
  for (const [name, one] of Object.entries(schema.properties)) {
    const value = readAs(one, values[name]);
    if (name !== 'name' && value !== undefined && applies(schema, name, values)) found[name] = value;
  }
  return found;
}
