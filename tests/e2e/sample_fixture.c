#include "tests/e2e/sample_fixture.h"

#include <string.h>
#include <time.h>
#include <zlib.h>

#include "tests/expect.h"

enum {
    DIGITS_TEXT_MAX = 1 << 19,
    END_TIMEOUT_S = 600, /* only for a hang: a sanitizer's step takes minutes */
};

char *sample_digits(enum sample_part part)
{
    gzFile file = gzopen("deploy/digits/digits.csv.gz", "r");
    char *text = calloc(DIGITS_TEXT_MAX, 1);
    assert_non_null(file);
    assert_non_null(text);
    char line[1024], *end = text;
    for (unsigned row = 1; gzgets(file, line, sizeof line) != NULL; row++)
        if ((row % 5 == 0) == (part == SAMPLE_TEST))
            end = stpcpy(end, line);
    gzclose(file);
    return text;
}

/* A linear congruential generator: the same points on every machine (Knuth's MMIX). */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

char *sample_points(unsigned rows, unsigned salt)
{
    size_t size = (size_t)rows * 32 + 1;
    char *text = calloc(size, 1);
    assert_non_null(text);
    uint64_t state = 12345 + UINT64_C(7919) * salt;
    size_t used = 0;
    for (unsigned i = 0; i < rows; i++) {
        double x = draw(&state), y = draw(&state), noise = 0.2 * draw(&state);
        used += (size_t)snprintf(text + used, size - used, "%.4f,%.4f,%s\n", x, y,
                                 x - 0.5 * y + noise > 0 ? "yes" : "no");
    }
    return text;
}

uint8_t *sample_gzip(const void *bytes, size_t size, size_t *gzip_size)
{
    z_stream stream = {0};
    assert_int_equal(
        deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&stream, size);
    uint8_t *out = malloc(bound);
    assert_non_null(out);
    stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *gzip_size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

uint8_t *sample_idx(const uint32_t *dimensions, const uint8_t *bytes, size_t *idx_size)
{
    size_t count = 1, rank = 0;
    for (; dimensions[rank] != 0; rank++)
        count *= dimensions[rank];
    *idx_size = 4 + 4 * rank + count;
    uint8_t *file = calloc(*idx_size, 1);
    assert_non_null(file);
    file[2] = 8;
    file[3] = (uint8_t)rank;
    for (size_t i = 0; i < 4 * rank; i++)
        file[4 + i] = (uint8_t)(dimensions[i / 4] >> (24 - 8 * (i % 4)));
    memcpy(file + 4 + 4 * rank, bytes, count);
    return file;
}

static const struct reply *declare_digits(struct client *client, const char *id,
                                          const char *privacy)
{
    char columns[4096], *end = columns;
    for (unsigned i = 0; i < 64; i++)
        end += sprintf(end, "{'name':'p%u','kind':'numeric','range':[0,16]},", i);
    return client_create(
        client, "/v1/datasets",
        "{'id':'%s','format':'csv','task':'classification','classes':10,"
        "'header':false,'columns':[%s{'name':'digit','kind':'label',"
        "'values':['0','1','2','3','4','5','6','7','8','9']}],"
        "'privacy':%s}",
        id, columns, privacy);
}

const struct reply *declare_points(struct client *client, const char *id,
                                   const char *privacy)
{
    return client_create(
        client, "/v1/datasets",
        "{'id':'%s','format':'csv','task':'classification','classes':2,"
        "'header':false,'columns':["
        "{'name':'x','kind':'numeric','range':[-1,1]},"
        "{'name':'y','kind':'numeric','range':[-1,1]},"
        "{'name':'above','kind':'label','values':['no','yes']}],"
        "'privacy':%s}",
        id, privacy);
}

/* Takes ownership of text. */
static void fill(struct client *client, const char *id, char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, strlen(text)), 204);
    free(text);
    const struct reply *imported = client_act(client, "/v1/datasets/%s:import", id);
    assert_status(imported, 200);
    assert_string_equal(reply_text(imported, "state"), "READY");
}

void ready_digits(struct client *client, const char *id, enum sample_part part,
                  const char *privacy)
{
    assert_status(declare_digits(client, id, privacy), 201);
    fill(client, id, sample_digits(part));
}

void ready_points(struct client *client, const char *id, unsigned rows, unsigned salt,
                  const char *privacy)
{
    assert_status(declare_points(client, id, privacy), 201);
    fill(client, id, sample_points(rows, salt));
}

static const char *submit_as(struct client *client, const char *format,
                             va_list arguments)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, arguments);
    const struct reply *reply = client_create(client, "/v1/jobs", "%s", text);
    assert_status(reply, 201);
    return reply_text(reply, "id");
}

const char *submit(struct client *client, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *job = submit_as(client, format, arguments);
    va_end(arguments);
    return job;
}

const struct reply *cancel(struct client *client, const char *job)
{
    return assert_status(client_act(client, "/v1/jobs/%s:cancel", job), 200);
}

static bool is_terminal(const char *state)
{
    return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "FAILED") == 0 ||
           strcmp(state, "CANCELLED") == 0;
}

const struct reply *await_end(struct client *client, const char *job)
{
    time_t deadline = time(NULL) + END_TIMEOUT_S;
    for (;;) {
        const struct reply *reply = client_get(client, "/v1/jobs/%s?wait=10", job);
        assert_status(reply, 200);
        if (is_terminal(reply_text(reply, "state")))
            return reply;
        if (time(NULL) > deadline)
            fail_msg("job %s does not end: %s", job, reply->body);
    }
}

const struct reply *await_success(struct client *client, const char *job)
{
    const struct reply *reply = await_end(client, job);
    if (strcmp(reply_text(reply, "state"), "SUCCEEDED") != 0)
        fail_msg("job %s does not succeed: %s", job, reply->body);
    return reply;
}

const struct reply *train(struct client *client, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *job = submit_as(client, format, arguments);
    va_end(arguments);
    return await_success(client, job);
}

const struct reply *model_of(struct client *client, const struct reply *job)
{
    return assert_status(client_get(client, "/v1/models/%s", reply_text(job, "model")),
                         200);
}

static const struct reply *await_least(struct client *client, const char *job,
                                       const char *member, double least)
{
    time_t deadline = time(NULL) + END_TIMEOUT_S;
    for (;;) {
        const struct reply *reply = client_get(client, "/v1/jobs/%s", job);
        assert_status(reply, 200);
        if (reply_number(reply, member) >= least)
            return reply;
        if (is_terminal(reply_text(reply, "state")) || time(NULL) > deadline)
            fail_msg("job %s does not reach %s %g: %s", job, member, least,
                     reply->body);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

const struct reply *await_training(struct client *client, const char *job)
{
    return await_least(client, job, "privacy.authorised_steps", 1);
}

const struct reply *await_step(struct client *client, const char *job, uint64_t step)
{
    return await_least(client, job, "progress.step", (double)step);
}
