#include "tests/e2e/sweep_fixture.h"

#include <string.h>

#include "tests/expect.h"

const char *const sweep_one_worker[] = {"--workers", "1", "--threads", "1", NULL};

int sweep_begin_with(void **state, const char *const *options)
{
    stage_begin_with(state, options);
    struct client *client = sweep_client(state);
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(2));
    ready_points(client, "open", 300, 2, SAMPLE_PUBLIC);
    return 0;
}

int sweep_begin(void **state)
{
    static const char *const options[] = {"--workers", "25", "--threads", "1", NULL};
    return sweep_begin_with(state, options);
}

int sweep_begin_one_worker(void **state)
{
    return sweep_begin_with(state, sweep_one_worker);
}

struct client *sweep_client(void **state)
{
    struct stage *stage = *state;
    return &stage->client;
}

size_t sweep_entries(struct client *client, const char *kind)
{
    const struct reply *ledger =
        client_get(client, "/v1/datasets/points/ledger?page_size=1000");
    size_t count = 0;
    const json_t *entries = reply_at(ledger, "entries");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        count += strcmp(json_string_value(json_object_get(entry, "kind")), kind) == 0;
    }
    return count;
}

double sweep_figure(struct client *client, const char *name)
{
    return reply_number(client_get(client, "/v1/datasets/points/budget"), name);
}

const struct reply *sweep_await(struct client *client, const struct reply *sweep)
{
    size_t runs = json_array_size(reply_at(sweep, "runs"));
    char path[32];
    for (size_t i = 0; i < runs; i++) {
        snprintf(path, sizeof path, "runs.%zu.job", i);
        await_end(client, reply_text(sweep, path));
    }
    return client_get(client, "/v1/sweeps/%s", reply_text(sweep, "id"));
}
