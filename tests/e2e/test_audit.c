#define _GNU_SOURCE /* memmem */
/* Goal: each action leaves one row in the audit trail, a repeated request none, a
 * refusal one with its code; rows contain nothing of bodies or records; `epsilond
 * verify` names a row that was altered, before and after restarts and kills. Method:
 * requests to a running daemon, one after the other, and a comparison of the rows. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { DATABASE_MAX = 8 << 20, POLLS = 9000 };

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* A row as one line: "actor action object result code detail". */
static void line_of(char *text, size_t size, const json_t *row)
{
    static const char *const members[] = {"actor", "action", "object", "result",
                                          "code"};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *value = json_string_value(json_object_get(row, members[i]));
        snprintf(text + strlen(text), size - strlen(text), "%s ",
                 value != NULL ? value : "-");
    }
    char *detail = json_dumps(json_object_get(row, "detail"),
                              JSON_COMPACT | JSON_REAL_PRECISION(15));
    snprintf(text + strlen(text), size - strlen(text), "%s", detail);
    free(detail);
}

static double newest(struct client *client)
{
    const struct reply *page = client_get(client, "/v1/audit?order=desc&page_size=1");
    assert_status(page, 200);
    return json_array_size(reply_at(page, "acts")) == 0
               ? 0
               : reply_number(page, "acts.0.seq");
}

/* The only row after `after` is this one. A tick of the daemon writes refusals, so this
 * waits for them. */
static void expect_row(struct client *client, double after, const char *expected)
{
    char line[512];
    const struct reply *page = NULL;
    for (int i = 0; i < POLLS; i++) {
        page = client_get(client, "/v1/audit?after=%.0f", after);
        assert_status(page, 200);
        if (json_array_size(reply_at(page, "acts")) > 0)
            break;
        pause_briefly();
    }
    assert_int_equal(json_array_size(reply_at(page, "acts")), 1);
    line_of(line, sizeof line, reply_at(page, "acts.0"));
    assert_string_equal(line, expected);
}

static void expect_no_row(struct client *client, double after)
{
    const struct reply *page = client_get(client, "/v1/audit?after=%.0f", after);
    assert_status(page, 200);
    if (json_array_size(reply_at(page, "acts")) != 0)
        fail_msg("%s", page->body);
}

#define DECLARATION                                                                    \
    "{'id':'%s','format':'csv','task':'classification','classes':2,'columns':"         \
    "[{'name':'x1','kind':'numeric','range':[-1,1]},{'name':'x2','kind':'numeric',"    \
    "'range':[-1,1]},{'name':'y','kind':'label','values':['no','yes']}],"              \
    "'privacy':%s}"

static void a_declaration_is_one_act_and_its_repetition_none(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    double before = newest(client);
    assert_status(client_post(client, "/v1/datasets", "once", DECLARATION, "people",
                              "{'epsilon':4,'delta':1e-05}"),
                  201);
    expect_row(client, before,
               "local dataset.create people ok - {\"epsilon\":4.0,\"delta\":1e-5}");
    before = newest(client);
    assert_status(client_post(client, "/v1/datasets", "once", DECLARATION, "people",
                              "{'epsilon':4,'delta':1e-05}"),
                  201);
    expect_no_row(client, before);
    assert_status(client_create(client, "/v1/datasets", DECLARATION, "all", "'public'"),
                  201);
    expect_row(client, before, "local dataset.create all ok - {\"public\":true}");
}

static void upload_import_and_deletion_are_one_act_each(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char *points = sample_points(300, 41);
    assert_status(
        client_create(client, "/v1/datasets", DECLARATION, "short", "'public'"), 201);
    double before = newest(client);
    assert_status(
        client_put(client, "/v1/datasets/short/files/data", points, strlen(points)),
        204);
    free(points);
    expect_row(client, before, "local dataset.upload short ok - {\"file\":\"data\"}");
    before = newest(client);
    assert_status(client_act(client, "/v1/datasets/short:import"), 200);
    expect_row(client, before, "local dataset.import short ok - {}");
    before = newest(client);
    assert_status(client_act(client, "/v1/datasets/short:import"), 200);
    expect_no_row(client, before);
    assert_status(client_delete(client, "/v1/datasets/short"), 204);
    expect_row(client, before, "local dataset.delete short ok - {}");
    before = newest(client);
    assert_status(client_delete(client, "/v1/datasets/short"), 204);
    expect_no_row(client, before);
}

