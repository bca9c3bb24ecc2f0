/*
 * replay_marks.h - the marks of a store while its ledger is replayed: how many steps of
 * each job are authorised. Inside accountant only.
 *
 * Threads: one. Small allocations that fail abort.
 */
#ifndef ACCOUNTANT_LEDGER_REPLAY_MARKS_H
#define ACCOUNTANT_LEDGER_REPLAY_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct mark {
    char job[sizeof(struct job_id)];
    uint64_t authorised;
    bool used; /* a reservation has taken it */
};

struct replay_marks {
    struct mark *items; /* owned; sorted by job, as the store returns them */
    size_t count, capacity;
    size_t next; /* after the one that was found last */
};

void replay_marks_fini(struct replay_marks *marks);
void replay_marks_add(struct replay_marks *marks, const char *job, uint64_t authorised);

/* Returns the job's mark, or NULL. */
struct mark *replay_marks_find(struct replay_marks *marks, const struct job_id *job);

/* Returns the first mark that no reservation has taken, or NULL. */
const struct mark *replay_marks_unused(const struct replay_marks *marks);

#endif
