// Shows a state as a glyph and a word in a colour, because a colour must not be the only sign.
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
  diverged: 'its parameters, or its loss on public records, became infinite',
  no_memory: 'there was not enough memory',
  dataset_corrupt: 'the stored records were damaged; no step ran',
  model_corrupt: 'the weights it starts from were deleted or damaged; no step ran',
  cache_full: 'the machine had no room for what it trains on; no step ran',
  not_float_safe: 'rounding could not be covered by noise; no step ran',
  dataset_order: 'an earlier version imported its dataset, so that its parts follow from the order of a file',
  rank_lost: 'one of its processes ended, or was not like the others',
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

// barred(): whether a dataset's grant lacks the approval of a second person; waits(): the badge of such a grant.
export function barred(grant) {
  return grant != null && grant.state !== 'APPROVED';
}

export function waits(grant) {
  const said = {PENDING: ['◌', 'waits for approval', 'warn'], REJECTED: ['✕', 'rejected', 'bad'], LAPSED: ['■', 'lapsed', 'calm']};
  const [glyph, word, kind] = said[grant.state];
  return html`<a href="/ui/approvals"><span class="badge ${kind}"><span aria-hidden="true">${glyph}</span> ${word}</span></a>`;
}

export function isOpen(job) {
  return ['QUEUED', 'RUNNING', 'CANCELLING'].includes(job.state);
}
