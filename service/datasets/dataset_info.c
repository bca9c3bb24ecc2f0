#include "service/datasets/dataset_info.h"

#include <string.h>

#include "base/check.h"
#include "base/file_checksum.h"

const char *const dataset_state_names[DATASET_STATE_COUNT + 1] = {
    [DATASET_CREATED] = "CREATED", [DATASET_IMPORTING] = "IMPORTING",
    [DATASET_READY] = "READY",     [DATASET_FAILED] = "FAILED",
    [DATASET_DELETED] = "DELETED",
};

bool dataset_state_parse(enum dataset_state *state, const char *text)
{
    for (unsigned i = 0; i < DATASET_STATE_COUNT; i++) {
        if (strcmp(text, dataset_state_names[i]) == 0) {
            *state = (enum dataset_state)i;
            return true;
        }
    }
    return false;
}

struct file_checksum dataset_info_seal(const struct dataset_info *info)
{
    struct file_checksum seal = {.size = info->detail.size};
    CHECK(info->has_sha256);
    memcpy(seal.sha256, info->sha256, sizeof seal.sha256);
    return seal;
}
