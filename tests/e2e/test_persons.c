/* Goal: a promise to persons, from a CSV with several rows for each, or from images and
 * a file of ids, to a model: drawing, charge and certificate are about persons, the
 * number of rows is shown nowhere, and requests about single rows are refused. Method:
 * the digits of a made-up number of writers, and made-up images, over HTTP. */
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { WRITERS = 367 };

/* Returns the digits, each with its writer in the first column. Some writers have one
 * row, some many. */
static char *digits_of_writers(void)
{
    char *digits = sample_digits(SAMPLE_TRAIN), *saved = NULL;
    char *text = calloc(2, strlen(digits)), *end = stpcpy(text, "writer");
    for (unsigned i = 0; i < 64; i++)
        end += sprintf(end, ",p%u", i);
    end = stpcpy(end, ",digit\n");
    unsigned row = 0;
    for (char *line = strtok_r(digits, "\n", &saved); line != NULL;
         line = strtok_r(NULL, "\n", &saved), row++) {
        unsigned writer = row < WRITERS ? row : row * row % WRITERS;
        end += sprintf(end, "writer-%u@example.org,%s\n", writer, line);
    }
    assert_int_equal(row, SAMPLE_TRAIN_ROWS);
    free(digits);
    return text;
}

static const struct reply *declare(struct client *client, const char *id,
                                   const char *kind, const char *privacy)
{
    char columns[4096], *end = columns;
    for (unsigned i = 0; i < 64; i++)
        end += sprintf(end, "{'name':'p%u','kind':'numeric','range':[0,16]},", i);
    return client_create(
        client, "/v1/datasets",
        "{'id':'%s','format':'csv','task':'classification','header':true,'columns':["
        "{'name':'writer','kind':'%s'},%s{'name':'digit','kind':'label',"
        "'values':['0','1','2','3','4','5','6','7','8','9']}],'privacy':%s}",
        id, kind, columns, privacy);
}

static int begin(void **state)
{
    int result = stage_begin(state);
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text = digits_of_writers();
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    assert_status(declare(client, "writers", "privacy_id", SAMPLE_BUDGET(8)), 201);
    assert_status(
        client_put(client, "/v1/datasets/writers/files/data", text, strlen(text)), 204);
    free(text);
    const struct reply *imported = client_act(client, "/v1/datasets/writers:import");
    assert_status(imported, 200);
    assert_string_equal(reply_text(imported, "state"), "READY");
    return result;
}

#define JOB                                                                            \
    "{'dataset':'writers','evaluation':'digits-test','model':{'preset':'linear'},"     \
    "'algorithm':{'name':'%s'},'batch_size':60,'epochs':30,"                           \
    "'privacy':{'epsilon':%g}%s}"

static void a_dataset_has_as_many_records_as_persons(void **state)
{
    struct stage *stage = *state;
    const struct reply *dataset = client_get(&stage->client, "/v1/datasets/writers");
    assert_string_equal(reply_text(dataset, "unit"), "person");
    assert_true(reply_number(dataset, "records") == WRITERS);
    assert_true(json_is_null(reply_at(dataset, "size")));
    assert_true(json_is_null(reply_at(dataset, "sha256")));
    const struct reply *budget =
        client_get(&stage->client, "/v1/datasets/writers/budget");
    assert_string_equal(reply_text(budget, "unit"), "person");
    const struct reply *ledger =
        client_get(&stage->client, "/v1/datasets/writers/ledger");
    assert_string_equal(reply_text(ledger, "entries.0.meta.unit"), "person");
    const struct reply *records =
        client_get(&stage->client, "/v1/datasets/digits-test");
    assert_string_equal(reply_text(records, "unit"), "record");
    assert_false(json_is_null(reply_at(records, "size")));
}

