#include "api/requests/standardise_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

static const struct json_range epsilon_range = {0, LIMIT_EPSILON, true, false};
static const struct json_range clip_range = {MOMENTS_CLIP_MIN, MOMENTS_CLIP_MAX, false,
                                             false};

/* --- the requested and the stored form --- */

static void read_reserve(struct standardise_request *standardise, struct json_node node)
{
    struct json_node hash = json_member(&node, "hash");
    standardise->reserve_seq =
        json_read_count(json_member(&node, "seq"), 1, (uint64_t)LIMIT_COUNT);
    const char *text = json_read_text(hash);
    if (strlen(text) != SHA256_HEX_SIZE - 1)
        json_refuse(hash, "must be the hash of an entry");
    snprintf(standardise->reserve_hash, sizeof standardise->reserve_hash, "%s", text);
}

static void read_found(struct standardise_request *standardise,
                       const struct json_node *node)
{
    struct json_node statistics = json_member(node, "statistics");
    if (!survey_id_parse(&standardise->statistics, json_read_text(statistics)))
        json_refuse(statistics, "must be the id of statistics, sta_...");
    read_reserve(standardise, json_member(node, "reserve"));
}

void standardise_request_read(struct standardise_request *standardise,
                              struct json_node node, bool kept)
{
    struct json_node epsilon = json_member(&node, "epsilon");
    struct json_node clip_norm = json_member(&node, "clip_norm");
    if (!json_is_object(node.value)) {
        standardise->is_asked = json_read_flag(node);
        return;
    }
    standardise->is_asked = true;
    if (kept)
        read_found(standardise, &node);
    else
        json_read_object(node, (const char *const[]){"epsilon", "clip_norm", NULL});
    if (json_present(epsilon))
        standardise->epsilon = json_read_real(epsilon, epsilon_range);
    if (json_present(clip_norm))
        standardise->clip_norm = json_read_real(clip_norm, clip_range);
}

static void write_found(struct json_writer *writer,
                        const struct standardise_request *standardise)
{
    json_write_text(writer, "statistics", standardise->statistics.text);
    json_write_object(writer, "reserve");
    json_write_count(writer, "seq", standardise->reserve_seq);
    json_write_text(writer, "hash", standardise->reserve_hash);
    json_write_object_end(writer);
}

void standardise_request_write(struct json_writer *writer, const char *name,
                               const struct standardise_request *standardise)
{
    if (!standardise->is_asked)
        return;
    json_write_object(writer, name);
    if (standardise->epsilon > 0)
        json_write_real(writer, "epsilon", standardise->epsilon);
    if (standardise->clip_norm > 0)
        json_write_real(writer, "clip_norm", standardise->clip_norm);
    if (standardise->statistics.text[0] != '\0')
        write_found(writer, standardise);
    json_write_object_end(writer);
}

/* --- the moments --- */

struct statistics standardise_statistics(const struct standardise_request *standardise)
{
    struct statistics statistics = {1, calloc(1, sizeof(struct statistic))};
    CHECK(statistics.items != NULL);
    statistics.items[0].kind = STATISTIC_MOMENTS;
    statistics.items[0].moments.clip_norm = standardise->clip_norm;
    statistics.items[0].moments.prefix = standardise->prefix;
    return statistics;
}

enum status standardise_request_cite(struct standardise_request *standardise,
                                     const struct statistics_row *row,
                                     struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    standardise->statistics = row->id;
    if (json_reader_open(&reader, &root, json_text_of(row->guarantee), NULL) == ST_OK)
        read_reserve(standardise, json_member(&root, "reserve"));
    if (json_reader_close(&reader) == ST_OK)
        return ST_OK;
    return error_set(error, ST_CORRUPT, "statistics %s do not read back", row->id.text);
}

/* Sets weight and bias of one feature, from its mean and deviation in its own unit. */
static void read_moment(struct feature_scale *scale, struct json_node node,
                        const struct moment_feature *feature)
{
    struct json_node deviation = json_member(&node, "deviation");
    double mean = json_read_real(json_member(&node, "mean"), json_any_real);
    double spread = json_read_real(deviation, json_any_real);
    if (!(spread > 0)) {
        json_refuse(deviation, "must be above 0");
        return;
    }
    scale->weight[feature->index] = (float)(feature->half / spread);
    scale->bias[feature->index] = (float)((feature->centre - mean) / spread);
}

static void read_answer(struct feature_scale *scale, const struct json_node *root,
                        const struct moments *moments)
{
    struct json_node answer = json_element(root, 0);
    struct json_node features = json_member(&answer, "features");
    size_t count = json_read_array(features, moments->count, moments->count);
    for (size_t j = 0; j < count; j++)
        read_moment(scale, json_element(&features, j), &moments->features[j]);
}

bool standardise_reads_columns(const struct network *network)
{
    const struct scaled_input input = network_scaled_input(network);
    return input.nodes == 0 && input.positions == 1;
}

enum status standardise_scale(struct feature_scale *scale,
                              const struct statistics_row *row,
                              const struct schema *schema,
                              const struct network *network, struct error *error)
{
    const struct scaled_input input = network_scaled_input(network);
    struct moments moments = {0};
    struct json_reader reader;
    struct json_node root;
    if (!standardise_reads_columns(network))
        moments.prefix = (struct moments_prefix){"layers", input.channels};
    enum status status = moments_resolve(&moments, schema, STATISTIC_SLOTS_MAX, error);
    if (status != ST_OK)
        return status;
    feature_scale_init(scale, input.channels);
    if (json_reader_open(&reader, &root, json_text_of(row->answers), NULL) == ST_OK &&
        json_read_array(root, 1, 1) == 1)
        read_answer(scale, &root, &moments);
    status = json_reader_close(&reader);
    moments_fini(&moments);
    if (status == ST_OK)
        return ST_OK;
    feature_scale_fini(scale);
    return error_set(error, ST_CORRUPT, "statistics %s do not read back", row->id.text);
}

/* --- JSON Schema --- */

void standardise_schema_write(struct json_writer *writer, const char *name)
{
    json_write_object(writer, name);
    json_write_array(writer, "oneOf");
    json_write_object(writer, NULL);
    json_write_text(writer, "type", "boolean");
    json_write_object_end(writer);
    json_schema_object(writer, NULL);
    json_schema_real(writer, "epsilon", epsilon_range, NULL);
    json_schema_real(writer, "clip_norm", clip_range, NULL);
    json_schema_object_end(writer, (const char *const[]){NULL});
    json_write_array_end(writer);
    json_write_object_end(writer);
}
