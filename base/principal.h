/*
 * principal.h - the caller of a request. It registers datasets and submits jobs, and
 * the ledger names it as the actor of an entry. A request carries a principal from the
 * socket to the ledger.
 *
 * A principal is an owner, who has a name, in a project and a role. The role and any
 * additional scopes determine what it may do (api/http/roles.h). If there are no keys,
 * there is one principal, the local one, which may do everything.
 *
 * A zeroed principal has no name and may do nothing. Every real name is non-empty.
 */
#ifndef BASE_PRINCIPAL_H
#define BASE_PRINCIPAL_H

#include <stdbool.h>
#include <stdint.h>

enum { PRINCIPAL_NAME_SIZE = 64, PRINCIPAL_KEY_SIZE = 16 };

enum role { /* the rows of api/http/roles.h say what each role may do */
            ROLE_NOBODY,
            ROLE_LOCAL,
            ROLE_ANALYST,
            ROLE_DATA_OWNER,
            ROLE_PRIVACY_OFFICER,
            ROLE_OPERATOR,
            ROLE_AUDITOR,
};
enum { ROLE_COUNT = ROLE_AUDITOR + 1 };

enum via {              /* how a request identified its caller */
           VIA_LOCAL,   /* it did not: there are no keys */
           VIA_BEARER,  /* a key in the Authorization header */
           VIA_SESSION, /* the cookie of a browser that was given a key */
           VIA_PROXY,   /* the headers of a trusted proxy */
           VIA_CLI,     /* a command on the host */
};

struct principal {
    char name[PRINCIPAL_NAME_SIZE];    /* the owner's */
    char project[PRINCIPAL_NAME_SIZE]; /* "" if it does not matter: in the ledger */
    char key[PRINCIPAL_KEY_SIZE];      /* id of the key that was sent; "": no key was */
    enum role role;
    enum via via;
    /* besides the role's: a bit for each enum scope of api/http/roles.h */
    uint64_t scopes;
};

/* The caller of every request while there are no keys: "local", of project
 * "default". */
extern const struct principal principal_local;

/* Makes a principal that has only a name and may do nothing, as an entry of the
 * ledger names one. Returns false, and leaves principal untouched, if name is empty
 * or too long. */
bool principal_parse(struct principal *principal, const char *name);

/* Returns whether two names are the same person's. Case is ignored, since most
 * identity providers ignore it: "Ana" and "ana" are one person, who cannot approve
 * their own proposal. */
bool person_equal(const char *a, const char *b);
/* The same for the names of two principals, in any projects. */
bool principal_equal(const struct principal *a, const struct principal *b);

/* The name of the way in which a request came: "local", "bearer", "session",
 * "proxy", "cli". */
const char *via_name(enum via via);

/* Return whether text can be a name. An owner's name has 1 to 63 letters, digits and .
 * _ @ + -, of which the first is a letter or digit. A project's name is the same, but
 * has only lower-case letters, digits and . _ -. */
bool principal_name_is_good(const char *text);
bool project_name_is_good(const char *text);

#endif
