// The API's page: shows openapi.yaml, which the daemon serves. The content of a disclosure is drawn
// when it is first opened.
import {html, render, nothing} from './lit-html.js';
import {parse} from './yaml.js';

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const main = document.getElementById('main');
let contract = null;

// Resolves a reference. Members next to the $ref override those of its target.
function resolved(node) {
  if (!node?.$ref) return node ?? {};
  const {$ref, ...beside} = node;
  const found = $ref.slice(2).split('/').reduce((at, part) => at[part.replaceAll('~1', '/')], contract);
  return {...resolved(found), ...beside};
}

const named = (schema) => schema?.$ref?.split('/').at(-1);

// --- words ---

// Renders `code` and **strong**. Apart from paragraphs, the texts of the document have no other markup.
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) =>
    part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>`
      : part.startsWith('**') ? html`<b>${part.slice(2, -2)}</b>` : part);
}

function words(text) {
  return text ? html`<div class="words">${text.trim().split(/\n\s*\n/).map((part) => html`<p>${inline(part)}</p>`)}</div>` : nothing;
}

// --- disclosures ---

function lazy(title, content) {
  const open = ({target}) => target.open && target.lastElementChild.childElementCount === 0
    && render(content(), target.lastElementChild);
  return html`<details class="within" @toggle=${open}><summary>${title}</summary><div></div></details>`;
}

// --- schemas ---

function bounds(schema) {
  const {minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, pattern} = schema;
  const fallback = schema.default ?? schema['x-default'];
  const range = (low, high, unit) => low != null && high != null ? (low === high ? `${low}${unit}` : `${low} to ${high}${unit}`)
    : low != null ? `at least ${low}${unit}` : high != null ? `at most ${high}${unit}` : null;
  return [
    range(minimum, maximum, ''),
    exclusiveMinimum != null ? `above ${exclusiveMinimum}` : null,
    exclusiveMaximum != null ? `below ${exclusiveMaximum}` : null,
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    pattern ? `matches ${pattern}` : null,
    fallback !== undefined ? `default ${JSON.stringify(fallback)}` : null,
  ].filter(Boolean);
}

// Describes the allowed values in one line: "integer, 1 to 1000, default 50".
function kind(schema) {
  const name = named(schema);
  const full = resolved(schema);
  const types = [full.type ?? []].flat();
  const choice = full.oneOf ?? full.anyOf;
  const words = full.enum ? full.enum.map((value) => JSON.stringify(value)).join(' | ')
    : types.includes('array') ? `list of ${kind(full.items ?? {})}${types.includes('null') ? ' or null' : ''}`
      : choice && !name ? choice.map(kind).join(' or ')
        : types.join(' or ') || 'any value';
  const shown = name && !full.enum && (full.properties || choice) ? name : words;
  return [shown, ...(full.enum ? [] : bounds(full))].join(', ');
}

// Shows the objects and choices that a value consists of, each in a disclosure under its name.
function parts(schema) {
  const full = resolved(schema);
  if (full.properties) return lazy(named(schema) ?? 'Its members', () => members(full));
  const choice = full.oneOf ?? full.anyOf;
  if (choice) {
    const inner = choice.filter((item) => hasParts(item));
    if (!named(schema)) return inner.map(parts);
    return inner.length ? lazy(`${named(schema)}: one of ${choice.length}`, () => html`${words(full.description)}${inner.map(parts)}`) : nothing;
  }
  if (full.items && hasParts(full.items)) return parts(full.items);
  return nothing;
}

function hasParts(schema) {
  const full = resolved(schema);
  return Boolean(full.properties || (full.oneOf ?? full.anyOf ?? []).some(hasParts) || (full.items && hasParts(full.items)));
}

function members(full) {
  return html`${words(full.description)}${Object.entries(full.properties).map(([name, schema]) =>
    member(name, schema, full.required?.includes(name)))}`;
}

function member(name, schema, required) {
  const own = resolved(schema);
  return html`<div class="member"><code>${name}</code> <span class="kind">${kind(schema)}${required ? ' · required' : ''}</span>
    ${named(schema) && own.properties ? nothing : words(own.description)}${parts(schema)}</div>`;
}

// --- operations ---

function example(title, text) {
  return lazy(title, () => html`<pre tabindex="0">${text}</pre>`);
}

function examplesOf(media) {
  return Object.entries(media.examples ?? {}).map(([name, {summary, value}]) =>
    example(`Example: ${summary ?? name}`, JSON.stringify(value, null, 2)));
}

function content(of) {
  return Object.entries(of ?? {}).map(([type, media]) => html`<div class="member"><code>${type}</code>
    <span class="kind">${named(media.schema) ?? (media.schema?.format === 'binary' ? 'the bytes of the file' : '')}</span>
    ${parts(media.schema)}${examplesOf(media)}</div>`);
}

function parameters(operation) {
  const all = (operation.parameters ?? []).map(resolved);
  if (!all.length) return nothing;
  return html`<div><h4>Parameters</h4>${all.map((item) => html`<div class="member"><code>${item.name}</code>
    <span class="kind">in the ${item.in} · ${kind(item.schema)}${item.required ? ' · required' : ''}</span>
    ${words(item.description)}</div>`)}</div>`;
}

function answers(operation) {
  return html`<div><h4>Answers</h4>${Object.entries(operation.responses).map(([status, response]) => {
    const full = resolved(response);
    const headers = Object.entries(full.headers ?? {});
    return html`<div class="member"><b>${status}</b> ${words(full.description)}
      ${headers.length ? lazy('Headers', () => headers.map(([name, header]) =>
        html`<div class="member"><code>${name}</code>${words(resolved(header).description)}</div>`)) : nothing}
      ${content(full.content)}</div>`;
  })}</div>`;
}

// Returns a shell command for the operation, with the first example of a body.
function shell({method, path, operation}) {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = Object.values(media?.examples ?? {})[0]?.value;
  const keyed = (operation.parameters ?? []).some((item) => resolved(item).name === 'Idempotency-Key');
  return [`curl -sS ${location.origin}${path}`, method === 'get' ? null : `-X ${method.toUpperCase()}`, keyed ? "-H 'Idempotency-Key: 1'" : null,
    type === 'application/octet-stream' ? '-T FILE' : null,
    body && Object.keys(body).length ? `--json '${JSON.stringify(body).replaceAll("'", "'\\''")}'` : null].filter(Boolean).join(' ');
}

function inside(entry) {
  const {operation} = entry;
  const body = operation.requestBody;
  return html`${words(operation.description)}
    ${operation['x-scope'] ? html`<p class="quiet">Scope: <code>${operation['x-scope']}</code></p>` : nothing}
    ${parameters(operation)}
    ${body ? html`<div><h4>Body${body.required ? '' : ', if any'}</h4>${words(body.description)}${content(body.content)}</div>` : nothing}
    ${answers(operation)}
    ${example('From a shell', shell(entry))}`;
}

function operation(entry, wanted) {
  const {id, method, path, operation: {summary}} = entry;
  const open = ({target}) => {
    const room = target.querySelector(':scope > div');
    if (target.open && !room.childElementCount) render(inside(entry), room);
  };
  return html`<details class="card operation" id=${id} ?hidden=${!wanted} @toggle=${open}>
    <summary><span class="method">${method.toUpperCase()}</span><h3>${path}</h3><span>${inline(summary)}</span></summary><div></div></details>`;
}

// --- the page ---

function entries() {
  return Object.entries(contract.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method])
    .map((method) => ({path, method, operation: item[method], id: item[method].operationId})));
}

// Routes that do not match the search are hidden, but stay in the page, so that their open disclosures stay open.
function draw(all, wanted) {
  const {info, tags} = contract;
  const found = new Set(all.filter(({path, method, operation: {summary}, id}) =>
    `${method} ${path} ${summary} ${id}`.toLowerCase().includes(wanted.toLowerCase())));
  const groups = tags.map((tag) => {
    const of = all.filter((entry) => entry.operation.tags[0] === tag.name);
    return {...tag, of, none: !of.some((entry) => found.has(entry))};
  });
  render(html`<div class="head"><h1>API <small>${info.version}</small></h1>
      <div class="actions"><input type="search" aria-label="Find a route" placeholder="Find a route" .value=${wanted}
        @input=${({target}) => draw(all, target.value)}></div></div>
    <p>${info.summary}</p>
    <div class="card">${lazy('What holds of every request', () => words(info.description))}</div>
    <p class="unseen" role="status">${found.size} routes</p>
    <div class="contents"><nav class="toc" aria-label="Routes">${groups.map(({name, of, none}) => html`<h2 ?hidden=${none}>${name}</h2>
        <ul ?hidden=${none}>${of.map((entry) => html`<li ?hidden=${!found.has(entry)}><a href="#${entry.id}">${entry.operation.summary.replaceAll('`', '')}</a></li>`)}</ul>`)}</nav>
      <div>${groups.map(({name, description, of, none}) => html`<div ?hidden=${none}><h2 class="tagged">${name}</h2><p class="quiet">${description}</p></div>
        ${of.map((entry) => operation(entry, found.has(entry)))}`)}<p class="empty" ?hidden=${found.size > 0}>No route is like that.</p></div></div>`, main);
}

// Opens the route that the address names, and scrolls to it.
function follow() {
  const at = document.getElementById(location.hash.slice(1));
  if (!at?.matches('.operation')) return;
  at.open = true;
  at.scrollIntoView();
  at.querySelector('summary').focus({preventScroll: true});
}

async function open() {
  const response = await fetch(new URL('./openapi.yaml', import.meta.url));
  if (!response.ok) throw new Error(`the daemon answered ${response.status}`);
  contract = parse(await response.text());
  draw(entries(), '');
  addEventListener('hashchange', follow);
  follow();
}

open().catch((error) => render(html`<h1>API</h1><p class="notice bad" role="alert">The document cannot be shown: ${error.message}</p>`, main));
