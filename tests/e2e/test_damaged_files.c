/* Goal: a file of the data directory that differs from the hash in its row is neither
 * served nor trained on. It is reported by name, and once the file is whole again
 * everything works as before. A job's row that can no longer be parsed is refused by
 * itself and ends no daemon. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static int begin(void **state)
{
    stage_begin(state);
    struct stage *stage = *state;
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(4));
    return 0;
}

static void file_path(char path[256], const struct stage *stage, const char *folder,
                      const char *name)
{
    snprintf(path, 256, "%s/%s/%s", stage->daemon.data_dir, folder, name);
}

/* Flips a bit of the byte at this distance from the end. */
static void flip(const char *path, off_t from_end)
{
    struct stat found;
    unsigned char byte;
    int file = open(path, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &found), 0);
    assert_int_equal(pread(file, &byte, 1, found.st_size - from_end), 1);
    byte ^= 4;
    assert_int_equal(pwrite(file, &byte, 1, found.st_size - from_end), 1);
    close(file);
}

struct model {
    char content[128], predict[128], file[256];
};

static struct model publish(struct stage *stage)
{
    struct model model;
    char name[96];
    const struct reply *job = await_success(
        &stage->client, submit(&stage->client, SAMPLE_JOB, "points", 7, 33.0));
    const char *id = reply_text(job, "model");
    snprintf(model.content, sizeof model.content, "/v1/models/%s/content", id);
    snprintf(model.predict, sizeof model.predict, "/v1/models/%s/predict", id);
    snprintf(name, sizeof name, "%s.safetensors", id);
    file_path(model.file, stage, "models", name);
    return model;
}

static const struct reply *predict(struct stage *stage, const struct model *model)
{
    return client_post(&stage->client, model->predict, NULL,
                       "{'inputs':[[0.5,-0.25]]}");
}

static const struct reply *part(struct stage *stage, const struct model *model)
{
    return client_get_with(&stage->client, model->content, "Range: bytes=0-15");
}

static void a_damaged_model_is_not_served(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char aside[300];
    const struct model model = publish(stage);
    flip(model.file, 1);
    assert_problem(client_get(client, "%s", model.content), 500, "model_corrupt");
    assert_problem(client_get(client, "%s?format=onnx", model.content), 500,
                   "model_corrupt");
    assert_problem(part(stage, &model), 500, "model_corrupt");
    assert_problem(predict(stage, &model), 500, "model_corrupt");
    flip(model.file, 1);
    assert_status(client_get(client, "%s", model.content), 200);
    assert_status(part(stage, &model), 206);

    snprintf(aside, sizeof aside, "%s.aside", model.file);
    assert_int_equal(rename(model.file, aside), 0);
    assert_problem(client_get(client, "%s", model.content), 500, "model_corrupt");
    assert_problem(part(stage, &model), 500, "model_corrupt");
    assert_problem(predict(stage, &model), 500, "model_corrupt");
    assert_int_equal(rename(aside, model.file), 0);
    assert_status(predict(stage, &model), 200);
    assert_status(client_get(client, "%s", model.content), 200);
}

/* The requested part is intact, the rest after it is not. */
static void
a_part_of_a_file_that_was_good_is_checked_again_once_it_changed(void **state)
{
    struct stage *stage = *state;
    const struct model model = publish(stage);
    assert_status(part(stage, &model), 206);
    assert_status(part(stage, &model), 206);
    flip(model.file, 1);
    assert_problem(part(stage, &model), 500, "model_corrupt");
    flip(model.file, 1);
    assert_status(part(stage, &model), 206);
}

static void what_needs_no_file_is_answered_without_it(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct model model = publish(stage);
    char etag[256], match[300];
    assert_true(reply_header(client_get(client, "%s", model.content), "etag", etag));
    flip(model.file, 1);
    snprintf(match, sizeof match, "If-None-Match: %s", etag);
    assert_status(client_get_with(client, model.content, match), 304);
}

/* First one flipped bit of a record, then a truncated file. */
static void a_damaged_matrix_is_not_trained_on(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char path[256], aside[300], command[700];
    file_path(path, stage, "datasets", "points.matrix");
    snprintf(aside, sizeof aside, "%s/points.aside", stage->daemon.directory);
    snprintf(command, sizeof command, "cp '%s' '%s'", path, aside);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            flip(path, 3000);
        else
            assert_int_equal(i == 1 ? truncate(path, 1000) : unlink(path), 0);
        const struct reply *job =
            await_end(client, submit(client, SAMPLE_JOB, "points", 7, 33.0));
        assert_string_equal(reply_text(job, "state"), "FAILED");
        assert_string_equal(reply_text(job, "state_reason"), "dataset_corrupt");
        assert_true(reply_number(job, "privacy.authorised_steps") == 0);
        snprintf(command, sizeof command, "cp '%s' '%s'", aside, path);
        assert_int_equal(system(command), 0);
    }
    assert_true(daemon_logged(&stage->daemon, "dataset_corrupt"));
    assert_false(daemon_logged(&stage->daemon, "ledger_unavailable"));
    await_success(client, submit(client, SAMPLE_JOB, "points", 7, 33.0));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* Changes text in the row of a job that has ended; a start only scans such a row. The
 * daemon must not be running. */
