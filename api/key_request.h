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

/* Checks whether the minter may make such a key. What may make keys may not approve grants,
 * so keys with a scope grants:... are made on the host only (VIA_CLI). Elsewhere a key
 * reaches no further than its minter with any scope, and if the minter reaches one project
 * with keys:admin, the key is of that project.
 *   ST_INVALID    it makes keys and has a policy
 *   ST_FORBIDDEN  the minter may not; the error names the member */
enum status key_request_check(const struct key_request *request,
                              const struct principal *minter, struct error *error);

/* Checks whether the changer may give such a key its policy. That gives nobody the key, so
 * whoever reaches all projects with keys:admin may, though it could not make the key. The
 * statuses are the same. */
enum status key_request_check_policy(const struct key_request *request,
                                     const struct principal *changer,
                                     struct error *error);

/* The same two for the scopes as stored and told on a command line: names, with a blank or
 * comma between them. Answers false where one is none. */
bool key_scopes_parse(uint64_t *scopes, const char *text);
enum { KEY_SCOPES_SIZE = 512 };
void key_scopes_render(char text[KEY_SCOPES_SIZE], uint64_t scopes);

#endif
