/* Goal: uploads are streamed: limits hold to the byte, gzip is decompressed on the fly,
 * and the daemon's memory does not grow with the file. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum {
    UPLOAD_LIMIT = 64 << 20,
    UNPACKED_LIMIT = 8 << 20,
    BIG_UPLOAD = 60 << 20,
    GROWTH_MAX_KIB = 16 << 10, /* a quarter of the big upload */
};

static int begin(void **state)
{
    return stage_begin_with(
        state, (const char *const[]){"--upload-size-max", "67108864",
                                     "--unpacked-size-max", "8388608", NULL});
}

static void declare_bytes(struct client *client, const char *id)
{
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'%s','format':'libsvm','task':'classification',"
                      "'classes':2,'features':{'count':4},'privacy':'public'}",
                      id),
        201);
}

static void a_gzip_file_is_taken_as_what_is_in_it(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char *text = sample_points(500, 3);
    size_t size;
    uint8_t *packed = sample_gzip(text, strlen(text), &size);
    ready_points(client, "plain", 500, 3, SAMPLE_PUBLIC);
    assert_status(declare_points(client, "packed", SAMPLE_PUBLIC), 201);
    assert_status(client_put(client, "/v1/datasets/packed/files/data", packed, size),
                  204);
    assert_status(client_act(client, "/v1/datasets/packed:import"), 200);
    assert_string_equal(reply_text(client_get(client, "/v1/datasets/packed"), "sha256"),
                        reply_text(client_get(client, "/v1/datasets/plain"), "sha256"));
    free(packed);
    free(text);
}

static void a_truncated_gzip_fails_the_import(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char *text = sample_points(500, 4);
    size_t size;
    uint8_t *packed = sample_gzip(text, strlen(text), &size);
    assert_status(declare_points(client, "cut", SAMPLE_PUBLIC), 201);
    for (size_t cut = 1; cut <= 9; cut += 4) {
        assert_status(
            client_put(client, "/v1/datasets/cut/files/data", packed, size - cut), 204);
        assert_problem(client_act(client, "/v1/datasets/cut:import"), 422,
                       "import_failed");
    }
    packed[size / 2] ^= 0x10;
    assert_status(client_put(client, "/v1/datasets/cut/files/data", packed, size), 204);
    assert_problem(client_act(client, "/v1/datasets/cut:import"), 422, "import_failed");
    free(packed);
    free(text);
}

static void a_gzip_bomb_stops_at_the_declared_limit(void **state)
{
    struct stage *stage = *state;
    size_t size, unpacked = 64 << 20;
    declare_bytes(&stage->client, "bomb");
    /* Lines of "0\n": each by itself is a valid record, together they far exceed the
     * limit. */
    char *text = malloc(unpacked);
    assert_non_null(text);
    for (size_t i = 0; i < unpacked; i += 2)
        memcpy(text + i, "0\n", 2);
    uint8_t *packed = sample_gzip(text, unpacked, &size);
    free(text);
    assert_true(size < 1 << 20);
    assert_status(
        client_put(&stage->client, "/v1/datasets/bomb/files/data", packed, size), 204);
    long before = daemon_resident_peak(&stage->daemon);
    const struct reply *refused =
        client_act(&stage->client, "/v1/datasets/bomb:import");
    assert_problem(refused, 422, "import_failed");
    assert_growth(daemon_resident_peak(&stage->daemon) - before, GROWTH_MAX_KIB);
    free(packed);
}

static void an_upload_over_its_limit_is_refused_and_kept_nowhere(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    declare_bytes(client, "over");
    char *bytes = calloc(UPLOAD_LIMIT + 1, 1);
    assert_non_null(bytes);
    for (int chunked = 0; chunked <= 1; chunked++)
        assert_problem(
            client_send(client,
                        &(struct request){.method = "PUT",
                                          .path = "/v1/datasets/over/files/data",
                                          .body = bytes,
                                          .size = UPLOAD_LIMIT + 1,
                                          .chunked = chunked}),
            413, "body_too_large");
    free(bytes);
    const struct reply *imported = client_act(client, "/v1/datasets/over:import");
    assert_problem(imported, 422, "import_failed");
    assert_non_null(strstr(reply_text(imported, "reason"), "not uploaded"));
}

static void memory_does_not_grow_with_the_upload(void **state)
{
    struct stage *stage = *state;
    declare_bytes(&stage->client, "big");
    char *bytes = malloc(BIG_UPLOAD);
    assert_non_null(bytes);
    memset(bytes, '1', BIG_UPLOAD);
    const char *path = "/v1/datasets/big/files/data";
    assert_status(client_put(&stage->client, path, "0 1:1\n", 6), 204);
    long before = daemon_resident_peak(&stage->daemon);
    assert_status(client_put(&stage->client, path, bytes, BIG_UPLOAD), 204);
    assert_growth(daemon_resident_peak(&stage->daemon) - before, GROWTH_MAX_KIB);
    free(bytes);
}

static void a_second_upload_replaces_the_first(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    declare_bytes(client, "twice");
    const char *path = "/v1/datasets/twice/files/data";
    assert_status(client_put(client, path, "not libsvm\n", 11), 204);
    assert_status(client_put(client, path, "0 1:1\n1 2:1\n", 12), 204);
    const struct reply *imported = client_act(client, "/v1/datasets/twice:import");
    assert_status(imported, 200);
    assert_true(reply_number(imported, "records") == 2);
}

static void a_line_over_a_mebibyte_fails_the_import(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    declare_bytes(client, "line");
    size_t size = (1 << 20) + 64;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, ' ', size);
    bytes[0] = '0';
    bytes[size - 1] = '\n';
    assert_status(client_put(client, "/v1/datasets/line/files/data", bytes, size), 204);
    assert_problem(client_act(client, "/v1/datasets/line:import"), 422,
                   "import_failed");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gzip_file_is_taken_as_what_is_in_it),
        cmocka_unit_test(a_truncated_gzip_fails_the_import),
        cmocka_unit_test(a_gzip_bomb_stops_at_the_declared_limit),
        cmocka_unit_test(an_upload_over_its_limit_is_refused_and_kept_nowhere),
        cmocka_unit_test(memory_does_not_grow_with_the_upload),
        cmocka_unit_test(a_second_upload_replaces_the_first),
        cmocka_unit_test(a_line_over_a_mebibyte_fails_the_import),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
