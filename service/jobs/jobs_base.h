/*
 * jobs_base.h - what jobs depend on, for the code that opens them and for the table of
 * jobs.
 */
#ifndef SERVICE_JOBS_JOBS_BASE_H
#define SERVICE_JOBS_JOBS_BASE_H

#include "service/threads/long_polls.h"

struct jobs_base { /* dependencies of jobs; must outlive them */
    struct datasets *datasets;
    struct long_polls *long_polls;
    bool reads_all; /* read whole rows, also of jobs that have ended (job_text.h) */
};

#endif
