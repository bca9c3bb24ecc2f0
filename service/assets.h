/*
 * assets.h - files of the repository that are served as they are, part of the program:
 * openapi.yaml and those of the dashboard (service/ui).
 */
#ifndef SERVICE_ASSETS_H
#define SERVICE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *name, *type;
    const char *plain, *plain_end;
    const char *packed, *packed_end; /* the same by gzip */
};

/* Finds a file by its name, without a folder; NULL if there is none. */
const struct asset *asset_find(const char *name);

/* A hash of the files, which changes with any of them. */
const char *asset_version(void);

#endif
