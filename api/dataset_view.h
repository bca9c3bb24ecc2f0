/*
 * dataset_view.h - a dataset as answered: as declared, and what has become of it; and
 * the latter as stored.
 *
 * Invariants
 *   (1) The digest of private content is never shown: it would confirm a guess of a
 *       record exactly (P6). That of public content is.
 */
#ifndef API_DATASET_VIEW_H
#define API_DATASET_VIEW_H

#include <stdint.h>

#include "api/dataset_request.h"

struct dataset_view {
    const struct dataset_spec *spec;
    const char *state; /* CREATED IMPORTING READY FAILED DELETED */
    uint64_t records;  /* once READY, else 0: null */
    uint64_t size;     /* of the matrix, bytes, once READY, else 0: null */
    const uint8_t *sha256;
    const char *reason; /* of FAILED, told to the owner; or NULL */
    int64_t create_ms, import_ms;
};
/* The members of the request, then "state","reason","records","size","sha256",
 * "create_time","import_time". */
char *dataset_render(const struct dataset_view *view);

struct dataset_detail {
    uint64_t records, size;
    char reason[320];
    int64_t import_ms;
};
char *dataset_detail_render(const struct dataset_detail *detail);
/*   ST_INVALID  not such a text */
enum status dataset_detail_parse(struct dataset_detail *detail, const char *text,
                                 struct error *error);

#endif
