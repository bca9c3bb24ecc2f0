// The used part of a budget, as shares of the capacity at one order. Shares add up; epsilons
// do not.

// A part that can never be used counts as spent. Jobs that fitted at another order may have taken
// more than the capacity at this one, so the shares are cut to 1.
function room(one) {
  const spent = Math.min(1, one.spent ?? 1);
  const held = Math.min(1 - spent, one.held ?? 0);
  return {...one, spent, held, left: one.left ?? Math.max(0, 1 - spent - held)};
}

// Returns {order, weight, spent, held, left} for every order that carries weight.
export function rooms(budget) {
  return budget.rooms.map(room);
}

// Returns the same for the order with the most left, at which the next job fits best.
export function share(budget) {
  return room(budget.share);
}
