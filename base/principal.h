/*
 * principal.h - who asks: whoever registers datasets, submits jobs and stands in the ledger
 * as the actor of an entry. A request carries one from the socket to the ledger.
 *
 * A principal is an owner, who has a name, at work in a project, in a role. The role and
 * the scopes that were given beside it say what it may do (api/roles.h). Where there are no
 * keys there is one principal, the local one, who may do everything.
 *
 * A zeroed principal is nobody: it may do nothing, and no name is empty.
 */
#ifndef BASE_PRINCIPAL_H
#define BASE_PRINCIPAL_H

#include <stdbool.h>
#include <stdint.h>

enum { PRINCIPAL_NAME_SIZE = 64, PRINCIPAL_KEY_SIZE = 16 };

enum role { /* what a principal is there for; the rows of api/roles.h say what it may */
            ROLE_NOBODY,
            ROLE_LOCAL,
            ROLE_ANALYST,
            ROLE_DATA_OWNER,
            ROLE_PRIVACY_OFFICER,
            ROLE_OPERATOR,
            ROLE_AUDITOR,
};
enum { ROLE_COUNT = ROLE_AUDITOR + 1 };

enum via {              /* how a request said who makes it */
           VIA_LOCAL,   /* it did not: there are no keys */
           VIA_BEARER,  /* a key in the Authorization header */
           VIA_SESSION, /* the cookie of a browser that was given a key */
           VIA_PROXY,   /* the headers of a trusted proxy */
           VIA_CLI,     /* a command on the host */
};

struct principal {
    char name[PRINCIPAL_NAME_SIZE];    /* the owner's */
    char project[PRINCIPAL_NAME_SIZE]; /* "" where it does not matter: in the ledger */
    char key[PRINCIPAL_KEY_SIZE];      /* id of the key that was shown; "": none was */
    enum role role;
    enum via via;
    uint64_t scopes; /* beside the role's: a bit for each enum scope of api/roles.h */
};

/* Whoever reaches the daemon while there are no keys: "local", of project "default". */
extern const struct principal principal_local;

/* Makes a principal that has a name alone, and may do nothing, as an entry of the ledger
 * names one. False, and principal untouched, where name is empty or has no room. */
bool principal_parse(struct principal *principal, const char *name);

/* Whether two names are one person's: letters are compared without regard to case, since
 * most places that name people do. Whoever comes as "Ana" and as "ana" is one person, who
 * agrees to nothing that it proposed itself. */
bool person_equal(const char *a, const char *b);
/* The same of the names of two principals, in whatever project. */
bool principal_equal(const struct principal *a, const struct principal *b);

/* What is said of how a request came: "local", "bearer", "session", "proxy", "cli". */
const char *via_name(enum via via);

/* Whether text can be the name of an owner: 1 to 63 letters, digits and . _ @ + -, the
 * first a letter or digit; or of a project: the same, but of lower-case letters, digits
 * and . _ - alone. */
bool principal_name_is_good(const char *text);
bool project_name_is_good(const char *text);

#endif
