/* Goal: a model and an ended job can be deleted: rows and files go, but what was spent
 * on them stays, in the budget, in the ledger and for the key that made them. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static struct stage *stage;

static int begin(void **state)
{
    stage_begin(state);
    stage = *state;
    ready_points(&stage->client, "points", 300, 1, SAMPLE_BUDGET(4));
    return 0;
}

struct trained { /* a job that has succeeded, and its model */
    char job[100], model[100], file[400];
};

static struct trained train_one(void)
{
    struct trained trained;
    const struct reply *job = train(&stage->client, SAMPLE_JOB, "points", 4, 20.0);
    snprintf(trained.job, sizeof trained.job, "/v1/jobs/%s", reply_text(job, "id"));
    snprintf(trained.model, sizeof trained.model, "/v1/models/%s",
             reply_text(job, "model"));
    snprintf(trained.file, sizeof trained.file, "%s/models/%s.safetensors",
             stage->daemon.data_dir, reply_text(job, "model"));
    return trained;
}

static size_t listed(const char *list)
{
    const struct reply *page =
        client_get(&stage->client, "/v1/%s?page_size=1000", list);
    return json_array_size(reply_at(page, list));
}

/* All answers that show what was spent. */
struct account {
    const struct reply *budget, *history, *ledger, *head;
};

static struct account read_account(void)
{
    struct client *client = &stage->client;
    return (struct account){client_get(client, "/v1/datasets/points/budget"),
                            client_get(client, "/v1/datasets/points/budget/history"),
                            client_get(client, "/v1/datasets/points/ledger"),
                            client_get(client, "/v1/ledger/head")};
}

static void expect_account(const struct account *before)
{
    struct account now = read_account();
    assert_string_equal(now.budget->body, before->budget->body);
    assert_string_equal(now.history->body, before->history->body);
    assert_string_equal(now.ledger->body, before->ledger->body);
    assert_string_equal(now.head->body, before->head->body);
}

static void a_deleted_model_goes_and_its_job_stays(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    struct trained one = train_one();
    char path[200];
    size_t models = listed("models"), jobs = listed("jobs");
    struct account before = read_account();
    const struct reply *list = client_get(client, "/v1/models");
    char tag[256], known[300];
    assert_true(reply_header(list, "ETag", tag));
    snprintf(known, sizeof known, "If-None-Match: %s", tag);
    snprintf(path, sizeof path, "%s/predict", one.model);
    assert_status(client_post(client, path, NULL, "{'inputs':[[0.1,0.2]]}"), 200);
    assert_int_equal(access(one.file, F_OK), 0);

    assert_status(client_delete(client, one.model), 204);
    assert_int_not_equal(access(one.file, F_OK), 0);
    assert_problem(client_get(client, "%s", one.model), 404, "not_found");
    assert_problem(client_get(client, "%s/content", one.model), 404, "not_found");
    assert_problem(client_post(client, path, NULL, "{'inputs':[[0.1,0.2]]}"), 404,
                   "not_found");
    assert_problem(client_delete(client, one.model), 404, "not_found");
    assert_problem(client_patch(client, one.model, "*", "{}"), 404, "not_found");
    assert_status(client_get_with(client, "/v1/models", known), 200);
    assert_int_equal(listed("models"), models - 1);
    assert_int_equal(listed("jobs"), jobs);
    const struct reply *job = client_get(client, "%s", one.job);
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    assert_true(json_is_null(reply_at(job, "model")));
    expect_account(&before);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_deleted_job_goes_and_what_it_spent_stays(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    struct trained one = train_one();
    struct account before = read_account();
    size_t jobs = listed("jobs");
    const struct reply *status = client_get(client, "/v1/status");
    assert_true(reply_number(before.budget, "epsilon_spent") > 0);
    assert_non_null(strstr(before.ledger->body, strrchr(one.job, '/') + 1));

    assert_problem(client_delete(client, one.job), 409, "job_has_model");
    assert_status(client_delete(client, one.model), 204);
    assert_status(client_delete(client, one.job), 204);
    assert_problem(client_get(client, "%s", one.job), 404, "not_found");
    assert_problem(client_delete(client, one.job), 404, "not_found");
    assert_problem(client_act(client, "%s:cancel", one.job), 404, "not_found");
    assert_problem(client_patch(client, one.job, "*", "{}"), 404, "not_found");
    assert_int_equal(listed("jobs"), jobs - 1);
    assert_true(reply_number(client_get(client, "/v1/status"), "jobs.SUCCEEDED") ==
                reply_number(status, "jobs.SUCCEEDED") - 1);
    expect_account(&before);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* Checks the newest rows of the audit trail, the oldest of them first. */
static void expect_acts(const char *const *actions, const char *const *paths,
                        size_t count)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/audit?order=desc&result=ok&page_size=%zu", count);
    const struct reply *page = client_get(&stage->client, "%s", path);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "acts.%zu.action", count - 1 - i);
        assert_string_equal(reply_text(page, path), actions[i]);
        snprintf(path, sizeof path, "acts.%zu.object", count - 1 - i);
        assert_string_equal(reply_text(page, path), strrchr(paths[i], '/') + 1);
    }
}

