// Asks a person to confirm a weak promise, with a tick for each figure. No tick is set beforehand, and a tick is taken
// back when its figure changes.
import {html, nothing} from './lit-html.js';

const texts = {
  epsilon_above_10: 'Epsilon is above 10. That is a weak promise to the people in the data, and I mean it.',
  delta_above_1_over_n: 'Delta is above 1/n, n being the number of records or persons. So the promise may fail for one of them in full, and I mean it.',
};
export const WEAK_EPSILON = 'epsilon_above_10';
export const WEAK_DELTA = 'delta_above_1_over_n';

export const isWeak = (epsilon) => typeof epsilon === 'number' && epsilon > 10;

// Returns the names of the confirmations that the daemon asked for when it refused the request.
export function askedBy(problem) {
  const fault = problem?.errors?.find(({pointer, detail}) => pointer === '/acknowledge' && !detail.includes('nothing asked for'));
  return fault ? Object.keys(texts).filter((name) => fault.detail.includes(name)) : [];
}

// Returns the member "acknowledge" of a request, or nothing if no name is confirmed.
export const confirming = (names) => (names.length ? {acknowledge: names} : {});

// Makes a tick for each name. given is the Set of the names that are confirmed; changed is called after each tick.
export function ticks(names, given, changed) {
  return names.length ? html`<div class="notice warn">${names.map((name, i) => html`<label class="check"><input type="checkbox" id=${i ? `/acknowledge/${name}` : '/acknowledge'} name=${name}
    .checked=${given.has(name)} @change=${({target}) => {
      if (target.checked) given.add(name);
      else given.delete(name);
      changed();
    }}>${texts[name]}</label>`)}</div>` : nothing;
}
