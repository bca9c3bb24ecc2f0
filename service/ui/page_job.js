// One job: progress, quality and cost, and the buttons that stop, rename or delete it.
import {html, nothing} from './lit-html.js';
import {get, post, remove, wait} from './api.js';
import {badge, isOpen, reason} from './badge.js';
import {captionEditor, tags} from './caption.js';
import {age, classWords, count, delta, duration, epsilon, jobName, percent, plain, quality, rate, shortId} from './format.js';
import {bar} from './gauge.js';
import {logCard} from './log_card.js';
import {deadEnd, loading, question, trouble} from './notice.js';
import {predictCard} from './predict_card.js';
import {headline, qualityCard} from './quality_card.js';
import {qualityCurves} from './quality_curves.js';
import {isAlive, isLost, untilAlive} from './stream.js';
import {watch} from './watch.js';
import {may} from './who.js';
import './chart.js';

const READINGS = 20;

// Returns the steps per second, from the last readings {at, step} of the job's progress.
function speed(readings) {
  const first = readings[0];
  const last = readings.at(-1);
  const seconds = first ? (last.at - first.at) / 1000 : 0;
  return seconds >= 1 && last.step > first.step ? (last.step - first.step) / seconds : null;
}

function tile(number, text) {
  return html`<div class="tile"><b>${number}</b><span>${text}</span></div>`;
}

function pace(steps) {
  return steps == null ? '' : `, ${steps >= 10 ? count(steps) : plain(steps, 2)} a second`;
}

function qualityTile(job) {
  if (job.evaluation?.holdout) return tile(headline(job.quality) ?? '–', 'on the records held out');
  return tile(quality(job.metrics.evaluation), job.evaluation ? html`on <a href="/ui/datasets/${job.evaluation}">${job.evaluation}</a>` : 'no public data to measure on');
}

function tiles(job, steps) {
  const {step, steps: all} = job.progress;
  const {privacy} = job;
  const time = isOpen(job) ? [duration(steps ? (all - step) / steps : null), 'left, at this speed']
    : [duration(job.start_time ? (Date.parse(job.end_time) - Date.parse(job.start_time)) / 1000 : null), 'from start to end'];
  return html`<div class="tiles">${tile(percent(step / all), `${count(step)} of ${count(all)} steps${isOpen(job) ? pace(steps) : ''}`)}
    ${tile(...time)}${qualityTile(job)}
    ${privacy ? tile(epsilon(privacy.epsilon_spent), `spent of ${epsilon(privacy.epsilon_planned)}, δ ${delta(privacy.delta)}`)
      : tile('public', 'trained without privacy, on public data')}</div>${bar(step / all, `step ${step} of ${all}`)}`;
}

function qualityChart(job) {
  const {history} = job.metrics;
  if (!history.length) return nothing;
  const byShare = history[0].accuracy != null;
  const values = history.map((point) => (byShare ? point.accuracy : point.rmse));
  const best = values.reduce((a, b) => (a == null ? b : b == null ? a : byShare ? Math.max(a, b) : Math.min(a, b)), null);
  const show = byShare ? (value) => percent(value, 1) : (value) => plain(value);
  const chart = {
    title: byShare ? 'Accuracy on public data' : 'Error on public data',
    sentence: `${history.length} measurement${history.length > 1 ? 's' : ''}, best ${show(best)}. Measuring on ${job.evaluation} is free.`,
    x: {label: 'step', show: count, max: job.progress.steps},
    y: {label: byShare ? 'accuracy' : 'rmse', show},
    points: history.map(({step}) => step),
    series: [{label: byShare ? 'accuracy' : 'rmse', kind: 'line', colour: 'spent', filled: true, values}],
  };
  return html`<section class="card"><ui-chart .chart=${chart}></ui-chart></section>`;
}

const releases = {
  clip_norm: ['Clip norm over time', 'The threshold follows a noisy histogram of gradient norms, which was paid for.', 'clip norm'],
  gradient_norm: ['Gradient norm over time', 'As released through noise, which was paid for.', 'gradient norm'],
};

function releasedChart(job, member) {
  const found = job.metrics.released.filter((one) => typeof one[member] === 'number');
  if (!found.length) return nothing;
  const [title, sentence, label] = releases[member];
  const chart = {
    title,
    sentence,
    x: {label: 'step', show: count, max: job.progress.steps},
    y: {label, show: (value) => plain(value, 3)},
    points: found.map(({step}) => step),
    series: [{label, kind: 'step', colour: 'asked', values: found.map((one) => one[member])}],
  };
  return html`<section class="card"><ui-chart .chart=${chart}></ui-chart></section>`;
}

