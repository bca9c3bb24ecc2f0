/* Goal: the owner's views of the ledger agree: pages, lines, and the head from its
 * endpoint, in the log and in the head file; `epsilond verify` agrees while the daemon
 * runs; a second daemon, on the same directory or the same port, runs nothing. */
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

/* A number of a thousand digits would not fit into the link to the next lines. */
static void a_number_of_a_thousand_digits_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char path[2048] = "/v1/datasets/points/ledger?page_size=",
         *end = strchr(path, '\0');
    memset(end, '0', 1010);
    strcpy(end + 1010, "1&order=asc&view=full");
    assert_problem(client_get_with(client, path, "Accept: application/x-ndjson"), 400,
                   "invalid_argument");
    assert_status(client_get(client, "/livez"), 200);
}

/* Reads the whole summary in pages of this size and order; the caller releases it. */
static json_t *summary_of(struct client *client, const char *order, int page_size)
{
    json_t *all = json_array();
    char query[160];
    snprintf(query, sizeof query, "order=%s", order);
    for (;;) {
        const struct reply *page = client_get(
            client, "/v1/datasets/points/ledger?view=summary&page_size=%d&%s",
            page_size, query);
        assert_status(page, 200);
        assert_true(json_array_size(reply_at(page, "entries")) <= (size_t)page_size);
        json_array_extend(all, (json_t *)(uintptr_t)reply_at(page, "entries"));
        if (json_is_null(reply_at(page, "next_page_token")))
            return all;
        snprintf(query, sizeof query, "order=%s&page_token=%s", order,
                 reply_text(page, "next_page_token"));
    }
}

/* Members that are in both views have the same values in both. */
static void a_summary_is_the_ledger_without_its_vectors(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const same[] = {"seq", "kind",     "dataset", "epoch",
                                       "job", "external", "actor",   "time"};
    const json_t *whole = all_entries(client, "points");
    json_t *summary = summary_of(client, "asc", 4);
    assert_int_equal(json_array_size(summary), json_array_size(whole));
    for (size_t i = 0; i < json_array_size(whole); i++) {
        const json_t *entry = json_array_get(whole, i),
                     *shown = json_array_get(summary, i);
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            assert_true(json_equal(json_object_get(entry, same[k]),
                                   json_object_get(shown, same[k])));
        assert_int_equal(json_object_size(shown), sizeof same / sizeof *same + 1);
        double epsilon = json_number_value(json_object_get(shown, "epsilon"));
        assert_true(i == 0 ? epsilon == 4 : epsilon > 0 && epsilon < 4);
    }
    json_decref(summary);
}

static void newest_first_is_the_other_way_round(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const int sizes[] = {1, 3, 11, 1000};
    json_t *oldest = summary_of(client, "asc", 1000);
    size_t count = json_array_size(oldest);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        json_t *newest = summary_of(client, "desc", sizes[s]);
        assert_int_equal(json_array_size(newest), count);
        for (size_t i = 0; i < count; i++)
            assert_true(json_equal(json_array_get(newest, i),
                                   json_array_get(oldest, count - 1 - i)));
        json_decref(newest);
    }
    const struct reply *full =
        client_get(client, "/v1/datasets/points/ledger?order=desc&page_size=1");
    const json_t *whole = all_entries(client, "points");
    assert_true(json_equal(json_array_get(reply_at(full, "entries"), 0),
                           json_array_get(whole, count - 1)));
    json_decref(oldest);
    const char *token = reply_text(full, "next_page_token");
    assert_problem(
        client_get(client, "/v1/datasets/points/ledger?page_token=%s", token), 400,
        "invalid_argument");
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

/* Compares a body of lines with `whole`, beginning at its entry `first`; returns the
 * number of lines. */
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

static void a_link_keeps_order_and_view(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char link[256],
        path[256] = "/v1/datasets/points/ledger?view=summary&order=desc&page_size=4";
    json_t *newest = summary_of(client, "desc", 1000);
    size_t count = 0;
    for (bool more = true; more;) {
        const struct reply *lines = get_lines(client, path);
        count += compare_lines(lines, newest, count);
        more = reply_header(lines, "link", link);
        if (more)
            snprintf(path, sizeof path, "%.*s", (int)strcspn(link + 1, ">"), link + 1);
    }
    assert_int_equal(count, json_array_size(newest));
    json_decref(newest);
}

