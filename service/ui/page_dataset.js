// One dataset: its budget and spending, its jobs, its ledger, and its public description.
import {html, nothing} from './lit-html.js';
import {get, post, remove} from './api.js';
import {badge, barred, reason, waits} from './badge.js';
import {budgetCards, roomCard} from './budget_card.js';
import {captionEditor, tags} from './caption.js';
import {chargesCard, isCharge} from './charges_card.js';
import {age, bare, bytes, count, delta, epsilon, plain, jobName, quality, shortId, tail, units} from './format.js';
import {swatch} from './gauge.js';
import {forgetImport, grantCard, isRemembered} from './grant_card.js';
import {deadEnd, empty, loading, question, trouble} from './notice.js';
import {askedBy, confirming, ticks} from './confirmation.js';
import {regrantCard} from './regrant_card.js';
import {isAlive} from './stream.js';
import {watch} from './watch.js';
import {may} from './who.js';
import './chart.js';

const LINES = 10;
const kinds = {
  GRANT: ['left', 'Budget granted'],
  RESERVE: ['held', 'Held for a job'],
  COMMIT: ['spent', 'Spent by a job'],
};

function jobRow(job) {
  return html`<tr><td><a class="name" href="/ui/jobs/${job.id}">${jobName(job)}</a><small class="id">${shortId(job.id)}</small></td>
    <td>${badge(job.state)}</td><td class="number">${bare(job.privacy?.epsilon_planned)}</td>
    <td class="number">${quality(job.metrics.evaluation)}</td></tr>`;
}

function jobsCard(jobs, id, budget) {
  const none = budget?.exposure ? 'What a restored backup has lost is not shown.' : budget?.conditional ? 'Nothing was computed from these records here.'
    : 'Nothing was ever computed from these records.';
  if (!jobs.length) return html`<section class="card"><h2>Jobs</h2>${empty('No jobs yet', none)}</section>`;
  return html`<section class="card table"><table><thead><tr><th scope="col">Job</th><th scope="col">State</th>
    <th scope="col" class="number">ε alone</th><th scope="col" class="number">Quality</th></tr></thead><tbody>${jobs.map(jobRow)}</tbody></table>
    <p class="foot"><a href="/ui/jobs?dataset=${id}">All jobs of this dataset</a></p></section>`;
}

function entryLine(entry) {
  const [colour, word] = kinds[entry.kind] ?? ['left', entry.kind];
  const counts = entry.job?.startsWith('sta_');
  const elsewhere = isCharge(entry.job), looks = entry.job?.startsWith('mev_');
  const place = looks ? `/v1/evaluations/${entry.job}` : counts ? `/ui/statistics?dataset=${entry.dataset}&from=${entry.job}` : elsewhere ? `#${entry.job}` : `/ui/jobs/${entry.job}`;
  const what = elsewhere ? word.replace('a job', `work elsewhere${entry.external ? `, ${entry.external}` : ''}`)
    : counts ? word.replace('a job', 'statistics') : entry.evaluation || looks ? word.replace('a job', 'a look at the holdout') : word;
  return html`<li>${swatch(colour)}<span><b>${what}</b> <small>entry ${entry.seq}${entry.job
    ? html` · <a href=${place}>${tail(entry.job)}</a>` : entry.replaces ? html` · in the place of entry ${entry.replaces}` : nothing} · by ${entry.actor}</small></span>
    <small>${age(entry.time)}</small></li>`;
}

function ledgerCard(entries, head, id) {
  return html`<section class="card"><h2>Ledger</h2><p class="quiet">Entry ${head.seq} is the newest of all, hash
    <code>${head.hash.slice(0, 16)}…</code></p><ul class="entries">${entries.map(entryLine)}</ul>
    <p class="foot"><a href="/v1/datasets/${id}/ledger" download="${id}-ledger.json">Download the entries</a></p></section>`;
}

function columnText(column) {
  if (column.kind === 'date') return column.range.join(' to ');
  if (column.tokenizer) return `${column.length} tokens of ${column.tokenizer.tokens}, ${column.tokenizer.kind}`;
  if (column.buckets) return `${column.buckets} buckets`;
  if (column.range) return `${plain(column.range[0], 8)} to ${plain(column.range[1], 8)}`;
  if (column.values) return column.values.slice(0, 12).join(', ') + (column.values.length > 12 ? `, … ${column.values.length} in all` : '');
  return '';
}

