// Notices: problems, empty lists, and questions.
import {html, nothing} from './lit-html.js';

export function trouble(problem) {
  if (!problem) return nothing;
  return html`<div class="notice bad" role="alert"><b>${problem.message}</b> ${problem.body?.advice ?? ''}</div>`;
}

// A page that cannot be shown: there is no such thing, or it cannot be fetched. what is its kind, and [path, name] the
// list that it belongs to.
export function deadEnd(problem, what, id, [path, name]) {
  if (problem.status !== 404) return html`<h1>This ${what} cannot be shown</h1>${trouble(problem)}<p><a href=${path}>Back to ${name}</a></p>`;
  return html`<h1>There is no ${what} “${id}”</h1><p>It was deleted, or the address is wrong, or your key may not see it.</p><p><a class="button" href=${path}>Back to ${name}</a></p>`;
}

export function empty(title, text) {
  return html`<div class="empty"><b>${title}</b><br>${text}</div>`;
}

// A question before an act that cannot be undone. yes and no are [text of the button, handler].
export function question(title, text, yes, no) {
  return html`<div class="notice warn" role="alertdialog" aria-label=${title}><b>${title}</b> ${text}
    <button class="button danger" @click=${yes[1]}>${yes[0]}</button> <button class="button" @click=${no[1]}>${no[0]}</button></div>`;
}

export const loading = html`<p class="quiet">Loading …</p>`;
