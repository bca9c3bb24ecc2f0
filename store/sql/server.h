/* server.h - the address and the settings of a database on a PostgreSQL server. */
#ifndef STORE_SQL_SERVER_H
#define STORE_SQL_SERVER_H

#include <stdbool.h>

/* How long a call waits for an answer, and for a server that is gone to come back. */
enum { STORE_ANSWER_MS = 30000, STORE_RETURN_MS = 60000 };

struct store_server {
    const char *url;    /* "postgresql://USER@HOST/DATABASE?sslmode=verify-full" */
    bool single_server; /* a server without a synchronous standby is accepted */
    bool migrate;       /* an older schema is moved forward; its owner has a backup, and
                         * no other daemon has it open at the start */
    bool shared; /* other daemons may open it too; else this one keeps all others out */
    int answer_ms, return_ms; /* 0: the defaults above */
};

#endif
