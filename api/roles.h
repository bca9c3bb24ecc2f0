/*
 * roles.h - what each role may do, and what it sees: a row for each scope, a column for
 * each role. Every route names its scope (api/routes.h), every thing has a project and an
 * owner, and access_decide answers from these three alone whether a request is allowed.
 *
 * A role reaches with a scope
 *   NONE        nothing: 403, whatever is named
 *   OWN         what its owner made in its project; what others made there is 403
 *   PROJECT     the things of its project
 *   EVERYWHERE  the things of all projects
 * and whatever lies in a project that it does not reach is 404, as if it were not there.
 *
 * Pure.
 */
#ifndef API_ROLES_H
#define API_ROLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"

/* A row is X(symbol, name, analyst, data owner, privacy officer, operator, auditor). */
/* clang-format off */
#define SCOPE_LIST(X)                                                                          \
    X(BUDGETS_READ,      "budgets:read",      PROJECT, PROJECT, EVERYWHERE, EVERYWHERE, EVERYWHERE) \
    X(BUDGETS_AUDIT,     "budgets:audit",     NONE,    PROJECT, EVERYWHERE, NONE,       EVERYWHERE) \
    X(DATASETS_ADMIN,    "datasets:admin",    NONE,    PROJECT, NONE,       NONE,       NONE)       \
    X(DATASETS_FREEZE,   "datasets:freeze",   NONE,    PROJECT, EVERYWHERE, EVERYWHERE, NONE)       \
    X(GRANTS_PROPOSE,    "grants:propose",    NONE,    PROJECT, EVERYWHERE, NONE,       NONE)       \
    X(GRANTS_APPROVE,    "grants:approve",    NONE,    NONE,    EVERYWHERE, NONE,       NONE)       \
    X(JOBS_SUBMIT,       "jobs:submit",       PROJECT, PROJECT, NONE,       NONE,       NONE)       \
    X(JOBS_READ,         "jobs:read",         PROJECT, PROJECT, EVERYWHERE, EVERYWHERE, EVERYWHERE) \
    X(JOBS_CANCEL,       "jobs:cancel",       OWN,     PROJECT, EVERYWHERE, EVERYWHERE, NONE)       \
    X(JOBS_EDIT,         "jobs:edit",         OWN,     PROJECT, NONE,       NONE,       NONE)       \
    X(CHARGES_SUBMIT,    "charges:submit",    PROJECT, PROJECT, NONE,       NONE,       NONE)       \
    X(MODELS_READ,       "models:read",       PROJECT, PROJECT, NONE,       NONE,       NONE)       \
    X(MODELS_EDIT,       "models:edit",       OWN,     PROJECT, NONE,       NONE,       NONE)       \
    X(CERTIFICATES_READ, "certificates:read", PROJECT, PROJECT, NONE,       NONE,       EVERYWHERE) \
    X(KEYS_ADMIN,        "keys:admin",        NONE,    PROJECT, NONE,       EVERYWHERE, NONE)       \
    X(AUDIT_READ,        "audit:read",        NONE,    NONE,    EVERYWHERE, NONE,       EVERYWHERE) \
    X(OPS_READ,          "ops:read",          NONE,    NONE,    NONE,       EVERYWHERE, NONE)       \
    X(WEBHOOKS_ADMIN,    "webhooks:admin",    NONE,    OWN,     OWN,        EVERYWHERE, NONE)
/* clang-format on */

enum scope {
    SCOPE_EVERYBODY, /* of routes that ask for no key */
#define X(symbol, ...) SCOPE_##symbol,
    SCOPE_LIST(X)
#undef X
        SCOPE_COUNT
};

_Static_assert(SCOPE_COUNT <= 64, "a principal has a bit for each scope");
#define SCOPE_BIT(scope) (UINT64_C(1) << (scope))

enum reach { REACH_NONE, REACH_OWN, REACH_PROJECT, REACH_EVERYWHERE };

/* The name of a scope, "" of SCOPE_EVERYBODY; and the scope of a name. */
const char *scope_name(enum scope scope);
bool scope_parse(enum scope *scope, const char *name);

/* "analyst", "data_owner", "privacy_officer", "operator", "auditor"; "local" and "" of the
 * others, which are no role of a key and are not parsed. */
const char *role_name(enum role role);
bool role_parse(enum role *role, const char *name);

/* How far the role reaches with the scope. */
enum reach role_reach(enum role role, enum scope scope);

/* How far the principal reaches: as its role does; and a scope that it has beside its role
 * reaches its project at least. */
enum reach principal_reach(const struct principal *principal, enum scope scope);

/* Whether it reaches the things of every project with any scope. */
bool principal_is_everywhere(const struct principal *principal);

/* The scopes with which the principal reaches anything: a bit for each. */
uint64_t principal_scopes(const struct principal *principal);

struct access_object {   /* whose a thing is */
    const char *project; /* NULL: there is no such thing */
    const char *owner;   /* the name of who made it */
};

enum access { ACCESS_ALLOWED, ACCESS_FORBIDDEN, ACCESS_NOT_FOUND };

/* Whether the principal may do with object what the scope says. FORBIDDEN comes first, so
 * that whoever lacks a scope learns of nothing whether it exists; a thing that is not there
 * and one that is not seen are both NOT_FOUND. */
enum access access_decide(const struct principal *principal, enum scope scope,
                          const struct access_object *object);

#endif
