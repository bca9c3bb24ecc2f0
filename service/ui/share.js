// How much of a budget is used, as shares of the capacity at one order: these add up,
// and epsilons do not.

// What can never be used counts as spent; jobs that fitted at another order may have taken
// more than there is at this one.
function room(one) {
  const spent = Math.min(1, one.spent ?? 1);
  const held = Math.min(1 - spent, one.held ?? 0);
  return {...one, spent, held, left: one.left ?? Math.max(0, 1 - spent - held)};
}

// Every order that carries weight: {order, weight, spent, held, left}.
export function rooms(budget) {
  return budget.rooms.map(room);
}

// The order with most left, which is where the next job fits best.
export function share(budget) {
  return room(budget.share);
}