function columnsTable(columns) {
  return html`<details><summary>${columns.length} columns, with their ranges and values</summary><div class="scroll" tabindex="0" role="region"
    aria-label="Columns"><table><thead><tr><th scope="col">Column</th><th scope="col">Kind</th><th scope="col">Range or values</th></tr></thead>
    <tbody>${columns.map((column) => html`<tr><td>${column.name}</td><td>${column.kind}</td><td>${columnText(column)}</td></tr>`)}</tbody></table></div></details>`;
}

function publicCard(dataset) {
  const facts = [[dataset.unit === 'person' ? 'persons' : 'records', count(dataset.records)], ['format', dataset.format], ['task', dataset.task]];
  if (dataset.classes) facts.push(['classes', count(dataset.classes)]);
  if (dataset.features?.shape) facts.push(['shape', dataset.features.shape.join(' × ')]);
  if (dataset.features?.count) facts.push(['features', count(dataset.features.count)]);
  if (dataset.privacy !== 'public') facts.push(['protected', dataset.unit === 'person' ? 'each person, with all of their rows' : 'each record'],
    ['neighbours', dataset.privacy.relation]);
  if (dataset.parts) facts.push(['held out', count(dataset.parts[1].records)]);
  facts.push(['registered by', dataset.grant?.proposed_by ?? dataset.created_by]);
  if (dataset.grant?.decided_by) facts.push([dataset.grant.state.toLowerCase() + ' by', `${dataset.grant.decided_by}: ${dataset.grant.reason}`]);
  return html`<section class="card"><h2>What is public</h2><p class="quiet">${dataset.privacy === 'public'
    ? 'Everything: these records are protected by nothing.' : 'Everybody may know this. The records themselves never leave.'}</p>
    <dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${dataset.columns ? columnsTable(dataset.columns) : nothing}</section>`;
}

function historyCard(history, budget) {
  const charges = history.points.filter(({kind, evaluation}) => kind === 'COMMIT' && !evaluation);
  if (!charges.length) return nothing;
  const whole = history.entries === history.points.length;
  const chart = {
    title: 'Guarantee after each job',
    sentence: `ε at δ ${delta(budget.delta)}; the promise is ${epsilon(budget.epsilon)}.${whole ? '' : ' Not every job is shown.'}`,
    x: {label: whole ? 'jobs charged' : 'jobs that are shown', show: (value) => (Number.isInteger(value) ? count(value) : ''), max: Math.max(4, charges.length)},
    y: {label: 'epsilon', show: bare, min: 0},
    points: [0, ...charges.map((one, i) => i + 1)],
    series: [
      {label: 'epsilon so far', kind: 'step', colour: 'spent', filled: true, values: [0, ...charges.map((one) => one.epsilon_spent)]},
      {label: 'promised', kind: 'line', colour: 'bad', dashed: true, values: [budget.epsilon, ...charges.map(() => budget.epsilon)]},
    ],
  };
  return html`<section class="card"><ui-chart .chart=${chart}></ui-chart></section>`;
}

function facts(dataset) {
  return html`${dataset.format} · ${dataset.task}${dataset.classes ? ` in ${dataset.classes} classes` : ''}
    ${dataset.records != null ? ` · ${units(dataset)}${dataset.size == null ? '' : ` · ${bytes(dataset.size)}`}` : ''} · ${badge(dataset.state)}
    ${reason(dataset.state_reason)} ${barred(dataset.grant) ? waits(dataset.grant) : nothing}`;
}

function page({dataset, budget, jobs, charges, entries, head, history, load}, problem, {editor, regrant, asked, ask, confirm}) {
  const trains = dataset.state === 'READY';
  return html`<p class="crumb"><a href="/ui/datasets">Datasets</a> /</p><div class="head"><div><h1>${dataset.display_name ?? dataset.id}</h1>
    <p class="quiet">${dataset.display_name ? html`<span class="id">${dataset.id}</span> · ` : nothing}${facts(dataset)} ${tags(dataset)}</p></div>
    <div class="actions">${may('datasets:admin') ? editor.button() : nothing}${dataset.state === 'DELETED' || !may('datasets:admin') ? nothing : html`<button class="button danger" @click=${ask}>Delete content</button>`}
    ${dataset.state === 'CREATED' && dataset.grant?.state === 'APPROVED' && may('datasets:admin') ? html`<button class="button" @click=${load}>Import</button>` : nothing}
    ${trains && budget && may('jobs:read') ? html`<a class="button" href="/ui/statistics?dataset=${dataset.id}">Statistics</a>` : nothing}
    <a class="button" href="/ui/jobs?dataset=${dataset.id}">Jobs</a>
    ${!may(trains ? 'jobs:submit' : 'datasets:admin') ? nothing
      : trains ? html`<a class="button accent" href="/ui/train?dataset=${dataset.id}">Train on it</a>`
      : html`<a class="button accent" href="/ui/register?dataset=${dataset.id}">Declare and upload</a>`}</div></div>
    ${trouble(problem)}${confirm()}${asked()}${editor.form()}${grantCard(dataset, isRemembered(dataset.id))}${budget ? html`${budgetCards(budget)}${regrant(budget)}` : nothing}
    <div class="two"><div>${budget && !budget.frozen ? roomCard(budget) : nothing}${jobsCard(jobs, dataset.id, budget)}${chargesCard(charges)}</div>
      <div>${budget ? historyCard(history, budget) : nothing}${publicCard(dataset)}${entries ? ledgerCard(entries, head, dataset.id) : nothing}</div></div>`;
}

