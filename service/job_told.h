/* job_told.h - what was reported to other daemons about a job that runs here
 * (run_progress.h). */
#ifndef SERVICE_JOB_TOLD_H
#define SERVICE_JOB_TOLD_H

#include <stddef.h>
#include <stdint.h>

struct job_told { /* zeroed: nothing */
    uint64_t step, authorised;
    size_t points; /* evaluations */
};

#endif
