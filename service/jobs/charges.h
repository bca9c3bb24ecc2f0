/*
 * charges.h - every external charge that was ever made, in memory and on disk. A charge
 * pays for work that runs elsewhere, by leasing a part of a dataset's budget.
 *
 *           a block is granted
 *              +--+
 *              |  v      settled by its owner
 *   (none) --> OPEN --------------------------> SETTLED
 *               |         its lease ended
 *               +-----------------------------> LAPSED
 *
 * Invariants
 *   (1) What was declared never changes, and pointers to a charge are valid until
 *       charges_close.
 *   (2) A block is granted once, in the order of the blocks: their number only grows,
 *       in the transaction that authorises the block's steps in the ledger. So the
 *       steps that the ledger has authorised for a charge are those of its granted
 *       blocks.
 *   (3) A charge that has ended never moves again.
 *   (4) State moves inside a store transaction; memory follows when it is durable.
 *
 * Threads: any. The lock guards what may change. A caller that moves a charge reads its
 * state inside the transaction that moves it.
 */
#ifndef SERVICE_JOBS_CHARGES_H
#define SERVICE_JOBS_CHARGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/views/charge_view.h"

enum charge_state { CHARGE_OPEN, CHARGE_SETTLED, CHARGE_LAPSED };

enum { CHARGE_STATE_COUNT = CHARGE_LAPSED + 1 };
/* Ends with NULL. */
extern const char *const charge_state_names[CHARGE_STATE_COUNT + 1];

struct charges; /* opaque */
struct charge;  /* opaque */

struct charge_info { /* a copy of what may change */
    enum charge_state state;
    uint64_t blocks; /* granted so far */
    char process[CHARGE_PROCESS_SIZE];
    int64_t lease_end_s, end_s; /* seconds of the wall clock */
    struct charge_figures figures;
};

/* Reads all rows.
 *   ST_CORRUPT  a row cannot be read; the error names it
 *   ST_IO       the store cannot be read */
enum status charges_open(struct charges **out, struct store_tx *tx,
                         struct error *error);
void charges_close(struct charges *charges); /* NULL is allowed */

/* Returns the charge of that id, or NULL if there is none. */
struct charge *charges_find(struct charges *charges, const char *id);

const struct charge_id *charge_id(const struct charge *charge);
const struct charge_request *charge_declared(const struct charge *charge);
const struct principal *charge_owner(const struct charge *charge); /* name, project */
int64_t charge_create_ms(const struct charge *charge);
void charge_read(struct charges *charges, const struct charge *charge,
                 struct charge_info *info);

struct charge_addition {
    struct charge_id id;
    struct charge_request *request_take;
    const struct principal *owner;
    struct charge_info info;
    int64_t create_s;
};

/* Inserts a charge that is OPEN; takes its request (on failure too).
 *   out  found by charges_find once the transaction is durable, freed if it fails */
enum status charges_add(struct charges *charges, struct store_tx *tx,
                        const struct charge_addition *addition, struct charge **out,
                        struct error *error);

/* Changes the charge, which is OPEN, to what info says.
 *   ST_IO  the store is poisoned */
enum status charge_move(struct charges *charges, struct store_tx *tx,
                        struct charge *charge, const struct charge_info *info,
                        struct error *error);

/* Updates the charge of that id in memory from its row in tx, which another daemon has
 * written: adds the charge, or moves it to the row's state.
 *   ST_CORRUPT  the row cannot be read
 *   ST_IO       the store is poisoned */
enum status charges_renew(struct charges *charges, struct store_tx *tx, const char *id,
                          struct error *error);

/* Checks that the block may be granted now: it is the next one of a charge that is
 * OPEN.
 *   ST_CHARGE_ENDED        the charge has ended
 *   ST_BLOCK_GRANTED       the block was granted before
 *   ST_BLOCK_OUT_OF_ORDER  another block comes first, or there is none of that
 *                          number */
enum status charge_check_block(const struct charge_request *request,
                               const struct charge_info *info, uint64_t block,
                               struct error *error);

/* Returns a list of the charges that are OPEN, the oldest first: all of them if dataset
 * is NULL, or those on that dataset. The caller frees the list. */
struct charge **charges_list_open(struct charges *charges,
                                  const struct dataset_id *dataset, size_t *count);

/* Returns whether any charge on the dataset is OPEN. */
bool charges_open_on(struct charges *charges, const struct dataset_id *dataset);

/* Returns the number of records in the newest charge on the dataset that names one; 0
 * if none does. */
uint64_t charges_records(struct charges *charges, const struct dataset_id *dataset);

/* Returns how many charges there are in each state. */
struct charges_tally {
    size_t by_state[CHARGE_STATE_COUNT];
};
struct charges_tally charges_tally(struct charges *charges);

/* Returns the earliest second at which the lease of an OPEN charge ends, as of now;
 * INT64_MAX if none is OPEN. */
int64_t charges_next_end(struct charges *charges);

/* Returns a number that grows with every change of any charge. */
uint64_t charges_version(struct charges *charges);

/* The charges in the order in which they were made. */
size_t charges_count(struct charges *charges);
struct charge *charges_at(struct charges *charges, size_t index); /* oldest is 0 */

#endif
