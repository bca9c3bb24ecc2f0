/* Goal: the main job as a new user runs it: the session of the README typed unchanged,
 * and a job on the digits with its accuracy and every field that clients rely on. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/expect.h"
#include "tests/e2e/page_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void write_bytes(const char *folder, const char *name, const void *bytes,
                        size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void write_idx(const char *folder, const char *name, const uint32_t *dimensions,
                      const uint8_t *bytes)
{
    size_t idx_size, size;
    uint8_t *idx = sample_idx(dimensions, bytes, &idx_size);
    uint8_t *packed = sample_gzip(idx, idx_size, &size);
    write_bytes(folder, name, packed, size);
    free(packed);
    free(idx);
}

/* Writes the digits as files like MNIST's: each cell becomes 3 x 3 pixels inside a
 * frame of 2. */
static void write_images(const char *folder, enum sample_part part, const char *images,
                         const char *labels)
{
    uint32_t count = part == SAMPLE_TRAIN ? SAMPLE_TRAIN_ROWS : SAMPLE_TEST_ROWS;
    uint8_t *pixels = calloc(count, 784), *classes = calloc(count, 1);
    assert_true(pixels != NULL && classes != NULL);
    char *text = sample_digits(part), *at = text;
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned cell = 0; cell < 64; cell++) {
            unsigned long value = strtoul(at, &at, 10);
            at++;
            for (unsigned k = 0; k < 9; k++)
                pixels[i * 784 + (2 + cell / 8 * 3 + k / 3) * 28 + 2 + cell % 8 * 3 +
                       k % 3] = (uint8_t)(value * 255 / 16);
        }
        classes[i] = (uint8_t)strtoul(at, &at, 10);
        at++;
    }
    write_idx(folder, images, (const uint32_t[]){count, 28, 28, 0}, pixels);
    write_idx(folder, labels, (const uint32_t[]){count, 0}, classes);
    free(text);
    free(classes);
    free(pixels);
}

static void the_session_of_the_readme_works_as_typed(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const char *folder = stage->daemon.directory;
    write_images(folder, SAMPLE_TRAIN, "train-images-idx3-ubyte.gz",
                 "train-labels-idx1-ubyte.gz");
    write_images(folder, SAMPLE_TEST, "t10k-images-idx3-ubyte.gz",
                 "t10k-labels-idx1-ubyte.gz");
    char *session = page_session("README.md", "## A session\n");
    assert_int_equal(page_run(session, folder, stage->daemon.base), 0);
    free(session);

    const struct reply *jobs = client_get(client, "/v1/jobs?dataset=mnist");
    assert_int_equal(json_array_size(reply_at(jobs, "jobs")), 2);
    assert_string_equal(reply_text(jobs, "jobs.1.state"), "SUCCEEDED");
    assert_true(reply_number(jobs, "jobs.1.metrics.evaluation.accuracy") > 0.5);
    await_end(client, reply_text(jobs, "jobs.0.id"));
    const struct reply *content =
        client_get(client, "/v1/models/%s/content", reply_text(jobs, "jobs.1.model"));
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, content->size);
    char *text = page_output(folder);
    assert_null(strstr(text, "application/problem+json"));
    assert_null(strstr(text, "\"invalid_argument\""));
    const char *words[] = {"\"READY\"",         "\"fits\"",  "\"epsilon_remaining\"",
                           "\"probabilities\"", "\"GRANT\"", "\"SUCCEEDED\""};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]) == NULL)
            fail_msg("no %s in what the session printed:\n%.4000s", words[i], text);
    free(text);
}

static void assert_text(const struct reply *reply, const char *path,
                        const char *expected)
{
    assert_string_equal(reply_text(reply, path), expected);
}

static void assert_number(const struct reply *reply, const char *path, double expected)
{
    if (reply_number(reply, path) != expected)
        fail_msg("%s is %.17g, expected %.17g", path, reply_number(reply, path),
                 expected);
}

/* The numbers of architecture.md 2: q = batch_size / n, steps = ceil(epochs n /
 * batch_size). */
static void a_job_answers_every_field_that_clients_rely_on(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    const struct reply *created =
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits','evaluation':'digits-test',"
                      "'model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd','clip_norm':1.0},"
                      "'optimizer':{'name':'sgd','learning_rate':1.0},"
                      "'batch_size':256,'epochs':30,'privacy':{'epsilon':2}}");
    assert_status(created, 201);
    assert_int_equal(strlen(reply_text(created, "id")), 30);
    assert_true(strncmp(reply_text(created, "id"), "job_", 4) == 0);
    assert_true(json_is_null(reply_at(created, "model")));
    assert_number(created, "privacy.authorised_steps", 0);
    assert_number(created, "privacy.epsilon_spent", 0);

    const struct reply *job = await_end(client, reply_text(created, "id"));
    assert_text(job, "state", "SUCCEEDED");
    assert_true(json_is_null(reply_at(job, "state_reason")));
    assert_number(job, "attempt", 1);
    assert_text(job, "dataset", "digits");
    assert_text(job, "evaluation", "digits-test");
    assert_text(job, "model_spec.preset", "linear");
    assert_text(job, "algorithm.name", "dpsgd");
    assert_text(job, "algorithm.clipping", "flat");
    assert_number(job, "algorithm.clip_norm", 1);
    assert_number(job, "optimizer.momentum", 0);
    assert_number(job, "batch_size", 256);
    assert_number(job, "epochs", 30);
    assert_number(job, "progress.step", 169);
    assert_number(job, "progress.steps", 169);
    assert_text(job, "privacy.relation", "zero_out");
    assert_number(job, "privacy.epsilon", 2);
    assert_number(job, "privacy.delta", 1e-5);
    assert_close(reply_number(job, "privacy.sampling_rate"), 256.0 / 1438, 1e-14);
    assert_number(job, "privacy.authorised_steps", 169);
    assert_true(reply_number(job, "privacy.noise_multiplier") > 1);
    double planned = reply_number(job, "privacy.epsilon_planned");
    assert_true(planned <= 2 && planned > 1.999);
    assert_close(reply_number(job, "privacy.epsilon_spent"), planned, 1e-14);
    assert_true(reply_number(job, "privacy.ledger_seq") > 0);
    assert_number(job, "metrics.evaluation.step", 169);
    assert_true(reply_number(job, "metrics.evaluation.loss") > 0);
    assert_int_equal(strlen(reply_text(job, "model")), 30);
    assert_true(strncmp(reply_text(job, "model"), "mdl_", 4) == 0);
    /* Elsewhere the documentation shows 92 (a median of runs). One run differs by a
     * point or two on 359 records; guessing gives 10. */
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.85);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_session_of_the_readme_works_as_typed),
        cmocka_unit_test(a_job_answers_every_field_that_clients_rely_on),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