export function open(view) {
  const path = `/v1/datasets/${encodeURIComponent(view.id)}`;
  const confirmed = new Set();
  const shown = {load: () => post(`${path}:import`, confirming(askedBy(problem).filter((name) => confirmed.has(name)))).then(() => view.go(`/ui/datasets/${view.id}`), (error) => {
    problem = error;
    draw();
  })};
  let seq = null;
  let asking = false;
  let problem = null;
  const editor = captionEditor({
    path,
    read: () => shown.dataset,
    changed: (now) => (shown.dataset = now),
    draw: () => draw(),
  });
  const regrant = regrantCard({path, granted: (budget) => (shown.budget = budget), draw: () => draw()});
  const ask = (now) => () => {
    asking = now;
    draw();
  };
  const drop = async () => {
    asking = false;
    try {
      await remove(path);
      view.say('The content is deleted.');
      return view.go('/ui/datasets', {replace: true});
    } catch (error) {
      problem = error;
    }
    draw();
  };
  const asked = () => (asking ? question('Delete the content of this dataset?', `The records and what was uploaded go for good. Its name, its ledger and ${
    shown.budget ? `the ${epsilon(shown.budget.epsilon_spent)} that was spent stay` : 'what was declared stay'}, and so do its jobs and models.`,
  ['Delete it', drop], ['Keep it', ask(false)]) : nothing);
  // Asks for what the import asked for, which finds out n.
  const confirm = () => {
    const names = askedBy(problem);
    return names.length ? html`${ticks(names, confirmed, () => draw())}<p><button class="button" id="import" ?disabled=${names.some((name) => !confirmed.has(name))} @click=${shown.load}>Import</button></p>` : nothing;
  };
  // Starts the import that was asked for when the dataset was registered, once the grant is approved.
  const importApproved = async (signal) => {
    const {state, grant} = shown.dataset;
    if (!isRemembered(view.id) || grant?.state === 'PENDING') return;
    forgetImport(view.id);
    if (state !== 'CREATED' || barred(grant) || !may('datasets:admin')) return;
    view.say('The grant is approved; the import starts.');
    await post(`${path}:import`, {}).catch((error) => (problem = error));
    shown.dataset = await get(path, signal);
  };
  const draw = () => view.draw(shown.dataset && shown.jobs ? page(shown, problem, {editor, regrant, asked, ask: ask(true), confirm}) : problem ? deadEnd(problem, 'dataset', view.id, ['/ui/datasets', 'all datasets']) : loading);
  view.title(`${view.id} · epsilond`);
  draw();
  watch(view.signal, async (signal) => {
    if (shown.dataset?.state !== 'READY') shown.dataset = await get(path, signal);
    await importApproved(signal);
    const protectedOne = shown.dataset.privacy !== 'public' && !barred(shown.dataset.grant);
    if (protectedOne) shown.budget = await get(`${path}/budget`, signal);
    shown.jobs = (await get(`/v1/jobs?view=summary&dataset=${view.id}&page_size=${LINES}`, signal)).jobs;
    if (protectedOne) {
      shown.head = await get('/v1/ledger/head', signal);
      if (shown.head.seq !== seq) {
        if (may('budgets:audit')) shown.entries = (await get(`${path}/ledger?order=desc&view=summary&page_size=${LINES}`, signal)).entries;
        shown.history = await get(`${path}/budget/history`, signal);
      }
      seq = shown.head.seq;
      if (shown.budget.conditional && may('jobs:read'))
        shown.charges = (await get(`/v1/charges?dataset=${view.id}&page_size=${LINES}`, signal)).charges;
    }
    problem = null;
    draw();
    if (shown.dataset.state === 'IMPORTING') return {every: 3};
    return isAlive() || shown.jobs.some((job) => !job.end_time) ? 3 : 15;
  }, (error) => {
    problem = error;
    draw();
  }, ({data}) => data.dataset === view.id || shown.jobs?.some(({id}) => id === data.id));
}
