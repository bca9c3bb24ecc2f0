/*
 * datasets.h - every dataset there ever was, in memory and on disk.
 *
 *   CREATED --> IMPORTING --> READY ----> DELETED
 *     ^            |  \                     ^
 *     |            |   +--> FAILED ---------+   (also from CREATED)
 *     |  restart   v          |
 *     +-----------------------+--> IMPORTING
 *
 *   CREATED, FAILED --> CREATED: declared anew, and then a struct dataset of its own
 *
 * Invariants
 *   (1) A struct dataset's spec never changes. Pointers to both are good until the end of
 *       the visit in which they were found (datasets_enter): one that is declared anew
 *       meanwhile shows what it was, and goes after that. Those to a dataset that is
 *       neither CREATED nor FAILED, and so never declared anew, are good without a
 *       visit, until datasets_close.
 *   (2) State moves inside a store transaction; memory follows when it is durable.
 *
 * Threads: any. The lock guards what may change; long polls are not involved.
 */
#ifndef SERVICE_DATASETS_H
#define SERVICE_DATASETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/dataset_request.h"
#include "api/job_defaults.h"
#include "api/limits.h"
#include "base/principal.h"
#include "service/dataset_info.h"
#include "service/visits.h"
#include "store/store.h"

struct datasets; /* opaque */
struct dataset;  /* opaque */

/* Reads all rows.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status datasets_open(struct datasets **out, struct store_tx *tx,
                          struct error *error);
void datasets_close(struct datasets *datasets); /* NULL is allowed */

/* Has changed(context, id) called when what everybody may know of a dataset has changed
 * (dataset_read_as of NULL) and that is durable. Before the first thread that does. */
void datasets_watch(struct datasets *datasets,
                    void (*changed)(void *context, const struct dataset_id *id),
                    void *context);

/* Begin and end a stretch of one thread's work in which what it finds stays there. It
 * holds up nobody, and should be short: what was declared before takes memory until then.
 * While only one thread knows the datasets it needs none. */
void datasets_enter(struct datasets *datasets, struct visit *visit);
void datasets_leave(struct datasets *datasets, struct visit *visit);

/* The dataset of that id; NULL if there never was one. */
struct dataset *datasets_find(struct datasets *datasets, const char *id);

const struct dataset_spec *dataset_spec(const struct dataset *dataset);
/* Who registered it, in which project; both never change. What else a principal has is
 * not kept. */
const struct principal *dataset_owner(const struct dataset *dataset);
void dataset_read(struct datasets *datasets, const struct dataset *dataset,
                  struct dataset_info *info);
/* The same, as the reader may know it. That an import is under way or was refused is known
 * to the dataset's owner only (privacy.md P6): anybody else finds the dataset CREATED. NULL
 * is for lists and event streams, which show the same to everybody, the owner too. Datasets
 * of `local` hide nothing: without keys everybody is `local`. */
void dataset_read_as(struct datasets *datasets, const struct dataset *dataset,
                     const struct principal *reader, struct dataset_info *info);

/* Whether there is anybody from whom its imports are hidden: its owner is not `local`. */
bool dataset_hides_imports(const struct dataset *dataset);

/* A copy of what it is called, to be released; and whether that fits a search. */
struct caption dataset_caption(struct datasets *datasets,
                               const struct dataset *dataset);
bool dataset_fits(struct datasets *datasets, const struct dataset *dataset,
                  const struct caption_search *search);

/* Whether a thread of this process imports it, or is about to, where others share the store
 * (claims.h). Until then it takes nothing from a row by which its import is over, and is not
 * replaced: whoever wrote that has taken this daemon for dead. */
atomic_bool *dataset_here_flag(struct dataset *dataset);

/* What a job's request is resolved with; borrows the dataset's schema. */
struct job_dataset dataset_facts(struct datasets *datasets,
                                 const struct dataset *dataset);

struct dataset_addition {
    struct dataset_spec *spec_take;
    const struct principal *owner; /* of whose project it will be */
    bool is_proposed; /* its grant waits for a second person: nothing is granted yet */
};

/* Inserts a dataset in state CREATED; takes its spec (on failure too).
 *   out  found by datasets_find once the transaction is durable, gone if it is not
 *   ST_ALREADY_EXISTS  the id was used before */
enum status datasets_add(struct datasets *datasets, struct store_tx *tx,
                         const struct dataset_addition *addition, struct dataset **out,
                         struct error *error);

struct dataset_renewal {
    struct dataset_spec *spec_take;
    /* In the place of the one that it has, zeroed where nobody is asked. NULL: that one
     * stays, and so does the privacy. */
    const struct proposal *proposal;
};

/* Declares a dataset that is CREATED or FAILED anew, of the same id and owner. It is
 * CREATED again, its next version; takes its spec (on failure too). A spec without a
 * caption leaves it the one that it has.
 *   out  found by datasets_find, in the place of dataset, once the transaction is
 *        durable; gone if it is not */
enum status datasets_declare_anew(struct datasets *datasets, struct store_tx *tx,
                                  const struct dataset_renewal *renewal,
                                  struct dataset **out, struct error *error);

/* Moves dataset to the state, detail and sha256 of info; the rest of info, and the
 * proposals in its detail, are ignored: they are dataset_decide's.
 *   ST_CONFLICT  the move is not in the drawing: another daemon has moved it since it was
 *                looked at, or it is our bug
 *   ST_IO        the store is poisoned */
enum status dataset_move(struct datasets *datasets, struct store_tx *tx,
                         struct dataset *dataset, const struct dataset_info *info,
                         struct error *error);

/* Writes down that a further epoch of its budget is proposed. None may be pending.
 *   ST_IO  the store is poisoned */
enum status dataset_propose(struct datasets *datasets, struct store_tx *tx,
                            struct dataset *dataset, const struct proposal *proposal,
                            struct error *error);

/* Writes down what was decided of a proposal of the dataset's. Only a pending one is
 * decided.
 *   ST_IO  the store is poisoned */
enum status dataset_decide(struct datasets *datasets, struct store_tx *tx,
                           struct dataset *dataset, const struct proposal *decided,
                           struct error *error);

/* How many datasets are being imported or wait for it. */
size_t datasets_importing(struct datasets *datasets);

/* The newest public datasets that a job on dataset may be evaluated on, beside itself:
 * how many are in found. */
size_t datasets_evaluations(struct datasets *datasets, const struct dataset *dataset,
                            struct dataset_id found[LIMIT_EVALUATIONS]);

/* Calls it something else, in any state.
 *   ST_IO  the store is poisoned */
enum status dataset_caption_put(struct datasets *datasets, struct store_tx *tx,
                                struct dataset *dataset, struct caption *caption_take,
                                struct error *error);

/* Whatever changes of what everybody may know of any dataset makes a greater one. */
uint64_t datasets_version(struct datasets *datasets);

/* Datasets by the order in which they were made. */
size_t datasets_count(struct datasets *datasets);
struct dataset *datasets_at(struct datasets *datasets, size_t index); /* oldest is 0 */

#endif
