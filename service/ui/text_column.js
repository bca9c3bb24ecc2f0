// The fields of a column of texts: the length of its rows, its tokenizer, and the files of that. A file is sent as soon as
// it is chosen, because a declaration names the files that are there. They are public, so nothing of the records is in them.
import {html, nothing} from './lit-html.js';
import {upload} from './api.js';
import {percent, shortId} from './format.js';

const kinds = [['wordpiece', 'WordPiece: BERT, DistilBERT'], ['byte_pair', 'byte pairs: RoBERTa, GPT-2'], ['bytes', 'the bytes of the text, without a file']];
const files = {wordpiece: {vocabulary: 'vocab.txt'}, byte_pair: {vocabulary: 'vocab.json', merges: 'merges.txt'}, bytes: {}};
const options = {wordpiece: ['lower', 'the vocabulary is uncased'], byte_pair: ['prefix_space', 'a text gets a space before it']};

const kindOf = ({tokenizer}) => tokenizer || 'wordpiece';

// Returns the members of the declaration.
export function textMembers(column, read) {
  const kind = kindOf(column);
  const [option] = options[kind] ?? [];
  return {length: read(column.length), tokenizer: {kind, ...Object.fromEntries(Object.keys(files[kind]).map((name) => [name, column[name]])),
    ...(option && column[option] && {[option]: true})}};
}

// Returns the fields of a column that was declared before.
export function textForm(length, {kind, vocabulary, merges, lower = false, prefix_space: space = false}) {
  return {length: String(length), tokenizer: kind, vocabulary, merges, lower, prefix_space: space};
}

// Returns the files that are still missing, as [member, usual name].
export function missingFiles(column) {
  return Object.entries(files[kindOf(column)]).filter(([member]) => !column[member]);
}

async function send(column, member, file, change) {
  const note = file.name.replace(/[^ -~]/g, '?').slice(0, 100);
  const sent = {...column.sent, [member]: 0};
  change({sent, refused: null});
  try {
    const made = await upload(`/v1/files?kind=tokenizer&note=${encodeURIComponent(note)}`, file, (share) => change({sent: {...column.sent, [member]: share}}), {method: 'POST'});
    change({[member]: made.id, sent: {...column.sent, [member]: undefined}, names: {...column.names, [member]: file.name}});
  } catch (error) {
    change({sent: {...column.sent, [member]: undefined}, refused: error.message});
  }
}

// Makes the fields. at: the pointer of the column. cell, tick: as column_row has them.
export function textFields(column, {at, cell, tick, change}) {
  const kind = kindOf(column);
  const [option, words] = options[kind] ?? [];
  const file = ([member, name]) => html`<label class="small">${name}
    <input type="file" id="${at}/tokenizer/${member}" @change=${({target}) => target.files[0] && send(column, member, target.files[0], change)}>
    ${column.sent?.[member] != null ? html`<small>${percent(column.sent[member])} sent</small>` : column[member] ? html`<small>${column.names?.[member] ?? shortId(column[member])} is there.</small>` : nothing}</label>`;
  return html`${cell('length', 'Tokens', 'numeric', 'how many tokens: 64')}<small>A longer text is cut. All of them are computed for a shorter one, so a smaller number is faster.</small>
    <select id="${at}/tokenizer" aria-label="Tokenizer of ${column.name}" @change=${({target}) => change({tokenizer: target.value, vocabulary: undefined, merges: undefined, names: {}})}>
      ${kinds.map(([one, text]) => html`<option value=${one} ?selected=${one === kind}>${text}</option>`)}</select>
    ${Object.entries(files[kind]).map(file)}${option ? tick(option, words, column[option] ?? false, (isSet) => ({[option]: isSet})) : nothing}
    ${kind === 'bytes' ? nothing : html`<small>Take the files that the model’s weights were published with. You say that they are public.</small>`}
    ${column.refused ? html`<small class="wrong">${column.refused}</small>` : nothing}`;
}
