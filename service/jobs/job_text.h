/*
 * job_text.h - holds the body of a job (job_body.h), either read, or as the texts of
 * its row until the first use. A store may have very many ended jobs, few of which are
 * asked for, and reading their bodies would be the longest part of a start.
 *
 * Invariants
 *   (1) A body that was read stays at its address until job_text_destroy.
 *   (2) Nothing is answered from texts that do not read back: code that a request can
 *       reach calls job_text_check first, and refuses. Without that check the process
 *       aborts. `epsilond verify` reads all of them, and names such a row.
 *
 * Threads: any may ask for a body; job.h says what guards its contents.
 */
#ifndef SERVICE_JOBS_JOB_TEXT_H
#define SERVICE_JOBS_JOB_TEXT_H

#include "service/jobs/job_body.h"

struct job_text; /* opaque */

struct job_text *job_text_create(struct job_body *body_take);

/* The same for a job that has ended: its texts are copied, and datasets must outlive
 * it. */
struct job_text *job_text_create_unread(const struct job_id *id, const char *spec,
                                        const char *detail, struct datasets *datasets);
void job_text_destroy(struct job_text *kept); /* NULL is allowed */

/* Reads the body if it is not read yet, and returns whether that succeeded. If it
 * failed, the log says so once: job_corrupt, with what is wrong with the row. */
bool job_text_check(struct job_text *kept);

/* Returns the body, and reads it if it is not read yet. */
struct job_body *job_text_body(struct job_text *kept);

/* Returns the body; NULL if it is not read yet. */
struct job_body *job_text_body_read(const struct job_text *kept);

#endif
