/*
 * query_request.h - the member "postgresql" of POST .../{id}:import: the query of a
 * PostgreSQL server whose rows the dataset is imported from.
 *
 * There is no connection string: each part is a member of its own, so a request names
 * exactly one server, and nothing but the members below.
 *
 * Threads: pure.
 */
#ifndef API_REQUESTS_QUERY_REQUEST_H
#define API_REQUESTS_QUERY_REQUEST_H

#include <stdbool.h>

#include "api/json/json_reader.h"
#include "api/limits.h"

enum {
    QUERY_HOST_SIZE = LIMIT_HOST_NAME + 1,
    QUERY_NAME_SIZE = LIMIT_DATABASE_NAME + 1,
    QUERY_PASSWORD_SIZE = LIMIT_PASSWORD + 1,
};

/* It holds secrets, in the query too: the caller must zero it after use. */
struct query_request {
    char host[QUERY_HOST_SIZE]; /* a name or an address, without brackets */
    unsigned port;
    char database[QUERY_NAME_SIZE], user[QUERY_NAME_SIZE];
    char password[QUERY_PASSWORD_SIZE];
    bool plain;       /* without TLS */
    unsigned seconds; /* the longest that the query may take */
    char query[LIMIT_TEXT + 1];
};

/* Reads {"host","port","database","user","password","sslmode","seconds","query"}.
 * Whether the host may be called is checked later (service/ingest/query_import.h). No
 * refusal quotes a value. */
void query_request_read(struct query_request *query, struct json_node node);

#endif
