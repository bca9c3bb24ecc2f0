#include "api/requests/dataset_request.h"

#include <math.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/schema_text.h"

void dataset_request_read_id(struct dataset_id *id, struct json_node node)
{
    if (!dataset_id_parse(id, json_read_text(node)))
        json_refuse(node, "must match [a-z0-9][a-z0-9._-]{0,62}");
}

static void read_order(struct grant *grant, struct json_node node)
{
    if (!json_present(node))
        return;
    grant->order = json_read_real(node, (struct json_range){1, 2048, true, false});
    if (curve_order_index(grant->order) == CURVE_ORDERS)
        json_refuse(node,
                    "must be an order of the grid g1: 1.25 to 3.75 by 0.25, 4 to 7.5 "
                    "by 0.5, 8 to 20 by 1, 22 to 32 by 2, 36, 40, 48, 56, 64, 80, "
                    "96, 128, 256, 512, 1024 or 2048");
}

static void read_relation(struct grant *grant, struct json_node node)
{
    if (!json_present(node))
        return;
    if (!relation_parse(&grant->relation, json_read_text(node)))
        json_refuse(node, "must be zero_out or replace_one");
}

/* What is set aside is no longer there for curves, which need some of delta. */
static void read_discovery(struct grant *grant, struct json_node node)
{
    if (!json_present(node))
        return;
    grant->discovery_delta =
        json_read_real(node, (struct json_range){0, 1, true, true});
    if (!(grant_curve_delta(grant) > LIMIT_DELTA_MIN))
        json_refuse(node, "must leave more than 2^-39 of delta to everything else");
}

void dataset_grant_read(struct grant *grant, struct json_node *node, double epsilon_max)
{
    grant->epsilon = json_read_real(json_member(node, "epsilon"),
                                    (struct json_range){0, epsilon_max, true, false});
    grant->delta = json_read_real(json_member(node, "delta"),
                                  (struct json_range){LIMIT_DELTA_MIN, 1, true, true});
    read_order(grant, json_member(node, "order"));
    read_discovery(grant, json_member(node, "discovery_delta"));
}

static void read_privacy(struct dataset_spec *spec, struct json_node node,
                         double epsilon_max)
{
    spec->is_public = json_is_string(node.value) &&
                      strcmp(json_string_value(node.value), "public") == 0;
    enum privacy_unit unit = schema_unit(&spec->schema);
    if (spec->is_public && unit != PRIVACY_UNIT_RECORD)
        json_refuse(node, "public data has no privacy unit: %s",
                    spec->schema.has_id_file
                        ? "leave privacy_id out"
                        : "declare the column of kind privacy_id as ignored");
    if (spec->is_public)
        return;
    spec->grant.unit = unit;
    if (json_present(node) && !json_is_object(node.value))
        json_refuse(node, "must be \"public\", or an object with epsilon and delta");
    json_read_object(node, (const char *const[]){"epsilon", "delta", "relation",
                                                 "order", "discovery_delta", NULL});
    spec->grant.relation = RELATION_ZERO_OUT;
    dataset_grant_read(&spec->grant, &node, epsilon_max);
    read_relation(&spec->grant, json_member(&node, "relation"));
}

/* Reads the division. Public data may be used for evaluation as it is, so only private
 * data is divided. */
static void read_division(struct dataset_spec *spec, const struct json_node *root)
{
    struct json_node holdout = json_member(root, "holdout");
    struct json_node seed = json_member(root, "holdout_seed");
    struct division *division = &spec->grant.division;
    if (json_present(seed) && !json_present(holdout))
        json_refuse(seed, "needs a holdout");
    if (!json_present(holdout))
        return;
    if (spec->is_public)
        json_refuse(holdout,
                    "public data has no holdout: any job may be evaluated on it");
    division->holdout =
        json_read_real(holdout, (struct json_range){LIMIT_HOLDOUT_MIN,
                                                    LIMIT_HOLDOUT_MAX, false, false});
    if (json_present(seed))
        division->seed = json_read_count(seed, 0, LIMIT_COUNT - 1);
}

static void read_hash_seed(struct dataset_spec *spec, struct json_node seed)
{
    spec->has_hash_seed = json_present(seed);
    if (spec->has_hash_seed)
        spec->hash_seed = json_read_count(seed, 0, LIMIT_COUNT - 1);
}

/* Reads what is confirmed: exactly what the grant needs. n is not known before the
 * import, which compares delta with it. */
