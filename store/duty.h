/*
 * duty.h - what one daemon of a shared store does at a time: a timer's work that all of them
 * could do, and that is wasteful or seen twice where two do it.
 *
 *            duty_take, by one                DUTY_S without it, or fenced
 *   (none) --------------------> its duty ------------------------------> anybody's
 *                                ^      |
 *                                +------+ duty_take, by the same
 *
 * Invariants
 *   (1) By the database's clock one daemon has a duty at a time.
 *   (2) Who has one and stands still may go on when it has passed to another. What would
 *       not bear that is written in a transaction that asks duty_held, with the turn taken
 *       (follow.h).
 *
 * Where the store is not shared every duty is this daemon's.
 * Threads: any.
 */
#ifndef STORE_DUTY_H
#define STORE_DUTY_H

#include <stdbool.h>

#include "store/store.h"

enum { DUTY_S = 30 };

/* Takes a duty, or keeps it, for DUTY_S from now; *mine: this daemon has it. It waits for no
 * turn. The name is a word of this program.
 *   ST_IO  the store is poisoned */
enum status duty_take(struct store *store, const char *name, bool *mine,
                      struct error *error);

/* Whether this daemon has the duty, and no other can until tx has ended.
 *   ST_IO  the store is poisoned */
enum status duty_held(struct store_tx *tx, const char *name, bool *held,
                      struct error *error);

#endif
