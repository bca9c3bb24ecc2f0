/* Goal: a client that reads a list page by page, each page from another daemon of one
 * database, reads everything once and in one order, and a daemon never answers 304 to
 * the ETag that another daemon gave to its list. Method: two processes on a real
 * PostgreSQL server, which register datasets in turns. */
#include <stdio.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/daemons_fixture.h"
#include "tests/e2e/sample_fixture.h"

enum { DATASETS = 9, IDS_SIZE = 256 };

/* Neither alphabetical order nor its reverse. */
static const char *const names[DATASETS] = {"m", "c", "x", "a", "k",
                                            "z", "b", "y", "d"};

static int begin(void **state)
{
    static const char *const roles[] = {"api", "api", NULL};
    return daemons_begin(state, roles);
}

/* Reads all pages, from each daemon in turn: stores the ids, each followed by a
 * blank. */
static void read_in_turns(struct daemons *daemons, const char *query, int size,
                          char ids[IDS_SIZE])
{
    char token[64] = "";
    size_t turn = 0;
    ids[0] = '\0';
    do {
        const struct reply *page =
            client_get(&daemons->clients[turn++ % 2], "/v1/datasets?page_size=%d%s%s%s",
                       size, query, token[0] != '\0' ? "&page_token=" : "", token);
        assert_status(page, 200);
        const json_t *item, *next = reply_at(page, "next_page_token");
        size_t i;
        json_array_foreach(reply_at(page, "datasets"), i, item)
        {
            size_t used = strlen(ids);
            snprintf(ids + used, IDS_SIZE - used, "%s ",
                     json_string_value(json_object_get(item, "id")));
        }
        snprintf(token, sizeof token, "%s",
                 json_is_null(next) ? "" : json_string_value(next));
    } while (token[0] != '\0');
}

/* A dataset that one daemon has registered is shown by the other a moment later. */
static void await_all(struct daemons *daemons)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < DATASETS; k++)
            assert_status(client_get(&daemons->clients[i], "/v1/datasets/%s", names[k]),
                          200);
}

static void pages_of_two_daemons_are_one_list(void **state)
{
    struct daemons *daemons = *state;
    char ids[IDS_SIZE];
    for (size_t i = 0; i < DATASETS; i++)
        assert_status(
            declare_points(&daemons->clients[i / 2 % 2], names[i], SAMPLE_PUBLIC), 201);
    await_all(daemons);
    for (int size = 1; size <= 4; size++) {
        read_in_turns(daemons, "&order=asc", size, ids);
        assert_string_equal(ids, "m c x a k z b y d ");
        read_in_turns(daemons, "", size, ids);
        assert_string_equal(ids, "d y b z k a x c m ");
        read_in_turns(daemons, "&order_by=id", size, ids);
        assert_string_equal(ids, "a b c d k m x y z ");
        read_in_turns(daemons, "&order_by=left", size, ids);
        assert_string_equal(ids, "m c x a k z b y d ");
    }
}

static void a_list_that_another_has_sent_is_sent_again(void **state)
{
    static const char *const lists[] = {"/v1/jobs",   "/v1/models", "/v1/datasets",
                                        "/v1/sweeps", "/v1/grants", "/v1/status"};
    struct daemons *daemons = *state;
    char tag[256], known[300];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct reply *list = client_get(&daemons->clients[0], "%s", lists[i]);
        assert_true(reply_header(list, "ETag", tag));
        snprintf(known, sizeof known, "If-None-Match: %.256s", tag);
        assert_status(client_get_with(&daemons->clients[0], lists[i], known), 304);
        assert_status(client_get_with(&daemons->clients[1], lists[i], known), 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_two_daemons_are_one_list),
        cmocka_unit_test(a_list_that_another_has_sent_is_sent_again),
    };
    return daemons_can_start() ? cmocka_run_group_tests(tests, begin, daemons_end) : 0;
}
