// Repeats a request, one at a time: when the stream of events reports a change, or every few seconds
// if there is no stream. Sends nothing while the tab is hidden.
import {isAlive, listen} from './stream.js';

const LONGEST = 30; // seconds, even if the stream reports nothing

function visible(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', done);
      resolve();
    };
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done, {once: true});
  });
}

// Resolves after that many seconds. If the stream reports events (tells), resolves only once an event
// has concerned the page and that many seconds have passed, or after 30 seconds.
function pause(seconds, tells, told, signal) {
  return new Promise((resolve) => {
    const start = performance.now();
    let timer = null;
    const look = () => {
      const passed = (performance.now() - start) / 1000;
      const left = (tells && isAlive() && !told.news ? LONGEST : seconds) - passed;
      clearTimeout(timer);
      if (left > 0 && !signal.aborted) timer = setTimeout(look, 1000 * Math.min(left, 5));
      else {
        told.look = null;
        resolve();
      }
    };
    told.look = look;
    signal.addEventListener('abort', look, {once: true});
    look();
  });
}

// Calls act(signal) until the user leaves the page (signal). act returns the seconds to pause, or
// false to end. If there is a stream, concerns(event) says which events matter, and the pause lasts
// until one comes, or 30 seconds. act returns {every: seconds} if no event reports its data. Hiding
// the tab aborts the request of act. Errors go to failed.
export async function watch(signal, act, failed, concerns = null) {
  const told = {news: false, look: null};
  const hear = (event) => {
    told.news ||= !event || concerns(event);
    if (told.news) told.look?.();
  };
  if (concerns) listen(hear, signal);
  while (!signal.aborted) {
    await visible(signal);
    if (signal.aborted) return;
    const turn = new AbortController();
    const stop = () => {
      if (document.hidden || signal.aborted) turn.abort();
    };
    signal.addEventListener('abort', stop, {once: true});
    document.addEventListener('visibilitychange', stop);
    let seconds = 0;
    told.news = false;
    try {
      seconds = await act(turn.signal);
    } catch (error) {
      if (error.name !== 'AbortError') {
        failed(error);
        seconds = 5;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      document.removeEventListener('visibilitychange', stop);
    }
    if (seconds === false) return;
    await pause(seconds.every ?? seconds, concerns && !seconds.every, told, signal);
  }
}
