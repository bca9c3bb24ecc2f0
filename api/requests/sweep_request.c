#include "api/requests/sweep_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_word.h"
#include "api/limits.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

static const char fixed_number[] =
    "the number of runs is fixed when a sweep is made: the price of a number that is "
    "drawn, or that depends on what runs come to, hides how many there were, and "
    "ledger "
    "entries, events and times publish it";

static const char no_pointer[] = "must be a JSON pointer to a member of the job";

/* ---- settings, written into a job ---- */

enum { POINTER_PART_SIZE = 128 };

/* Reads the next part of a pointer that begins with '/', unescaped. Returns false if
 * there is none or it is malformed. */
static bool next_part(const char **pointer, char part[POINTER_PART_SIZE])
{
    const char *at = *pointer;
    size_t length = 0;
    if (*at != '/')
        return false;
    for (at++; *at != '\0' && *at != '/'; at++) {
        char c = *at;
        if (c == '~' && (at[1] == '0' || at[1] == '1'))
            c = *++at == '0' ? '~' : '/';
        else if (c == '~')
            return false;
        if (length + 1 == POINTER_PART_SIZE)
            return false;
        part[length++] = c;
    }
    part[length] = '\0';
    *pointer = at;
    return length > 0;
}

/* Returns the index in an array that a part names; SIZE_MAX if it is not one. */
static size_t place_in(const json_t *array, const char *part)
{
    char *end;
    unsigned long place = strtoul(part, &end, 10);
    bool good = part[0] >= '0' && part[0] <= '9' && *end == '\0' &&
                (part[0] != '0' || part[1] == '\0') && place < json_array_size(array);
    return good ? place : SIZE_MAX;
}

/* Returns what a part names in an object or array. A member that an object lacks
 * is added. */
static json_t *step_into(json_t *at, const char *part)
{
    if (json_is_array(at))
        return json_array_get(at, place_in(at, part));
    json_t *next = json_object_get(at, part);
    if (next == NULL && json_is_object(at)) {
        next = json_object();
        CHECK(json_object_set_new(at, part, next) == 0);
    }
    return next;
}

/* Writes a copy of value into the job, because the job may be changed and the request
 * must not be. A pointer leads no deeper than JSON may be nested, since the functions
 * that walk the job recurse. */
static bool put(json_t *job, const char *pointer, const json_t *value)
{
    char part[POINTER_PART_SIZE];
    bool good = next_part(&pointer, part);
    for (int depth = 1; good && *pointer != '\0'; depth++) {
        job = step_into(job, part);
        good = depth < LIMIT_JSON_DEPTH && next_part(&pointer, part);
    }
    if (!good || (json_is_array(job) && place_in(job, part) == SIZE_MAX))
        return false;
    json_t *own = json_deep_copy(value);
    CHECK(own != NULL);
    return json_is_array(job) ? json_array_set_new(job, place_in(job, part), own) == 0
                              : json_object_set_new(job, part, own) == 0;
}

static bool lies_in(const char *pointer, const char *other)
{
    size_t length = strlen(other);
    return strncmp(pointer, other, length) == 0 && pointer[length] == '/';
}

/* Returns whether a member, or a value inside it, must be the same for all runs. */
static bool is_shared(const char *pointer)
{
    static const char *const shared[] = {"/dataset", "/evaluation", "/display_name",
                                         "/tags"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(pointer, shared[i]) == 0 || lies_in(pointer, shared[i]))
            return true;
    return false;
}

/* Returns whether a setting lies in the value of another one. If so, it would depend on
 * that value and on the order of the two whether it could be written at all. Comparing
 * the texts is sufficient, since no two pointers name one place: "~0" and "~1" have no
 * other spelling, nor do indices of an array, and a member occurs once in an object. */
static bool is_in_another(json_t *settings, const char *pointer)
{
    const char *other;
    json_t *unused;
    json_object_foreach(settings, other, unused)
    {
        if (lies_in(pointer, other))
            return true;
    }
    return false;
}

/* Checks an object of settings, and refuses pointers that cannot be written. */
static void check_settings(struct json_node node, const json_t *job)
{
    const char *pointer;
    json_t *value;
    if (!json_is_object(node.value) || json_object_size(node.value) == 0 ||
        json_object_size(node.value) > LIMIT_SWEEP_SETTINGS) {
        json_refuse(node, "must be an object of 1 to %d settings",
                    LIMIT_SWEEP_SETTINGS);
        return;
    }
    json_t *copy = json_deep_copy(job);
    CHECK(copy != NULL);
    json_object_foreach(node.value, pointer, value)
    {
        if (is_shared(pointer))
            json_refuse(json_member(&node, pointer), "is the same for all runs");
        else if (is_in_another(node.value, pointer))
            json_refuse(json_member(&node, pointer),
                        "lies in what another setting is put into");
        else if (!put(copy, pointer, value))
            json_refuse(json_member(&node, pointer), "%s", no_pointer);
    }
    json_decref(copy);
}