function facts(title, pairs) {
  return html`<section class="card"><h2>${title}</h2><dl>${pairs.filter(([, value]) => value != null && value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

function privacyCard({privacy}) {
  if (!privacy) return nothing;
  return facts('Privacy', [['planned', epsilon(privacy.epsilon_planned)], ['spent so far', epsilon(privacy.epsilon_spent)],
    ['δ', delta(privacy.delta)], ['noise multiplier', plain(privacy.noise_multiplier)], ['sampling rate', percent(privacy.sampling_rate, 2)],
    ['authorised steps', count(privacy.authorised_steps)], ['neighbours', privacy.relation], ['ledger entry', privacy.ledger_seq]]);
}

function modelName({preset, hidden, layers}) {
  return preset ? `${preset}${hidden ? ` ${hidden.join('-')}` : ''}` : `${layers?.length ?? ''} layers`;
}

function trainedPart({trainable}) {
  if (trainable == null || typeof trainable === 'string') return {head: 'the last layer', bias: 'biases, norms and the last layer'}[trainable] ?? null;
  if (trainable.last) return `the last blocks: ${trainable.last}`;
  if (trainable.lora) return `adapters of ${trainable.lora.targets.join(', ')}, of rank ${trainable.lora.rank} and alpha ${trainable.lora.alpha}, and the last layer`;
  const [[word, names]] = Object.entries(trainable);
  return `${word === 'only' ? 'only' : 'all but'} ${names.join(', ')}`;
}

function averageText(averaging) {
  const size = averaging?.share ?? averaging?.decay;
  return averaging && `${averaging.kind}${size == null ? '' : ` ${plain(size)}`}`;
}

function viewsText(augmentation) {
  return augmentation && `${augmentation.views}${augmentation.flip ? ', mirrored' : ''}${augmentation.shift ? `, moved by ${augmentation.shift}` : ''}`;
}

function settingsCard(job) {
  const {name, ...members} = job.algorithm;
  const {model_spec: spec, optimizer} = job;
  return facts('Settings', [['model', modelName(spec)], ['begins with', spec.weights && shortId(spec.weights)], ['trained', trainedPart(spec)],
    ['batch', count(job.batch_size)], ['rows per person', job.rows_per_person], ['ranks', job.ranks], ['views', viewsText(job.augmentation)], ['epochs', job.epochs], ['optimizer', optimizer.name], ['rate', rate(optimizer)],
    ['weight decay', optimizer.weight_decay && plain(optimizer.weight_decay)], ['average', averageText(job.averaging)], ['class weights', job.class_weights?.map((one) => plain(one)).join(', ')],
    ['ranges from', job.scaling && html`<span title=${job.scaling.ranges.map(({column, range}) => `${column}: ${range.map((end) => plain(end, 5)).join(' to ')}`).join('\n')}>statistics ${shortId(job.scaling.statistics)}</span>`],
    ['scaled by', job.standardise && `means and deviations of statistics ${shortId(job.standardise.statistics)}${job.standardise.epsilon ? `, bought for ${epsilon(job.standardise.epsilon)}` : ''}`],
    ...Object.entries(members).map(([key, value]) => [key.replaceAll('_', ' '), typeof value === 'number' ? plain(value) : String(value)]),
    ['sweep', job.sweep && html`<a href="/ui/sweeps/${job.sweep}">${shortId(job.sweep)}</a>`], ['submitted', age(job.create_time)]]);
}

function certificateCard(model, ask) {
  if (!model) return nothing;
  const {certificate} = model;
  return html`<section class="card"><h2>Certificate</h2><dl>
    <div><dt>guarantee</dt><dd>${certificate.guarantee ? `${epsilon(certificate.guarantee.epsilon)}, δ ${delta(certificate.guarantee.delta)}` : 'none'}</dd></div>
    <div><dt>ledger entry</dt><dd>${certificate.guarantee?.reserve?.seq ?? '–'}</dd></div>
    <div><dt>SHA-256</dt><dd><code class="break">${model.sha256}</code></dd></div></dl>
    <p><a href="/ui/models/${model.id}">Measure this model</a></p>
    <details><summary>The whole certificate</summary><pre tabindex="0">${JSON.stringify(certificate, null, 2)}</pre></details>
    ${may('models:edit') ? html`<p class="foot"><button class="button danger" @click=${ask}>Delete model</button></p>` : nothing}</section>`;
}

function line(job) {
  if (job.state === 'QUEUED') return job.privacy ? 'waits for a worker; its full price is reserved' : 'waits for a worker';
  if (job.state === 'CANCELLING') return 'stops within a second';
  if (job.state === 'SUCCEEDED' && !job.model) return 'its model was deleted';
  return reason(job.state_reason);
}

// Says what remains after a job or its model is deleted.
function stays(job) {
  return job.privacy ? `${epsilon(job.privacy.epsilon_spent)} stays spent, and its entries stay in the ledger.` : 'The dataset stays as it is.';
}

export function open(view) {
  const path = `/v1/jobs/${encodeURIComponent(view.id)}`;
  const readings = [];
  let job = null;
  let tag = null;
  let model = null;
  let problem = null;
  let asking = null; // the act to confirm: cancel, model, job

  const editor = captionEditor({
    path,
    read: () => job,
    changed: (now) => (job = now),
    draw: () => draw(),
  });
  const log = logCard(path, () => draw());
  const predictions = predictCard(() => draw());
  const curves = qualityCurves(() => draw());
  let words = []; // of the classes, once there is a quality to show
  const ask = (now) => () => {
    asking = now;
    draw();
  };
  const cancel = async () => {
    asking = null;
    try {
      await post(`${path}:cancel`, {});
      view.say('The job is being cancelled.');
    } catch (error) {
      problem = error;
    }
    draw();
  };
  const drop = (whole) => async () => {
    asking = null;
    try {
      if (job.model) await remove(`/v1/models/${job.model}`);
      job.model = model = null;
      if (whole) await remove(path);
      view.say(whole ? 'The job is deleted.' : 'The model is deleted.');
      if (whole) return view.go('/ui/jobs', {replace: true});
    } catch (error) {
      problem = error;
    }
    draw();
  };

  function actions() {
    if (job.state === 'CANCELLING') return nothing;
    if (isOpen(job)) return may('jobs:cancel') ? html`<button class="button danger" @click=${ask('cancel')}>Cancel</button>` : nothing;
    return html`${may('jobs:submit') ? html`<a class="button" href="/ui/train?from=${job.id}">Train again with changes</a>` : nothing}
      ${job.model && may('models:read') ? html`<a class="button accent" href="/v1/models/${job.model}/content" download="${job.model}.safetensors">Download model</a>
        <a class="button" href="/v1/models/${job.model}/content?format=onnx" download="${job.model}.onnx">Download as ONNX</a>` : nothing}
      ${may('jobs:edit') ? html`<button class="button danger" @click=${ask('job')}>Delete</button>` : nothing}`;
  }

  function asked() {
    const keep = ['Keep it', ask(null)];
    if (asking === 'job') return question('Delete this job?', `${job.model ? 'Its model and its history are deleted' : 'Its history is deleted'} for good. ${stays(job)}`, ['Delete it', drop(true)], keep);
    if (asking === 'model') return question('Delete the model?', `Its file goes for good; the job stays. ${stays(job)}`, ['Delete it', drop(false)], keep);
    if (!asking || !isOpen(job)) return nothing;
    const spent = job.state === 'QUEUED' ? 'Nothing was spent yet; the whole reservation is given back.'
      : job.privacy ? `${epsilon(job.privacy.epsilon_spent)} stays spent, and there will be no model.` : 'There will be no model.';
    return question('Cancel this job?', spent, ['Cancel it', cancel], ['Let it run', ask(null)]);
  }

  function draw() {
    if (!job) return view.draw(problem ? deadEnd(problem, 'job', view.id, ['/ui/jobs', 'all jobs']) : loading);
    const {step, steps} = job.progress;
    const name = jobName(job);
    view.title(`${isOpen(job) ? `${percent(step / steps)} · ` : ''}${name}`);
    view.draw(html`<p class="crumb"><a href="/ui/jobs">Jobs</a> / <span class="id">${job.id}</span></p>
      <div class="head"><div><h1>${name}</h1>
      <p class="quiet">${badge(job.state)} ${line(job)} ${job.algorithm.name} on <a href="/ui/datasets/${job.dataset}">${job.dataset}</a>
      ${tags(job, '/ui/jobs')}</p></div><div class="actions">${may('jobs:edit') ? editor.button() : nothing}${actions()}</div></div>
      ${trouble(problem)}${asked()}${editor.form()}${tiles(job, speed(readings))}
      <div class="main-aside"><div>${qualityCard(job, words)}${curves(job.quality, words)}${qualityChart(job)}${releasedChart(job, 'clip_norm')}${releasedChart(job, 'gradient_norm')}
        ${job.metrics.history.length || job.evaluation?.holdout ? nothing : html`<section class="card"><p class="quiet">${job.evaluation
          ? 'The first measurement is shown with the next progress.' : 'No public dataset was chosen to measure quality on.'}</p></section>`}</div>
      <div>${privacyCard(job)}${settingsCard(job)}${certificateCard(model, ask('model'))}${job.model && may('models:read') ? predictions(job) : nothing}${log()}
        <section class="card"><h2>From a shell</h2><pre tabindex="0">curl -s ${location.origin}${path}</pre></section></div></div>`);
  }

  async function look(signal) {
    const answer = await (isLost() ? wait(path, tag, 25, untilAlive(signal)) : wait(path, tag, 0, signal));
    tag = answer.tag;
    problem = null;
    if (answer.value) {
      const before = job?.state;
      job = answer.value;
      if (before && before !== job.state) view.say(`The job is ${job.state.toLowerCase()}.`);
      if (job.state === 'RUNNING' && readings.at(-1)?.step !== job.progress.step) readings.push({at: Date.now(), step: job.progress.step});
      readings.splice(0, readings.length - READINGS);
      if (job.quality?.classes.length) words = classWords(await get(`/v1/datasets/${encodeURIComponent(job.dataset)}`, signal).catch(() => null));
      if (job.model && !model && may('certificates:read')) model = await get(`/v1/models/${job.model}`, signal);
    }
    draw();
    if (job.end_time) return false;
    return isAlive() || isLost() ? 0.2 : 1;
  }

  draw();
  watch(view.signal, look, (error) => {
    problem = error;
    draw();
  }, ({data}) => data.id === view.id);
}