static void damage_row(struct stage *stage, const char *job, const char *from,
                       const char *to)
{
    char command[600];
    snprintf(
        command, sizeof command,
        "python3 -c \"import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
        "n = db.execute('UPDATE job SET version=version+1,detail=replace(detail,?,?)"
        " WHERE id=? AND detail LIKE ?', (*sys.argv[3:], sys.argv[2], "
        "'%%' + sys.argv[3] + '%%')); "
        "assert n.rowcount == 1; db.commit()\" '%s/epsilond.db' %s '%s' '%s'",
        stage->daemon.data_dir, job, from, to);
    assert_int_equal(system(command), 0);
}

static void a_job_whose_row_was_changed_is_refused_and_nothing_else_is(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char job[64], other[64], path[128];
    const struct model damaged = publish(stage), whole = publish(stage);
    const struct reply *jobs = client_get(client, "/v1/jobs");
    snprintf(other, sizeof other, "%s", reply_text(jobs, "jobs.0.id"));
    snprintf(job, sizeof job, "%s", reply_text(jobs, "jobs.1.id"));
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    damage_row(stage, job, "noise_multiplier", "noisf_multiplier");
    daemon_start(&stage->daemon, NULL);

    for (int again = 0; again < 2; again++) {
        assert_problem(client_get(client, "/v1/jobs/%s", job), 500, "internal");
        assert_problem(client_get(client, "/v1/jobs/%s/logs", job), 500, "internal");
    }
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    assert_problem(client_delete(client, path), 500, "internal");
    assert_problem(client_get(client, "%s?format=onnx", damaged.content), 500,
                   "internal");
    assert_problem(predict(stage, &damaged), 500, "internal");
    snprintf(path, sizeof path, "%.*s",
             (int)(strrchr(damaged.content, '/') - damaged.content), damaged.content);
    assert_problem(client_delete(client, path), 500, "internal");
    assert_status(client_get(client, "%s", damaged.content), 200);

    static const char *const lists[] = {"view=full", "view=summary",
                                        "order_by=epsilon"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        jobs = client_get(client, "/v1/jobs?page_size=1&%s", lists[i]);
        assert_int_equal(json_array_size(reply_at(jobs, "jobs")), 1);
        assert_string_equal(reply_text(jobs, "jobs.0.id"), other);
    }
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/models"), "models")), 2);
    assert_status(client_get(client, "/v1/jobs/%s", other), 200);
    assert_status(predict(stage, &whole), 200);
    await_success(client, submit(client, SAMPLE_JOB, "points", 7, 33.0));
    assert_true(daemon_logged(&stage->daemon, "job_corrupt"));
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&stage->daemon), 65);
}

static void what_an_ended_job_shows_of_its_charge_is_compared(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char job[64];
    publish(stage);
    const struct reply *jobs = client_get(client, "/v1/jobs");
    snprintf(job, sizeof job, "%s", reply_text(jobs, "jobs.0.id"));
    assert_true(reply_number(jobs, "jobs.0.privacy.authorised_steps") == 7);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    damage_row(stage, job, "\"authorised_steps\":7", "\"authorised_steps\":6");
    assert_int_equal(daemon_verify(&stage->daemon), 65);
    damage_row(stage, job, "\"authorised_steps\":6", "\"authorised_steps\":7");
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* Runs SQL on the database of a daemon that is not running. */
static void alter(struct stage *stage, const char *sql)
{
    char command[500];
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
             "assert db.execute(sys.argv[2]).rowcount == 1; db.commit()\" "
             "'%s/epsilond.db' \"%s\"",
             stage->daemon.data_dir, sql);
    assert_int_equal(system(command), 0);
}

static void a_damaged_login_or_policy_that_waits_is_refused_by_both(void **state)
{
    struct stage *stage = *state;
    static const struct {
        const char *damage, *mend, *row;
    } all[] = {
        {"INSERT INTO login "
         "VALUES(replace(hex(zeroblob(32)),'00','zz'),'k7QdAbC1',1,1)",
         "DELETE FROM login", "table login, row zzzz"},
        {"INSERT INTO login VALUES(lower(hex(zeroblob(32))),'',1,1)",
         "DELETE FROM login", "table login, row 0000"},
        {"INSERT INTO policy_proposal VALUES('k7QdAbC1','no policy','ana',5)",
         "DELETE FROM policy_proposal", "table policy_proposal, row k7QdAbC1"},
    };
    const char *const start[] = {"--data-dir", stage->daemon.data_dir, "--listen",
                                 "127.0.0.1:0", NULL};
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char said[80];
        alter(stage, all[i].damage);
        assert_int_equal(daemon_verify(&stage->daemon), 65);
        snprintf(said, sizeof said, "epsilond verify: %s", all[i].row);
        assert_true(daemon_logged(&stage->daemon, said));
        assert_int_equal(daemon_run(&stage->daemon, start), 65);
        snprintf(said, sizeof said, "\"detail\":\"%s", all[i].row);
        assert_true(daemon_logged(&stage->daemon, said));
        alter(stage, all[i].mend);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
    }
    daemon_start(&stage->daemon, NULL);
    assert_status(client_get(&stage->client, "/readyz"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_damaged_model_is_not_served, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(
            a_part_of_a_file_that_was_good_is_checked_again_once_it_changed, begin,
            stage_end),
        cmocka_unit_test_setup_teardown(what_needs_no_file_is_answered_without_it,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(a_damaged_matrix_is_not_trained_on, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(
            a_job_whose_row_was_changed_is_refused_and_nothing_else_is, begin,
            stage_end),
        cmocka_unit_test_setup_teardown(
            what_an_ended_job_shows_of_its_charge_is_compared, begin, stage_end),
        cmocka_unit_test_setup_teardown(
            a_damaged_login_or_policy_that_waits_is_refused_by_both, stage_begin,
            stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
