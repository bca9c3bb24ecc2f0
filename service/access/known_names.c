#include "service/access/known_names.h"

#include <string.h>

#include "service/datasets/datasets.h"
#include "service/identity/access_keys.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"
#include "store/rows/audit_rows.h"

static bool has_key(struct daemon_state *context, const char *name)
{
    for (size_t i = access_keys_count(context->keys); i-- > 0;) {
        struct access_key key;
        access_keys_at(context->keys, i, &key);
        if (person_equal(key.principal.name, name))
            return true;
    }
    return false;
}

static bool has_dataset(struct daemon_state *context, const char *name)
{
    for (size_t i = datasets_count(context->datasets); i-- > 0;)
        if (person_equal(dataset_owner(datasets_at(context->datasets, i))->name, name))
            return true;
    return false;
}

static bool has_job(struct daemon_state *context, const char *name)
{
    for (size_t i = jobs_count(context->jobs); i-- > 0;)
        if (person_equal(job_owner(jobs_at(context->jobs, i)), name))
            return true;
    return false;
}

static bool has_charge(struct daemon_state *context, const char *name)
{
    for (size_t i = charges_count(context->charges); i-- > 0;)
        if (person_equal(charge_owner(charges_at(context->charges, i))->name, name))
            return true;
    return false;
}

static bool has_file(struct daemon_state *context, const char *name)
{
    for (size_t i = weight_files_count(context->weight_files); i-- > 0;)
        if (person_equal(weight_files_at(context->weight_files, i)->created_by, name))
            return true;
    return false;
}

bool known_names_have(struct daemon_state *context, const char *name)
{
    return has_key(context, name) || has_dataset(context, name) ||
           has_job(context, name) || has_charge(context, name) ||
           has_file(context, name);
}

enum status known_names_check_new(struct daemon_state *context,
                                  const struct principal *maker, const char *name,
                                  struct error *error)
{
    if (person_equal(maker->name, name))
        return ST_OK;
    if (context->sso != NULL)
        return error_set_at(error, ST_FORBIDDEN, "/owner",
                            "people come by a proxy here, under names of its own: this "
                            "key makes keys in the name of %s only",
                            maker->name);
    if (known_names_have(context, name))
        return error_set_at(error, ST_FORBIDDEN, "/owner",
                            "\"%s\" has or had a key, or made something: another key "
                            "in that name is made on the host, by epsilond key create",
                            name);
    return ST_OK;
}

struct making { /* whether the principal made the key */
    const struct principal *maker;
    bool is_its;
};

static bool visit(void *context, const struct audit_row *row)
{
    struct making *making = context;
    making->is_its = (strcmp(row->action, "key.create") == 0 ||
                      strcmp(row->action, "key.rotate") == 0) &&
                     strcmp(row->result, "ok") == 0 &&
                     strcmp(row->via, via_name(VIA_CLI)) != 0 &&
                     person_equal(row->actor, making->maker->name);
    return !making->is_its;
}

enum status known_names_check_rotation(struct daemon_state *context,
                                       const struct principal *maker,
                                       const struct access_key *key,
                                       struct error *error)
{
    struct store_tx *tx = NULL;
    struct making making = {maker, false};
    const struct audit_range range = {.object = key->id, .result = "ok"};
    if (principal_equal(maker, &key->principal))
        return ST_OK;
    enum status status = store_begin(context->store, STORE_READ, &tx, error);
    if (status != ST_OK)
        return status;
    status = audit_rows_walk(tx, &range, visit, &making, error);
    store_rollback(tx);
    if (status != ST_OK || making.is_its)
        return status;
    return error_set(error, ST_FORBIDDEN,
                     "\"%s\" is another person, whose key this one did not make: make "
                     "a key on the host, by epsilond key create",
                     key->principal.name);
}
