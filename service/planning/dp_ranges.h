/*
 * dp_ranges.h - finds the statistics from which a job takes its ranges, and reads
 * the ranges of the job's dataset.
 *
 * They may have been released in any epoch of its budget: every release is charged in
 * its epoch, and remains charged.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_DP_RANGES_H
#define SERVICE_PLANNING_DP_RANGES_H

#include "api/requests/dataset_request.h"
#include "api/requests/scaling_request.h"

struct daemon_state;
struct dataset_spec;
struct principal;

/* Resolves the scaling that the principal's job on the dataset asks for, if any.
 *   ST_NOT_FOUND  there are no such statistics, or the principal may not see them
 *   ST_FORBIDDEN  the principal may read none
 *   ST_INVALID    they are of another dataset, have no answers, or hold no ranges of it
 *                 ("/scaling/statistics") */
enum status dp_ranges_find(struct daemon_state *context,
                           const struct principal *principal,
                           struct scaling_request *scaling,
                           const struct dataset_spec *dataset, struct error *error);

#endif