/* A row would reveal to readers of the trail that the import was refused. */
static void an_import_that_fails_leaves_no_row(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char broken[] = "x1,x2,y\n0.5,0.5,yes\n0.25,maroon-marker,no\n";
    assert_status(client_create(client, "/v1/datasets", DECLARATION, "bad", "'public'"),
                  201);
    assert_status(
        client_put(client, "/v1/datasets/bad/files/data", broken, strlen(broken)), 204);
    double before = newest(client);
    assert_problem(client_act(client, "/v1/datasets/bad:import"), 422, "import_failed");
    expect_no_row(client, before);
}

static void a_job_its_model_and_a_cancellation_are_one_act_each(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char line[512], expected[512], path[96];
    ready_points(client, "points", 500, 3, SAMPLE_BUDGET(8));
    double before = newest(client);
    const char *id = submit(client, SAMPLE_JOB, "points", 3, 100.0);
    const struct reply *page = client_get(client, "/v1/audit?after=%.0f", before);
    assert_int_equal(json_array_size(reply_at(page, "acts")), 1);
    line_of(line, sizeof line, reply_at(page, "acts.0"));
    snprintf(expected, sizeof expected,
             "local job.create %s ok - {\"dataset\":\"points\",\"algorithm\":\"dpsgd\"",
             id);
    assert_memory_equal(line, expected, strlen(expected));
    const struct reply *job = await_success(client, id);
    assert_true(reply_number(page, "acts.0.detail.ledger_seq") ==
                reply_number(job, "privacy.ledger_seq"));
    before = newest(client);
    expect_no_row(client, before); /* no one causes an end */
    snprintf(path, sizeof path, "/v1/models/%s/content", reply_text(job, "model"));
    snprintf(expected, sizeof expected,
             "local model.download %s ok - {\"dataset\":\"points\"}",
             reply_text(job, "model"));
    assert_status(client_get(client, "%s", path), 200);
    expect_row(client, before, expected);
    before = newest(client);
    assert_status(client_get_with(client, path, "Range: bytes=0-9"), 206);
    expect_row(client, before, expected);
    before = newest(client);
    assert_status(client_get_with(client, path, "Range: bytes=10-19"), 206);
    const struct request head = {.method = "HEAD", .path = path};
    assert_status(client_send(client, &head), 200);
    expect_no_row(client, before);
    const char *endless = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1e6);
    before = newest(client);
    cancel(client, endless);
    snprintf(expected, sizeof expected,
             "local job.cancel %s ok - {\"dataset\":\"points\"}", endless);
    expect_row(client, before, expected);
    before = newest(client);
    cancel(client, endless);
    expect_no_row(client, before);
    await_end(client, endless);
}

static void a_refusal_is_told_with_its_code(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    double before = newest(client);
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 1000, 0.5),
                   409, "budget_exhausted");
    expect_row(client, before,
               "local job.create - error budget_exhausted {\"dataset\":\"points\"}");
    before = newest(client);
    assert_problem(client_delete(client, "/v1/datasets/nothing"), 404, "not_found");
    expect_row(client, before, "local dataset.delete nothing error not_found {}");
    before = newest(client);
    const struct request foreign = {.method = "GET",
                                    .path = "/v1/datasets/points",
                                    .headers = {"Host: evil.example"}};
    assert_problem(client_send(client, &foreign), 403, "forbidden_origin");
    expect_row(client, before, "local read points denied forbidden_origin {}");
    before = newest(client);
    /* Reading a missing thing is not recorded, and neither is a request for a price. */
    assert_problem(client_get(client, "/v1/datasets/nothing"), 404, "not_found");
    assert_problem(client_post(client, "/v1/jobs:estimate", NULL, "{}"), 400,
                   "invalid_argument");
    assert_status(client_get(client, "/v1/status"), 200);
    /* The row of a later refusal is there, so a row of an earlier one would be there
     * too. */
    assert_problem(
        client_act(client, "/v1/jobs/%s:cancel", "job_01JJZ0000000000000000000AB"), 404,
        "not_found");
    expect_row(client, before,
               "local job.cancel job_01JJZ0000000000000000000AB error not_found {}");
}

