/* As in job_request.c, each function reads a group of members into a zeroed struct and
 * does not stop at a mistake. parse asks once, at the end, whether there were any. */
#include "api/requests/statistics_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/dataset_request.h"
#include "base/check.h"

_Static_assert((int)LIMIT_STATISTIC_SLOTS == (int)STATISTIC_SLOTS_MAX,
               "a request is refused where the engine would refuse it");

static const struct json_range epsilon_range = {0, LIMIT_EPSILON, true, false};
static const struct json_range noise_range = {LIMIT_NOISE_MULTIPLIER_MIN,
                                              LIMIT_NOISE_MULTIPLIER_MAX, false, false};
static const struct json_range delta_range = {LIMIT_DELTA_MIN, 1, true, true};
static const struct json_range probability_range = {0, 1, true, true};
static const struct json_range probability_half_range = {0, .5, true, true};
static const struct json_range clip_range = {MOMENTS_CLIP_MIN, MOMENTS_CLIP_MAX, false,
                                             false};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    CHECK(memory != NULL); /* bounded by the limits on arrays */
    return memory;
}

/* --- axes --- */

static void read_column(struct axis *axis, struct json_node node)
{
    const char *text = json_read_text(node);
    axis->column = strdup(text);
    CHECK(axis->column != NULL);
}

/* Reads edges: numbers, each greater than the one before it. */
static void read_edges(struct axis *axis, struct json_node node, size_t high)
{
    size_t count = json_read_array(node, 2, high);
    if (count == 0)
        return;
    axis->bins = count - 1;
    axis->edges = allocate(count, sizeof *axis->edges);
    for (size_t i = 0; i < count; i++) {
        struct json_node edge = json_element(&node, i);
        size_t before = json_refusals(edge);
        axis->edges[i] = json_read_real(edge, json_any_real);
        if (i > 0 && json_refusals(edge) == before &&
            !(axis->edges[i] > axis->edges[i - 1]))
            json_refuse(edge, "must be greater than the one before it");
    }
}

static void read_bins(struct axis *axis, struct json_node node)
{
    if (!json_present(node))
        return;
    if (json_is_array(node.value))
        read_edges(axis, node, LIMIT_STATISTIC_SLOTS + 1);
    else
        axis->bins = (size_t)json_read_count(node, 1, LIMIT_STATISTIC_SLOTS);
}

static void read_pair(struct statistic *statistic, struct json_node node)
{
    statistic->axis_count = json_read_array(node, 2, 2);
    for (size_t k = 0; k < statistic->axis_count; k++) {
        struct json_node axis = json_element(&node, k);
        json_read_object(axis, (const char *const[]){"column", "bins", NULL});
        read_column(&statistic->axes[k], json_member(&axis, "column"));
        read_bins(&statistic->axes[k], json_member(&axis, "bins"));
    }
}

/* --- one statistic --- */

static void read_probabilities(struct statistic *statistic, struct json_node node)
{
    size_t count = json_read_array(node, 1, LIMIT_PROBABILITIES);
    if (count == 0)
        return;
    statistic->probability_count = count;
    statistic->probabilities = allocate(count, sizeof *statistic->probabilities);
    for (size_t i = 0; i < count; i++)
        statistic->probabilities[i] =
            json_read_real(json_element(&node, i), probability_range);
}

static void read_range(struct axis *axis, struct json_node node)
{
    if (json_present(node))
        read_edges(axis, node, 2);
}

/* Returns the members that a statistic of each kind has. If it is about one column, the
 * third says how that column is divided. */
static const char *const *members_of(enum statistic_kind kind)
{
    static const char *const histogram[] = {"kind", "column", "bins", NULL};
    static const char *const table[] = {"kind", "columns", NULL};
    static const char *const number[] = {"kind", "column", "range", NULL};
    static const char *const quantiles[] = {"kind", "column", "bins", "probabilities",
                                            NULL};
    static const char *const moments[] = {"kind", "clip_norm", NULL};
    static const char *const words[] = {"kind", "column", NULL};
    switch (kind) {
    case STATISTIC_HISTOGRAM: return histogram;
    case STATISTIC_TABLE: return table;
    case STATISTIC_SUM:
    case STATISTIC_MEAN:
    case STATISTIC_VARIANCE: return number;
    case STATISTIC_QUANTILES: return quantiles;
    case STATISTIC_MOMENTS: return moments;
    case STATISTIC_WORDS: return words;
    }
    return number;
}

static void read_clip_norm(struct moments *moments, struct json_node node)
{
    if (json_present(node))
        moments->clip_norm = json_read_real(node, clip_range);
}

static void read_members(struct statistic *statistic, struct json_node node)
{
    struct axis *axis = &statistic->axes[0];
    json_read_object(node, members_of(statistic->kind));
    if (statistic->kind == STATISTIC_TABLE) {
        read_pair(statistic, json_member(&node, "columns"));
        return;
    }
    if (statistic->kind == STATISTIC_MOMENTS) {
        read_clip_norm(&statistic->moments, json_member(&node, "clip_norm"));
        return;
    }
    statistic->axis_count = 1;
    read_column(axis, json_member(&node, "column"));
    switch (statistic->kind) {
    case STATISTIC_QUANTILES:
        read_probabilities(statistic, json_member(&node, "probabilities"));
        read_bins(axis, json_member(&node, "bins"));
        break;
    case STATISTIC_HISTOGRAM:
    case STATISTIC_TABLE: read_bins(axis, json_member(&node, "bins")); break;
    case STATISTIC_SUM:
    case STATISTIC_MEAN:
    case STATISTIC_VARIANCE: read_range(axis, json_member(&node, "range")); break;
    case STATISTIC_WORDS:
    case STATISTIC_MOMENTS: break;
    }
}