/* ---- the runs ---- */

static void add_run(struct sweep_request *request, json_t *settings_take)
{
    CHECK(settings_take != NULL && request->count < LIMIT_SWEEP_RUNS);
    request->settings[request->count++] = settings_take;
}

static void make_list(struct sweep_request *request, struct json_node list)
{
    size_t count = json_read_array(list, 1, LIMIT_SWEEP_RUNS);
    for (size_t i = 0; i < count; i++)
        check_settings(json_element(&list, i), request->job);
    for (size_t i = 0; i < count && !json_refused(list); i++)
        add_run(request, json_deep_copy(json_array_get(list.value, i)));
}

/* Returns how many combinations a grid has; 0 if it is refused. */
static size_t grid_size(struct json_node grid)
{
    size_t size = 1;
    const char *pointer;
    json_t *values;
    json_object_foreach(grid.value, pointer, values)
    {
        size_t count = json_array_size(values);
        if (count == 0) {
            json_refuse(json_member(&grid, pointer), "must be an array of values");
            return 0;
        }
        size = size > SIZE_MAX / count ? SIZE_MAX : size * count;
    }
    if (size <= LIMIT_SWEEP_RUNS)
        return size;
    json_refuse(grid, "must make at most %d runs, and makes %zu", LIMIT_SWEEP_RUNS,
                size);
    return 0;
}

static void make_grid(struct sweep_request *request, struct json_node grid)
{
    check_settings(grid, request->job);
    size_t size = json_refused(grid) ? 0 : grid_size(grid);
    for (size_t i = 0; i < size; i++) {
        json_t *settings = json_object(), *values;
        const char *pointer;
        size_t left = size, place = i;
        json_object_foreach(grid.value, pointer, values)
        {
            left /= json_array_size(values);
            CHECK(json_object_set(settings, pointer,
                                  json_array_get(values, place / left)) == 0);
            place %= left;
        }
        add_run(request, settings);
    }
}

/* ---- draws ---- */

struct draws {
    struct stream *stream;
    uint8_t key[STREAM_KEY_SIZE];
    uint64_t drawn;
};

static void draws_init(struct draws *draws, uint64_t seed)
{
    static const char domain[] = "epsilond sweep draws";
    uint8_t text[sizeof domain + sizeof seed];
    memcpy(text, domain, sizeof domain);
    for (size_t i = 0; i < sizeof seed; i++)
        text[sizeof domain + i] = (uint8_t)(seed >> (8 * i));
    *draws = (struct draws){.stream = stream_create()};
    sha256_of(draws->key, text, sizeof text);
}

/* Draws a number that is uniform in [0, 1). */
static double draw(struct draws *draws)
{
    uint64_t word;
    const struct stream_position from = {.key = draws->key, .block = draws->drawn++};
    stream_read(draws->stream, &word, sizeof word, &from);
    return (double)(word >> 11) * 0x1p-53;
}

struct span { /* range of a setting that is drawn */
    double low, high;
    bool log, whole;
};

static bool read_log(struct json_node scale)
{
    if (!json_present(scale))
        return false;
    size_t is_log = false;
    json_read_word(&is_log, scale, (const char *const[]){"linear", "log", NULL});
    return is_log != 0;
}

static struct span read_span(struct json_node node)
{
    static const char *const members[] = {"low", "high", "scale", "whole", NULL};
    struct json_node whole = json_member(&node, "whole");
    json_read_object(node, members);
    struct span span = {.low = json_read_real(json_member(&node, "low"), json_any_real),
                        .high =
                            json_read_real(json_member(&node, "high"), json_any_real),
                        .log = read_log(json_member(&node, "scale")),
                        .whole = json_present(whole) && json_read_flag(whole)};
    if (!json_refused(node) &&
        !(span.low < span.high && isfinite(span.high - span.low) &&
          (!span.log || span.low > 0) &&
          (!span.whole || (fabs(span.low) < (double)LIMIT_COUNT &&
                           fabs(span.high) < (double)LIMIT_COUNT))))
        json_refuse(node, "must have low below high, and above 0 for log");
    else if (!json_refused(node) && span.whole && ceil(span.low) > floor(span.high))
        json_refuse(node, "has no whole number between low and high");
    return span;
}

static json_t *draw_span(struct draws *draws, const struct span *span)
{
    char text[32];
    double share = draw(draws);
    double value = span->log ? span->low * pow(span->high / span->low, share)
                             : span->low + share * (span->high - span->low);
    if (span->whole)
        return json_integer(
            (json_int_t)fmin(fmax(round(value), ceil(span->low)), floor(span->high)));
    snprintf(text, sizeof text, "%.4g", value);
    return json_real(fmin(fmax(strtod(text, NULL), span->low), span->high));
}

