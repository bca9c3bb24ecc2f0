// The fields of a column of texts: the length of its rows, its tokenizer, and the files of that. A file is sent as soon as
// it is chosen, because a declaration names the files that are there. They are public, so nothing of the records is in them.
import {html, nothing} from './lit-html.js';
import {upload} from './api.js';

const kinds = [['wordpiece', 'WordPiece: BERT'], ['byte_pair', 'byte pairs: RoBERTa'], ['bytes', 'bytes, without a file']];
const files = {wordpiece: {vocabulary: 'vocab.txt'}, byte_pair: {vocabulary: 'vocab.json', merges: 'merges.txt'}, bytes: {}};
const options = {wordpiece: ['lower', 'the vocabulary is uncased'], byte_pair: ['prefix_space', 'a text gets a space before it']};

const kindOf = ({tokenizer}) => tokenizer || 'wordpiece';

// Returns the members of the declaration.
export function textMembers(column, read) {
  const kind = kindOf(column);
  const [option] = options[kind] ?? [];
  const members = [...Object.keys(files[kind]), ...(column[option] ? [option] : [])];
  return {length: read(column.length), tokenizer: {kind, ...Object.fromEntries(members.map((name) => [name, column[name]]))}};
}

// Returns the fields of a column that was declared before.
export function textForm(length, {kind, ...members}) {
  return {...members, length: String(length), tokenizer: kind};
}

// Returns the files that are still missing, as [member, usual name].
export function missingFiles(column) {
  return Object.entries(files[kindOf(column)]).filter(([member]) => !column[member]);
}

async function send(column, member, file, change) {
  change({[member]: undefined, refused: ''});
  try {
    const {id} = await upload('/v1/files?kind=tokenizer', file, () => {}, {method: 'POST'});
    change({[member]: id});
  } catch (error) {
    change({refused: error.message});
  }
}

// Makes the fields. at: the pointer of the column. cell, tick: as column_row has them.
export function textFields(column, {at, cell, tick, change}) {
  const kind = kindOf(column);
  const [option, words] = options[kind] ?? [];
  const file = ([member, name]) => html`<label class="small">${name}
    <input type="file" id="${at}/tokenizer/${member}" @change=${({target}) => target.files[0] && send(column, member, target.files[0], change)}>
    ${column[member] ? html`<small>It is there.</small>` : nothing}</label>`;
  return html`${cell('length', 'Tokens', 'numeric', 'how many tokens: 64')}<small>A longer text is cut.</small>
    <select aria-label="Tokenizer of ${column.name}" @change=${({target}) => change({tokenizer: target.value, vocabulary: undefined, merges: undefined})}>
      ${kinds.map(([one, text]) => html`<option value=${one} ?selected=${one === kind}>${text}</option>`)}</select>
    ${Object.entries(files[kind]).map(file)}${option ? tick(option, words, column[option] ?? false, (isSet) => ({[option]: isSet})) : nothing}
    ${kind === 'bytes' ? nothing : html`<small>The files of the model’s weights, which you say are public.</small>`}
    ${column.refused ? html`<small class="wrong">${column.refused}</small>` : nothing}`;
}
