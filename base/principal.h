/*
 * principal.h - who asks: whoever registers datasets, submits jobs and stands in the ledger
 * as the actor of an entry. A request carries one from the socket to the ledger.
 *
 * There is one, the local principal, until there are keys; nothing is allowed or refused
 * by it, but an owner's datasets are compared with nobody else's (service/twins.h).
 */
#ifndef BASE_PRINCIPAL_H
#define BASE_PRINCIPAL_H

#include <stdbool.h>

enum { PRINCIPAL_NAME_SIZE = 64 };

struct principal {
    char name[PRINCIPAL_NAME_SIZE];
};

/* Whoever reaches the daemon: "local". */
extern const struct principal principal_local;

/* Copies name if it is not empty and has room; otherwise false, principal untouched. */
bool principal_parse(struct principal *principal, const char *name);

bool principal_equal(const struct principal *a, const struct principal *b);

#endif