static void renames_and_deletions_leave_their_acts(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    struct trained one = train_one();
    const char *const paths[] = {one.job, one.model, one.model, one.job};
    static const char *const actions[] = {"job.rename", "model.rename", "model.delete",
                                          "job.delete"};
    assert_status(client_patch(client, one.job, "*", "{'display_name':'A'}"), 200);
    assert_status(client_patch(client, one.job, "*", "{'display_name':'A'}"), 200);
    assert_status(client_patch(client, one.model, "*", "{'tags':{'a':'b'}}"), 200);
    assert_status(client_delete(client, one.model), 204);
    assert_status(client_delete(client, one.job), 204);
    expect_acts(actions, paths, 4);
}

static void only_what_has_ended_is_deleted(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    char path[100];
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1000.0);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    await_training(client, job);
    assert_problem(client_delete(client, path), 409, "job_active");
    cancel(client, job);
    assert_status(client_get(client, "%s", path), 200);
    await_end(client, job);
    struct account before = read_account();
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    expect_account(&before);
}

static void a_key_makes_what_was_deleted_neither_again_nor_anew(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    const struct reply *made =
        client_post(client, "/v1/jobs", "deleted-later", SAMPLE_JOB, "points", 3, 30.0);
    assert_status(made, 201);
    const struct reply *job = await_success(client, reply_text(made, "id"));
    struct trained one;
    snprintf(one.job, sizeof one.job, "/v1/jobs/%s", reply_text(job, "id"));
    snprintf(one.model, sizeof one.model, "/v1/models/%s", reply_text(job, "model"));
    assert_status(client_delete(client, one.model), 204);
    assert_status(client_delete(client, one.job), 204);
    struct account before = read_account();
    assert_problem(
        client_post(client, "/v1/jobs", "deleted-later", SAMPLE_JOB, "points", 3, 30.0),
        410, "gone");
    assert_problem(
        client_post(client, "/v1/jobs", "deleted-later", SAMPLE_JOB, "points", 4, 30.0),
        422, "idempotency_key_reused");
    expect_account(&before);
}

static void pages_go_on_over_what_was_deleted(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    struct trained ones[3];
    for (int i = 0; i < 3; i++)
        ones[i] = train_one();
    const struct reply *first = client_get(client, "/v1/jobs?page_size=1");
    assert_string_equal(reply_text(first, "jobs.0.id"), strrchr(ones[2].job, '/') + 1);
    assert_status(client_delete(client, ones[1].model), 204);
    assert_status(client_delete(client, ones[1].job), 204);
    const struct reply *next = client_get(client, "/v1/jobs?page_size=1&page_token=%s",
                                          reply_text(first, "next_page_token"));
    assert_string_equal(reply_text(next, "jobs.0.id"), strrchr(ones[0].job, '/') + 1);
    const struct reply *ordered =
        client_get(client, "/v1/jobs?order_by=epsilon&page_size=1000");
    assert_null(strstr(ordered->body, strrchr(ones[1].job, '/') + 1));
}

/* Checks the thing after a page token. The page's last thing is deleted, and so is the
 * one after it. */
static void expect_next(const char *list, const char *order, const char *token,
                        const char *id)
{
    char first[64];
    snprintf(first, sizeof first, "%s.0.id", list);
    const struct reply *next =
        client_get(&stage->client, "/v1/%s?page_size=1&order=%s&page_token=%s", list,
                   order, token);
    assert_string_equal(reply_text(next, first), id);
}

