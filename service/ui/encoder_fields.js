// The sizes of an encoder of texts, which its public weights have: fields of a new job.
import {html} from './lit-html.js';
import {read} from './schema_form.js';

export const encoders = ['bert', 'roberta', 'distilbert'];
const defaults = {bert: ['12', '768', '12', '3072', '30522', '512'], roberta: ['12', '768', '12', '3072', '50265', '514'], distilbert: ['6', '768', '12', '3072', '30522', '512']};
const sizes = [['blocks', 'Blocks', ''], ['width', 'Width', 'Numbers of a token.'], ['heads', 'Heads', 'A divisor of the width.'], ['intermediate', 'Inner width', 'Between the two dense layers of a block.'],
  ['vocabulary', 'Tokens', 'Those of the tokenizer.'], ['positions', 'Positions', 'At least the tokens of a record; two more for roberta.']];
const names = [...sizes.map(([name]) => name), 'take', 'separator'];

// Returns the sizes in a model that was trained before, as texts.
export function sizesForm(spec) {
  return Object.fromEntries(names.filter((name) => spec[name] != null).map((name) => [name, String(spec[name])]));
}

// Returns the members of the model.
export function sizesOf({preset, sizes: texts}) {
  if (!encoders.includes(preset)) return {};
  return Object.fromEntries(names.filter((name) => preset === 'bert' || name !== 'separator').map((name) => [name, name === 'take' ? texts.take : read(texts[name])]));
}

// Makes the fields. text, choice: make a field of the page by its id, label, hint and placeholder or options.
export function encoderFields({preset}, {text, select}) {
  return html`${sizes.map(([name, label, hint], i) => text(name, label, hint, defaults[preset][i]))}
    ${preset === 'bert' ? text('separator', 'Separator', 'The id of the token between two texts.', '102') : ''}
    ${select('take', 'The head reads', [['', 'the first token (default)'], ['mean', 'the mean of the tokens']], 'The mean suits encoders of sentences, such as MiniLM.')}`;
}
