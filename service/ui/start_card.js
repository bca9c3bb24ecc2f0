// The weights with which a job begins, random or public, and which of them are trained.
import {html, nothing} from './lit-html.js';
import {get, remove, upload} from './api.js';
import {encoders} from './encoder_fields.js';
import {bytes, percent, shortId} from './format.js';
import {question, trouble} from './notice.js';
import {choice, field, input} from './schema_form.js';
import {may} from './who.js';

const LISTED = 20;
const trained = [['', 'as the model says (default)'], ['all', 'everything'], ['head', 'the last layer'], ['bias', 'biases, norms and the last layer'], ['last', 'the last blocks'], ['lora', 'adapters of dense layers, and the last layer'], ['only', 'only these tensors'], ['except', 'all but these tensors']];
const anew = [['', 'no layer'], ['head', 'the last layer'], ['only', 'the layers of these tensors']];
const cached = [['', 'as it suits (default)'], ['cached', 'computed once'], ['streamed', 'computed in each step']];

// Returns a function that makes the card. form() returns the form of the job, set(name, value) changes
// it, draw() redraws the page. The lists are fetched when the card is first opened.
export function startCard({form, set, draw}) {
  let known = null; // [id, words] of each file and model of the current page
  let page = null; // the two lists of that page, as the daemon answered
  const turned = [[null, null]]; // [token of files, token of models] of each page up to the current one
  let problem = null;
  let share = null; // the share that was sent of the current upload
  let asking = null; // the file whose deletion the user has to confirm

  const part = (member, token) => get(`/v1/${member}?page_size=${LISTED}${token ? `&page_token=${encodeURIComponent(token)}` : ''}`);
  const list = async () => {
    const [first, second] = turned.at(-1);
    page = await Promise.all([first === '' ? {files: []} : part('files', first), second === '' ? {models: []} : part('models', second)]);
    const [{files}, {models}] = page;
    known = [...files.filter(({kind}) => kind === 'weights').map((one) => [one.id, `${one.note || 'file'}, ${bytes(one.size)} · ${shortId(one.id)}`]),
      ...models.map((one) => [one.id, `${one.display_name ?? `${one.algorithm} on ${one.dataset}`} · ${shortId(one.id)}`])];
  };
  const turn = (change) => () => {
    change();
    attempt(list);
  };
  const attempt = async (act) => {
    try {
      await act();
      problem = null;
    } catch (error) {
      problem = error;
    }
    share = null;
    draw();
  };
  const open = ({target}) => {
    if (target.open && !known && may('certificates:read')) attempt(list);
  };
  const send = ({target}) => {
    const [file] = target.files;
    if (!file) return;
    attempt(async () => {
      const note = file.name.replace(/[^ -~]/g, '?').slice(0, 100);
      const made = await upload(`/v1/files?note=${encodeURIComponent(note)}`, file, (now) => {
        share = now;
        draw();
      }, {method: 'POST'});
      turned.splice(1);
      await list();
      set('weights', made.id);
    });
    target.value = '';
  };

  const ask = (id) => () => {
    asking = id;
    draw();
  };
  const drop = () => attempt(async () => {
    const id = asking;
    asking = null;
    await remove(`/v1/files/${id}`);
    await list();
    set('weights', '');
  });
  const deletion = () => {
    const {weights} = form();
    if (!weights.startsWith('fil_') || !may('datasets:admin')) return nothing;
    return asking === weights ? question('Delete this file?', 'Models that began with it stay, and name it. A job that waits to begin with it will fail.', ['Delete it', drop], ['Keep it', ask(null)])
      : html`<p><button type="button" class="button danger" id="drop-file" @click=${ask(weights)}>Delete this file</button></p>`;
  };

  function options() {
    const now = form().weights;
    const other = now && !known?.some(([id]) => id === now) ? [[now, shortId(now)]] : [];
    return [['', 'random ones (default)'], ...other, ...(known ?? [])];
  }

  // The token of a list that has ended is '': the list is not fetched any more.
  function pages() {
    const next = page?.map((one) => one.next_page_token ?? '') ?? ['', ''];
    return turned.length === 1 && !next.some(Boolean) ? nothing : html`<div class="pages">
      <button type="button" class="button" ?disabled=${turned.length === 1} @click=${turn(() => turned.splice(1))}>Newest weights</button>
      <button type="button" class="button" ?disabled=${!next.some(Boolean)} @click=${turn(() => turned.push(next))}>Older weights</button></div>`;
  }

  const select = (id, name, label, choices, errors, hint = '') => field({id, label, hint, errors,
    control: choice({id, value: form()[name], options: choices, changed: (value) => set(name, value)})});
  const names = (id, name, label, errors, such = '0.weight, conv*') => field({id, label, hint: `Names or patterns, with commas between: ${such}.`, within: true, errors,
    control: input({id, value: form()[name], within: true, errors, changed: (value) => set(name, value)})});

  const number = (id, name, label, errors, hint = '') => field({id, label, hint, within: true, errors,
    control: input({id, value: form()[name], within: true, errors, changed: (value) => set(name, value)})});
  const lora = '/model/trainable/lora';
  const adapters = (errors) => html`${number(`${lora}/rank`, 'rank', 'Rank', errors, 'Of the two matrices next to each layer, such as 8.')}
    ${number(`${lora}/alpha`, 'alpha', 'Alpha', errors, 'Their product is multiplied by alpha / rank.')}
    ${names(`${lora}/targets`, 'trained', 'Dense layers', errors, '0, *.query')}`;

  function parts(errors) {
    const {preset, weights, trainable, fresh} = form();
    return html`${select('/model/trainable', 'trainable', 'Trained', trained, errors, 'The rest is frozen: it gets no noise, and its features can be computed once.')}
      ${trainable === 'last' ? number('/model/trainable/last', 'trained', 'Blocks', errors) : nothing}
      ${trainable === 'lora' ? adapters(errors) : nothing}
      ${['only', 'except'].includes(trainable) ? names(`/model/trainable/${trainable}`, 'trained', 'Tensors', errors) : nothing}
      ${!weights ? nothing : select('/model/fresh', 'fresh', 'Start from random', anew, errors, 'Such as a last layer for other classes.')}
      ${weights && fresh === 'only' ? names('/model/fresh', 'anew', 'Tensors of layers that start from random', errors) : nothing}
      ${trainable === 'all' || (trainable === '' && !['scatter', ...encoders].includes(preset)) ? nothing : select('/features', 'features', 'Features of frozen layers', cached, errors, 'It changes no bit of the model.')}`;
  }

  return (errors, isOpen) => html`<section class="card"><h2>Weights</h2><details ?open=${isOpen}
    @toggle=${open}><summary>${form().weights ? 'Begins with public weights' : 'Begin with public weights, or train a part only'}</summary>${trouble(problem)}
    <div class="fields">${select('/model/weights', 'weights', 'Begin with', options(), errors, 'A published model, or a file that you say is public. It costs nothing, and no guarantee covers it.')}
    ${may('datasets:admin') ? html`<div class="field"><label for="weights-file">Upload public weights</label><input type="file" id="weights-file" accept=".safetensors" @change=${send}>
      <small>${share == null ? 'A safetensors file. Whoever uploads it says that it is public.' : `${percent(share)} sent`}</small></div>` : nothing}
    ${parts(errors)}</div>${pages()}${deletion()}</details></section>`;
}
