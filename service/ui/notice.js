// Notices: problems, empty lists, and questions.
import {html, nothing} from './lit-html.js';

export function trouble(problem) {
  if (!problem) return nothing;
  return html`<div class="notice bad" role="alert"><b>${problem.message}</b> ${problem.body?.advice ?? ''}</div>`;
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
