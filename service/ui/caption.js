// The names and tags that users give to things: shows them next to the id, and edits them in place.
import {html, nothing} from './lit-html.js';
import {Problem, patch, wait} from './api.js';
import {trouble} from './notice.js';

const TRIES = 5; // a running job has a new version every second

// Shows the tags of a thing. With a path, each tag links to the list of things that have it.
export function tags({tags: all}, path) {
  return Object.entries(all).map(([key, value]) => (path
    ? html`<a class="tag" href="${path}?tag=${encodeURIComponent(`${key}:${value}`)}">${key}: ${value}</a> `
    : html`<span class="tag">${key}: ${value}</span> `));
}

function words({display_name: name, tags: all}) {
  return {name: name ?? '', tags: Object.entries(all).map(([key, value]) => `${key}:${value}`).join('\n')};
}

function same(a, b) {
  return a.name === b.name && a.tags === b.tags;
}

// Returns the merge patch that changes `before` into what the user has written.
function patchOf(before, name, text) {
  const all = Object.fromEntries(before.tags.split('\n').filter(Boolean).map((line) => [line.slice(0, line.indexOf(':')), null]));
  for (const line of text.split('\n').map((one) => one.trim()).filter(Boolean)) {
    const at = line.indexOf(':');
    if (at < 1) throw new Problem(0, {detail: `"${line}" is no tag.`, advice: 'Write one tag a line, key:value.'});
    all[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return {display_name: name.trim() || null, tags: all};
}

// Renames the thing if its name and tags are still `before`. Fails if another user has changed them since.
async function rename(path, before, change) {
  for (let tries = 1; ; tries++) {
    const {tag, value} = await wait(path, null);
    if (!same(words(value), before)) throw new Problem(0, {detail: 'Another user has renamed it in the meantime.', advice: 'Look again.'});
    try {
      return await patch(path, change, tag);
    } catch (error) {
      if (error.status !== 412 || tries === TRIES) throw error;
    }
  }
}

// Returns a button and a form that rename the thing at path, for the page to draw. read() returns the thing as it is
// known now, draw() redraws the page, and changed(thing) is called with the renamed thing.
export function captionEditor({path, read, changed, draw}) {
  let before = null; // its name and tags when the form was opened
  let problem = null;
  const turn = (to) => () => {
    before = to ? words(read()) : null;
    problem = null;
    draw();
  };
  const save = async (event) => {
    event.preventDefault();
    const [name, text] = ['caption-name', 'caption-tags'].map((id) => document.getElementById(id).value);
    try {
      changed(await rename(path, before, patchOf(before, name, text)));
      before = null;
      problem = null;
    } catch (error) {
      problem = error;
    }
    draw();
  };
  return {
    button: () => (before ? nothing : html`<button class="button" @click=${turn(true)}>Rename</button>`),
    form: () => (!before ? nothing : html`<form class="card" aria-label="Name and tags" @submit=${save}>${trouble(problem)}<div class="fields">
      <div class="field"><label for="caption-name">Name</label><input type="text" id="caption-name" maxlength="100" .value=${before.name}></div>
      <div class="field"><label for="caption-tags">Tags, one a line, key:value</label><textarea id="caption-tags" rows="3" .value=${before.tags}></textarea></div></div>
      <p class="quiet">Everyone who may see this sees its name and its tags, so write nothing private there.</p>
      <button class="button accent">Save</button> <button class="button" type="button" @click=${turn(false)}>Leave it</button></form>`),
  };
}