static void a_model_of_persons_is_learnt_and_certified(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *job = train(client, JOB, "dpsgd", 3.0, ",'rows_per_person':8");
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.7);
    assert_string_equal(reply_text(job, "privacy.unit"), "person");
    assert_close(reply_number(job, "privacy.sampling_rate"), 60.0 / WRITERS, 1e-12);
    assert_true(reply_number(job, "rows_per_person") == 8);
    const struct reply *model = model_of(client, job);
    assert_string_equal(reply_text(model, "certificate.guarantee.unit"), "person");
    assert_string_equal(reply_text(model, "certificate.guarantee.mechanism.unit"),
                        "person");
    assert_true(reply_number(model, "certificate.records") == WRITERS);
    assert_true(reply_number(model, "certificate.rows_per_person") == 8);
    const struct reply *ledger = client_get(client, "/v1/datasets/writers/ledger");
    json_t *reserve =
        (json_t *)(uintptr_t)account_entry(ledger, "RESERVE", reply_text(job, "id"));
    assert_string_equal(
        json_string_value(json_object_get(
            json_object_get(json_object_get(reserve, "meta"), "mechanism"), "unit")),
        "person");
    char path[128], zeros[512] = "[[0";
    for (int i = 1; i < 64; i++)
        strcat(zeros, ",0");
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(model, "id"));
    /* A model does not ask for a person's id. */
    assert_status(client_post(client, path, NULL, "{'inputs':%s]]}", zeros), 200);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void algorithms_without_a_proof_for_persons_are_refused(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char *const names[] = {"value_clip", "diff2_gd", "diff2_bvr_l_sgd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct reply *reply =
            client_create(client, "/v1/jobs",
                          "{'dataset':'writers','model':{'preset':'linear'},'algorithm'"
                          ":{'name':'%s'},"
                          "'privacy':{'epsilon':1}}",
                          names[i]);
        assert_problem(reply, 400, "unit_unsupported");
        assert_string_equal(reply_text(reply, "errors.0.pointer"), "/algorithm/name");
    }
}

/* Each person counts once, however many rows they have. */
static void statistics_count_everybody_once(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char path[64];
    const struct reply *reply =
        client_create(client, "/v1/statistics",
                      "{'dataset':'writers','privacy':{'epsilon':2},'statistics':["
                      "{'kind':'histogram','column':'digit'}]}");
    assert_true(reply->status == 201 || reply->status == 202);
    snprintf(path, sizeof path, "/v1/statistics/%s", reply_text(reply, "id"));
    while (reply = client_get(client, "%s", path), assert_status(reply, 200),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "SUCCEEDED");
    assert_non_null(strstr(reply->body, "\"unit\":\"person\""));
}

/* From people with several rows to a model of known quality, without public data. */
static void quality_is_measured_on_persons_held_out(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    enum { ROWS = 3000, PERSONS = 800 };
    char *points = sample_points(ROWS, 17), *saved = NULL, *text = calloc(ROWS, 48);
    size_t used = 0, row = 0;
    for (char *line = strtok_r(points, "\n", &saved); line != NULL;
         line = strtok_r(NULL, "\n", &saved), row++)
        used += (size_t)sprintf(text + used, "%zu,%s\n",
                                row < PERSONS ? row : row * row % PERSONS, line);
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'held','format':'csv','task':'classification','columns':["
                      "{'name':'who','kind':'privacy_id'},"
                      "{'name':'x','kind':'numeric','range':[-1,1]},"
                      "{'name':'y','kind':'numeric','range':[-1,1]},"
                      "{'name':'above','kind':'label','values':['no','yes']}],"
                      "'privacy':{'epsilon':8,'delta':1e-5},'holdout':0.25,"
                      "'rows_kept':2}"),
        201);
    assert_status(client_put(client, "/v1/datasets/held/files/data", text, used), 204);
    assert_status(client_act(client, "/v1/datasets/held:import"), 200);
    const struct reply *job =
        train(client, "{'dataset':'held','model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':2},"
                      "'evaluation':{'holdout':true,'epsilon':1}}");
    assert_close(reply_number(job, "privacy.sampling_rate"), 256.0 / (PERSONS * 3 / 4),
                 1e-9);
    assert_true(reply_number(job, "rows_per_person") == 2); /* the rows kept */
    assert_true(reply_number(job, "quality.accuracy.value") > 0.8);
    assert_true(reply_number(job, "quality.records") == PERSONS / 4);
    assert_string_equal(reply_text(job, "quality.unit"), "person");
    assert_string_equal(reply_text(job, "quality.mechanism.unit"), "person");
    const struct reply *model = model_of(client, job);
    assert_string_equal(reply_text(model, "certificate.quality.unit"), "person");
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    free(text);
    free(points);
}

static void what_is_wrong_about_persons_is_told_where(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_invalid_at(
        client_create(client, "/v1/jobs", JOB, "dpsgd", 1.0, ",'rows_per_person':0"),
        "/rows_per_person");
    assert_invalid_at(
        client_create(client, "/v1/jobs", JOB, "dpsgd", 1.0, ",'rows_per_person':5"),
        "/rows_per_person");
    assert_true(reply_number(client_get(client, "/v1/datasets/held"), "rows_kept") ==
                2);
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'held','model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':1},"
                      "'rows_per_person':4}"),
        "/rows_per_person");
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits-test','model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':1},"
                      "'rows_per_person':2}"),
        "/rows_per_person");
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'writers','model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':1},"
                      "'batch_size':%d}",
                      WRITERS + 1),
        "/batch_size");
    assert_invalid_at(declare(client, "open", "privacy_id", SAMPLE_PUBLIC), "/privacy");
    assert_invalid_at(
        client_create(
            client, "/v1/datasets",
            "{'id':'twice','format':'csv','task':'classification','columns':["
            "{'name':'a','kind':'privacy_id'},{'name':'b','kind':'privacy_id'},"
            "{'name':'x','kind':'numeric','range':[0,1]},"
            "{'name':'y','kind':'label','values':['n','y']}],"
            "'privacy':{'epsilon':1,'delta':1e-5}}"),
        "/columns");
}

