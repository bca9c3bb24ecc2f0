#include "api/requests/rank_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

enum { THREADS_MAX = 65536, PATIENCE_MAX_S = 1000000 };

static bool nibble(uint8_t *value, char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *place = digit == '\0' ? NULL : strchr(digits, digit);
    if (place != NULL)
        *value = (uint8_t)(place - digits);
    return place != NULL;
}

static void read_digest(uint8_t digest[SHA256_SIZE], struct json_node node)
{
    const char *text = json_read_text(node);
    bool is_one = strlen(text) == SHA256_HEX_SIZE - 1;
    for (size_t i = 0; is_one && i < SHA256_SIZE; i++) {
        uint8_t high, low;
        is_one = nibble(&high, text[2 * i]) && nibble(&low, text[2 * i + 1]);
        if (is_one)
            digest[i] = (uint8_t)(high << 4 | low);
    }
    if (!is_one)
        json_refuse(node, "must be 64 hexadecimal digits");
}

static void read_string(char *to, size_t size, struct json_node node)
{
    const char *text = json_read_text(node);
    if (strlen(text) >= size)
        json_refuse(node, "must be shorter than %zu bytes", size);
    snprintf(to, size, "%s", text);
}

/* --- the plan: a line of figures, one of the dataset, one of the request --- */

static void write_file(struct json_writer *writer, const char *name,
                       const struct rank_file *file)
{
    if (file->path[0] == '\0')
        return;
    json_write_object(writer, name);
    json_write_text(writer, "path", file->path);
    json_write_count(writer, "size", file->seal.size);
    json_write_digest(writer, "sha256", file->seal.sha256);
    json_write_object_end(writer);
}

static void read_file(struct rank_file *file, struct json_node node)
{
    if (!json_present(node))
        return;
    json_read_object(node, (const char *const[]){"path", "size", "sha256", NULL});
    read_string(file->path, sizeof file->path, json_member(&node, "path"));
    file->seal.size = json_read_count(json_member(&node, "size"), 0, INT64_MAX);
    read_digest(file->seal.sha256, json_member(&node, "sha256"));
}

char *rank_plan_render(const struct rank_plan *plan)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "records", plan->records);
    json_write_real(&writer, "noise_multiplier", plan->noise_multiplier);
    json_write_count(&writer, "ranks", plan->ranks);
    json_write_count(&writer, "threads", plan->threads);
    json_write_count(&writer, "patience_s", plan->patience_s);
    write_file(&writer, "matrix", &plan->matrix);
    write_file(&writer, "weights", &plan->weights);
    write_file(&writer, "body", &plan->body);
    json_write_text(&writer, "model", plan->model);
    json_write_object_end(&writer);
    char *figures = json_writer_close(&writer);
    size_t size = strlen(figures) + strlen(plan->dataset) + strlen(plan->request) +
                  sizeof "\n\n\n";
    char *text = malloc(size);
    CHECK(text != NULL);
    snprintf(text, size, "%s\n%s\n%s\n", figures, plan->dataset, plan->request);
    free(figures);
    return text;
}

static enum status parse_figures(struct rank_plan *plan, const char *line, size_t size,
                                 struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    enum status status =
        json_reader_open(&reader, &root, json_text_sized(line, size), error);
    if (status != ST_OK)
        return status;
    json_read_object(root, (const char *const[]){"records", "noise_multiplier", "ranks",
                                                 "threads", "patience_s", "matrix",
                                                 "weights", "body", "model", NULL});
    plan->records = json_read_count(json_member(&root, "records"), 1, LIMIT_RECORDS);
    plan->noise_multiplier =
        json_read_real(json_member(&root, "noise_multiplier"),
                       (struct json_range){0, INFINITY, false, true});
    plan->ranks =
        (unsigned)json_read_count(json_member(&root, "ranks"), 1, LIMIT_RANKS);
    plan->threads =
        (unsigned)json_read_count(json_member(&root, "threads"), 1, THREADS_MAX);
    plan->patience_s =
        (unsigned)json_read_count(json_member(&root, "patience_s"), 1, PATIENCE_MAX_S);
    read_file(&plan->matrix, json_member(&root, "matrix"));
    read_file(&plan->weights, json_member(&root, "weights"));
    read_file(&plan->body, json_member(&root, "body"));
    read_string(plan->model, sizeof plan->model, json_member(&root, "model"));
    return json_reader_close(&reader);
}

enum status rank_plan_parse(struct rank_plan *plan, const char *text, size_t size,
                            struct error *error)
{
    const char *lines[3], *end = text + size;
    size_t lengths[3];
    for (int i = 0; i < 3; i++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (stop == NULL)
            return error_set(error, ST_INVALID, "a plan has three lines");
        lines[i] = text;
        lengths[i] = (size_t)(stop - text);
        text = stop + 1;
    }
    struct rank_plan read = {0};
    enum status status = parse_figures(&read, lines[0], lengths[0], error);
    if (status != ST_OK)
        return status;
    read.dataset = strndup(lines[1], lengths[1]);
    read.request = strndup(lines[2], lengths[2]);
    CHECK(read.dataset != NULL && read.request != NULL);
    *plan = read;
    return ST_OK;
}

void rank_plan_fini(struct rank_plan *plan)
{
    free(plan->dataset);
    free(plan->request);
    plan->dataset = plan->request = NULL;
}

void rank_head_render(char head[RANK_HEAD_SIZE], size_t bytes)
{
    snprintf(head, RANK_HEAD_SIZE, "epsilond-rank %s %zu\n", EPSILOND_VERSION, bytes);
}

