// Asking again and again, one request at a time, and not at all while the tab is hidden: when
// the stream of events tells of something, or every few seconds where there is no stream.
import {isAlive, listen} from './stream.js';

const LONGEST = 30; // seconds, even where the stream tells of nothing

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

// Resolves after so many seconds; where a stream will tell, once it has told of something that
// concerns the page and at least so many seconds have passed.
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

// Calls act(signal) until the page is left (signal), pausing for as many seconds as it
// answers; false ends it. Where there is a stream, concerns(event) says which events matter,
// and the pause lasts until there was one, or 30 seconds; unless act answers {every: seconds},
// for what no event tells. A hidden tab aborts what act waits for. Problems go to failed.
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