/* One point for each entry; the last equals the current budget. */
static void a_history_tells_what_the_entries_came_to(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *history =
        client_get(client, "/v1/datasets/points/budget/history");
    assert_status(history, 200);
    const json_t *points = reply_at(history, "points"),
                 *whole = all_entries(client, "points");
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    size_t count = json_array_size(whole);
    double spent = 0;
    assert_int_equal(json_array_size(points), count);
    assert_true(reply_number(history, "entries") == (double)count);
    for (size_t i = 0; i < count; i++) {
        static const char *const same[] = {"seq", "time", "kind", "job", "epoch"};
        const json_t *point = json_array_get(points, i);
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            assert_true(json_equal(json_object_get(point, same[k]),
                                   json_object_get(json_array_get(whole, i), same[k])));
        double now = json_number_value(json_object_get(point, "epsilon_spent"));
        const json_t *share = json_object_get(point, "share");
        double held = json_number_value(json_object_get(share, "held"));
        bool commits = i > 0 && i % 2 == 0; /* one job after the other */
        assert_true(commits ? now > spent : now == spent);
        assert_true((i % 2 == 1) == (held > 0));
        assert_true(json_is_null(json_object_get(point, "exposure")));
        spent = now;
    }
    assert_true(spent == reply_number(budget, "epsilon_spent"));
    assert_true(json_equal(json_object_get(json_array_get(points, count - 1), "share"),
                           reply_at(budget, "share")));
    char cache[256];
    assert_true(reply_header(history, "cache-control", cache));
    assert_string_equal(cache, "no-store");
    for (int wanted = 1; wanted <= 3; wanted++) {
        const struct reply *few =
            client_get(client, "/v1/datasets/points/budget/history?points=%d", wanted);
        const json_t *left = reply_at(few, "points");
        assert_int_equal(json_array_size(left), wanted);
        assert_true(json_equal(json_array_get(left, (size_t)wanted - 1),
                               json_array_get(points, count - 1)));
        assert_true(wanted == 1 ||
                    json_equal(json_array_get(left, 0), json_array_get(points, 0)));
    }
}

static void a_bad_history_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const bad[] = {"points=0",   "points=1001", "points=-1",
                                      "points=ten", "points=",     "points=1&points=2",
                                      "page_size=3"};
    static const char path[] = "/v1/datasets/%s/budget/history?%s";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_problem(client_get(client, path, "points", bad[i]), 400,
                       "invalid_argument");
    assert_status(client_get(client, path, "points", "points=1000"), 200);
    assert_problem(client_get(client, path, "nobody", "points=5"), 404, "not_found");
    ready_points(client, "everybodys", 500, 3, SAMPLE_PUBLIC);
    assert_problem(client_get(client, path, "everybodys", "points=5"), 409,
                   "dataset_public");
}

/* Both ledgers, merged by number, are one chain from its beginning to the head. */
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
    /* `verify` finds the same head. */
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
                                      "page_token=pffffffffffffffff",
                                      "order=sideways",
                                      "order=",
                                      "order=DESC",
                                      "order=asc&order=desc",
                                      "view=short",
                                      "view=summary,full"};
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

/* A daemon that cannot listen settles the jobs that a crash left, and runs nothing. */
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
        cmocka_unit_test(a_number_of_a_thousand_digits_is_refused),
        cmocka_unit_test(a_summary_is_the_ledger_without_its_vectors),
        cmocka_unit_test(newest_first_is_the_other_way_round),
        cmocka_unit_test(a_link_keeps_order_and_view),
        cmocka_unit_test(a_history_tells_what_the_entries_came_to),
        cmocka_unit_test(a_bad_history_is_refused),
        cmocka_unit_test(the_chain_ends_at_the_head),
        cmocka_unit_test(the_head_is_in_the_log_and_in_its_file),
        cmocka_unit_test(a_bad_page_is_refused),
        cmocka_unit_test(verify_agrees_beside_a_daemon_that_writes),
        cmocka_unit_test(a_daemon_without_its_port_runs_nothing),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
