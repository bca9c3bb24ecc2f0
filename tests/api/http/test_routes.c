/* Goal: a path means one route or none. Method: every route of the table with
 * parameters filled in, and paths that only look like one. */
#include "tests/expect.h"

#include <string.h>

#include "api/http/routes.h"

static void fill(char *path, size_t size, const char *template)
{
    const char *at = strstr(template, "{id}");
    const char *name = strstr(template, "{name}");
    if (at == NULL)
        snprintf(path, size, "%s", template);
    else if (name == NULL)
        snprintf(path, size, "%.*smnist.v2%s", (int)(at - template), template, at + 4);
    else
        snprintf(path, size, "%.*smnist.v2%.*slabels%s", (int)(at - template), template,
                 (int)(name - at - 4), at + 4, name + 6);
}

static void every_route_is_found_by_its_own_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *info = route_at(i);
        struct route_match match;
        struct error error = {0};
        char path[128];
        fill(path, sizeof path, info->path);
        assert_int_equal(route_find(&match, info->method, path, &error), ST_OK);
        assert_ptr_equal(match.route, info);
        assert_int_equal(route_index(info), i);
        bool has_id = strstr(info->path, "{id}") != NULL;
        bool has_name = strstr(info->path, "{name}") != NULL;
        assert_string_equal(match.id, has_id ? "mnist.v2" : "");
        assert_string_equal(match.name, has_name ? "labels" : "");
    }
}

/* Only the thread of the write queue writes: a long read on it would delay every
 * write. */
static void no_read_runs_on_the_thread_that_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        bool writes_nothing = strcmp(route->method, "GET") == 0 ||
                              strstr(route->path, ":estimate") != NULL ||
                              strstr(route->path, ":check") != NULL;
        bool on_write_queue = route->run == RUN_ON_WRITE_QUEUE ||
                              route->run == RUN_ON_WRITE_QUEUE_PRICED ||
                              route->run == RUN_ON_WRITE_QUEUE_THEN_LONG_POLL;
        if (writes_nothing)
            assert_false(on_write_queue);
        else
            assert_true(route->run != RUN_ON_COLD_READ_POOL &&
                        route->run != RUN_ON_PRICERS);
    }
}

static void head_is_get(void **state)
{
    (void)state;
    struct route_match match;
    assert_int_equal(route_find(&match, "HEAD", "/livez", NULL), ST_OK);
    assert_string_equal(match.route->name, "livez");
}

static void another_method_is_told_which_are_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path, *allow;
    } cases[] = {
        {"PUT", "/v1/jobs", "POST, GET, HEAD"},
        {"GET", "/v1/jobs:estimate", "POST"},
        {"POST", "/v1/datasets/a", "GET, HEAD, PUT, PATCH, DELETE"},
        {"GET", "/v1/datasets/a:import", "POST"},
        {"POST", "/v1/datasets/a/files/data", "PUT, GET, HEAD"},
        {"POST", "/v1/datasets/a/files/data/fetch", "GET, HEAD, DELETE"},
        {"GET", "/v1/datasets/a/files/data:fetch", "POST"},
        {"PUT", "/v1/datasets/a/files/data:fetch", "POST"},
        {"OPTIONS", "/livez", "GET, HEAD"},
        {"get", "/livez", "GET, HEAD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct route_match match;
        struct error error = {0};
        assert_int_equal(route_find(&match, cases[i].method, cases[i].path, &error),
                         ST_METHOD_NOT_ALLOWED);
        assert_string_equal(match.allow, cases[i].allow);
        assert_int_equal(error.status, ST_METHOD_NOT_ALLOWED);
    }
}

static void what_only_looks_like_a_route_is_not_found(void **state)
{
    (void)state;
    static const char *const paths[] = {"",
                                        "/ui",
                                        "/ui//",
                                        "/ui/jobs/",
                                        "/ui/jobs/a/b",
                                        "/v1",
                                        "/v1/jobs/",
                                        "/v1//jobs",
                                        "//v1/jobs",
                                        "/V1/jobs",
                                        "/v1/jobs/x/y",
                                        "/v1/jobs:estimat",
                                        "/v1/jobs:estimate/",
                                        "/v1/jobs/:cancel",
                                        "/v1/jobs/a:b:cancel",
                                        "/v1/jobs/a:cancelx",
                                        "/v1/datasets/",
                                        "/v1/datasets//budget",
                                        "/v1/datasets/a/files/",
                                        "/v1/datasets/a/files/b/c",
                                        "/v1/models/a/predict/",
                                        "/livez ",
                                        "/openapi.yaml?",
                                        "v1/jobs",
                                        "/v1/datasets/{id}:cancel"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct route_match match;
        struct error error = {0};
        if (route_find(&match, "GET", paths[i], &error) != ST_NOT_FOUND)
            fail_msg("found: %s", paths[i]);
    }
}

/* A client without a key may send no body larger than a key. */
static void what_anybody_may_send_is_small(void **state)
{
    (void)state;
    size_t logins = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        if (route->scope != SCOPE_EVERYBODY)
            continue;
        logins += route->body == BODY_LOGIN;
        if (route->body != BODY_NONE && route->body != BODY_EMPTY &&
            route->body != BODY_LOGIN)
            fail_msg("%s", route->name);
    }
    assert_int_equal(logins, 1);
}