static void a_row_says_who_and_from_where(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct request named = {
        .method = "DELETE",
        .path = "/v1/datasets/all",
        .headers = {"X-Request-Id: ask-17"},
    };
    assert_status(client_send(client, &named), 204);
    /* Not the newest row: a tick may write an earlier refusal after the deletion. */
    const struct reply *page =
        client_get(client, "/v1/audit?object=all&action=dataset.delete");
    assert_string_equal(reply_text(page, "acts.0.request_id"), "ask-17");
    assert_string_equal(reply_text(page, "acts.0.ip"), "127.0.0.1");
    assert_string_equal(reply_text(page, "acts.0.via"), "local");
    assert_true(json_is_null(reply_at(page, "acts.0.key")));
}

static void filters_and_pages_find_the_same_rows(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *whole = client_get(client, "/v1/audit?page_size=1000");
    const json_t *all = reply_at(whole, "acts");
    size_t count = 0, refused = 0;
    char token[96] = "";
    for (bool more = true; more;) {
        const struct reply *page =
            client_get(client, "/v1/audit?order=desc&page_size=4%s", token);
        const json_t *acts = reply_at(page, "acts");
        for (size_t i = 0; i < json_array_size(acts); i++)
            assert_true(
                json_equal(json_array_get(acts, i),
                           json_array_get(all, json_array_size(all) - 1 - count++)));
        more = !json_is_null(reply_at(page, "next_page_token"));
        if (more)
            snprintf(token, sizeof token, "&page_token=%s",
                     reply_text(page, "next_page_token"));
    }
    assert_int_equal(count, json_array_size(all));
    static const char *const results[] = {"ok", "denied", "error"};
    for (size_t i = 0; i < 3; i++) {
        const struct reply *page =
            client_get(client, "/v1/audit?page_size=1000&result=%s", results[i]);
        refused += json_array_size(reply_at(page, "acts"));
    }
    assert_int_equal(refused, json_array_size(all));
    const struct reply *one = client_get(
        client, "/v1/audit?actor=local&object=people&action=dataset.create&result=ok");
    assert_int_equal(json_array_size(reply_at(one, "acts")), 1);
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/audit?actor=nobody"), "acts")),
        0);
    assert_problem(client_get(client, "/v1/audit?actor="), 400, "invalid_argument");
    assert_problem(client_get(client, "/v1/audit?result=good"), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/audit?after=-1"), 400, "invalid_argument");
}

/* A value with special characters is encoded in the link, so the link leads on and does
 * not end early. */
static void lines_are_the_rows_and_lead_to_the_next(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char lines[] = "Accept: application/x-ndjson";
    const struct reply *whole = client_get(client, "/v1/audit?page_size=1000");
    const json_t *all = reply_at(whole, "acts");
    char path[256] = "/v1/audit?page_size=5&actor=local", link[256];
    size_t count = 0;
    for (bool more = true; more;) {
        const struct reply *reply = client_get_with(client, path, lines);
        assert_status(reply, 200);
        for (const char *line = reply->body, *end; *line != '\0'; line = end + 1) {
            end = strchr(line, '\n');
            assert_non_null(end);
            json_t *row = json_loadb(line, (size_t)(end - line), 0, NULL);
            assert_true(json_equal(row, json_array_get(all, count++)));
            json_decref(row);
        }
        more = reply_header(reply, "link", link);
        if (more)
            snprintf(path, sizeof path, "%.*s", (int)strcspn(link + 1, ">"), link + 1);
    }
    assert_int_equal(count, json_array_size(all));
    assert_non_null(strstr(path, "actor=local"));
}

static char *read_file(const char *path, size_t *size)
{
    char *bytes = malloc(DATABASE_MAX);
    FILE *file = fopen(path, "rb");
    assert_non_null(bytes);
    *size = file != NULL ? fread(bytes, 1, DATABASE_MAX, file) : 0;
    assert_true(*size < DATABASE_MAX);
    if (file != NULL)
        fclose(file);
    return bytes;
}

