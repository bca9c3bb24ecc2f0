// The current user, as the daemon sees it, and what that user may do.
import {get, post, remove} from './api.js';

let known = null; // the answer of /v1/session: null until it has come

export async function learn(signal) {
  known = await get('/v1/session', signal);
  return known;
}

export function forget() {
  known = null;
}

// Returns whether there is a user. There is none if the daemon has keys and this browser has not logged in.
export function isSomebody() {
  return known?.authenticated === true;
}

export function principal() {
  return known;
}

// Returns whether the user has this scope. Requests of the parts that a page hides for lack of a scope
// would be refused by the daemon too.
export function may(scope) {
  return known?.scopes?.includes(scope) ?? false;
}

export async function logIn(key) {
  known = await post('/v1/session', {key});
}

export async function logOut() {
  await remove('/v1/session');
  known = null;
}
