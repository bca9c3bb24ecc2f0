// Asking again and again, one request at a time, and not at all while the tab is hidden.

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

function pause(seconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), {once: true});
  });
}

// Calls act(signal) until the page is left (signal), pausing for as many seconds as it
// answers; false ends it. A hidden tab aborts what act waits for. Problems go to failed.
export async function watch(signal, act, failed) {
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
    await pause(seconds, signal);
  }
}
