/* server.h - where a database is that is no file: a server of PostgreSQL. */
#ifndef STORE_SERVER_H
#define STORE_SERVER_H

#include <stdbool.h>

struct store_server {
    const char *url;    /* "postgresql://USER@HOST/DATABASE?sslmode=verify-full" */
    bool single_server; /* it may have no standby that a commit waits for */
    bool migrate;       /* an older schema is moved forward; its owner has a backup */
    bool
        shared; /* others may have it open so too; whoever does not share keeps all out */
};

#endif
