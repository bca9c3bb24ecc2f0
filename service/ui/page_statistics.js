// Statistics of a dataset's columns: the request, its price, and the answers as tables and bars.
import {html, nothing} from './lit-html.js';
import {all, get, keyring, post} from './api.js';
import {binName, isNumber, readValue, valueText} from './column_value.js';
import {age, count, delta, epsilon, plain} from './format.js';
import {bar} from './gauge.js';
import {empty, loading, trouble} from './notice.js';
import {choice, field, input, read} from './schema_form.js';
import {watch} from './watch.js';
import {may} from './who.js';

const DEBOUNCE_MS = 250;
const PAST = 20;
const ROWS = 200; // rows of a table that are shown; the download has all
const kinds = {
  histogram: 'Histogram', mean: 'Mean', sum: 'Sum', variance: 'Variance', quantiles: 'Quantiles', table: 'Table with another column',
  words: 'Frequent texts',
};
const QUARTERS = '0.25, 0.5, 0.75';
const states = {RUNNING: 'running', SUCCEEDED: 'answered', FAILED: 'failed'};

// Returns the columns that are stored, each with its range or its values.
function columnsOf(dataset) {
  if (dataset.columns) return dataset.columns.filter(({kind}) => ['numeric', 'categorical', 'boolean', 'date', 'hashed', 'label'].includes(kind));
  return [{name: 'label', kind: 'label', range: dataset.target?.range, values: dataset.classes ? [] : undefined}];
}

// A sum of days means nothing. The quantiles of yes and no are in their mean already.
function kindsOf(column) {
  if (column?.kind === 'boolean') return ['histogram', 'mean', 'table'];
  if (column?.kind === 'date') return ['histogram', 'mean', 'quantiles', 'table'];
  if (column?.text_bytes) return ['histogram', 'table', 'words'];
  return isNumber(column) ? Object.keys(kinds).filter((kind) => kind !== 'words') : ['histogram', 'table'];
}

const isCut = (column) => isNumber(column) && column.kind !== 'boolean'; // into bins that a person chooses

// Returns the statistic that the form describes.
function asked({kind, column, other, bins, low, high, shares}, find) {
  if (kind === 'words') return {kind, column};
  const cut = (name, text) => ({column: name, ...(isNumber(find(name)) && {bins: isCut(find(name)) ? read(text) ?? 10 : 2})});
  if (kind === 'table') return {kind, columns: [cut(column, bins), cut(other, bins)]};
  if (kind === 'histogram') return {kind, ...cut(column, bins)};
  if (kind === 'quantiles') return {kind, column, probabilities: (shares.trim() || QUARTERS).split(/[\s,;]+/).filter(Boolean).map(read), ...(read(bins) !== undefined && {bins: read(bins)})};
  const range = [low, high].map((end) => readValue(find(column), end, read));
  return {kind, column, ...(isCut(find(column)) && range.every((end) => end !== undefined) && {range})};
}

function title(one) {
  if (one.kind === 'moments') return 'Means and deviations';
  return `${kinds[one.kind].replace(' with another column', '')} of ${one.column ?? one.columns.map(({column}) => column).join(' and ')}`;
}

const span = ([low, high], column) => `${valueText(column, low, 5)} to ${valueText(column, high, 5)}`;

function histogram({bins}, name, column) {
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}><table><thead><tr><th scope="col">Bin</th><th scope="col" class="number">Count</th>
    <th scope="col" class="number">95 %</th><th scope="col"><span class="unseen">Bar</span></th></tr></thead><tbody>${bins.slice(0, ROWS).map((bin) => html`<tr><td>${binName(column, bin)}</td>
    <td class="number">${count(Math.round(bin.count))}</td><td class="number quiet">${span(bin.interval.map(Math.round))}</td>
    <td class="wide">${bar(Math.min(1, Math.max(0, bin.count / most)), `${binName(column, bin)}: ${count(Math.round(bin.count))}`)}</td></tr>`)}</tbody></table></div>`;
}

function pairs({columns, counts, margin}, name, find) {
  const [rows, across] = columns;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}><table><thead><tr><th scope="col">${rows.column} \\ ${across.column}</th>
    ${across.bins.slice(0, ROWS).map((bin) => html`<th scope="col" class="number">${binName(find(across.column), bin)}</th>`)}</tr></thead><tbody>${rows.bins.slice(0, ROWS).map((bin, i) => html`<tr>
    <th scope="row">${binName(find(rows.column), bin)}</th>${counts[i].slice(0, ROWS).map((one) => html`<td class="number">${count(Math.round(one))}</td>`)}</tr>`)}</tbody></table></div>
    <p class="quiet small">Each count ± ${count(Math.ceil(margin))}, 95 %.</p>`;
}

