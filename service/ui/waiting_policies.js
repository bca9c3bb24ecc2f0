// Policies of keys that wait for a second person. The person who decides need not be allowed to see
// keys, so the policies are read from the audit trail.
import {get} from './api.js';
import {may} from './who.js';

const LISTED = 20;
export const LAPSE_MS = 14 * 86400e3;

async function newest(action, signal) {
  return (await get(`/v1/audit?action=${action}&result=ok&order=desc&page_size=${LISTED}`, signal)).acts;
}

// Returns the last act of each key: a proposal that was decided or replaced no longer waits.
async function lastOfEach(acts, signal) {
  const decided = [...await newest('key.policy.approve', signal), ...await newest('key.policy.reject', signal)];
  const last = new Map();
  for (const act of [...acts, ...decided].sort((a, b) => a.seq - b.seq)) last.set(act.object, act);
  return [...last.values()];
}

async function named(act, signal) {
  const [made] = (await get(`/v1/audit?object=${act.object}&result=ok&page_size=1`, signal)).acts; // the act that made the key, or rotated another into it
  return {id: act.object, owner: made?.detail.owner ?? null, policy: act.detail.policy, proposed_by: act.detail.proposed_by, time: act.time};
}

// Returns {id, owner, policy, proposed_by, time} of each. Only the newest 20 acts of each kind are
// read.
export async function waitingPolicies(signal) {
  if (!may('grants:approve') || !may('audit:read')) return [];
  const asked = await newest('key.policy', signal);
  const fresh = (act) => act.detail.waits && Date.now() - Date.parse(act.time) < LAPSE_MS;
  if (!asked.some(fresh)) return [];
  return Promise.all((await lastOfEach(asked, signal)).filter(fresh).map((act) => named(act, signal)));
}
