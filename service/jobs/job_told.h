/* job_told.h - what was reported to other daemons about a job that runs here
 * (progress_sync.h). */
#ifndef SERVICE_JOBS_JOB_TOLD_H
#define SERVICE_JOBS_JOB_TOLD_H

#include <stddef.h>
#include <stdint.h>

struct job_told { /* zeroed: nothing */
    uint64_t step, authorised;
    size_t points; /* evaluations */
};

#endif