static void expect_nowhere(const struct daemon *daemon, const char *name,
                           const char *marker)
{
    char path[160];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", daemon->data_dir, name);
    char *bytes = read_file(path, &size);
    if (memmem(bytes, size, marker, strlen(marker)) != NULL)
        fail_msg("%s holds \"%s\"", name, marker);
    free(bytes);
}

/* A marker is sent in a refused body, in a path, in a header and in records. None of
 * them is in the database, which holds the trail. */
static void nothing_of_a_request_is_in_the_trail(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char marker[] = "Maroon-Marker_77";
    double before = newest(client);
    assert_problem(client_create(client, "/v1/jobs", "{'%s':1}", marker), 400,
                   "invalid_argument");
    assert_problem(client_delete(client, "/v1/datasets/Maroon-Marker_77"), 404,
                   "not_found");
    const struct request secret = {
        .method = "DELETE",
        .path = "/v1/models/nothing",
        .headers = {"Authorization: Bearer Maroon-Marker_77",
                    "Cookie: s=Maroon-Marker_77"},
    };
    assert_true(client_send(client, &secret)->status >= 400);
    char *points = sample_points(300, 55);
    assert_true(
        client_put(client, "/v1/datasets/people/files/data", points, strlen(points))
            ->status == 204);
    free(points);
    for (int i = 0; i < POLLS && newest(client) < before + 3; i++)
        pause_briefly(); /* until the refusals were received, during the upload */
    assert_true(newest(client) >= before + 3);
    static const char *const names[] = {"epsilond.db", "epsilond.db-wal"};
    for (size_t i = 0; i < 2; i++) {
        expect_nowhere(&stage->daemon, names[i], marker);
        expect_nowhere(&stage->daemon, names[i], "maroon-marker");
    }
}

static void verify_agrees_and_a_restart_goes_on(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    double before = newest(client);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    assert_int_equal(daemon_stop(&stage->daemon, SIGKILL), 128 + SIGKILL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, (const char *const[]){"--audit-ip", "off", NULL});
    expect_no_row(client, before);
    assert_status(
        client_create(client, "/v1/datasets", DECLARATION, "late", "'public'"), 201);
    const struct reply *page = client_get(client, "/v1/audit?after=%.0f", before);
    assert_int_equal(json_array_size(reply_at(page, "acts")), 1);
    assert_true(json_is_null(reply_at(page, "acts.0.ip")));
}

/* While the daemon is stopped, one letter of a row is changed: in the request id of a
 * deletion's row. Removed and swapped rows are tested in test_audit_trail. */
static void an_altered_trail_ends_verify_with_its_row(void **state)
{
    struct stage *stage = *state;
    char path[160];
    size_t size;
    const struct reply *page =
        client_get(&stage->client, "/v1/audit?object=all&action=dataset.delete");
    char said[96];
    snprintf(said, sizeof said, "audit row %.0f is not what was written",
             reply_number(page, "acts.0.seq"));
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    snprintf(path, sizeof path, "%s/epsilond.db", stage->daemon.data_dir);
    char *bytes = read_file(path, &size);
    char *name = memmem(bytes, size, "ask-17", 6);
    assert_non_null(name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)(name - bytes) + 5, SEEK_SET), 0);
    assert_int_equal(fputc('8', file), '8');
    assert_int_equal(fclose(file), 0);
    free(bytes);
    assert_int_equal(daemon_verify(&stage->daemon), 65);
    assert_true(daemon_logged(&stage->daemon, said));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declaration_is_one_act_and_its_repetition_none),
        cmocka_unit_test(upload_import_and_deletion_are_one_act_each),
        cmocka_unit_test(an_import_that_fails_leaves_no_row),
        cmocka_unit_test(a_job_its_model_and_a_cancellation_are_one_act_each),
        cmocka_unit_test(a_refusal_is_told_with_its_code),
        cmocka_unit_test(a_row_says_who_and_from_where),
        cmocka_unit_test(filters_and_pages_find_the_same_rows),
        cmocka_unit_test(lines_are_the_rows_and_lead_to_the_next),
        cmocka_unit_test(nothing_of_a_request_is_in_the_trail),
        cmocka_unit_test(verify_agrees_and_a_restart_goes_on),
        cmocka_unit_test(an_altered_trail_ends_verify_with_its_row),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
