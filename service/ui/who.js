// Who asks, as the daemon sees it, and what they may do here.
import {get, post, remove} from './api.js';

let known = null; // the answer of /v1/session: null until it has come

export async function learn(signal) {
  known = await get('/v1/session', signal);
  return known;
}

export function forget() {
  known = null;
}

// Whether somebody asks: nobody does where there are keys and none was shown.
export function isSomebody() {
  return known?.authenticated === true;
}

export function principal() {
  return known;
}

// Whether whoever asks may do anything with this scope. What is hidden for want of one
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
