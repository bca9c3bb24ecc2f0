// Registers a dataset: its public description, the promise, and the upload and import of its files.
import {html, nothing} from './lit-html.js';
import {get, keyring, post, upload} from './api.js';
import {barred} from './badge.js';
import {columnRow} from './column_row.js';
import {WEAK_DELTA, WEAK_EPSILON, askedBy, confirming, isWeak, ticks} from './confirmation.js';
import {guess, head} from './table_guess.js';
import {declarationOf, emptyDeclaration, filesOf, formOf, formats, hasColumns, isOfPersons, kept as keptColumns, words} from './declaration.js';
import {bytes, epsilon, percent, plain} from './format.js';
import {bar} from './gauge.js';
import {remember} from './grant_card.js';
import {addTo, reportCard} from './import_report.js';
import {fillRanges, gapsOfFile, rangesField, wordsOfFile} from './many_columns.js';
import {trouble} from './notice.js';
import {openFields, openWords} from './open_fields.js';
import {choice, field, input, inWords, read} from './schema_form.js';
import {watch} from './watch.js';

const kept = [['', '16 (default)'], ...['1', '2', '4', '8'].map((rows) => [rows, rows])];
const COLUMNS_SHOWN = 200;

// Makes the error of an import that failed, with the place in the file.
function refused({code, detail, file, line, column, report}) {
  if (code === 'invalid_argument') return Object.assign(new Error(detail), {errors: [{pointer: '/acknowledge', detail}], body: {}});
  const place = [file && `file ${file}`, line && `line ${line}`, column && `column ${column}`].filter(Boolean).join(', ');
  return Object.assign(new Error(`The file was not imported: ${detail}${place ? ` (${place})` : ''}.`),
    {report, body: {advice: 'Correct the declaration and import again, or choose another file: nothing was spent.'}});
}

// Returns the element of the field that an error's pointer names: the field itself, or the first one inside it.
function fieldAt(pointer) {
  const column = /^\/columns\/\d+/.exec(pointer)?.[0];
  return document.getElementById(pointer) ?? (column ? document.querySelector(`[id^="${column}/"]`) : null);
}

class Page {
  constructor(view) {
    this.view = view;
    this.form = emptyDeclaration();
    this.form.id = view.query.get('dataset') ?? '';
    this.files = {};
    this.places = {}; // address and digest of each file that the daemon fetches itself
    this.unread = []; // pasted lines that give no range
    this.read = null; // the guess from the beginning of the file (table_guess.js)
    this.stated = false;
    this.tried = false; // whether the user has tried to register: from then on open fields are marked
    this.asked = []; // confirmations that the import asked for, which finds out n
    this.arrived = null; // the body whose files have arrived, while the import waits for a confirmation
    this.problem = null;
    this.sent = {}; // the files that have arrived under this name and format: they need not be sent again
    this.report = null; // all faults of the file, from the import that was refused
    this.step = null; // the current step, and the share of it that is done
    this.key = keyring();
    view.title('Register · epsilond');
  }

  // Fills in what was declared before, if the address names a dataset that has no records yet.
  async begin() {
    this.draw();
    if (!this.form.id) return;
    try {
      this.declared = formOf(await get(`/v1/datasets/${encodeURIComponent(this.form.id)}`, this.view.signal));
      this.form = {...this.declared};
    } catch (error) {
      if (error.status !== 404) this.fail(error);
    }
    this.draw();
  }

  set(name, value) {
    this.form[name] = value;
    if (name === 'missing') this.lookAgain();
    if (name === 'ranges') this.unread = fillRanges(this.form);
    if (name === 'format' || name === 'id') this.sent = {};
    if (name === 'format' || name === 'id') this.report = null;
    if (name === 'epsilon') this.form.confirmed.delete(WEAK_EPSILON);
    if (name === 'delta') this.form.confirmed.delete(WEAK_DELTA);
    if (name === 'delta') this.asked = [];
    this.draw();
  }