static void check_drawn(struct json_node setting)
{
    static const char *const members[] = {"values", NULL};
    struct json_node values = json_member(&setting, "values");
    if (!json_present(values)) {
        read_span(setting);
        return;
    }
    json_read_object(setting, members);
    json_read_array(values, 1, LIMIT_SWEEP_RUNS);
}

static json_t *draw_setting(struct draws *draws, struct json_node setting)
{
    const json_t *values = json_object_get(setting.value, "values");
    if (values == NULL) {
        const struct span span = read_span(setting);
        return draw_span(draws, &span);
    }
    size_t count = json_array_size(values);
    size_t place = (size_t)(draw(draws) * (double)count);
    return json_deep_copy(json_array_get(values, place));
}

static void draw_runs(struct sweep_request *request, struct json_node settings,
                      uint64_t seed, size_t count)
{
    struct draws draws;
    draws_init(&draws, seed);
    for (size_t i = 0; i < count; i++) {
        json_t *run = json_object(), *value;
        const char *pointer;
        json_object_foreach(settings.value, pointer, value)
        {
            struct json_node setting = json_member(&settings, pointer);
            CHECK(json_object_set_new(run, pointer, draw_setting(&draws, setting)) ==
                  0);
        }
        add_run(request, run);
    }
    stream_destroy(draws.stream);
}

static void make_random(struct sweep_request *request, struct json_node random)
{
    static const char *const members[] = {"count", "seed", "settings", NULL};
    const char *pointer;
    json_t *unused;
    struct json_node count = json_member(&random, "count"),
                     seed = json_member(&random, "seed"),
                     settings = json_member(&random, "settings");
    json_read_object(random, members);
    if (json_is_object(count.value) || json_is_string(count.value))
        json_refuse(count, "%s", fixed_number);
    uint64_t runs = json_read_count(count, 1, LIMIT_SWEEP_RUNS);
    uint64_t from =
        json_present(seed) ? json_read_count(seed, 0, (uint64_t)LIMIT_COUNT - 1) : 0;
    check_settings(settings, request->job);
    if (json_is_object(settings.value))
        json_object_foreach(settings.value, pointer, unused)
            check_drawn(json_member(&settings, pointer));
    if (!json_refused(random))
        draw_runs(request, settings, from, (size_t)runs);
}

/* ---- the body ---- */

static void make_runs(struct sweep_request *request, const struct json_node *root)
{
    static const char *const members[] = {"job",    "runs",     "grid",
                                          "random", "stopping", NULL};
    struct json_node list = json_member(root, "runs"), grid = json_member(root, "grid"),
                     random = json_member(root, "random"),
                     stopping = json_member(root, "stopping"),
                     job = json_member(root, "job");
    json_read_object(*root, members);
    if (json_present(stopping))
        json_refuse(stopping, "%s", fixed_number);
    if (json_present(list) + json_present(grid) + json_present(random) != 1)
        json_refuse(*root, "must have one of runs, grid and random");
    if (!json_is_object(job.value)) {
        json_refuse(job, "must be a job");
        return;
    }
    request->job = json_incref(job.value);
    if (json_refused(*root))
        return;
    if (json_present(list))
        make_list(request, list);
    else if (json_present(grid))
        make_grid(request, grid);
    else
        make_random(request, random);
}

enum status sweep_request_parse(struct sweep_request *request, struct json_text body,
                                struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    *request = (struct sweep_request){
        .settings = calloc(LIMIT_SWEEP_RUNS, sizeof *request->settings)};
    CHECK(request->settings != NULL);
    if (json_reader_open(&reader, &root, body, error) == ST_OK)
        make_runs(request, &root);
    enum status status = json_reader_close(&reader);
    if (status != ST_OK)
        sweep_request_fini(request);
    return status;
}

void sweep_request_fini(struct sweep_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        json_decref(request->settings[i]);
    json_decref(request->job);
    free(request->settings);
    *request = (struct sweep_request){0};
}

enum status sweep_request_body(char **out, const struct sweep_request *request,
                               size_t run, struct error *error)
{
    enum status status = ST_OK;
    json_t *job = json_deep_copy(request->job), *value;
    const char *pointer;
    CHECK(job != NULL && run < request->count);
    json_object_foreach(request->settings[run], pointer, value)
    {
        if (status == ST_OK && !put(job, pointer, value))
            status = error_set_at(error, ST_INVALID, pointer, "%s", no_pointer);
    }
    if (status == ST_OK) {
        *out = json_dumps(job, JSON_COMPACT);
        CHECK(*out != NULL);
    }
    json_decref(job);
    return status;
}

char *sweep_request_settings(const struct sweep_request *request, size_t run)
{
    char *text = json_dumps(request->settings[run], JSON_COMPACT);
    CHECK(text != NULL && run < request->count);
    return text;
}
