/*
 * price_book.h - a cache of prices: a mechanism whose canonical text was priced is not
 * priced again. A price depends on the text and on the question only, so an answer of
 * the book is the answer that the functions below would compute.
 *
 *   charge     filter_charge of the whole mechanism
 *   figure     figure_epsilon or figure_epsilon_pld of the whole mechanism
 *   noise      figure_noise, figure_noise_pld or balance_room_noise
 *
 * The book also keeps refusals (no noise gives that epsilon). It holds
 * PRICE_BOOK_ENTRIES prices; a new price replaces the least recently used one of its
 * set.
 *
 * A caller that must not compute sets known_only. It then gets ST_QUEUE_FULL for a
 * price that is not in the book, and lets another thread ask the same question.
 *
 * Threads: any. The lock is never held during a computation, so two callers may compute
 * the same price at once.
 */
#ifndef ACCOUNTANT_PRICING_PRICE_BOOK_H
#define ACCOUNTANT_PRICING_PRICE_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/pricing/budget_spent.h"
#include "accountant/pricing/figures.h"
#include "base/mechanism.h"

enum { PRICE_BOOK_ENTRIES = 4096 };

struct price_book; /* opaque */

struct price_book *price_book_create(void);
void price_book_destroy(struct price_book *book); /* NULL is allowed */

/* Returns how many prices were computed, rather than found in the book. */
uint64_t price_book_computed(struct price_book *book);

struct price_terms {
    struct price_book *book; /* NULL: every price is computed */
    bool known_only;
    bool by_losses; /* by composed privacy losses (figure_..._pld) */
    double delta;
};

/* *charge = the cost of all of m as a ledger charges it.
 *   ST_INVALID     as filter_charge
 *   ST_QUEUE_FULL  known_only, and it is not in the book */
enum status price_charge(struct curve *charge, const struct mechanism *m,
                         const struct price_terms *terms, struct error *error);

/* *figure = the epsilon of all of m at terms->delta.
 *   ST_INVALID, ST_NO_MEMORY  as figure_epsilon and figure_epsilon_pld
 *   ST_QUEUE_FULL             known_only, and it is not in the book */
enum status price_figure(struct figure *figure, const struct mechanism *m,
                         const struct price_terms *terms, struct error *error);

/* *noise = the least noise multiplier at which m costs at most epsilon at terms->delta.
 *   ST_INVALID, ST_NO_MEMORY  as figure_noise and figure_noise_pld
 *   ST_QUEUE_FULL             known_only, and it is not in the book */
enum status price_noise(double *noise, const struct mechanism *m, double epsilon,
                        const struct price_terms *terms, struct error *error);

/* *noise = the multiplier at which m takes the fraction of what is left in the balance.
 * delta and by_losses are not read.
 *   ST_INVALID, ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD  as balance_room_noise
 *   ST_QUEUE_FULL  known_only, and it is not in the book */
enum status price_noise_for_fraction(double *noise, const struct mechanism *m,
                                     const struct balance *balance, double fraction,
                                     const struct price_terms *terms,
                                     struct error *error);

#endif