static void a_row_that_is_nobodys_is_told_to_the_owner_alone(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char text[] = "who,x,y\nada,0.5,n\n,0.25,y\n";
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'gaps','format':'csv','task':'classification',"
                      "'header':true,'columns':[{'name':'who','kind':'privacy_id'},"
                      "{'name':'x','kind':'numeric','range':[0,1]},"
                      "{'name':'y','kind':'label','values':['n','y']}],"
                      "'privacy':{'epsilon':1,'delta':1e-5}}"),
        201);
    assert_status(
        client_put(client, "/v1/datasets/gaps/files/data", text, sizeof text - 1), 204);
    const struct reply *refused = client_act(client, "/v1/datasets/gaps:import");
    assert_problem(refused, 422, "import_failed");
    const struct reply *why = client_get(client, "/v1/datasets/gaps/import");
    assert_true(reply_number(why, "failure.line") == 3);
    assert_non_null(strstr(reply_text(why, "failure.detail"), "whose it is"));
    const struct reply *shown = client_get(client, "/v1/datasets/gaps");
    assert_string_equal(reply_text(shown, "state_reason"), "import_failed");
    assert_null(strstr(shown->body, "whose it is"));
}

/* Returns whether text contains the number, other than inside a longer number. */
static bool mentions(const char *text, const char *number)
{
    for (const char *at = text; (at = strstr(at, number)) != NULL; at++)
        if (at > text && strchr(":[, ", at[-1]) != NULL &&
            strchr(",]} \n", at[strlen(number)]) != NULL)
            return true;
    return false;
}

/* Everything that can be read, after jobs and before. */
static void how_many_rows_there_are_is_shown_nowhere(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char *const paths[] = {
        "/v1/datasets",
        "/v1/datasets?view=summary",
        "/v1/datasets/writers",
        "/v1/datasets/writers/budget",
        "/v1/datasets/writers/ledger",
        "/v1/datasets/writers/import",
        "/v1/job-schema?dataset=writers",
        "/v1/jobs",
        "/v1/models",
        "/v1/audit",
        "/metrics",
    };
    char rows[16];
    snprintf(rows, sizeof rows, "%d", SAMPLE_TRAIN_ROWS);
    train(client, JOB, "dpsgd", 0.5, "");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *reply = client_get(client, "%s", paths[i]);
        assert_status(reply, 200);
        assert_false(mentions(reply->body, rows));
        assert_null(strstr(reply->body, "writer-"));
    }
}

enum { PHOTOS = 1013, SIDE = 8, FACES = 211 };

/* Uploads images that are brighter if the label is 1, several for each person. */
static void bring_photos(struct client *client)
{
    static uint8_t pixels[PHOTOS * SIDE * SIDE], labels[PHOTOS];
    static char ids[PHOTOS * 24];
    size_t size, used = 0;
    for (size_t r = 0; r < PHOTOS; r++) {
        labels[r] = (uint8_t)(r % 2);
        for (size_t j = 0; j < SIDE * SIDE; j++)
            pixels[r * SIDE * SIDE + j] =
                (uint8_t)(120 * labels[r] + (r * 7 + j * 13) % 101);
        size_t who = r < FACES ? r : r * r % FACES;
        used += (size_t)sprintf(ids + used, "face-%zu\r\n", who);
    }
    uint8_t *file =
        sample_idx((const uint32_t[]){PHOTOS, SIDE, SIDE, 0}, pixels, &size);
    assert_status(client_put(client, "/v1/datasets/photos/files/features", file, size),
                  204);
    free(file);
    file = sample_idx((const uint32_t[]){PHOTOS, 0}, labels, &size);
    assert_status(client_put(client, "/v1/datasets/photos/files/labels", file, size),
                  204);
    free(file);
    assert_status(client_put(client, "/v1/datasets/photos/files/privacy_id", ids, used),
                  204);
}

