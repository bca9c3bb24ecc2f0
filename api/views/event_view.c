#include "api/views/event_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_writer.h"
#include "api/views/budget_view.h"
#include "api/views/sweep_view.h"
#include "base/check.h"

/* --- the frame --- */

void event_writer_open(struct event_writer *writer)
{
    *writer = (struct event_writer){0};
    writer->stream = open_memstream(&writer->text, &writer->size);
    CHECK(writer->stream != NULL);
}

static void end_event(struct event_writer *writer)
{
    if (writer->open)
        fputc('\n', writer->stream);
    writer->open = false;
}

void event_write(struct event_writer *writer, const char *name, char *data_take)
{
    end_event(writer);
    fprintf(writer->stream, "event: %s\ndata: %s\n", name, data_take);
    writer->open = true;
    free(data_take);
}

void event_write_id(struct event_writer *writer, const char *nonce, uint64_t version)
{
    CHECK(writer->open);
    fprintf(writer->stream, "id: %s-%llu\n", nonce, (unsigned long long)version);
}

char *event_writer_close(struct event_writer *writer, size_t *size)
{
    end_event(writer);
    CHECK(fclose(writer->stream) == 0);
    *size = writer->size;
    return writer->text;
}

/* Reads -DIGITS, and moves the text past it. */
static bool read_number(uint64_t *number, const char **text)
{
    enum { DIGITS_MAX = 19 }; /* a number of 19 digits is below 2^64 */
    const char *digits = *text + 1;
    if (**text != '-')
        return false;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > DIGITS_MAX)
        return false;
    *number = strtoull(digits, NULL, 10);
    *text = digits + count;
    return true;
}

bool event_id_parse(uint64_t *version, const char *text, const char *nonce)
{
    uint64_t read;
    size_t length = strlen(nonce);
    if (text == NULL || strncmp(text, nonce, length) != 0)
        return false;
    text += length;
    if (!read_number(&read, &text) || *text != '\0')
        return false;
    *version = read;
    return true;
}

void event_write_mark(struct event_writer *writer, const char *nonce, uint64_t version,
                      const struct event_mark *mark)
{
    CHECK(writer->open);
    fprintf(writer->stream,
            "id: %s-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "\n",
            nonce, version, mark->points, mark->released, mark->step, mark->stage);
}

bool event_mark_parse(struct event_mark *mark, uint64_t *version, const char *text,
                      const char *nonce)
{
    uint64_t known;
    struct event_mark read;
    size_t length = strlen(nonce);
    if (text == NULL || strspn(text, "0123456789abcdef") != length)
        return false;
    bool is_own = strncmp(text, nonce, length) == 0;
    text += length;
    if (!read_number(&known, &text) || !read_number(&read.points, &text) ||
        !read_number(&read.released, &text) || !read_number(&read.step, &text) ||
        !read_number(&read.stage, &text) || *text != '\0')
        return false;
    *mark = read;
    *version = is_own ? known : 0;
    return true;
}

/* --- data --- */

static void open_object(struct json_writer *writer)
{
    json_writer_open(writer, JSON_SHOWN);
    json_write_object(writer, NULL);
}

static char *close_object(struct json_writer *writer)
{
    json_write_object_end(writer);
    return json_writer_close(writer);
}

char *event_state_render(const struct job_view *view)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "id", view->id->text);
    json_write_text(&writer, "state", view->state);
    json_write_text(&writer, "state_reason", view->state_reason);
    json_write_count_if(&writer, view->queue_position > 0, "queue_position",
                        view->queue_position);
    return close_object(&writer);
}

char *event_progress_render(const struct job_view *view)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "id", view->id->text);
    json_write_count(&writer, "step", view->step);
    json_write_count(&writer, "steps", view->steps);
    json_write_real_if(&writer, view->is_private, "epsilon_spent", view->epsilon_spent);
    json_write_count_if(&writer, view->seconds_left > 0, "seconds_left",
                        view->seconds_left);
    return close_object(&writer);
}

char *event_change_render(const struct job_view *view)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "id", view->id->text);
    return close_object(&writer);
}

char *event_evaluation_render(const struct job_view *view, size_t index)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    evaluation_point_write(&writer, NULL, view->regression, &view->points[index]);
    return json_writer_close(&writer);
}

char *event_released_render(const struct job_view *view, size_t index, bool histograms)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    released_point_write(&writer, NULL, view->released, index, histograms);
    return json_writer_close(&writer);
}

char *event_end_render(const struct job_view *view)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "state", view->state);
    json_write_text(&writer, "model", view->model != NULL ? view->model->text : NULL);
    return close_object(&writer);
}

char *event_budget_render(const struct dataset_id *dataset,
                          const struct balance *balance)
{
    struct json_writer writer;
    const struct budget_share share = budget_share_of(balance);
    open_object(&writer);
    writer.digits = JSON_EXACT;
    json_write_text(&writer, "dataset", dataset->text);
    share_write(&writer, "share", &share);
    json_write_real(&writer, "epsilon_spent", balance->epsilon_spent);
    return close_object(&writer);
}

char *event_dataset_render(const char *dataset, const char *state)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "id", dataset);
    json_write_text(&writer, "state", state);
    return close_object(&writer);
}

char *event_sweep_render(const struct event_sweep *sweep)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "id", sweep->id->text);
    json_write_text(&writer, "state", sweep_state_name(sweep->ended));
    json_write_object(&writer, "states");
    for (size_t i = 0; i < sweep->state_count; i++)
        json_write_count(&writer, sweep->state_names[i], sweep->by_state[i]);
    json_write_object_end(&writer);
    return close_object(&writer);
}

char *event_lists_render(const char *dataset)
{
    struct json_writer writer;
    open_object(&writer);
    json_write_text(&writer, "dataset", dataset);
    return close_object(&writer);
}