static void pages_go_on_over_what_was_deleted_before_a_restart(void **state)
{
    (void)state;
    enum { ONES = 5 };
    static const char *const lists[] = {"jobs", "models"};
    struct client *client = &stage->client;
    struct trained ones[ONES];
    char tokens[2][2][64]; /* for each list: newest first, oldest first */
    for (int i = 0; i < ONES; i++)
        ones[i] = train_one();
    for (size_t i = 0; i < 2; i++) {
        const struct reply *page = client_get(client, "/v1/%s?page_size=2", lists[i]);
        snprintf(tokens[i][0], 64, "%s", reply_text(page, "next_page_token"));
        page = client_get(client, "/v1/%s?page_size=%zu&order=asc", lists[i],
                          listed(lists[i]) - 1);
        snprintf(tokens[i][1], 64, "%s", reply_text(page, "next_page_token"));
    }
    for (int i = 2; i < 4; i++) {
        assert_status(client_delete(client, ones[i].model), 204);
        assert_status(client_delete(client, ones[i].job), 204);
    }
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    expect_next("jobs", "desc", tokens[0][0], strrchr(ones[1].job, '/') + 1);
    expect_next("models", "desc", tokens[1][0], strrchr(ones[1].model, '/') + 1);
    expect_next("jobs", "asc", tokens[0][1], strrchr(ones[4].job, '/') + 1);
    expect_next("models", "asc", tokens[1][1], strrchr(ones[4].model, '/') + 1);
    struct trained newest = train_one();
    expect_next("jobs", "desc", tokens[0][0], strrchr(ones[1].job, '/') + 1);
    for (int i = 0; i < 2; i++) { /* delete the newest two; others follow */
        const struct trained *gone = i == 0 ? &newest : &ones[4];
        assert_status(client_delete(client, gone->model), 204);
        assert_status(client_delete(client, gone->job), 204);
    }
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    newest = train_one();
    expect_next("jobs", "asc", tokens[0][1], strrchr(newest.job, '/') + 1);
    expect_next("models", "asc", tokens[1][1], strrchr(newest.model, '/') + 1);
}

static long asked_with(const char *list, const char *tag)
{
    char known[300];
    snprintf(known, sizeof known, "If-None-Match: %.256s", tag);
    return client_get_with(&stage->client, list, known)->status;
}

/* An ETag of a list is valid for one start of the daemon only. */
static void a_list_that_an_earlier_start_has_sent_is_sent_again(void **state)
{
    (void)state;
    static const char *const lists[] = {"/v1/jobs",   "/v1/models", "/v1/datasets",
                                        "/v1/sweeps", "/v1/grants", "/v1/charges",
                                        "/v1/status"};
    enum { LISTS = sizeof lists / sizeof *lists };
    char tags[LISTS][256];
    for (size_t i = 0; i < LISTS; i++) {
        const struct reply *list = client_get(&stage->client, "%s", lists[i]);
        assert_true(reply_header(list, "ETag", tags[i]));
        assert_int_equal(asked_with(lists[i], tags[i]), 304);
    }
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    for (size_t i = 0; i < LISTS; i++)
        assert_int_equal(asked_with(lists[i], tags[i]), 200);
}

static void a_restart_knows_nothing_of_it_but_what_was_spent(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    struct trained one = train_one(), other = train_one();
    assert_status(client_delete(client, one.model), 204);
    assert_status(client_delete(client, one.job), 204);
    assert_status(client_delete(client, other.model), 204);
    struct account before = read_account();
    const struct reply *kept = client_get(client, "%s", other.job);
    /* A crash between deleting the row and deleting the file leaves the file. */
    FILE *file = fopen(one.file, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(daemon_stop(&stage->daemon, SIGKILL), 128 + SIGKILL);
    daemon_start(&stage->daemon, NULL);
    assert_int_not_equal(access(one.file, F_OK), 0);
    assert_problem(client_get(client, "%s", one.job), 404, "not_found");
    assert_problem(client_get(client, "%s", one.model), 404, "not_found");
    assert_string_equal(client_get(client, "%s", other.job)->body, kept->body);
    expect_account(&before);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    assert_status(client_delete(client, other.job), 204);
    await_success(client, submit(client, SAMPLE_JOB, "points", 2, 30.0));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_caption_goes_with_its_thing(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    struct trained one = train_one();
    assert_status(client_patch(client, one.job, "*", "{'display_name':'Quixotic'}"),
                  200);
    assert_status(client_patch(client, one.model, "*", "{'display_name':'Quixotic'}"),
                  200);
    assert_status(client_delete(client, one.model), 204);
    assert_status(client_delete(client, one.job), 204);
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/jobs?q=quixotic"), "jobs")),
        0);
    assert_int_equal(json_array_size(reply_at(
                         client_get(client, "/v1/models?q=quixotic"), "models")),
                     0);
    /* A label whose thing is gone would make verify fail. */
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_model_goes_and_its_job_stays),
        cmocka_unit_test(a_deleted_job_goes_and_what_it_spent_stays),
        cmocka_unit_test(renames_and_deletions_leave_their_acts),
        cmocka_unit_test(only_what_has_ended_is_deleted),
        cmocka_unit_test(a_key_makes_what_was_deleted_neither_again_nor_anew),
        cmocka_unit_test(pages_go_on_over_what_was_deleted),
        cmocka_unit_test(pages_go_on_over_what_was_deleted_before_a_restart),
        cmocka_unit_test(a_list_that_an_earlier_start_has_sent_is_sent_again),
        cmocka_unit_test(a_restart_knows_nothing_of_it_but_what_was_spent),
        cmocka_unit_test(a_caption_goes_with_its_thing),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
