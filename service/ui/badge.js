// A state as a glyph and a word in a colour, never a colour alone.
import {html} from './lit-html.js';

const states = {
  QUEUED: ['◌', 'Queued', 'calm'],
  RUNNING: ['▶', 'Running', 'on'],
  CANCELLING: ['■', 'Cancelling', 'warn'],
  SUCCEEDED: ['✓', 'Succeeded', 'good'],
  FAILED: ['✕', 'Failed', 'bad'],
  CANCELLED: ['■', 'Cancelled', 'calm'],
  CREATED: ['◌', 'No data yet', 'warn'],
  IMPORTING: ['▶', 'Importing', 'on'],
  READY: ['✓', 'Ready', 'good'],
  DELETED: ['✕', 'Deleted', 'calm'],
};

const reasons = {
  user_cancel: 'asked for by a user',
  worker_lost: 'the daemon stopped while it ran',
  shutdown: 'the daemon was shut down',
  diverged: 'the loss grew without bound',
  no_memory: 'there was not enough memory',
  dataset_corrupt: 'the stored records were damaged; no step ran',
  not_float_safe: 'rounding could not be covered by noise; no step ran',
  used_up: 'ended early: what was reserved was used up',
  import_failed: 'the file could not be imported',
  internal: 'an internal error',
};

export function badge(state) {
  const [glyph, word, kind] = states[state] ?? ['?', state, 'calm'];
  return html`<span class="badge ${kind}"><span aria-hidden="true">${glyph}</span> ${word}</span>`;
}

export function reason(code) {
  return code ? (reasons[code] ?? code) : '';
}

export function isOpen(job) {
  return ['QUEUED', 'RUNNING', 'CANCELLING'].includes(job.state);
}