static void read_statistic(struct statistic *statistic, struct json_node node)
{
    if (!json_is_object(node.value)) {
        json_refuse(node, "must be an object that names a kind");
        return;
    }
    struct json_node kind = json_member(&node, "kind");
    const char *text = json_read_text(kind);
    if (statistic_kind_parse(&statistic->kind, text))
        read_members(statistic, node);
    else
        json_refuse(kind, "must be histogram, table, sum, mean, variance, "
                          "quantiles, moments or words");
}

/* --- the request --- */

/* Words that are alone in their request need it; no other statistic has it. A request
 * with words and others is refused when it is resolved. */
static void read_discovery(struct statistics_request *request, struct json_node node)
{
    bool has_words = false;
    for (size_t i = 0; i < request->statistics.count; i++)
        has_words = has_words || request->statistics.items[i].kind == STATISTIC_WORDS;
    if (!has_words && json_present(node))
        json_refuse(node, "is the chance that a word of one unit is shown: only a "
                          "request for words has it");
    else if (has_words)
        request->discovery_delta = json_read_real(node, probability_half_range);
}

static void read_privacy(struct statistics_request *request, struct json_node node)
{
    struct json_node epsilon = json_member(&node, "epsilon");
    struct json_node noise = json_member(&node, "noise_multiplier");
    struct json_node delta = json_member(&node, "delta");
    json_read_object(node, (const char *const[]){"epsilon", "noise_multiplier", "delta",
                                                 "discovery_delta", NULL});
    request->has_epsilon = json_present(epsilon);
    if (json_present(epsilon) == json_present(noise))
        json_refuse(node, "must have one of epsilon and noise_multiplier");
    else if (request->has_epsilon)
        request->target = json_read_real(epsilon, epsilon_range);
    else
        request->target = json_read_real(noise, noise_range);
    if (json_present(delta))
        request->delta = json_read_real(delta, delta_range);
    read_discovery(request, json_member(&node, "discovery_delta"));
}

static void read_request(struct statistics_request *request,
                         const struct json_node *root)
{
    struct json_node dataset = json_member(root, "dataset");
    struct json_node list = json_member(root, "statistics");
    json_read_object(*root,
                     (const char *const[]){"dataset", "statistics", "privacy", NULL});
    dataset_request_read_id(&request->dataset, dataset);
    size_t count = json_read_array(list, 1, LIMIT_STATISTICS);
    request->statistics.items = allocate(count + 1, sizeof(struct statistic));
    request->statistics.count = count;
    for (size_t i = 0; i < count; i++)
        read_statistic(&request->statistics.items[i], json_element(&list, i));
    read_privacy(request, json_member(root, "privacy"));
}

enum status statistics_request_parse(struct statistics_request *request,
                                     struct json_text body, struct error *error)
{
    struct statistics_request read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK)
        read_request(&read, &root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    else
        statistics_request_fini(&read);
    return status;
}

void statistics_request_fini(struct statistics_request *request)
{
    statistics_fini(&request->statistics);
    *request = (struct statistics_request){0};
}

/* --- rendering --- */

static void write_axis(struct json_writer *writer, const struct axis *axis,
                       const char *member)
{
    json_write_text(writer, "column", axis->column);
    if (axis->edges != NULL)
        json_write_reals(writer, member, axis->edges, axis->bins + 1);
    else if (axis->bins > 0)
        json_write_count(writer, member, axis->bins);
}

static void write_pair(struct json_writer *writer, const struct statistic *statistic)
{
    json_write_array(writer, "columns");
    for (size_t k = 0; k < statistic->axis_count; k++) {
        json_write_object(writer, NULL);
        write_axis(writer, &statistic->axes[k], "bins");
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_moments(struct json_writer *writer, const struct moments *moments)
{
    if (moments->clip_norm > 0)
        json_write_real(writer, "clip_norm", moments->clip_norm);
    if (moments->prefix.sha256[0] != '\0')
        json_write_text(writer, "prefix", moments->prefix.sha256);
}

static void write_statistic(struct json_writer *writer,
                            const struct statistic *statistic)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "kind", statistic_kind_name(statistic->kind));
    if (statistic->kind == STATISTIC_TABLE)
        write_pair(writer, statistic);
    else if (statistic->kind == STATISTIC_MOMENTS)
        write_moments(writer, &statistic->moments);
    else
        write_axis(writer, &statistic->axes[0], members_of(statistic->kind)[2]);
    if (statistic->kind == STATISTIC_QUANTILES)
        json_write_reals(writer, "probabilities", statistic->probabilities,
                         statistic->probability_count);
    json_write_object_end(writer);
}

char *statistics_render(const struct statistics *statistics)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_array(&writer, NULL);
    for (size_t i = 0; i < statistics->count; i++)
        write_statistic(&writer, &statistics->items[i]);
    json_write_array_end(&writer);
    return json_writer_close(&writer);
}
