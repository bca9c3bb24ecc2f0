#include "accountant/ledger/ledger_view.h"
#include "service/datasets/duplicate_datasets.h"

#include <string.h>

static bool same_records(const struct duplicate_dataset *a,
                         const struct duplicate_dataset *b)
{
    if (a->matrix_sha256 == NULL || b->matrix_sha256 == NULL)
        return false;
    if (a->is_fetched || b->is_fetched)
        return a->sources_sha256[0] != '\0' && b->sources_sha256[0] != '\0' &&
               hash_equal(a->sources_sha256, b->sources_sha256, SHA256_HEX_SIZE);
    if (a->rows_sha256[0] != '\0' && b->rows_sha256[0] != '\0')
        return hash_equal(a->rows_sha256, b->rows_sha256, SHA256_HEX_SIZE);
    return hash_equal(a->matrix_sha256, b->matrix_sha256, SHA256_SIZE);
}

bool duplicate_datasets_clash(const struct duplicate_dataset *a,
                              const struct duplicate_dataset *b)
{
    if (!principal_equal(a->owner, b->owner))
        return false;
    if (a->is_void || b->is_void || (a->is_public && b->is_public))
        return false;
    return same_records(a, b);
}

/* Says why both may not exist, as text of the refusal. */
static const char *harm(const struct duplicate_dataset *self,
                        const struct duplicate_dataset *other)
{
    if (self->is_public)
        return "which is private: they cannot be public as well";
    if (other->is_public)
        return "which is public: no budget protects them";
    return "and one budget covers both: a new id is not a new budget";
}

enum status duplicate_datasets_refuse(const struct duplicate_dataset *self,
                                      const struct duplicate_dataset *other,
                                      const struct principal *caller,
                                      const char *pointer, struct error *error)
{
    bool owns_both =
        principal_equal(caller, self->owner) && principal_equal(caller, other->owner);
    if (!owns_both)
        return error_set_at(error, ST_DATASET_UNAVAILABLE, pointer,
                            "the dataset cannot be used");
    return error_set_at(error, ST_DUPLICATE_CONTENT, pointer,
                        "the records are those of dataset \"%s\", %s", other->id,
                        harm(self, other));
}

static struct duplicate_dataset duplicate_dataset_of(struct ledger *ledger,
                                                     const struct dataset *dataset,
                                                     const struct dataset_info *info)
{
    const struct dataset_spec *spec = dataset_spec(dataset);
    return (struct duplicate_dataset){
        .id = spec->id.text,
        .owner = dataset_owner(dataset),
        .is_public = spec->is_public,
        .is_void = info->state == DATASET_DELETED && !spec->is_public &&
                   !ledger_touched(ledger, &spec->id),
        .matrix_sha256 = info->has_sha256 ? info->sha256 : NULL,
        .rows_sha256 = info->detail.rows_sha256,
        .is_fetched = info->is_fetched,
        .sources_sha256 = info->detail.sources_sha256,
    };
}

enum status duplicate_datasets_check(const struct duplicate_datasets_search *search,
                                     const struct dataset *dataset,
                                     const struct dataset_info *info,
                                     struct error *error)
{
    const struct duplicate_dataset self =
        duplicate_dataset_of(search->ledger, dataset, info);
    size_t count = datasets_count(search->datasets);
    for (size_t i = 0; i < count; i++) {
        struct dataset_info known;
        const struct dataset *other = datasets_at(search->datasets, i);
        if (other == dataset)
            continue;
        dataset_read(search->datasets, other, &known);
        const struct duplicate_dataset twin =
            duplicate_dataset_of(search->ledger, other, &known);
        if (duplicate_datasets_clash(&self, &twin))
            return duplicate_datasets_refuse(&self, &twin, search->caller,
                                             search->pointer, error);
    }
    return ST_OK;
}
