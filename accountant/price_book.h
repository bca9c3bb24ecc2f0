/*
 * price_book.h - prices that were worked out before: a mechanism whose canonical text was
 * priced is not priced again. A price depends on the text and on the question alone, so an
 * answer of the book is the answer that the functions below would compute.
 *
 *   charge     filter_charge of the whole mechanism
 *   figure     figure_epsilon or figure_epsilon_pld of the whole mechanism
 *   noise      figure_noise, figure_noise_pld or figure_noise_for_fraction
 *
 * The book also keeps refusals (no noise gives that epsilon). It holds PRICE_BOOK_ENTRIES
 * prices; a new price replaces the one of its set that was used longest ago.
 *
 * A caller that must not compute sets known_only. It then gets ST_QUEUE_FULL for a price
 * that is not in the book, and has somebody else ask the same question.
 *
 * Threads: any. The lock is held for no computation, so two callers may work out the same
 * price at once.
 */
#ifndef ACCOUNTANT_PRICE_BOOK_H
#define ACCOUNTANT_PRICE_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/figures.h"
#include "base/mechanism.h"

enum { PRICE_BOOK_ENTRIES = 4096 };

struct price_book; /* opaque */

struct price_book *price_book_create(void);
void price_book_destroy(struct price_book *book); /* NULL is allowed */

/* How many prices were computed, rather than found in the book. */
uint64_t price_book_computed(struct price_book *book);

struct price_terms {
    struct price_book *book; /* NULL: every price is computed */
    bool known_only;
    bool by_losses; /* by composed privacy losses (figure_..._pld) */
    double delta;
};

/* *charge = the cost of all of m as a ledger charges it.
 *   ST_INVALID     as filter_charge
 *   ST_QUEUE_FULL  known_only, and it is not known */
enum status price_charge(struct curve *charge, const struct mechanism *m,
                         const struct price_terms *terms, struct error *error);

/* *figure = the epsilon of all of m at terms->delta.
 *   ST_INVALID, ST_NO_MEMORY  as figure_epsilon and figure_epsilon_pld
 *   ST_QUEUE_FULL             known_only, and it is not known */
enum status price_figure(struct figure *figure, const struct mechanism *m,
                         const struct price_terms *terms, struct error *error);

/* *noise = the least noise multiplier at which m costs at most epsilon at terms->delta.
 *   ST_INVALID, ST_NO_MEMORY  as figure_noise and figure_noise_pld
 *   ST_QUEUE_FULL             known_only, and it is not known */
enum status price_noise(double *noise, const struct mechanism *m, double epsilon,
                        const struct price_terms *terms, struct error *error);

/* *noise = that at which m takes the fraction of what the balance has left. delta and
 * by_losses are not read.
 *   ST_INVALID, ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD  as figure_noise_for_fraction
 *   ST_QUEUE_FULL  known_only, and it is not known */
enum status price_noise_for_fraction(double *noise, const struct mechanism *m,
                                     const struct balance *balance, double fraction,
                                     const struct price_terms *terms,
                                     struct error *error);

#endif
