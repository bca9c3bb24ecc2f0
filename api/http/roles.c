#include "api/http/roles.h"

#include <string.h>

enum { KEY_ROLES = ROLE_COUNT - ROLE_ANALYST }; /* the roles that a key can have */

static const struct row {
    const char *name;
    enum reach reach[KEY_ROLES];
} rows[SCOPE_COUNT] = {[SCOPE_EVERYBODY] = {.name = ""},
#define X(symbol, text, a, b, c, d, e)                                                 \
    [SCOPE_##symbol] = {text, {REACH_##a, REACH_##b, REACH_##c, REACH_##d, REACH_##e}},
                       SCOPE_LIST(X)
#undef X
};

static const char *const roles[ROLE_COUNT] = {
    [ROLE_NOBODY] = "",
    [ROLE_LOCAL] = "local",
    [ROLE_ANALYST] = "analyst",
    [ROLE_DATA_OWNER] = "data_owner",
    [ROLE_PRIVACY_OFFICER] = "privacy_officer",
    [ROLE_OPERATOR] = "operator",
    [ROLE_AUDITOR] = "auditor",
};

const char *scope_name(enum scope scope)
{
    return rows[scope].name;
}

bool scope_parse(enum scope *scope, const char *name)
{
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *scope = (enum scope)i;
            return true;
        }
    }
    return false;
}

const char *role_name(enum role role)
{
    return roles[role];
}

bool role_parse(enum role *role, const char *name)
{
    for (unsigned i = ROLE_ANALYST; i < ROLE_COUNT; i++) {
        if (strcmp(roles[i], name) == 0) {
            *role = (enum role)i;
            return true;
        }
    }
    return false;
}

enum reach role_reach(enum role role, enum scope scope)
{
    if (scope == SCOPE_EVERYBODY || role == ROLE_LOCAL)
        return REACH_EVERYWHERE;
    return role == ROLE_NOBODY ? REACH_NONE : rows[scope].reach[role - ROLE_ANALYST];
}

enum reach principal_reach(const struct principal *principal, enum scope scope)
{
    enum reach reach = role_reach(principal->role, scope);
    bool beside = (principal->scopes & SCOPE_BIT(scope)) != 0;
    return beside && reach < REACH_PROJECT ? REACH_PROJECT : reach;
}

bool principal_is_everywhere(const struct principal *principal)
{
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
        if (principal_reach(principal, (enum scope)i) == REACH_EVERYWHERE)
            return true;
    return false;
}

uint64_t principal_scopes(const struct principal *principal)
{
    uint64_t scopes = 0;
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
        if (principal_reach(principal, (enum scope)i) != REACH_NONE)
            scopes |= SCOPE_BIT(i);
    return scopes;
}

/* Compares the projects even if there is no such object, so that both cases take the
 * same time. */
enum access access_decide(const struct principal *principal, enum scope scope,
                          const struct access_object *object)
{
    enum reach reach = principal_reach(principal, scope);
    bool is_there = object->project != NULL;
    bool here = strcmp(is_there ? object->project : "", principal->project) == 0;
    if (reach == REACH_NONE)
        return ACCESS_FORBIDDEN;
    if (!is_there || (reach != REACH_EVERYWHERE && !here))
        return ACCESS_NOT_FOUND;
    if (reach == REACH_OWN && !person_equal(object->owner, principal->name))
        return ACCESS_FORBIDDEN;
    return ACCESS_ALLOWED;
}
