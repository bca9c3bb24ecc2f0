#include "api/requests/scaling_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "api/limits.h"

static const char pointer[] = "/scaling/statistics";

void scaling_request_fini(struct scaling_request *scaling)
{
    column_ranges_fini(&scaling->ranges);
    *scaling = (struct scaling_request){0};
}

/* --- the requested and the stored form --- */

static void read_reserve(struct scaling_request *scaling, struct json_node node)
{
    struct json_node hash = json_member(&node, "hash");
    scaling->reserve_seq =
        json_read_count(json_member(&node, "seq"), 1, (uint64_t)LIMIT_COUNT);
    const char *text = json_read_text(hash);
    if (strlen(text) != SHA256_HEX_SIZE - 1)
        json_refuse(hash, "must be the hash of an entry");
    snprintf(scaling->reserve_hash, sizeof scaling->reserve_hash, "%s", text);
}

static void read_range(struct scaling_request *scaling, struct json_node node)
{
    struct json_node range = json_member(&node, "range");
    struct json_node column = json_member(&node, "column");
    const char *name = json_read_text(column);
    if (json_read_array(range, 2, 2) == 0)
        return;
    double low = json_read_real(json_element(&range, 0), json_any_real);
    double high = json_read_real(json_element(&range, 1), json_any_real);
    column_ranges_add(&scaling->ranges, name, low, high);
}

static void read_kept(struct scaling_request *scaling, struct json_node node)
{
    struct json_node ranges = json_member(&node, "ranges");
    size_t count = json_read_array(ranges, 1, LIMIT_STATISTICS);
    read_reserve(scaling, json_member(&node, "reserve"));
    for (size_t i = 0; i < count; i++)
        read_range(scaling, json_element(&ranges, i));
}

void scaling_request_read(struct scaling_request *scaling, struct json_node node,
                          bool kept)
{
    static const char *const asked_for[] = {"statistics", NULL};
    struct json_node statistics = json_member(&node, "statistics");
    struct json_node ranges = json_member(&node, "ranges");
    if (kept && json_present(ranges))
        read_kept(scaling, node);
    else
        json_read_object(node, asked_for);
    if (!survey_id_parse(&scaling->statistics, json_read_text(statistics)) ||
        survey_id_is_evaluation(&scaling->statistics))
        json_refuse(statistics, "must be the id of statistics, sta_...");
}

static void write_resolved(struct json_writer *writer,
                           const struct scaling_request *scaling)
{
    json_write_object(writer, "reserve");
    json_write_count(writer, "seq", scaling->reserve_seq);
    json_write_text(writer, "hash", scaling->reserve_hash);
    json_write_object_end(writer);
    json_write_array(writer, "ranges");
    for (size_t i = 0; i < scaling->ranges.count; i++) {
        const struct column_range *range = &scaling->ranges.items[i];
        json_write_object(writer, NULL);
        json_write_text(writer, "column", range->column);
        json_write_reals(writer, "range", (double[]){range->low, range->high}, 2);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

void scaling_request_write(struct json_writer *writer, const char *name,
                           const struct scaling_request *scaling)
{
    if (scaling->statistics.text[0] == '\0')
        return;
    json_write_object(writer, name);
    json_write_text(writer, "statistics", scaling->statistics.text);
    if (scaling->ranges.count > 0)
        write_resolved(writer, scaling);
    json_write_object_end(writer);
}

/* --- what was released --- */

static const struct column *find_numeric(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].kind == COLUMN_NUMERIC &&
            strcmp(schema->columns[i].name, name) == 0)
            return &schema->columns[i];
    return NULL;
}

struct ends { /* the quantiles of the lowest and the highest probability */
    double lowest, low, highest, high;
};

static struct ends read_ends(struct json_node quantiles)
{
    struct ends ends = {.lowest = INFINITY, .highest = -INFINITY};
    size_t count = json_read_array(quantiles, 1, LIMIT_PROBABILITIES);
    for (size_t i = 0; i < count; i++) {
        struct json_node quantile = json_element(&quantiles, i);
        double probability =
            json_read_real(json_member(&quantile, "probability"), json_any_real);
        double value = json_read_real(json_member(&quantile, "value"), json_any_real);
        if (probability < ends.lowest) {
            ends.lowest = probability;
            ends.low = value;
        }
        if (probability > ends.highest) {
            ends.highest = probability;
            ends.high = value;
        }
    }
    return ends;
}

/* Adds the range of one answer, if it is the first with quantiles of that numeric
 * column. Answers are shown with fewer digits than ranges are declared with, so an end
 * that lies beyond the declared one is replaced by it. */
static void add_answer(struct scaling_request *scaling, struct json_node answer,
                       const struct schema *schema)
{
    const char *kind = json_read_text(json_member(&answer, "kind"));
    if (strcmp(kind, "quantiles") != 0)
        return;
    const char *name = json_read_text(json_member(&answer, "column"));
    const struct column *column = find_numeric(schema, name);
    struct ends ends = read_ends(json_member(&answer, "quantiles"));
    if (column != NULL && ends.lowest < ends.highest &&
        column_ranges_find(&scaling->ranges, name) == NULL)
        column_ranges_add(&scaling->ranges, name, fmax(ends.low, column->low),
                          fmin(ends.high, column->high));
}

static enum status read_answers(struct scaling_request *scaling, const char *answers,
                                const struct schema *schema)
{
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, json_text_of(answers), NULL) == ST_OK) {
        size_t count = json_read_array(root, 1, LIMIT_STATISTICS);
        for (size_t i = 0; i < count; i++)
            add_answer(scaling, json_element(&root, i), schema);
    }
    return json_reader_close(&reader);
}

static enum status read_guarantee(struct scaling_request *scaling,
                                  const char *guarantee)
{
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, json_text_of(guarantee), NULL) == ST_OK)
        read_reserve(scaling, json_member(&root, "reserve"));
    return json_reader_close(&reader);
}

enum status scaling_request_resolve(struct scaling_request *scaling,
                                    const struct statistics_row *row,
                                    const struct schema *schema, struct error *error)
{
    struct error inner = {0};
    if (read_answers(scaling, row->answers, schema) != ST_OK ||
        read_guarantee(scaling, row->guarantee) != ST_OK)
        return error_set(error, ST_CORRUPT, "statistics %s do not read back",
                         row->id.text);
    if (scaling->ranges.count == 0)
        return error_set_at(
            error, ST_INVALID, pointer,
            "they hold no quantiles, of two probabilities, of a numeric "
            "column");
    if (column_ranges_check(&scaling->ranges, schema, &inner) == ST_OK)
        return ST_OK;
    return error_set_at(error, ST_INVALID, pointer, "%s", inner.text);
}

void scaling_schema_write(struct json_writer *writer, const char *name)
{
    json_schema_object(writer, name);
    json_write_object(writer, "statistics");
    json_write_text(writer, "type", "string");
    json_write_text(writer, "pattern", "^sta_[0-9A-HJKMNP-TV-Z]{26}$");
    json_write_object_end(writer);
    json_schema_object_end(writer, (const char *const[]){"statistics", NULL});
}