#define PHOTOS_JOB                                                                     \
    "{'dataset':'photos','model':{'preset':'linear'},'algorithm':{'name':'%s'},"       \
    "'batch_size':50,'steps':20,'privacy':{'noise_multiplier':8},"                     \
    "'augmentation':%s}"

/* From images and a file of ids to a model of persons, which saw each row in two
 * views. */
static void ids_come_in_a_file_and_images_in_views(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_status(
        client_create(
            client, "/v1/datasets",
            "{'id':'photos','format':'idx','task':'classification','classes':2,"
            "'features':{'shape':[8,8],'scale':255},'privacy_id':true,"
            "'privacy':{'epsilon':8,'delta':1e-5}}"),
        201);
    const struct reply *refused = client_act(client, "/v1/datasets/photos:import");
    assert_problem(refused, 422, "import_failed");
    bring_photos(client);
    assert_status(client_act(client, "/v1/datasets/photos:import"), 200);
    const struct reply *dataset = client_get(client, "/v1/datasets/photos");
    assert_string_equal(reply_text(dataset, "unit"), "person");
    assert_true(reply_number(dataset, "records") == FACES);
    const struct reply *job = train(client, PHOTOS_JOB, "dpsgd",
                                    "{'views':2,'flip':true,'shift':1},"
                                    "'rows_per_person':8");
    assert_true(reply_number(job, "augmentation.views") == 2);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.augmentation.shift") == 1);
    assert_true(json_is_true(reply_at(model, "certificate.augmentation.flip")));
    assert_true(reply_number(model, "certificate.rows_per_person") == 8);
    assert_string_equal(reply_text(model, "certificate.guarantee.unit"), "person");
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    assert_invalid_at(client_create(client, "/v1/jobs", PHOTOS_JOB, "dpsgd",
                                    "{'views':16,'flip':true},'rows_per_person':2"),
                      "/augmentation/views");
    assert_invalid_at(client_create(client, "/v1/jobs", JOB, "dpsgd", 1.0,
                                    ",'augmentation':{'flip':true}"),
                      "/augmentation");
    static const char *const paths[] = {"/v1/datasets/photos", "/v1/jobs",
                                        "/v1/datasets/photos/ledger",
                                        "/v1/datasets/photos/import", "/v1/audit"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *reply = client_get(client, "%s", paths[i]);
        assert_false(mentions(reply->body, "1013"));
        assert_null(strstr(reply->body, "face-"));
    }
}

/* These algorithms rely on the bound of a single record's gradient, which a mean of
 * views does not have. */
static void algorithms_without_a_proof_for_views_are_refused(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char *const names[] = {"value_clip", "diff2_gd", "sgd"};
    static const char *const privacy[] = {"'privacy':{'epsilon':1},",
                                          "'privacy':{'epsilon':1},", ""};
    assert_status(
        client_create(
            client, "/v1/datasets",
            "{'id':'strips','format':'idx','task':'classification','classes':2,"
            "'features':{'shape':[1,2],'scale':255},'privacy':'public'}"),
        201);
    const uint8_t pixels[] = {1, 2, 3, 4};
    size_t size;
    uint8_t *file = sample_idx((const uint32_t[]){2, 2, 0}, pixels, &size);
    assert_status(client_put(client, "/v1/datasets/strips/files/features", file, size),
                  204);
    free(file);
    file = sample_idx((const uint32_t[]){2, 0}, (const uint8_t[]){0, 1}, &size);
    assert_status(client_put(client, "/v1/datasets/strips/files/labels", file, size),
                  204);
    free(file);
    assert_status(client_act(client, "/v1/datasets/strips:import"), 200);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_invalid_at(
            client_create(client, "/v1/jobs",
                          "{'dataset':'strips','model':{'preset':'linear'},"
                          "'algorithm':{'name':'%s'},%s"
                          "'augmentation':{'flip':true}}",
                          names[i], privacy[i]),
            "/augmentation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dataset_has_as_many_records_as_persons),
        cmocka_unit_test(a_model_of_persons_is_learnt_and_certified),
        cmocka_unit_test(algorithms_without_a_proof_for_persons_are_refused),
        cmocka_unit_test(statistics_count_everybody_once),
        cmocka_unit_test(quality_is_measured_on_persons_held_out),
        cmocka_unit_test(what_is_wrong_about_persons_is_told_where),
        cmocka_unit_test(a_row_that_is_nobodys_is_told_to_the_owner_alone),
        cmocka_unit_test(how_many_rows_there_are_is_shown_nowhere),
        cmocka_unit_test(ids_come_in_a_file_and_images_in_views),
        cmocka_unit_test(algorithms_without_a_proof_for_views_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
