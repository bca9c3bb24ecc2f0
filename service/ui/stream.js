// Reports changes, from one stream of events for all tabs of the browser. Browsers open at most six
// connections to a host, so one visible tab, which a lock elects, holds the stream and passes its
// events to the other tabs. A hidden tab never holds it.
const PATH = '/v1/events';
const SILENCE = 40_000; // ms without any data, not even a comment: something on the way holds the stream back
const RETRY = 3_000; // ms, the same as the `retry` of the stream
const PATIENCE = 5_000; // ms that opening the stream may take

const channel = new BroadcastChannel('epsilond events');
const listeners = new Set();
let heard = -Infinity; // the time of the last data
let sought = 0; // the time when this tab began to look for the stream

export function isAlive() {
  return performance.now() - heard < SILENCE;
}

// Returns whether there is no stream, so that pages have to poll. False while it may still be opening.
export function isLost() {
  return !isAlive() && performance.now() - sought > PATIENCE;
}

// Returns a signal that is aborted when `signal` is, or when the stream comes alive: for a request
// that waits because there is no stream.
export function untilAlive(signal) {
  const alive = new AbortController();
  const both = AbortSignal.any([signal, alive.signal]);
  listen((event) => event || alive.abort(), both);
  return both;
}

// Calls listener({name, data}) for each event, until signal is aborted. Calls listener(null) when the
// stream comes alive, because events may have been missed before that.
export function listen(listener, signal) {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener), {once: true});
}

function take(events) {
  const revived = !isAlive();
  heard = performance.now();
  for (const listener of [...listeners]) {
    if (revived) listener(null);
    for (const event of events) listener(event);
  }
}

function tell(events) {
  channel.postMessage(events);
  take(events);
}

// Parses lines of the stream into events {name, data, id}. Comments are no events.
export function parse(lines) {
  const events = [];
  let event = {};
  for (const line of lines) {
    const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (field === 'event') event.name = value;
    if (field === 'data') event.data = JSON.parse(value);
    if (field === 'id') event.id = value;
    if (line) continue;
    if (event.name) events.push(event);
    event = {};
  }
  return events;
}

let last = null; // id of the last event

async function read(signal) {
  const response = await fetch(PATH, {signal, cache: 'no-store', headers: last ? {'Last-Event-ID': last} : {}});
  if (response.status === 401) document.dispatchEvent(new Event('nobody')); // app.js asks to log in
  if (!response.ok || !response.body) throw new Error(`the stream is refused (${response.status})`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    const end = text.lastIndexOf('\n\n') + 2;
    if (end < 2) continue;
    const events = parse(text.slice(0, end - 1).split('\n'));
    text = text.slice(end);
    last = events.findLast(({id}) => id)?.id ?? last;
    tell(events);
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), {once: true});
  });
}

// Holds the stream until signal is aborted, which happens when the tab is hidden. Opens the stream
// again if it breaks off or is silent.
async function hold(signal) {
  last = null; // another tab may have read later events, whose ids this tab does not know
  while (!signal.aborted) {
    const turn = new AbortController();
    const stop = () => turn.abort();
    signal.addEventListener('abort', stop, {once: true});
    const opened = performance.now();
    const watchdog = setInterval(() => performance.now() - Math.max(heard, opened) > SILENCE && stop(), 1000);
    await read(turn.signal).catch(() => {});
    clearInterval(watchdog);
    signal.removeEventListener('abort', stop);
    stop();
    if (!signal.aborted) await pause(RETRY, signal);
  }
}

let part = null; // AbortController of this tab's attempt to hold the stream, null while the tab is hidden

function join() {
  part = new AbortController();
  sought = performance.now();
  const {signal} = part;
  channel.postMessage('who is there?');
  navigator.locks.request('epsilond events', {signal}, () => hold(signal)).catch(() => {});
}

channel.onmessage = ({data}) => {
  if (Array.isArray(data)) take(data);
  else if (isAlive() && part) channel.postMessage([]);
};

let wanted = false;

function look() {
  const shown = wanted && !document.hidden;
  if (shown && !part) join();
  if (shown) return;
  part?.abort();
  part = null;
  heard = -Infinity;
}

// Starts or stops reading the stream. somebody: whether a user is signed in, without whom the daemon sends no events.
export function want(somebody) {
  wanted = somebody;
  look();
}

export function start() {
  document.addEventListener('visibilitychange', look);
  addEventListener('pagehide', () => part?.abort());
  addEventListener('pageshow', (event) => event.persisted && ((part = null), look()));
  look();
}
