/*
 * key_request.h - the body of POST /v1/keys, and the arguments of `epsilond
 * key create`.
 *
 *   {"owner","project","role","scopes":[name],"days","policy":{...}}     (access.md)
 */
#ifndef API_REQUESTS_KEY_REQUEST_H
#define API_REQUESTS_KEY_REQUEST_H

#include "api/json/json_reader.h"
#include "api/http/roles.h"
#include "api/requests/key_policy.h"

struct key_request {
    struct principal principal; /* name, project, role, additional scopes */
    uint64_t days;              /* its lifetime */
    struct key_policy policy;
};

/*   ST_INVALID  a member is missing, unknown or out of range; the error names it */
enum status key_request_parse(struct key_request *request, struct json_text body,
                              struct error *error);

/* Checks whether the minter may make such a key. A principal that can make keys must
 * not approve grants, so keys with a scope grants:... are made on the host only
 * (VIA_CLI). Otherwise a key reaches no further than its minter with any scope, and
 * if the minter reaches only one project with keys:admin, the key must belong to
 * that project.
 *   ST_INVALID    the key can make keys and has a policy
 *   ST_FORBIDDEN  the minter may not; the error names the member */
enum status key_request_check(const struct key_request *request,
                              const struct principal *minter, struct error *error);

/* Checks whether the changer may give such a key its policy. That does not give anyone
 * the key, so a principal that reaches all projects with keys:admin may do it even if
 * it could not make the key. The statuses are the same. */
enum status key_request_check_policy(const struct key_request *request,
                                     const struct principal *changer,
                                     struct error *error);

/* Parse and render scopes in the form in which they are stored and given on a command
 * line: names, separated by a blank or comma. Parsing returns false if a name is not
 * a scope. */
bool key_scopes_parse(uint64_t *scopes, const char *text);
enum { KEY_SCOPES_SIZE = 512 };
void key_scopes_render(char text[KEY_SCOPES_SIZE], uint64_t scopes);

#endif