static void read_acknowledged(struct dataset_spec *spec, const struct json_node *root)
{
    const struct grant *grant = &spec->grant;
    enum acknowledged needed =
        spec->is_public ? ACKNOWLEDGED_NOTHING
                        : acknowledgement_needed(grant->epsilon, grant->delta, 0);
    spec->acknowledged = acknowledgement_read(root);
    const char *fault = acknowledgement_fault(spec->acknowledged, needed);
    if (fault != NULL)
        json_refuse(json_member(root, "acknowledge"), "%s", fault);
}

/* A kept text was rendered and stored, without the caption. */
static enum status parse(struct dataset_spec *spec, struct json_text text,
                         double epsilon_max, bool is_kept, struct error *error)
{
    static const char *const asked[] = {"id",           "privacy",     "holdout",
                                        "holdout_seed", "acknowledge", "display_name",
                                        "tags",         NULL};
    static const char *const kept[] = {"id",           "privacy",   "holdout",
                                       "holdout_seed", "hash_seed", NULL};
    const char *members[SCHEMA_MEMBERS_MAX];
    struct dataset_spec read = {0};
    struct json_reader reader;
    struct json_node root;
    schema_text_members(members, is_kept ? kept : asked);
    if (json_reader_open(&reader, &root, text, error) == ST_OK) {
        json_read_object(root, members);
        dataset_request_read_id(&read.id, json_member(&root, "id"));
        schema_text_read(&read.schema, &root);
        read_privacy(&read, json_member(&root, "privacy"), epsilon_max);
        read_division(&read, &root);
        if (is_kept)
            read_hash_seed(&read, json_member(&root, "hash_seed"));
        else
            read_acknowledged(&read, &root);
        caption_read(&read.caption, &root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *spec = read;
    else
        dataset_spec_fini(&read);
    return status;
}

enum status dataset_spec_parse(struct dataset_spec *spec, struct json_text body,
                               struct error *error)
{
    return parse(spec, body, LIMIT_EPSILON, false, error);
}

enum status dataset_spec_restore(struct dataset_spec *spec, const char *text,
                                 struct error *error)
{
    return parse(spec, json_text_of(text), INFINITY, true, error);
}

void dataset_spec_fini(struct dataset_spec *spec)
{
    schema_fini(&spec->schema);
    caption_fini(&spec->caption);
    memset(spec, 0, sizeof *spec);
}

bool dataset_spec_same_privacy(const struct dataset_spec *a,
                               const struct dataset_spec *b)
{
    if (a->is_public || b->is_public)
        return a->is_public && b->is_public;
    return grant_same(&a->grant, &b->grant);
}

void dataset_privacy_write(struct json_writer *writer, const struct dataset_spec *spec)
{
    if (spec->is_public) {
        json_write_text(writer, "privacy", "public");
        return;
    }
    json_write_object(writer, "privacy");
    json_write_real(writer, "epsilon", spec->grant.epsilon);
    json_write_real(writer, "delta", spec->grant.delta);
    json_write_text(writer, "relation", relation_name(spec->grant.relation));
    if (spec->grant.order != 0)
        json_write_real(writer, "order", spec->grant.order);
    if (spec->grant.discovery_delta != 0)
        json_write_real(writer, "discovery_delta", spec->grant.discovery_delta);
    json_write_object_end(writer);
}

void dataset_division_write(struct json_writer *writer, const struct dataset_spec *spec)
{
    const struct division *division = &spec->grant.division;
    if (spec->is_public || division_parts(division) == 1)
        return;
    json_write_real(writer, "holdout", division->holdout);
    json_write_count(writer, "holdout_seed", division->seed);
}

void dataset_spec_write(struct json_writer *writer, const struct dataset_spec *spec)
{
    json_write_text(writer, "id", spec->id.text);
    schema_text_write(writer, &spec->schema);
    dataset_privacy_write(writer, spec);
    dataset_division_write(writer, spec);
}

static char *render(const struct dataset_spec *spec, bool as_body)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    dataset_spec_write(&writer, spec);
    if (as_body) {
        acknowledgement_write_if(&writer, spec->acknowledged);
        caption_write_if(&writer, &spec->caption);
    } else if (spec->has_hash_seed) {
        json_write_count(&writer, "hash_seed", spec->hash_seed);
    }
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *dataset_spec_render(const struct dataset_spec *spec)
{
    return render(spec, false);
}

char *dataset_body_render(const struct dataset_spec *spec)
{
    return render(spec, true);
}