function values(rows, name) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}><table><thead><tr><th scope="col">What</th><th scope="col" class="number">Value</th><th scope="col" class="number">95 %</th></tr></thead>
    <tbody>${rows.map(([name, {value, interval}, column]) => html`<tr><td>${name}</td><td class="number">${valueText(column, value, 6)}</td><td class="number quiet">${interval ? span(interval, column) : '–'}</td></tr>`)}</tbody></table></div>`;
}

const moments = (one, find) => one.features.flatMap(({column, mean, interval, deviation}, place) => [
  [`mean of ${column ?? `feature ${place}`}`, {value: mean, interval}, find(column)], [`deviation of ${column ?? `feature ${place}`}`, {value: deviation, interval: null}]]);

// The texts of a column that reached the threshold.
function texts({words, threshold}, name) {
  if (!words.length) return html`<p>No text reached ${plain(threshold, 4)} with its noise.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}><table><thead><tr><th scope="col">Text</th><th scope="col" class="number">Count</th></tr></thead>
    <tbody>${words.map(({word, count: found}) => html`<tr><td>${word}</td><td class="number">${count(Math.round(found))}</td></tr>`)}</tbody></table></div>
    <p class="quiet small">Texts whose count with noise reached ${plain(threshold, 4)}.</p>`;
}

function answer(one, find) {
  const column = find(one.column);
  const scale = one.kind === 'variance' ? undefined : column;
  const body = one.kind === 'histogram' ? histogram(one, title(one), column) : one.kind === 'table' ? pairs(one, title(one), find) : one.kind === 'moments' ? values(moments(one, find), title(one))
    : one.kind === 'words' ? texts(one, title(one))
    : values(one.kind === 'quantiles' ? one.quantiles.map((each) => [`${plain(100 * each.probability)} % lie below`, each, column]) : [[one.kind, one, scale]], title(one));
  return html`<section class="card"><h2>${title(one)}</h2>${body}</section>`;
}

function shownCard(shown, dataset, find) {
  const {guarantee} = shown;
  const cost = html`${epsilon(guarantee.epsilon)} at δ ${delta(guarantee.delta)} for all of it · entry ${guarantee.reserve.seq}`;
  const state = shown.state === 'RUNNING' ? 'It runs; answers are shown at a whole second.'
    : shown.state === 'FAILED' ? `It failed (${shown.state_reason}). What was authorised is spent.` : 'Intervals hold the records’ own value, over the noise.';
  return html`<section class="card"><h2>Asked ${age(shown.create_time)}</h2><p>${cost}</p><p class="quiet" role="status">${state}</p>
    <p class="foot"><a href="/v1/statistics/${shown.id}" download="${dataset}-${shown.id}.json">Download</a></p></section>${(shown.answers ?? []).map((one) => answer(one, find))}`;
}

class Page {
  constructor(view) {
    this.view = view;
    this.id = view.query.get('dataset') ?? '';
    this.form = {kind: 'histogram', column: '', other: '', bins: '', low: '', high: '', shares: '', epsilon: '0.1', failure: ''};
    this.list = []; // the statistics of the next request
    this.estimate = this.shown = this.problem = this.waiting = null;
    this.past = [];
    this.sending = false;
    this.key = keyring();
    view.signal.addEventListener('abort', () => clearTimeout(this.timer));
  }

  async begin() {
    const {query, signal} = this.view;
    this.view.title(`Statistics of ${this.id} · epsilond`);
    this.view.draw(loading);
    if (!this.id) return this.view.draw(await this.choose(signal));
    this.dataset = await get(`/v1/datasets/${encodeURIComponent(this.id)}`, signal);
    this.columns = columnsOf(this.dataset);
    this.form.column = this.columns[0]?.name ?? '';
    this.form.other = this.columns[1]?.name ?? this.form.column;
    if (query.get('from')) this.shown = {id: query.get('from'), state: 'RUNNING'};
    watch(signal, (turn) => this.refresh(turn), (error) => this.fail(error));
  }

  // Lists the datasets, if the address names none.
  async choose(signal) {
    const found = await all('/v1/datasets?state=READY&order_by=id&privacy=private&view=summary', 'datasets', signal, 100);
    if (!found.length) return empty('No private dataset yet', 'Statistics are asked of people’s records that were imported.');
    return html`<h1>Statistics</h1><section class="card"><ul class="entries">${found.map(({id}) => html`<li><a class="name" href="/ui/statistics?dataset=${id}">${id}</a></li>`)}</ul></section>`;
  }

  find = (name) => this.columns.find((column) => column.name === name);

  body() {
    const failure = this.discovers && {discovery_delta: read(this.form.failure) ?? this.dataset.privacy.discovery_delta};
    return {dataset: this.id, statistics: this.list, privacy: {epsilon: read(this.form.epsilon), ...failure}};
  }

  get discovers() {
    return this.list.some(({kind}) => kind === 'words');
  }

  fail(error) {
    this.problem = error;
    this.draw();
  }

  async refresh(signal) {
    if (this.shown && !this.shown.end_time) this.shown = await get(`/v1/statistics/${encodeURIComponent(this.shown.id)}`, signal);
    this.past = (await get(`/v1/statistics?dataset=${encodeURIComponent(this.id)}&order=desc&page_size=${PAST}`, signal)).statistics;
    this.draw();
    return this.shown && !this.shown.end_time ? 1 : 15;
  }

  // Fetches the price, a moment after the last change.
  price() {
    clearTimeout(this.timer);
    this.draw();
    if (!this.list.length) {
      this.estimate = this.problem = null;
      return this.draw();
    }
    this.timer = setTimeout(async () => {
      try {
        this.estimate = await post('/v1/statistics:estimate', this.body(), {signal: this.view.signal});
        this.problem = null;
      } catch (error) {
        if (error.name === 'AbortError') return;
        this.estimate = null;
        this.problem = error;
      }
      this.draw();
    }, DEBOUNCE_MS);
  }

  async spend() {
    const body = this.body();
    this.sending = true;
    this.draw();
    try {
      const made = await post('/v1/statistics', body, {key: this.key(body)});
      if (!made.statistics) return this.wait(made);
      this.view.go(`/ui/statistics?dataset=${this.id}&from=${made.id}`);
    } catch (error) {
      this.sending = false;
      this.fail(error);
    }
  }

  // A second person has to approve texts. The same request asks for them afterwards.
  wait(grant) {
    this.sending = false;
    this.waiting = grant;
    this.draw();
  }

  set(name, value) {
    this.form[name] = value;
    if (name === 'column' && !kindsOf(this.find(value)).includes(this.form.kind)) this.form.kind = 'histogram';
    this.draw();
  }

  text(id, name, label, hint, placeholder) {
    return field({id, label, hint, control: input({id, kind: 'number', value: this.form[name], placeholder, changed: (value) => this.set(name, value)})});
  }

  // Makes the fields that this kind of statistic needs.
  more() {
    const {form} = this;
    const names = this.columns.map(({name}) => [name, name]);
    const numeric = isCut(this.find(form.column)) || (form.kind === 'table' && isCut(this.find(form.other)));
    const other = form.kind === 'table' ? field({id: 'other', label: 'With', control: choice({id: 'other', value: form.other, options: names, changed: (value) => this.set('other', value)})}) : nothing;
    if (['mean', 'sum', 'variance'].includes(form.kind))
      return !isCut(this.find(form.column)) ? nothing : html`${this.text('low', 'low', 'Clipped from', 'The narrower the range, the finer the answer.', 'of its range')}${this.text('high', 'high', 'to', '', 'of its range')}`;
    const shares = form.kind === 'quantiles' ? this.text('shares', 'shares', 'Shares', 'The shares of records below each quantile, rising.', QUARTERS) : nothing;
    return html`${other}${shares}${numeric ? this.text('bins', 'bins', 'Bins', 'Of equal width over the declared range.', form.kind === 'quantiles' ? '128' : '10') : nothing}`;
  }

  askCard() {
    const {form, list} = this;
    if (!may('jobs:submit')) return nothing;
    const add = () => {
      this.list = [...list, asked(form, this.find)];
      this.price();
    };
    const drop = (place) => () => {
      this.list = list.filter((one, i) => i !== place);
      this.price();
    };
    return html`<section class="card"><h2>Ask</h2><div class="fields">
      ${field({id: 'column', label: 'Column', control: choice({id: 'column', value: form.column, options: this.columns.map(({name}) => [name, name]), changed: (value) => this.set('column', value)})})}
      ${field({id: 'kind', label: 'What', control: choice({id: 'kind', value: form.kind, options: kindsOf(this.find(form.column)).map((kind) => [kind, kinds[kind]]), changed: (value) => this.set('kind', value)})})}
      ${this.more()}</div><div class="actions"><button class="button" id="add" @click=${add}>Add</button></div>
      ${list.length ? html`<ul class="entries">${list.map((one, i) => html`<li><span></span><span>${title(one)}</span>
        <button class="button" aria-label="Leave out ${title(one)}" @click=${drop(i)}>Leave out</button></li>`)}</ul>${this.priceBox()}` : html`<p class="quiet">Everything that is asked together is one
        release with one price; each further statistic makes the noise of all a little larger.</p>`}</section>`;
  }

  priceBox() {
    const {estimate, form} = this;
    const fits = estimate?.fits === 'yes';
    const threshold = !estimate?.threshold ? nothing : html` Texts are shown from ${plain(estimate.threshold, 4)} records on. With probability
      ${delta(estimate.discovery_delta)}, which is charged too, a text that only one person has is shown in full. So another person approves it first.`;
    const verdict = !estimate ? nothing : html`<div class="notice ${fits ? 'good' : 'bad'}" id="verdict">${fits ? '✓ It fits.' : 'It does not fit.'} A count will be
      ± ${count(Math.ceil(1.96 * estimate.deviation))} (95 %); ${epsilon(estimate.epsilon_after)} would be spent then.${threshold}</div>`;
    const waiting = !this.waiting ? nothing : html`<div class="notice" role="status" id="waiting">It waits for <a href="/ui/approvals">another person’s approval</a>. Ask again once it is approved.</div>`;
    const number = (id, label) => field({id, label, control: input({id, kind: 'number', value: form[id], placeholder: id === 'failure' ? plain(this.dataset.privacy.discovery_delta ?? 0) : '', changed: (value) => {
      form[id] = value;
      this.price();
    }})});
    return html`${number('epsilon', 'Epsilon, of all of it together')}${this.discovers ? number('failure', 'Delta of a failure') : nothing}${verdict}${waiting}<div class="actions"><button class="button accent" id="spend" ?disabled=${!fits || this.sending} @click=${() => this.spend()}>
      ${this.sending ? 'Asking …' : `Spend ${epsilon(estimate?.epsilon)} and ask`}</button></div>`;
  }

  pastCard() {
    if (!this.past.length) return html`<section class="card"><h2>Asked before</h2>${empty('Nothing yet', 'What was asked stays here, with its price.')}</section>`;
    return html`<section class="card table"><table><thead><tr><th scope="col">Asked before</th><th scope="col" class="number">ε alone</th><th scope="col" class="number">When</th></tr></thead>
      <tbody>${this.past.map((one) => html`<tr><td><a class="name" href="/ui/statistics?dataset=${this.id}&from=${one.id}">${one.statistics.slice(0, 3).map(title).join(', ')}${
        one.statistics.length > 3 ? ` and ${one.statistics.length - 3} more` : ''}</a><small>${states[one.state]}</small></td>
      <td class="number">${plain(one.guarantee.epsilon, 3)}</td><td class="number quiet">${age(one.create_time)}</td></tr>`)}</tbody></table></section>`;
  }

  draw() {
    if (!this.dataset || this.view.signal.aborted) return;
    this.view.draw(html`<p class="crumb"><a href="/ui/datasets">Datasets</a> / <a href="/ui/datasets/${this.id}">${this.dataset.display_name ?? this.id}</a> /</p>
      <div class="head"><div><h1>Statistics</h1><p class="quiet">Counts, sums and quantiles of columns, with noise, charged to the budget.</p></div></div>
      ${trouble(this.problem)}<div class="two"><div>${this.askCard()}${this.pastCard()}</div><div>${this.shown?.guarantee ? shownCard(this.shown, this.id, this.find) : nothing}</div></div>`);
  }
}

export function open(view) {
  const page = new Page(view);
  page.begin().catch((error) => {
    if (!view.signal.aborted) view.draw(trouble(error));
  });
}
