/*
 * dataset_info.h - the part of a dataset that may change: its state (drawn in
 * datasets.h) and the results of an import.
 *
 * Pure.
 */
#ifndef SERVICE_DATASETS_DATASET_INFO_H
#define SERVICE_DATASETS_DATASET_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "api/views/dataset_view.h"

enum dataset_state {
    DATASET_CREATED,
    DATASET_IMPORTING,
    DATASET_READY,
    DATASET_FAILED,
    DATASET_DELETED,
};

enum { DATASET_STATE_COUNT = DATASET_DELETED + 1 };
/* Ends with NULL. */
extern const char *const dataset_state_names[DATASET_STATE_COUNT + 1];

/* Returns false, and leaves state as it is, if text names none. */
bool dataset_state_parse(enum dataset_state *state, const char *text);

struct dataset_info { /* a copy of what may change */
    enum dataset_state state;
    uint64_t version;
    struct dataset_detail detail;
    bool has_sha256;
    uint8_t sha256[SHA256_SIZE];
    int64_t create_ms;
    /* The daemon fetched a file of it, so no import of it may fail by content
     * (docs/privacy.md P7). Never taken back. */
    bool is_fetched;
};

/* Returns the size and digest of the matrix from the row of an imported dataset. */
struct file_checksum dataset_info_seal(const struct dataset_info *info);

#endif