  async take(name, file) {
    if (!file) return;
    this.files[name] = file;
    this.arrived = this.report = null;
    if (hasColumns(this.form) && name === 'data') {
      ({text: this.head, isPartial: this.isPartial} = await head(file));
      this.look();
    }
    if (!this.form.id) this.form.id = file.name.toLowerCase().replace(/\.(csv|jsonl|ndjson|gz|libsvm|svm|txt)/g, '').replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+/, '').slice(0, 63);
    this.draw();
  }

  // Fills in what the beginning of the file shows, or what it shows in a dialect that the user chose.
  look(known) {
    this.read = guess(this.head ?? '', {...known, missing: words(this.form.missing)});
    Object.assign(this.form, {format: this.read?.format ?? this.form.format, delimiter: known?.delimiter ?? this.read?.delimiter ?? ',', decimal: this.read?.decimal ?? '.', header: this.read?.header ?? false});
    this.form.columns = (this.read?.columns ?? []).map((column) => ({...column, low: '', high: '', values: '', default: ''}));
    if (this.declared) this.form.columns = keptColumns(this.declared.columns, this.form.columns);
    this.unread = fillRanges(this.form);
  }

  // Finds again what the file shows, now that other texts are missing cells. What the user has typed or chosen stays.
  lookAgain() {
    const {delimiter, decimal} = this.form;
    if (!this.read) return;
    this.read = guess(this.head, {delimiter, decimal, missing: words(this.form.missing)}) ?? this.read;
    this.form.columns.forEach((column, i) => {
      const {kind, gaps, shows} = this.read.columns[i] ?? column;
      Object.assign(column, {gaps, shows}, !column.chosen && {kind});
    });
  }

  get errors() {
    const open = this.tried ? this.open.filter(({text}) => text) : [];
    return [...(this.problem?.errors ?? []), ...open.map(({id, text}) => ({pointer: id, detail: text}))];
  }

  get open() {
    return openFields(this.form, this);
  }

  // Registers if every field is filled in; otherwise marks the open ones and goes to the first.
  attempt() {
    const [first] = this.open;
    if (!first) return this.register();
    this.tried = true;
    this.problem = null;
    this.draw();
    this.view.say(openWords(this.open));
    document.getElementById(first.id)?.focus();
  }

  async register() {
    const body = declarationOf(this.form);
    const path = `/v1/datasets/${encodeURIComponent(body.id)}`;
    this.problem = null;
    try {
      if (this.arrived !== JSON.stringify(body)) {
        this.show('Promising');
        const made = await post('/v1/datasets', body, {key: this.key(body)});
        for (const name of filesOf(this.form)) {
          if (this.places[name]?.url || this.sent[name] !== this.files[name]) await this.bring(`${path}/files/${name}`, name);
          this.sent[name] = this.files[name];
        }
        if (barred(made.grant)) remember(made.id);
        if (barred(made.grant)) return this.view.go(`/ui/datasets/${made.id}`);
      }
      this.show('Importing');
      await post(`${path}:import`, confirming(this.asked.filter((name) => this.form.confirmed.has(name))));
      this.follow(path);
    } catch (error) {
      this.fail(error.code === 'import_failed' ? refused(error.body) : error);
    }
  }

  // Adds the undeclared words that the user has confirmed, and imports the file that is there.
  addWords() {
    for (const {index, words} of this.report.columns) addTo(this.form.columns[index], words);
    this.report = null;
    this.attempt();
  }

  async bring(path, name) {
    const file = this.files[name];
    const {url, sha256} = this.places[name] ?? {};
    if (!url) return upload(path, file, (share) => this.show(`Uploading ${file.name}`, share));
    await post(`${path}:fetch`, {url, sha256: sha256 || null});
    return new Promise((resolve, reject) => watch(this.view.signal, async (signal) => {
      const {state, bytes: come, size, result, status} = await get(`${path}/fetch`, signal);
      this.show('Fetching', size ? come / size : null);
      if (['WAITING', 'RUNNING'].includes(state)) return 1;
      if (state === 'SUCCEEDED') resolve();
      else reject(new Error(`The file was not fetched: ${(result ?? state).toLowerCase().replace('_', ' ')}${status ? ` (${status})` : ''}.`));
      return false;
    }, reject));
  }

  follow(path) {
    watch(this.view.signal, async (signal) => {
      const dataset = await get(path, signal);
      if (dataset.state === 'IMPORTING') return 1;
      if (dataset.state === 'READY') this.view.go(`/ui/datasets/${dataset.id}`);
      else this.fail(await this.failure(path, signal));
      return false;
    }, (error) => this.fail(error));
  }

  async failure(path, signal) {
    return refused((await get(`${path}/import`, signal)).failure);
  }

  show(word, share = null) {
    this.step = {word, share};
    this.draw();
  }

  fail(error) {
    if (error.name === 'AbortError') return;
    this.step = null;
    this.problem = error;
    this.report = error.report ?? null;
    if (!this.report) this.sent = {}; // without a report it is not known whether the file is there
    const asked = askedBy(error).filter((name) => name === WEAK_DELTA);
    if (asked.length) [this.asked, this.arrived] = [asked, JSON.stringify(declarationOf(this.form))];
    this.draw();
    this.view.say(error.message);
    const [first] = (error.errors ?? []).map(({pointer}) => fieldAt(pointer)).filter(Boolean);
    first?.focus();
  }

  // --- drawing ---

  text(id, name, label, hint, placeholder = '', kind = 'number') {
    return field({id, label, hint, errors: this.errors, control: input({id, kind, value: this.form[name], placeholder, errors: this.errors,
      changed: (value) => this.set(name, value)})});
  }

  select(id, name, label, options, hint = '') {
    return field({id, label, hint, errors: this.errors, control: choice({id, value: this.form[name], options, changed: (value) => this.set(name, value)})});
  }

  drop(name) {
    const file = this.files[name];
    const files = filesOf(this.form);
    return html`<label class="drop" @dragover=${(event) => event.preventDefault()} @drop=${(event) => {
      event.preventDefault();
      this.take(name, event.dataTransfer.files[0]);
    }}><input type="file" class="unseen" id="file-${name}" name=${name} @change=${(event) => this.take(name, event.target.files[0])}>
      <b>${files.length > 1 ? `${name}: ` : ''}${file ? file.name : 'Drop a file here, or choose one'}</b>
      <small>${file ? bytes(file.size) : 'It is not sent before you register below.'}</small></label>${this.wrong(`file-${name}`)}
      <details><summary>Or have ${files.length > 1 ? name : 'it'} fetched</summary><div class="fields">
      ${this.place(name, 'url', 'Address', 'The daemon fetches the file from there by https. A file chosen above then only shows its columns.', 'https://example.com/adult.csv')}
      ${this.place(name, 'sha256', 'SHA-256', 'The digest that the file must have; may stay empty.')}</div></details>`;
  }

  place(name, member, label, hint, placeholder = '') {
    const id = `${member}-${name}`;
    return field({id, label, hint, errors: this.errors, control: input({id, kind: 'text', value: this.places[name]?.[member] ?? '', placeholder, errors: this.errors,
      changed: (value) => {
        this.places[name] = {...this.places[name], [member]: value.trim()};
        this.draw();
      }})});
  }

  fileCard() {
    const {form} = this;
    return html`<section class="card"><h2>File</h2><div class="fields">
      ${this.select('/format', 'format', 'Format', Object.entries(formats).map(([name, {title}]) => [name, title]))}
      ${this.text('/id', 'id', 'Name', 'Small letters, digits, dots and dashes; it can never be used again.', 'adult-income', 'text')}</div>
      ${filesOf(form).map((name) => this.drop(name))}
      ${hasColumns(form) ? nothing : html`<label class="check"><input type="checkbox" id="/privacy_id" .checked=${form.privacy_id} @change=${(event) => this.set('privacy_id', event.target.checked)}>
        People have several records: another file names the person of each record, one a line. The import compares the names and does not store them, and all records of one person are protected together.</label>`}
      ${form.format === 'csv' && this.read ? this.dialect() : nothing}</section>`;
  }

  dialect() {
    const {delimiter, decimal} = this.form;
    const select = (name, label, options, hint) => field({id: `/${name}`, label, hint, errors: this.errors, control: choice({id: `/${name}`, value: this.form[name], options,
      changed: (value) => {
        this.look({delimiter, decimal: name === 'delimiter' ? undefined : decimal, [name]: value});
        this.draw();
      }})});
    return html`<div class="fields">${select('delimiter', 'Between cells', [[',', 'a comma'], [';', 'a semicolon'], ['\t', 'a tab'], ['|', 'a bar |']],
      'Recognised from your file: please check. Another choice reads the columns again.')}
      ${delimiter === ',' ? nothing : select('decimal', 'Decimal sign', [['.', 'a point: 2.5'], [',', 'a comma: 2,5']], 'Recognised from your file: please check.')}</div>`;
  }

  columnsCard() {
    const {form} = this;
    if (!hasColumns(form)) return nothing;
    return html`<section class="card"><h2>Columns</h2><div class="notice"><b>Ranges and values become public, and are never taken from the file.</b>
        Enter them from what a column means: an age is 0 to 120. <b>If people have several rows</b>, mark the column that names the person.</div>
      ${this.taskFields()}${form.format === 'csv' ? html`<label class="check"><input type="checkbox" .checked=${form.header} @change=${(event) => this.set('header', event.target.checked)}>
        The first line names the columns</label>` : nothing}
      <div class="fields">${this.text('/missing', 'missing', 'Texts of missing cells', 'With commas between. Empty cells are missing too.', 'NA, ?', 'text')}</div>${this.markers()}${wordsOfFile(form, this.isPartial, () => this.draw())}${gapsOfFile(form, () => this.draw())}
      ${rangesField(form, this.unread, (value) => this.set('ranges', value))}${this.leftOut()}
      ${!form.columns.length ? html`<p class="quiet">Choose a file, and its columns appear here.</p>`
        : html`<div class="scroll"><table class="folds columns"><thead><tr><th scope="col">Column</th><th scope="col">Kind</th><th scope="col">Range or values</th>
          <th scope="col">If empty</th></tr></thead><tbody>${form.columns.slice(0, COLUMNS_SHOWN).map((column, i) => columnRow(column, i, {form, errors: this.errors, isPartial: this.isPartial, report: this.report, draw: () => this.draw()}))}</tbody></table></div>`}
      ${reportCard(this.report, () => this.addWords())}
      ${form.columns.length > COLUMNS_SHOWN ? html`<p class="quiet">Only ${COLUMNS_SHOWN} of ${form.columns.length} columns are shown: use the API.</p>` : nothing}</section>`;
  }

  // The texts in the file that often mark a missing cell.
  markers() {
    const {markers = []} = this.read ?? {};
    if (!markers.length) return nothing;
    const known = words(this.form.missing);
    return html`<p class="suggestion"><small>From your file: some cells are ${markers.map((text) => `“${text}”`).join(', ')}. Confirm that these texts may be public, if they mean that a cell is missing.</small>
      <button type="button" class="button" id="markers" @click=${() => this.set('missing', [...known, ...markers].join(', '))}>These cells are missing</button></p>`;
  }

  // The columns that are left out, before all others, so that none is left out unseen.
  leftOut() {
    const names = this.form.columns.filter(({kind}) => kind === 'ignored').map(({name}) => name);
    return names.length ? html`<p class="notice" id="left-out"><b>Not used${names.length > 1 ? ` (${names.length})` : ''}:</b> ${names.join(', ')}</p>` : nothing;
  }

  taskFields() {
    return html`<div class="fields">${this.select('/task', 'task', 'What is predicted', [['classification', 'a class'], ['regression', 'a number']])}</div>`;
  }

  shapeCard() {
    const {form} = this;
    if (hasColumns(form)) return nothing;
    const cifar = form.format.startsWith('cifar');
    return html`<section class="card"><h2>Form</h2><div class="notice"><b>What you enter here becomes public, and is never taken from the file.</b></div>
      ${cifar ? nothing : this.taskFields()}<div class="fields">
      ${form.task === 'classification' && form.format !== 'cifar10' ? this.text('/classes', 'classes', 'Classes', cifar ? '100 fine or 20 coarse ones.' : '') : nothing}
      ${form.format === 'libsvm' ? html`${this.text('/features/count', 'count', 'Features', 'How many there are.')}
        ${this.text('/features/range/0', 'low', 'Least value', 'Values are clipped to this.')}${this.text('/features/range/1', 'high', 'Greatest value', '')}` : nothing}
      ${['idx', 'npy'].includes(form.format) ? html`${this.text('/features/shape', 'shape', 'Shape of one record', 'With commas between: 1, 28, 28.')}
        ${this.text('/features/scale', 'scale', 'Scale', 'A feature is the value over this: 255 for bytes.')}` : nothing}
      ${form.task === 'regression' ? html`${this.text('/target/range/0', 'target_low', 'Least answer', '')}${this.text('/target/range/1', 'target_high', 'Greatest answer', '')}` : nothing}
      </div></section>`;
  }

  privacyCard() {
    const {form} = this;
    const radio = (value, title, textOf) => html`<label class="option"><input type="radio" name="privacy" id="privacy-${value}" value=${value} .checked=${form.privacy === value}
      @change=${() => this.set('privacy', value)}><span><b>${title}</b><small>${textOf}</small></span></label>`;
    const value = read(form.epsilon);
    const wrong = this.errors.find(({pointer}) => pointer === '/privacy');
    return html`<section class="card"><h2>The promise</h2><fieldset><legend class="unseen">Who may see the records</legend>
      ${radio('private', 'These records are about people: protect them', 'They get a budget. It is spent once.')}
      ${radio('public', 'Everybody may see these records', 'No budget. Quality is measured on such data.')}</fieldset>
      ${wrong ? html`<small class="wrong">${inWords(wrong)}</small>` : nothing}${this.wrong('privacy-private')}
      ${form.privacy !== 'private' ? nothing : html`<div class="fields">${this.text('/privacy/epsilon', 'epsilon', 'Epsilon', typeof value === 'number' && value > 0
          ? `Any outcome is at most ${plain(Math.exp(value), 2)} times as likely with a person's record as without it, δ aside.` : '')}
        ${this.text('/privacy/delta', 'delta', 'Delta', 'The small chance that the bound fails: well below one over the number of records.')}
        ${this.select('/privacy/relation', 'relation', 'Neighbours', [['zero_out', 'with a record, or with nothing in its place'], ['replace_one', 'with a record, or with another one']])}
        ${isOfPersons(form) ? this.select('/rows_kept', 'rows_kept', 'Rows kept of each person', kept,
          'If a person has more, these are drawn at random. Every person takes the space of this many rows.') : nothing}</div>${ticks([...(isWeak(value) ? [WEAK_EPSILON] : []), ...this.asked], form.confirmed, () => this.draw())}${this.wrong('/acknowledge')}${this.holdoutChoice()}`}</section>`;
  }

  // The holdout cannot be chosen later, so that the form names both choices and what each means.
  holdoutChoice() {
    const {form} = this;
    const radio = (value, title, text) => html`<label class="option"><input type="radio" name="holdout" value=${value} .checked=${form.held === value}
      @change=${() => this.set('held', value)}><span><b>${title}</b><small>${text}</small></span></label>`;
    const share = read(form.holdout);
    return html`<h3>Records held out</h3><fieldset><legend class="unseen">Records held out</legend>
      ${radio('share', `${typeof share === 'number' ? percent(share) : 'A share'} of the records: the quality of every model can be measured`,
        'No model is trained on them. They have the same budget again, only for measurements.')}
      ${form.held === 'share' ? html`<div class="fields">${this.text('/holdout', 'holdout', 'Share that is held out', 'Of the records, chosen at random: 0.1 is one in ten.')}</div>` : nothing}
      ${radio('none', 'none: the quality of models can never be measured', 'Models are trained on all records. This cannot be changed later.')}</fieldset>`;
  }

  // Makes the error of a field that is not made by field().
  wrong(id) {
    const wrong = this.errors.find(({pointer}) => pointer === id);
    return wrong ? html`<small class="wrong">${inWords(wrong)}</small>` : nothing;
  }

  sendCard() {
    const {form, step} = this;
    const promise = form.privacy === 'private' ? `Promise ${epsilon(read(form.epsilon))} and upload` : form.privacy ? 'Register as public' : 'Register';
    return html`<section class="card"><label class="check"><input type="checkbox" id="state" .checked=${this.stated} @change=${(event) => {
        this.stated = event.target.checked;
        this.draw();
      }}> I state that the column names, ranges, values and the number of records, or of persons, may be known to everybody. The same people must not get a second budget under another name.</label>
      ${this.wrong('state')}${this.problemNotice()}
      ${this.open.length ? html`<div class=${this.tried ? 'notice warn' : 'quiet'} id="open">${openWords(this.open)}</div>` : nothing}
      <button class="button accent" id="register" ?disabled=${step} @click=${() => this.attempt()}>${promise}</button>
      ${step ? html`<p role="status">${step.word} … ${step.share != null ? percent(step.share) : ''}</p>${bar(step.share ?? 0, step.word)}` : nothing}</section>`;
  }

  // Shows what the daemon refused. Errors of fields appear at their fields; the others are listed here.
  problemNotice() {
    const {problem} = this;
    if (!problem?.errors?.length) return trouble(problem);
    const stray = problem.errors.filter(({pointer}) => !fieldAt(pointer));
    const marked = problem.errors.length - stray.length;
    return html`<div class="notice bad" role="alert">${marked ? html`<b>${marked === 1 ? '1 field needs a correction' : `${marked} fields need a correction`}; ${
      marked === 1 ? 'it is' : 'they are'} marked above.</b>` : nothing}${stray.map((one) => html`<div>${one.pointer.slice(1).replaceAll('/', ' ')} ${inWords(one)}</div>`)}</div>`;
  }

  draw() {
    this.view.draw(html`<p class="crumb"><a href="/ui/datasets">Datasets</a> /</p><div class="head"><div><h1>Register a dataset</h1>
      <p class="quiet">Describe what may become public about the records, and what you promise to the people in them.</p></div></div>
      <div class="narrow">${this.fileCard()}${this.columnsCard()}${this.shapeCard()}${this.privacyCard()}${this.sendCard()}</div>`);
  }
}

export function open(view) {
  new Page(view).begin();
}
