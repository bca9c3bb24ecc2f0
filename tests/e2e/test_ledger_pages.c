/* The owner's view: pages, lines, the head as an endpoint, in the log and in the head
 * file tell one story; `epsilond verify` agrees beside the running daemon; a second
 * daemon, on the directory or on the port, runs nothing. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { JOBS = 5 };

/* Two datasets whose entries alternate. */
static int begin(void **state)
{
    stage_begin(state);
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char head_file[96];
    snprintf(head_file, sizeof head_file, "%s/head", stage->daemon.directory);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, (const char *const[]){"--head-file", head_file, NULL});
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "others", 500, 2, SAMPLE_BUDGET(4));
    for (int i = 0; i < JOBS; i++) {
        await_end(client, submit(client, SAMPLE_JOB, "points", 7 + i, 33.0));
        await_end(client, submit(client, SAMPLE_JOB, "others", 7 + i, 44.0));
    }
    return 0;
}

static const json_t *all_entries(struct client *client, const char *dataset)
{
    const struct reply *whole =
        client_get(client, "/v1/datasets/%s/ledger?page_size=1000", dataset);
    assert_status(whole, 200);
    assert_true(json_is_null(reply_at(whole, "next_page_token")));
    const json_t *entries = reply_at(whole, "entries");
    assert_int_equal(json_array_size(entries), 1 + 2 * JOBS);
    return entries;
}

static void pages_join_to_the_whole(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const json_t *whole = all_entries(client, "points");
    size_t count = 0;
    char query[128] = "";
    for (;;) {
        const struct reply *page =
            client_get(client, "/v1/datasets/points/ledger?page_size=3%s", query);
        assert_status(page, 200);
        const json_t *entries = reply_at(page, "entries");
        assert_true(json_array_size(entries) > 0 && json_array_size(entries) <= 3);
        for (size_t i = 0; i < json_array_size(entries); i++)
            assert_true(
                json_equal(json_array_get(entries, i), json_array_get(whole, count++)));
        if (json_is_null(reply_at(page, "next_page_token")))
            break;
        snprintf(query, sizeof query, "&page_token=%s",
                 reply_text(page, "next_page_token"));
    }
    assert_int_equal(count, json_array_size(whole));
}

static const struct reply *get_lines(struct client *client, const char *path)
{
    const struct reply *lines =
        client_get_with(client, path, "Accept: application/x-ndjson");
    char type[256];
    assert_status(lines, 200);
    assert_true(reply_header(lines, "content-type", type));
    assert_string_equal(type, "application/x-ndjson");
    return lines;
}

/* Compares a body of lines with whole from its entry first on; how many there were. */
static size_t compare_lines(const struct reply *lines, const json_t *whole,
                            size_t first)
{
    size_t count = 0;
    for (const char *line = lines->body, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end); /* the last one too */
        json_t *entry = json_loadb(line, (size_t)(end - line), 0, NULL);
        assert_true(json_equal(entry, json_array_get(whole, first + count)));
        json_decref(entry);
        count++;
    }
    return count;
}

static void lines_are_the_entries_of_the_pages(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const json_t *whole = all_entries(client, "points");
    const struct reply *lines = get_lines(client, "/v1/datasets/points/ledger");
    assert_int_equal(compare_lines(lines, whole, 0), 1 + 2 * JOBS);
    char link[256], path[256] = "/v1/datasets/points/ledger?page_size=4";
    size_t count = 0, pages = 0;
    for (bool more = true; more;) {
        lines = get_lines(client, path);
        count += compare_lines(lines, whole, count);
        pages++;
        more = reply_header(lines, "link", link);
        if (more) /* </v1/...>; rel="next" */
            snprintf(path, sizeof path, "%.*s", (int)strcspn(link + 1, ">"), link + 1);
    }
    assert_int_equal(pages, (1 + 2 * JOBS + 3) / 4);
    assert_int_equal(count, 1 + 2 * JOBS);
}

/* Both ledgers merged by number are one chain from nothing to the head. */
static void the_chain_ends_at_the_head(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const json_t *lists[] = {all_entries(client, "points"),
                             all_entries(client, "others")};
    size_t at[2] = {0};
    char prev[65];
    memset(prev, '0', 64);
    prev[64] = '\0';
    for (json_int_t seq = 1; seq <= 2 * (1 + 2 * JOBS); seq++) {
        const json_t *entry = json_array_get(lists[0], at[0]);
        int from = json_integer_value(json_object_get(entry, "seq")) == seq ? 0 : 1;
        entry = json_array_get(lists[from], at[from]++);
        assert_int_equal(json_integer_value(json_object_get(entry, "seq")), seq);
        assert_string_equal(json_string_value(json_object_get(entry, "prev")), prev);
        snprintf(prev, sizeof prev, "%s",
                 json_string_value(json_object_get(entry, "hash")));
    }
    const struct reply *head = client_get(client, "/v1/ledger/head");
    assert_true(reply_number(head, "seq") == 2 * (1 + 2 * JOBS));
    assert_string_equal(reply_text(head, "hash"), prev);
}

