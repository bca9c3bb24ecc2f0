/*
 * assets.h - files of the repository that are served as they are, part of the program.
 */
#ifndef SERVICE_ASSETS_H
#define SERVICE_ASSETS_H

#include <stddef.h>

extern const char asset_openapi[]; /* openapi.yaml */
extern const char asset_openapi_end[];

#endif