enum status rank_head_parse(size_t *bytes, const char *line, struct error *error)
{
    char version[RANK_HEAD_SIZE], again[RANK_HEAD_SIZE];
    size_t read = 0;
    if (strlen(line) >= RANK_HEAD_SIZE ||
        sscanf(line, "epsilond-rank %63s %zu", version, &read) != 2 ||
        read > RANK_PLAN_MAX)
        return error_set(error, ST_INVALID,
                         "what came is no plan; the daemon sends one");
    rank_head_render(again, read);
    if (strncmp(again, line, strlen(again) - 1) != 0)
        return error_set(error, ST_INVALID, "this is epsilond-rank %s, the daemon's %s",
                         EPSILOND_VERSION, version);
    *bytes = read;
    return ST_OK;
}

/* --- orders --- */

char *rank_order_render(const struct rank_order *order)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_flag(&writer, "over", order->is_over);
    json_write_count(&writer, "until", order->until);
    json_write_flag(&writer, "model", order->wants_model);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status rank_order_parse(struct rank_order *order, const char *line,
                             struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct rank_order read;
    enum status status = json_reader_open(&reader, &root, json_text_of(line), error);
    if (status != ST_OK)
        return status;
    json_read_object(root, (const char *const[]){"over", "until", "model", NULL});
    read.is_over = json_read_flag(json_member(&root, "over"));
    read.until = json_read_count(json_member(&root, "until"), 0, LIMIT_STEPS);
    read.wants_model = json_read_flag(json_member(&root, "model"));
    status = json_reader_close(&reader);
    if (status == ST_OK)
        *order = read;
    return status;
}

/* --- reports --- */

/* Writes the released numbers. If the model diverged, a number may not be finite; it is
 * written as null. */
static void write_numbers(struct json_writer *writer, const struct rank_report *report)
{
    json_write_array(writer, "released");
    for (size_t k = 0; k < report->number_count; k++)
        json_write_real_if(writer, isfinite(report->numbers[k]), NULL,
                           report->numbers[k]);
    json_write_array_end(writer);
}

static void read_numbers(struct rank_report *report, struct json_node node)
{
    report->number_count = json_read_array(node, 0, RELEASED_NUMBERS_MAX);
    for (size_t k = 0; k < report->number_count; k++) {
        struct json_node number = json_element(&node, k);
        report->numbers[k] = json_is_null(number.value)
                                 ? (double)NAN
                                 : json_read_real(number, json_any_real);
    }
}

static void write_run(struct json_writer *writer, const struct mechanism_run *run)
{
    json_write_object(writer, "next");
    json_write_real(writer, "sampling_rate", run->sampling_rate);
    json_write_real(writer, "noise_multiplier", run->noise_multiplier);
    json_write_count(writer, "steps", run->steps);
    json_write_object_end(writer);
}

static void read_run(struct rank_report *report, struct json_node node)
{
    report->has_next = json_present(node);
    if (!report->has_next)
        return;
    static const struct json_range rate = {0, 1, true, false};
    static const struct json_range noise = {0, INFINITY, true, true};
    json_read_object(node, (const char *const[]){"sampling_rate", "noise_multiplier",
                                                 "steps", NULL});
    report->next = (struct mechanism_run){
        .sampling_rate = json_read_real(json_member(&node, "sampling_rate"), rate),
        .noise_multiplier =
            json_read_real(json_member(&node, "noise_multiplier"), noise),
        .steps = json_read_count(json_member(&node, "steps"), 1, LIMIT_STEPS)};
}

char *rank_report_render(const struct rank_report *report)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    if (report->failure != ST_OK) {
        json_write_text(&writer, "failed", status_wire(report->failure));
        json_write_text(&writer, "detail", report->detail);
    } else {
        json_write_count(&writer, "step", report->step);
        write_numbers(&writer, report);
        if (report->has_next)
            write_run(&writer, &report->next);
        if (report->has_model)
            json_write_digest(&writer, "model", report->model_sha256);
        if (report->noise[0] != '\0')
            json_write_text(&writer, "noise", report->noise);
    }
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static void read_failure(struct rank_report *report, const struct json_node *root)
{
    struct json_node failed = json_member(root, "failed");
    const char *wire = json_read_text(failed);
    json_read_object(*root, (const char *const[]){"failed", "detail", NULL});
    for (int k = ST_OK + 1; k < STATUS_COUNT && report->failure == ST_OK; k++)
        if (strcmp(status_wire((enum status)k), wire) == 0)
            report->failure = (enum status)k;
    if (report->failure == ST_OK)
        json_refuse(failed, "must be a code of a problem");
    read_string(report->detail, sizeof report->detail, json_member(root, "detail"));
}

static void read_progress(struct rank_report *report, const struct json_node *root)
{
    struct json_node model = json_member(root, "model");
    struct json_node noise = json_member(root, "noise");
    json_read_object(*root, (const char *const[]){"step", "released", "next", "model",
                                                  "noise", NULL});
    report->step = json_read_count(json_member(root, "step"), 0, LIMIT_STEPS);
    read_numbers(report, json_member(root, "released"));
    read_run(report, json_member(root, "next"));
    report->has_model = json_present(model);
    if (report->has_model)
        read_digest(report->model_sha256, model);
    if (json_present(noise))
        read_string(report->noise, sizeof report->noise, noise);
}

enum status rank_report_parse(struct rank_report *report, const char *line,
                              struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct rank_report read = {0};
    enum status status = json_reader_open(&reader, &root, json_text_of(line), error);
    if (status != ST_OK)
        return status;
    if (json_present(json_member(&root, "failed")))
        read_failure(&read, &root);
    else
        read_progress(&read, &root);
    status = json_reader_close(&reader);
    if (status == ST_OK)
        *report = read;
    return status;
}