/* Cut to 63 characters it would name another dataset. */
static void a_long_id_is_never_cut_into_another(void **state)
{
    (void)state;
    char path[128] = "/v1/datasets/";
    struct route_match match;
    memset(path + 13, 'a', 64);
    path[13 + 64] = '\0';
    assert_int_equal(route_find(&match, "GET", path, NULL), ST_OK);
    assert_string_equal(match.id, "");
    path[13 + 63] = '\0';
    assert_int_equal(route_find(&match, "GET", path, NULL), ST_OK);
    assert_int_equal(strlen(match.id), 63);
}

/* If it were decoded first, %2F would be a slash of the template and %3A its colon. */
static void an_encoded_character_is_never_a_templates(void **state)
{
    (void)state;
    struct route_match match;
    assert_int_equal(route_find(&match, "GET", "/v1/datasets/a%2Fbudget", NULL), ST_OK);
    assert_string_equal(match.route->name, "dataset_get");
    assert_string_equal(match.id, "a/budget");
    assert_int_equal(route_find(&match, "GET", "/v1/datasets/a%3Aimport", NULL), ST_OK);
    assert_string_equal(match.route->name, "dataset_get");
    assert_string_equal(match.id, "a:import");
    assert_int_equal(route_find(&match, "GET", "/v1/datasets/%6dnist", NULL), ST_OK);
    assert_string_equal(match.id, "mnist");
    assert_int_equal(route_find(&match, "GET", "/v1%2Fjobs", NULL), ST_NOT_FOUND);
    assert_int_equal(route_find(&match, "GET", "/v1/%6aobs", NULL), ST_NOT_FOUND);
    assert_int_equal(route_find(&match, "PUT", "/v1/datasets/a/files/%64ata%2f", NULL),
                     ST_OK);
    assert_string_equal(match.name, "data/");
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static void only_what_everybody_may_see_has_no_scope(void **state)
{
    (void)state;
    static const char *const open[] = {
        "algorithm_list", "openapi", "version",      "livez",
        "readyz",         "root",    "dashboard",    "dashboard_page",
        "dashboard_item", "docs",    "login_create", "login_get",
        "login_delete",   NULL};
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        assert_int_equal(route_at(i)->scope == SCOPE_EVERYBODY,
                         is_one_of(route_at(i)->name, open));
}

static void only_what_shows_nothing_is_told_to_any_host(void **state)
{
    (void)state;
    static const char *const probed[] = {"openapi", "version", "livez", "readyz", NULL};
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        assert_int_equal(route_at(i)->any_host, is_one_of(route_at(i)->name, probed));
}

/* When you add a route that changes something, give the name of its audit event. */
static void what_changes_something_names_its_act(void **state)
{
    (void)state;
    static const char *const idle[] = {
        "dataset_check",   "job_estimate",       "statistics_estimate",
        "charge_estimate", "sweep_estimate",     "model_estimate",
        "model_predict",   "model_predict_file", NULL};
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        bool reads = strcmp(route->method, "GET") == 0;
        if (strcmp(route->name, "model_content") == 0)
            assert_string_equal(route->act, "model.download");
        else if ((reads || is_one_of(route->name, idle)) != (route->act[0] == '\0'))
            fail_msg("%s: act \"%s\"", route->name, route->act);
    }
}

/* A text as long as its member would have no terminator. */
static void every_text_of_a_row_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        assert_non_null(memchr(route->name, '\0', sizeof route->name));
        assert_non_null(memchr(route->method, '\0', sizeof route->method));
        assert_non_null(memchr(route->act, '\0', sizeof route->act));
        assert_non_null(memchr(route->path, '\0', sizeof route->path));
        assert_non_null(memchr(route->query, '\0', sizeof route->query));
        assert_non_null(memchr(route->types, '\0', sizeof route->types));
    }
}

/* Reads what the command prints. */
static void read_output(char *output, size_t size, const char *command)
{
    FILE *found = popen(command, "r");
    assert_non_null(found);
    size_t read = fread(output, 1, size - 1, found);
    output[read] = '\0';
    pclose(found);
}

/* So a new route needs only its row, its functions and its operation in
 * openapi.yaml. */
static void nothing_but_its_row_and_its_functions_names_a_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        char command[200], files[400];
        snprintf(command, sizeof command,
                 "grep -rlwE '(handle|poll|cost)_%s' api service --include=*.[ch]",
                 route_at(i)->name);
        read_output(files, sizeof files, command);
        const char *end = strchr(files, '\n');
        if (end == NULL || end[1] != '\0' || strstr(files, "_handlers.c") == NULL)
            fail_msg("functions of %s: %s", route_at(i)->name, files);
        if (strcmp(route_at(i)->path, "/") == 0)
            continue; /* a text with other uses than this path */
        snprintf(command, sizeof command,
                 "grep -rlF '\"%s\"' api service --include=*.[ch]", route_at(i)->path);
        read_output(files, sizeof files, command);
        assert_string_equal(files, "api/http/routes.h\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_found_by_its_own_path),
        cmocka_unit_test(no_read_runs_on_the_thread_that_writes),
        cmocka_unit_test(head_is_get),
        cmocka_unit_test(another_method_is_told_which_are_allowed),
        cmocka_unit_test(what_only_looks_like_a_route_is_not_found),
        cmocka_unit_test(what_anybody_may_send_is_small),
        cmocka_unit_test(a_long_id_is_never_cut_into_another),
        cmocka_unit_test(an_encoded_character_is_never_a_templates),
        cmocka_unit_test(only_what_everybody_may_see_has_no_scope),
        cmocka_unit_test(only_what_shows_nothing_is_told_to_any_host),
        cmocka_unit_test(what_changes_something_names_its_act),
        cmocka_unit_test(every_text_of_a_row_ends),
        cmocka_unit_test(nothing_but_its_row_and_its_functions_names_a_route),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
