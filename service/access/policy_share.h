/*
 * policy_share.h - checks what a key's owner takes of a dataset: what was committed
 * within the last days in the owner's name, what the owner's open jobs, surveys and
 * charges hold now, and what is requested. In each part that the request reads they
 * take together at most a share of the capacity at one of the weighted orders, as a
 * budget itself is kept (accountant/pricing/filter.h), and of the delta that is set
 * aside for discoveries. The count is per owner, not per key, so that rotating a key
 * does not reset it.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_ACCESS_POLICY_SHARE_H
#define SERVICE_ACCESS_POLICY_SHARE_H

#include <stdbool.h>

#include "service/access/policy_asked.h"

struct daemon_state;

struct policy_share { /* all is borrowed */
    struct daemon_state *context;
    const struct principal *principal;
    const struct policy_asked *asked;
    const struct policy_asked *others; /* (other_count) requested together with it, on
                                        * the same dataset */
    size_t other_count;
    double most;   /* the share, (0, 1] */
    uint64_t days; /* of the period that ends now */
};

/* Returns whether the principal is that owner in that project. */
bool policy_share_is_own(const struct principal *principal, const char *owner,
                         const char *project);

/* *within = whether the share holds.
 *   ST_IO, ST_CORRUPT  the ledger cannot be read
 *   ST_INVALID         a mechanism has no price */
enum status policy_share_check(const struct policy_share *asking, bool *within,
                               struct error *error);

#endif
