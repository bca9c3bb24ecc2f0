// What changes, from one stream of events for all tabs of the browser. Browsers open six
// connections to a host: one tab, elected by a lock, holds the stream and tells the others. A
// hidden tab takes no part.
const PATH = '/v1/events';
const SILENCE = 40_000; // ms without a word, not even a comment: something in between keeps it back
const RETRY = 3_000; // ms, as the stream itself says
const PATIENCE = 5_000; // ms that it may take to open

const channel = new BroadcastChannel('epsilond events');
const listeners = new Set();
let heard = -Infinity; // when something came last
let sought = 0; // since when this tab has looked for the stream

export function isAlive() {
  return performance.now() - heard < SILENCE;
}

// Whether there is no stream to be had, so that pages have to ask: not while it is opened.
export function isLost() {
  return !isAlive() && performance.now() - sought > PATIENCE;
}

// Aborted when signal is, or when the stream comes alive: for a request that waits in its
// place.
export function untilAlive(signal) {
  const alive = new AbortController();
  const both = AbortSignal.any([signal, alive.signal]);
  listen((event) => event || alive.abort(), both);
  return both;
}

// Calls listener({name, data}) for each event, and with null when the stream comes alive or
// may have missed something; until signal is aborted.
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

// The events of the lines of a stream, {name, data, id}; none for a comment alone.
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

// Holds the stream as long as this tab is shown, and opens it again where it breaks off or is
// silent.
async function hold(signal) {
  last = null; // what others have read since is not known here
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

let part = null; // AbortController of this tab's part, while it is shown

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

// Whether somebody is there for whom the stream is read: nobody is told anything.
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
