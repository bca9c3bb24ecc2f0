/*
 * assets.h - files of the repository that are embedded in the program and served
 * unchanged: openapi.yaml and the files of the dashboard (service/ui).
 */
#ifndef SERVICE_HTTP_ASSETS_H
#define SERVICE_HTTP_ASSETS_H

#include <stddef.h>

struct asset {
    const char *name, *type;
    const char *plain, *plain_end;
    const char *packed, *packed_end; /* the same, compressed by gzip */
};

/* Finds a file by its name without a folder; NULL if there is none. */
const struct asset *asset_find(const char *name);

/* Returns a hash of the files, which changes when any of them does. */
const char *asset_version(void);

#endif
