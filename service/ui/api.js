// Sends the page's requests to the daemon. Every failure is thrown as a Problem.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.title ?? `the daemon answered ${status}`);
    this.status = status;
    this.body = body;
  }
  get code() {
    return this.body.code ?? '';
  }
  get errors() {
    return this.body.errors ?? [];
  }
}

async function read(response) {
  const text = await response.text();
  const json = text && response.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : {};
  if (response.status === 401) document.dispatchEvent(new Event('nobody')); // app.js asks to log in
  if (!response.ok) throw new Problem(response.status, json);
  return json;
}

async function ask(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, {detail: 'The daemon cannot be reached.', code: 'unreachable'});
  }
}

export async function get(path, signal) {
  return read(await ask(path, {signal}));
}

// Fetches the path as {tag, value}. If the content is still the one that `seen` (an ETag) names, the daemon waits for a
// change, at most that many seconds; value is null if nothing has changed by then.
export async function wait(path, seen, seconds, signal) {
  const response = await ask(seen && seconds ? `${path}?wait=${seconds}` : path, {
    signal,
    cache: 'no-store',
    headers: seen ? {'If-None-Match': seen} : {},
  });
  if (response.status === 304) return {tag: seen, value: null};
  return {tag: response.headers.get('ETag'), value: await read(response)};
}

// Fetches a whole list as NDJSON, page by page. Returns the texts of the pages.
export async function lines(path, signal) {
  const texts = [];
  for (let next = path; next; ) {
    const response = await ask(next, {signal, headers: {Accept: 'application/x-ndjson'}});
    if (!response.ok) await read(response);
    texts.push(await response.text());
    next = /^<([^>]*)>/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  return texts;
}

export async function post(path, body, {signal, key} = {}) {
  const headers = {'Content-Type': 'application/json'};
  if (key) headers['Idempotency-Key'] = key;
  return read(await ask(path, {method: 'POST', headers, body: JSON.stringify(body ?? {}), signal}));
}

// Applies a merge patch to the version that `tag` (an ETag) names.
export async function patch(path, change, tag) {
  const headers = {'Content-Type': 'application/merge-patch+json', 'If-Match': tag};
  return read(await ask(path, {method: 'PATCH', headers, body: JSON.stringify(change)}));
}

export async function remove(path) {
  return read(await ask(path, {method: 'DELETE'}));
}

// Returns a function that gives the Idempotency-Key of a body. The key stays the same while the body does, so that
// sending the body again has no effect.
export function keyring() {
  let last = null;
  let key = null;
  return (body) => {
    const text = JSON.stringify(body);
    if (text !== last) [last, key] = [text, crypto.randomUUID()];
    return key;
  };
}

// Sends a file. Calls told(share) with the share that was sent so far. Resolves to the daemon's answer: a Blob, which
// the browser keeps on its disk if it is long, unless it is JSON.
export function upload(path, file, told, {method = 'PUT', type, signal} = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, path);
    request.responseType = 'blob';
    if (type) request.setRequestHeader('Content-Type', type);
    request.upload.onprogress = (event) => told(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Problem(0, {detail: 'The upload was cut off, or the file has changed since it was chosen.'}));
    request.onload = async () => {
      const isJson = request.response.type.includes('json');
      if (request.status < 300 && !isJson) return resolve(request.response);
      const body = isJson ? JSON.parse(await request.response.text()) : {detail: `The upload was refused (${request.status}).`};
      return request.status < 300 ? resolve(body) : reject(new Problem(request.status, body));
    };
    signal?.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

// Fetches the items of a list, page by page, at most `most` of them.
export async function all(path, member, signal, most = 1000) {
  const found = [];
  let token = null;
  do {
    const page = await get(`${path}${path.includes('?') ? '&' : '?'}page_size=${Math.min(most, 1000)}${
      token ? `&page_token=${encodeURIComponent(token)}` : ''}`, signal);
    found.push(...page[member]);
    token = page.next_page_token;
  } while (token && found.length < most);
  return found;
}
