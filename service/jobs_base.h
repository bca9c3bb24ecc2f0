/*
 * jobs_base.h - what jobs stand on, for those who open them and for the table of jobs.
 */
#ifndef SERVICE_JOBS_BASE_H
#define SERVICE_JOBS_BASE_H

#include "service/datasets.h"
#include "service/long_polls.h"

struct jobs_base { /* what jobs stand on; must outlive them */
    struct datasets *datasets;
    struct long_polls *long_polls;
    bool reads_all; /* whole rows, of jobs that have ended too (job_kept.h) */
};

#endif
