#include "service/twins.h"
#include "accountant/ledger_view.h"

#include <string.h>

static bool same_records(const struct twin *a, const struct twin *b)
{
    if (a->matrix_sha256 == NULL || b->matrix_sha256 == NULL)
        return false;
    if (a->rows_sha256[0] != '\0' && b->rows_sha256[0] != '\0')
        return hash_equal(a->rows_sha256, b->rows_sha256, SHA256_HEX_SIZE);
    return hash_equal(a->matrix_sha256, b->matrix_sha256, SHA256_SIZE);
}

bool twins_clash(const struct twin *a, const struct twin *b)
{
    if (!principal_equal(a->owner, b->owner))
        return false;
    if (a->is_void || b->is_void || (a->is_public && b->is_public))
        return false;
    return same_records(a, b);
}

/* Says why both may not exist, as text of the refusal. */
static const char *harm(const struct twin *self, const struct twin *other)
{
    if (self->is_public)
        return "which is private: they cannot be public as well";
    if (other->is_public)
        return "which is public: no budget protects them";
    return "and one budget covers both: a new id is not a new budget";
}

enum status twins_refuse(const struct twin *self, const struct twin *other,
                         const struct principal *caller, const char *pointer,
                         struct error *error)
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

static struct twin twin_of(struct ledger *ledger, const struct dataset *dataset,
                           const struct dataset_info *info)
{
    const struct dataset_spec *spec = dataset_spec(dataset);
    return (struct twin){
        .id = spec->id.text,
        .owner = dataset_owner(dataset),
        .is_public = spec->is_public,
        .is_void = info->state == DATASET_DELETED && !spec->is_public &&
                   !ledger_touched(ledger, &spec->id),
        .matrix_sha256 = info->has_sha256 ? info->sha256 : NULL,
        .rows_sha256 = info->detail.rows_sha256,
    };
}

enum status twins_check(const struct twins_search *search,
                        const struct dataset *dataset, const struct dataset_info *info,
                        struct error *error)
{
    const struct twin self = twin_of(search->ledger, dataset, info);
    size_t count = datasets_count(search->datasets);
    for (size_t i = 0; i < count; i++) {
        struct dataset_info known;
        const struct dataset *other = datasets_at(search->datasets, i);
        if (other == dataset)
            continue;
        dataset_read(search->datasets, other, &known);
        const struct twin twin = twin_of(search->ledger, other, &known);
        if (twins_clash(&self, &twin))
            return twins_refuse(&self, &twin, search->caller, search->pointer, error);
    }
    return ST_OK;
}