static void the_head_is_in_the_log_and_in_its_file(void **state)
{
    struct stage *stage = *state;
    const struct reply *head = client_get(&stage->client, "/v1/ledger/head");
    char text[160], path[96];
    snprintf(text, sizeof text, "\"ledger_seq\":\"%.0f\",\"ledger_hash\":\"%s\"",
             reply_number(head, "seq"), reply_text(head, "hash"));
    assert_true(daemon_logged(&stage->daemon, text));
    snprintf(path, sizeof path, "%s/head", stage->daemon.directory);
    json_t *kept = json_load_file(path, 0, NULL);
    assert_non_null(kept);
    assert_true((double)json_integer_value(json_object_get(kept, "seq")) ==
                reply_number(head, "seq"));
    assert_string_equal(json_string_value(json_object_get(kept, "hash")),
                        reply_text(head, "hash"));
    json_decref(kept);
    /* And `verify` finds the same one. */
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    snprintf(text, sizeof text, "head %.0f %s", reply_number(head, "seq"),
             reply_text(head, "hash"));
    assert_true(daemon_logged(&stage->daemon, text));
}

static void a_bad_page_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const bad[] = {"page_size=-1",
                                      "page_size=x",
                                      "page_size=1001",
                                      "page_token=x",
                                      "page_token=-2",
                                      "page_token=p8000000000000000",
                                      "page_token=pffffffffffffffff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_problem(client_get(client, "/v1/datasets/points/ledger?%s", bad[i]), 400,
                       "invalid_argument");
    assert_problem(client_get(client, "/v1/datasets/nobody/ledger"), 404, "not_found");
}

static void verify_agrees_beside_a_daemon_that_writes(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const char *running =
        submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, running);
    for (int i = 0; i < 10; i++) {
        submit(client, SAMPLE_JOB, "others", 50, 200.0);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
    }
    assert_status(client_get(client, "/readyz"), 200);
    cancel(client, running);
    await_end(client, running);
}

/* A daemon that cannot be reached settles what died before it, and runs nothing. */
static void a_daemon_without_its_port_runs_nothing(void **state)
{
    struct stage *stage = *state;
    struct daemon other;
    struct client client;
    daemon_init(&other);
    client_init(&client, &other);
    daemon_start(&other, (const char *const[]){"--workers", "1", NULL});
    ready_points(&client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *running =
        submit(&client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    const char *queued = submit(&client, SAMPLE_JOB, "points", 30, 100.0);
    await_training(&client, running);
    daemon_stop(&other, SIGKILL);
    char listen[32];
    snprintf(listen, sizeof listen, "127.0.0.1:%u", stage->daemon.port);
    const char *const same_port[] = {"--data-dir", other.data_dir, "--listen", listen,
                                     NULL};
    const char *const same_directory[] = {"--data-dir", stage->daemon.data_dir,
                                          "--listen", "127.0.0.1:0", NULL};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(daemon_run(&other, same_port), 75);
        assert_true(daemon_logged(&other, "Address already in use"));
        assert_int_equal(daemon_run(&other, same_directory), 75);
        assert_int_equal(daemon_verify(&other), 0);
    }
    daemon_start(&other, NULL);
    const struct reply *job = await_success(&client, queued);
    assert_true(reply_number(job, "attempt") == 1);
    assert_string_equal(
        reply_text(client_get(&client, "/v1/jobs/%s", running), "state_reason"),
        "worker_lost");
    client_fini(&client);
    daemon_fini(&other);
    assert_status(client_get(&stage->client, "/readyz"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_join_to_the_whole),
        cmocka_unit_test(lines_are_the_entries_of_the_pages),
        cmocka_unit_test(the_chain_ends_at_the_head),
        cmocka_unit_test(the_head_is_in_the_log_and_in_its_file),
        cmocka_unit_test(a_bad_page_is_refused),
        cmocka_unit_test(verify_agrees_beside_a_daemon_that_writes),
        cmocka_unit_test(a_daemon_without_its_port_runs_nothing),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
