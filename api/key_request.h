/*
 * key_request.h - the body of POST /v1/keys, and what `epsilond key create` is told.
 *
 *   {"owner","project","role","scopes":[name],"days","policy":{...}}     (access.md)
 */
#ifndef API_KEY_REQUEST_H
#define API_KEY_REQUEST_H

#include "api/key_policy.h"
#include "api/roles.h"

struct key_request {
    struct principal principal; /* name, project, role and scopes beside the role's */
    uint64_t days;              /* that it lasts */
    struct key_policy policy;
};

/*   ST_INVALID  a member is missing, unknown or out of range; the error names it */
enum status key_request_parse(struct key_request *request, const char *body,
                              size_t size, struct error *error);

/* Whether the minter may make such a key. What may make keys may not approve grants, so
 * keys with a scope grants:... are made on the host alone (VIA_CLI); whoever reaches its
 * project with keys:admin makes keys of that project that reach no further, with scopes
 * that it has itself.
 *   ST_FORBIDDEN  it may not; the error names the member */
enum status key_request_check(const struct key_request *request,
                              const struct principal *minter, struct error *error);

/* The same two for the scopes as stored and told on a command line: names, with a blank or
 * comma between them. Answers false where one is none. */
bool key_scopes_parse(uint64_t *scopes, const char *text);
enum { KEY_SCOPES_SIZE = 512 };
void key_scopes_render(char text[KEY_SCOPES_SIZE], uint64_t scopes);

#endif
