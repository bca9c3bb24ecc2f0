/*
 * job_kept.h - where the body of a job is (job_body.h): read, or as the texts of its row
 * until somebody asks for it. Of very many jobs that have ended few are asked for, and
 * reading them is what a start would take longest for.
 *
 * Invariants
 *   (1) A body that was read stays where it is until job_kept_destroy.
 *   (2) Of texts that do not read back nothing is answered: whoever a request can lead here
 *       asks job_kept_check first, and refuses. Who has not asked ends the process.
 *       `epsilond verify` reads all of them, and names such a row.
 *
 * Threads: any may ask for a body; what is in it is guarded as job.h says.
 */
#ifndef SERVICE_JOB_KEPT_H
#define SERVICE_JOB_KEPT_H

#include "service/job_body.h"

struct job_kept; /* opaque */

struct job_kept *job_kept_create(struct job_body *body_take);

/* The same for a job that has ended: its texts are copied, and datasets must outlive it. */
struct job_kept *job_kept_create_unread(const struct job_id *id, const char *spec,
                                        const char *detail, struct datasets *datasets);
void job_kept_destroy(struct job_kept *kept); /* NULL is allowed */

/* Reads the body where it was not, and tells whether it could be. Where not, the log has
 * said so once: job_corrupt, with what is wrong with the row. */
bool job_kept_check(struct job_kept *kept);

/* The body, which is read where it was not. */
struct job_body *job_kept_body(struct job_kept *kept);

/* The body; NULL where it was not read yet. */
struct job_body *job_kept_body_read(const struct job_kept *kept);

#endif
