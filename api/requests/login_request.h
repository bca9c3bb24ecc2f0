/*
 * login_request.h - the body of POST /v1/session: {"key"}, which a browser sends once,
 * to get a cookie.
 */
#ifndef API_REQUESTS_LOGIN_REQUEST_H
#define API_REQUESTS_LOGIN_REQUEST_H

#include <stddef.h>

#include "api/json/json_reader.h"
#include "base/status.h"

enum {
    LOGIN_KEY_SIZE = 256
}; /* of any text that may be a key; a real key is shorter */

/* Copies the key, which the caller must wipe afterwards (base/hash.h).
 *   ST_INVALID  a member is missing, unknown or too long: the error names it */
enum status login_request_parse(char key[LOGIN_KEY_SIZE], struct json_text body,
                                struct error *error);

#endif
