/*
 * released_ranges.h - the statistics that a job takes its ranges from: found by their id, and
 * what they hold of the job's dataset.
 *
 * They may have been released in any epoch of its budget: whatever was released is charged,
 * there, and stays so.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_RELEASED_RANGES_H
#define SERVICE_RELEASED_RANGES_H

#include "api/scaling_request.h"
#include "service/context.h"

/* Resolves the scaling that a job of the principal's on the dataset asks for, if any.
 *   ST_NOT_FOUND  there are no such statistics, or the principal does not see them
 *   ST_FORBIDDEN  the principal may read none
 *   ST_INVALID    they are of another dataset, have no answers, or hold no ranges of it
 *                 ("/scaling/statistics") */
enum status released_ranges_find(struct context *context,
                                 const struct principal *principal,
                                 struct scaling_request *scaling,
                                 const struct dataset_spec *dataset,
                                 struct error *error);

#endif
