/*
 * datasets.h - every dataset that was ever declared, in memory and on disk.
 *
 *   CREATED --> IMPORTING --> READY ----> DELETED
 *     ^            |  \                     ^
 *     |            |   +--> FAILED ---------+   (also from CREATED)
 *     |  restart   v          |
 *     +-----------------------+--> IMPORTING
 *
 *   CREATED, FAILED --> CREATED: declared again, and then a new struct dataset
 *
 * Invariants
 *   (1) A struct dataset's spec never changes. Pointers to the dataset and its spec are
 *       valid until the end of the visit in which they were found (datasets_enter): a
 *       dataset that is declared again in the meantime keeps its old content, and is
 *       freed after the visit. A dataset that is neither CREATED nor FAILED is never
 *       declared again, so pointers to it are valid without a visit, until
 *       datasets_close.
 *   (2) State moves inside a store transaction; memory follows when it is durable.
 *
 * Threads: any. The lock guards what may change; long polls are not involved.
 */
#ifndef SERVICE_DATASETS_DATASETS_H
#define SERVICE_DATASETS_DATASETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/datasets/dataset_info.h"

struct reclaim_reader;

struct datasets; /* opaque */
struct dataset;  /* opaque */

/* Reads all rows.
 *   ST_CORRUPT  a row cannot be read; the error names it
 *   ST_IO       the store cannot be read */
enum status datasets_open(struct datasets **out, struct store_tx *tx,
                          struct error *error);
void datasets_close(struct datasets *datasets); /* NULL is allowed */

/* Sets a function that is called when what everyone may know of a dataset has changed
 * (dataset_read_as of NULL) and the change is durable. Call this before the first
 * thread that changes datasets starts. */
void datasets_watch(struct datasets *datasets,
                    void (*changed)(void *context, const struct dataset_id *id),
                    void *context);

/* Begin and end a visit: work of one thread during which the datasets that it finds are
 * not freed. A visit blocks no one, but should be short, because replaced datasets are
 * freed only after it. No visit is needed while only one thread knows the datasets. */
void datasets_enter(struct datasets *datasets, struct reclaim_reader *visit);
void datasets_leave(struct datasets *datasets, struct reclaim_reader *visit);

/* Returns the dataset of that id, or NULL if there never was one. */
struct dataset *datasets_find(struct datasets *datasets, const char *id);

const struct dataset_spec *dataset_spec(const struct dataset *dataset);
/* Returns who registered it and in which project; both never change. The other members
 * of a principal are not stored. */
const struct principal *dataset_owner(const struct dataset *dataset);
void dataset_read(struct datasets *datasets, const struct dataset *dataset,
                  struct dataset_info *info);
/* Like dataset_read, but only what the reader may know. Only the dataset's owner may
 * know that an import is under way or was refused (privacy.md P6); for anyone else the
 * dataset is CREATED. A reader of NULL is for lists and event streams, which show the
 * same to everyone, the owner included. Datasets of `local` hide nothing: without keys
 * everyone is `local`. */
void dataset_read_as(struct datasets *datasets, const struct dataset *dataset,
                     const struct principal *reader, struct dataset_info *info);

/* Returns whether the dataset's imports are hidden from anyone: its owner is not
 * `local`. */
bool dataset_hides_imports(const struct dataset *dataset);

/* Return a copy of its caption, which the caller releases, and whether the caption
 * matches a search. */
struct caption dataset_caption(struct datasets *datasets,
                               const struct dataset *dataset);
bool dataset_fits(struct datasets *datasets, const struct dataset *dataset,
                  const struct caption_search *search);

/* Returns a flag: a thread of this process is importing the dataset, or is about to.
 * Only set if daemons share the store (run_claims.h). As long as it is set, a row
 * that ends the import is not taken over and the dataset is not replaced: the daemon
 * that wrote such a row has taken this one for dead. */
atomic_bool *dataset_here_flag(struct dataset *dataset);

/* Returns what a job's request is planned with. Borrows the dataset's schema. */
struct job_dataset dataset_facts(struct datasets *datasets,
                                 const struct dataset *dataset);

/* Returns how many datasets are being imported or wait for that. */
size_t datasets_importing(struct datasets *datasets);

/* Writes to found the newest public datasets, other than dataset, on which a job on
 * dataset may be evaluated. Returns how many. */
size_t datasets_evaluations(struct datasets *datasets, const struct dataset *dataset,
                            struct dataset_id found[LIMIT_EVALUATIONS]);

/* Replaces the dataset's caption, in any state.
 *   ST_IO  the store is poisoned */
enum status dataset_caption_put(struct datasets *datasets, struct store_tx *tx,
                                struct dataset *dataset, struct caption *caption_take,
                                struct error *error);

/* Returns a number that grows with every change of what everyone may know of any
 * dataset. */
uint64_t datasets_version(struct datasets *datasets);

/* The datasets in the order in which they were made. */
size_t datasets_count(struct datasets *datasets);
struct dataset *datasets_at(struct datasets *datasets, size_t index); /* oldest is 0 */

#endif
