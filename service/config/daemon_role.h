/*
 * daemon_role.h - which part of the service this process does.
 *
 *   alone       all of it, on a store that no other process may have open: without
 *               --role
 *   api         answers requests: plans jobs, takes uploads, measures statistics;
 *               trains nothing
 *   worker      imports and trains; answers only probes and metrics
 *   api,worker  what api and worker do
 *
 * Any number of the last three share one store (store/sql/server.h).
 *
 * Pure.
 */
#ifndef SERVICE_CONFIG_DAEMON_ROLE_H
#define SERVICE_CONFIG_DAEMON_ROLE_H

#include <stdbool.h>

enum daemon_role {
    DAEMON_ALONE,
    DAEMON_API,
    DAEMON_WORKER,
    DAEMON_BOTH,
    DAEMON_ROLES, /* how many there are */
};

/* Reads the name of one of the last three roles; returns false if text is none of
 * them. */
bool daemon_role_parse(enum daemon_role *role, const char *text);
const char *daemon_role_name(enum daemon_role role);

static inline bool daemon_role_shares(enum daemon_role role)
{
    return role != DAEMON_ALONE;
}

static inline bool daemon_role_answers(enum daemon_role role)
{
    return role != DAEMON_WORKER;
}

static inline bool daemon_role_works(enum daemon_role role)
{
    return role != DAEMON_API;
}

#endif
