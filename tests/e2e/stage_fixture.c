#include "tests/e2e/stage_fixture.h"

#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"

struct stage *stage_prepare(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    *state = stage;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_init(&stage->daemon);
    client_init(&stage->client, &stage->daemon);
    return stage;
}

int stage_begin_with(void **state, const char *const *options)
{
    struct stage *stage = stage_prepare(state);
    daemon_start(&stage->daemon, options);
    return 0;
}

int stage_begin(void **state)
{
    return stage_begin_with(state, NULL);
}

int stage_begin_digits(void **state, const char *privacy)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_digits(client, "digits", SAMPLE_TRAIN, privacy);
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    return 0;
}

int stage_end(void **state)
{
    struct stage *stage = *state;
    client_fini(&stage->client);
    daemon_fini(&stage->daemon);
    free(stage);
    curl_global_cleanup();
    return 0;
}
