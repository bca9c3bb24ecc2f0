/* Goal: the dashboard's files reach a browser complete, compressed if the browser
 * accepts that, and with the headers that keep foreign content out of its pages. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/stage_fixture.h"

static void expect_header(const struct reply *reply, const char *name, const char *part)
{
    char value[256];
    assert_true(reply_header(reply, name, value));
    if (strstr(value, part) == NULL)
        fail_msg("%s: %s, without %s", name, value, part);
}

/* Reads the version from index.html, whose links contain it. */
static void read_version(char version[16], const struct reply *index)
{
    const char *at = strstr(index->body, "/ui/");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "/ui/%15[0-9a-f]/", version), 1);
}

static void the_root_leads_to_the_dashboard(void **state)
{
    struct stage *stage = *state;
    const struct reply *reply = client_get(&stage->client, "/");
    assert_status(reply, 302);
    expect_header(reply, "Location", "/ui/");
}

static void every_page_is_the_index_and_asked_for_anew(void **state)
{
    struct stage *stage = *state;
    static const char *const paths[] = {"/ui/",
                                        "/ui/datasets",
                                        "/ui/datasets/a",
                                        "/ui/jobs?state=RUNNING",
                                        "/ui/train",
                                        "/ui/compare?dataset=a",
                                        "/ui/register",
                                        "/ui/jobs/job_0",
                                        "/ui/sweeps",
                                        "/ui/sweeps/swp_0",
                                        "/ui/statistics",
                                        "/ui/models",
                                        "/ui/compare?jobs=job_0,job_1",
                                        "/ui/nothing",
                                        "/ui/datasets/a.csv",
                                        "/ui/nothing/a"};
    const struct reply *index = client_get(&stage->client, "/ui/");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *reply = client_get(&stage->client, "%s", paths[i]);
        assert_status(reply, 200);
        assert_string_equal(reply->body, index->body);
        expect_header(reply, "Content-Type", "text/html");
        expect_header(reply, "Cache-Control", "no-cache");
        expect_header(reply, "Content-Security-Policy", "default-src 'none'; ");
        expect_header(reply, "Content-Security-Policy", "script-src 'self'; ");
        expect_header(reply, "Content-Security-Policy",
                      "require-trusted-types-for 'script'; trusted-types lit-html");
        expect_header(reply, "X-Content-Type-Options", "nosniff");
        expect_header(reply, "Referrer-Policy", "no-referrer");
        expect_header(reply, "Cross-Origin-Opener-Policy", "same-origin");
        expect_header(reply, "Cross-Origin-Resource-Policy", "same-origin");
    }
}

static void the_page_of_the_api_has_the_same_headers_and_its_files(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char version[16];
    const struct reply *page = client_get(client, "/docs");
    assert_status(page, 200);
    expect_header(page, "Content-Type", "text/html");
    expect_header(page, "Cache-Control", "no-cache");
    expect_header(page, "Content-Security-Policy", "default-src 'none'; ");
    read_version(version, page);
    const struct reply *kept = client_get(client, "/ui/%s/openapi.yaml", version);
    const struct reply *served = client_get(client, "/openapi.yaml");
    assert_status(kept, 200);
    expect_header(kept, "Content-Type", "application/yaml");
    expect_header(kept, "Cache-Control", "immutable");
    assert_string_equal(kept->body, served->body);
    assert_status(client_get(client, "/ui/%s/docs.js", version), 200);
    assert_status(client_get(client, "/ui/%s/yaml.js", version), 200);
    assert_status(client_get(client, "/ui/%s/docs.css", version), 200);
}

static void files_are_kept_for_ever_and_packed_on_request(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char version[16], path[64], value[256];
    read_version(version, client_get(client, "/ui/"));
    snprintf(path, sizeof path, "/ui/%s/lit-html.js", version);
    const struct reply *plain = client_get(client, "%s", path);
    const struct reply *packed = client_get_with(client, path, "Accept-Encoding: gzip");
    const struct reply *refused =
        client_get_with(client, path, "Accept-Encoding: gzip;q=0, *");
    assert_status(plain, 200);
    assert_status(packed, 200);
    expect_header(plain, "Cache-Control", "immutable");
    expect_header(plain, "Content-Type", "text/javascript");
    expect_header(plain, "Vary", "Accept-Encoding");
    expect_header(packed, "Content-Encoding", "gzip");
    assert_false(reply_header(plain, "Content-Encoding", value));
    assert_false(reply_header(refused, "Content-Encoding", value));
    assert_true(packed->size < plain->size / 2);
    assert_memory_equal(packed->body, "\x1f\x8b", 2);
    assert_memory_equal(plain->body, "/**", 3);
}

static void what_is_not_there_is_a_problem(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char version[16];
    read_version(version, client_get(client, "/ui/"));
    assert_problem(client_get(client, "/ui/%s/nothing.js", version), 404, "not_found");
    assert_problem(client_get(client, "/ui/%s/lit-html.js", "0"), 404, "not_found");
    assert_problem(client_get(client, "/ui/%s/a/b", version), 404, "not_found");
    assert_problem(client_get(client, "/ui/jobs?colour=blue"), 400, "invalid_argument");
    assert_problem(client_get_with(client, "/ui/", "Host: example.org"), 403,
                   "forbidden_origin");
}

static void it_can_be_left_out(void **state)
{
    static const char *const off[] = {"--ui", "off", NULL};
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char version[16];
    read_version(version, client_get(client, "/ui/"));
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, off);
    assert_problem(client_get(client, "/"), 404, "not_found");
    assert_problem(client_get(client, "/ui/"), 404, "not_found");
    assert_problem(client_get(client, "/ui/jobs"), 404, "not_found");
    assert_problem(client_get(client, "/docs"), 404, "not_found");
    assert_problem(client_get(client, "/ui/%s/lit-html.js", version), 404, "not_found");
    assert_status(client_get(client, "/openapi.yaml"), 200);
    assert_status(client_get(client, "/v1/datasets"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_leads_to_the_dashboard),
        cmocka_unit_test(every_page_is_the_index_and_asked_for_anew),
        cmocka_unit_test(the_page_of_the_api_has_the_same_headers_and_its_files),
        cmocka_unit_test(files_are_kept_for_ever_and_packed_on_request),
        cmocka_unit_test(what_is_not_there_is_a_problem),
        cmocka_unit_test(it_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
