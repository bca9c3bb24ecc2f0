/* server.h - where a database is that is no file: a server of PostgreSQL. */
#ifndef STORE_SERVER_H
#define STORE_SERVER_H

#include <stdbool.h>

/* How long one waits for an answer, and for a server that is gone to come back. */
enum { STORE_ANSWER_MS = 30000, STORE_RETURN_MS = 60000 };

struct store_server {
    const char *url;    /* "postgresql://USER@HOST/DATABASE?sslmode=verify-full" */
    bool single_server; /* it may have no standby that a commit waits for */
    bool migrate;       /* an older schema is moved forward; its owner has a backup, and
                         * nobody else has it open at the start */
    bool
        shared; /* others may have it open so too; whoever does not share keeps all out */
    int answer_ms, return_ms; /* 0: those above */
};

#endif
