/*
 * roles.h - the access rights of each role: a row for each scope, a column for
 * each role. Every route names its scope (api/http/routes.h), every object has a
 * project and an owner, and access_decide uses only these three to decide whether
 * a request is allowed.
 *
 * With a scope a role reaches
 *   NONE        nothing: 403 for every object
 *   OWN         what its owner made in its project; objects that others made there
 *               are 403
 *   PROJECT     the objects of its project
 *   EVERYWHERE  the objects of all projects
 * An object in a project that the role does not reach is 404, as if it did not exist.
 *
 * Pure.
 */
#ifndef API_HTTP_ROLES_H
#define API_HTTP_ROLES_H

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
    SCOPE_EVERYBODY, /* for routes that need no key */
#define X(symbol, ...) SCOPE_##symbol,
    SCOPE_LIST(X)
#undef X
        SCOPE_COUNT
};

_Static_assert(SCOPE_COUNT <= 64, "a principal has a bit for each scope");
#define SCOPE_BIT(scope) (UINT64_C(1) << (scope))

enum reach { REACH_NONE, REACH_OWN, REACH_PROJECT, REACH_EVERYWHERE };

/* Return the name of a scope, "" for SCOPE_EVERYBODY; and the scope of a name. */
const char *scope_name(enum scope scope);
bool scope_parse(enum scope *scope, const char *name);

/* "analyst", "data_owner", "privacy_officer", "operator", "auditor"; "local" and "" are
 * the names of the other roles, which no key can have and which are not parsed. */
const char *role_name(enum role role);
bool role_parse(enum role *role, const char *name);

/* Returns how far the role reaches with the scope. */
enum reach role_reach(enum role role, enum scope scope);

/* Returns how far the principal reaches: as far as its role, and with an additional
 * scope at least its project. */
enum reach principal_reach(const struct principal *principal, enum scope scope);

/* Returns whether it reaches the objects of every project with any scope. */
bool principal_is_everywhere(const struct principal *principal);

/* Returns the scopes with which the principal reaches anything: a bit for each. */
uint64_t principal_scopes(const struct principal *principal);

struct access_object {   /* project and owner of an object */
    const char *project; /* NULL: there is no such object */
    const char *owner;   /* the name of the person who made it */
};

enum access { ACCESS_ALLOWED, ACCESS_FORBIDDEN, ACCESS_NOT_FOUND };

/* Decides whether the principal may do with object what the scope covers. FORBIDDEN
 * takes precedence, so that a principal without the scope cannot find out whether
 * an object exists. An object that does not exist and one that is out of reach are
 * both NOT_FOUND. */
enum access access_decide(const struct principal *principal, enum scope scope,
                          const struct access_object *object);

#endif
