#include "service/datasets/dataset_visibility.h"

#include <stdlib.h>
#include <string.h>

#include "base/principal.h"
#include "service/datasets/dataset_info.h"

/* Everyone could see what `local` declared before there were keys, and no one can
 * import it any more. */
bool dataset_visibility_hides(const struct principal *owner)
{
    return !principal_equal(owner, &principal_local);
}

/* Returns whether an import that did not end as READY is hidden from the reader. */
static bool is_veiled(const struct principal *owner, const struct principal *reader)
{
    return dataset_visibility_hides(owner) &&
           (reader == NULL || !principal_equal(owner, reader));
}

static void veil(struct dataset_info *info)
{
    if (info->state == DATASET_IMPORTING || info->state == DATASET_FAILED)
        info->state = DATASET_CREATED;
    info->detail.failure = (struct import_failure){0};
    info->detail.act = (struct import_act){0};
}

void dataset_visibility_apply(const struct principal *owner,
                              const struct principal *reader, struct dataset_info *info)
{
    if (is_veiled(owner, reader))
        veil(info);
}

bool dataset_visibility_same(const struct principal *owner,
                             const struct dataset_info *before,
                             const struct dataset_info *after)
{
    struct dataset_info a = *before, b = *after;
    if (!is_veiled(owner, NULL))
        return false;
    veil(&a);
    veil(&b);
    char *one = dataset_detail_render(&a.detail),
         *other = dataset_detail_render(&b.detail);
    bool same = a.state == b.state && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}
