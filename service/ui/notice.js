// What went wrong, or what there is nothing of.
import {html, nothing} from './lit-html.js';

export function trouble(problem) {
  if (!problem) return nothing;
  return html`<div class="notice bad" role="alert"><b>${problem.message}</b> ${problem.body?.advice ?? ''}</div>`;
}

export function empty(title, text) {
  return html`<div class="empty"><b>${title}</b><br>${text}</div>`;
}

export const loading = html`<p class="quiet">Loading …</p>`;
