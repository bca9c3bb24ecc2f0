/* Goal: every call is signed as the protocol requires, repeated if that is allowed, and
 * its answer is trusted only for what it states. Method: a server that checks
 * signatures with its own code. */
#define _GNU_SOURCE /* for pipe2 */
#include "service/outbound/s3.h"

#include <stdarg.h>

#include "tests/expect.h"
#include "tests/s3_fixture.h"

static struct s3_process server;
static long minute_ms = 60000; /* length of a call's minute in this test */

/* The macro of this name checks that the type is the option's. */
#undef curl_easy_setopt
CURLcode __real_curl_easy_setopt(CURL *handle, CURLoption option, ...);
CURLcode __wrap_curl_easy_setopt(CURL *handle, CURLoption option, ...);
CURLcode __wrap_curl_easy_setopt(CURL *handle, CURLoption option, ...)
{
    va_list values;
    CURLcode code;
    va_start(values, option);
    if (option >= CURLOPTTYPE_OFF_T)
        code = __real_curl_easy_setopt(handle, option, va_arg(values, curl_off_t));
    else if (option >= CURLOPTTYPE_OBJECTPOINT)
        code = __real_curl_easy_setopt(handle, option, va_arg(values, void *));
    else if (option == CURLOPT_TIMEOUT_MS)
        code = __real_curl_easy_setopt(handle, option,
                                       va_arg(values, long) * minute_ms / 60000);
    else
        code = __real_curl_easy_setopt(handle, option, va_arg(values, long));
    va_end(values);
    return code;
}

static struct s3_setup setup_of(const char *secret)
{
    return (struct s3_setup){.endpoint = server.endpoint,
                             .region = "eu-central-1",
                             .access_key_id = S3_KEY,
                             .secret_access_key = secret,
                             .session_token = "",
                             .ca_file = ""};
}

static struct bucket *open_at(const char *url, const struct s3_setup *setup)
{
    struct s3_location location;
    struct bucket *bucket = NULL;
    assert_int_equal(s3_location_parse(&location, url, NULL), ST_OK);
    assert_int_equal(s3_open(&bucket, &location, setup, NULL), ST_OK);
    return bucket;
}

static int begin(void **state)
{
    (void)state;
    s3_start(&server);
    return 0;
}

static int end(void **state)
{
    (void)state;
    s3_stop(&server);
    return 0;
}

static void put(struct bucket *bucket, const char *name, const char *text)
{
    struct error error = {0};
    if (bucket->driver->put(bucket, name, text, strlen(text), &error) != ST_OK)
        fail_msg("%s", error.text);
}

static enum status get(struct bucket *bucket, const char *name, uint64_t offset,
                       void *data, size_t size, struct error *error)
{
    const struct bucket_range range = {.offset = offset, .size = size};
    return bucket->driver->get(bucket, name, &range, data, error);
}

static void an_object_comes_back_whole_or_in_part(void **state)
{
    (void)state;
    char bytes[16] = "";
    struct s3_setup setup = setup_of(S3_SECRET);
    setup.access_key_id = S3_SESSION;
    setup.session_token = "a session/token+of=some length";
    struct bucket *bucket = open_at("s3://" S3_BUCKET "/some/Pre-fix_1.x", &setup);
    put(bucket, "abc123", "twelve bytes");
    assert_non_null(strstr(s3_ask(&server, "/~objects"), "some/Pre-fix_1.x/abc123 12"));
    assert_int_equal(get(bucket, "abc123", 0, bytes, 12, NULL), ST_OK);
    assert_string_equal(bytes, "twelve bytes");
    assert_int_equal(get(bucket, "abc123", 7, bytes, 5, NULL), ST_OK);
    assert_memory_equal(bytes, "bytes", 5);
    /* Ranges past its end. */
    assert_int_equal(get(bucket, "abc123", 7, bytes, 6, NULL), ST_CORRUPT);
    assert_int_equal(get(bucket, "abc123", 99, bytes, 1, NULL), ST_CORRUPT);
    assert_int_equal(get(bucket, "none", 0, bytes, 1, NULL), ST_NOT_FOUND);
    assert_int_equal(bucket->driver->remove(bucket, "abc123", NULL), ST_OK);
    assert_int_equal(bucket->driver->remove(bucket, "abc123", NULL), ST_OK);
    assert_int_equal(get(bucket, "abc123", 0, bytes, 1, NULL), ST_NOT_FOUND);
    bucket->driver->close(bucket);
}

static void pieces_become_one_object(void **state)
{
    (void)state;
    enum { PIECE = 5 << 20 };
    char last[8] = "";
    struct bucket_upload *upload = NULL;
    const struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *bucket = open_at("s3://" S3_BUCKET, &setup);
    char *piece = calloc(1, PIECE);
    assert_non_null(piece);
    assert_int_equal(bucket->driver->put_begin(bucket, "large", &upload, NULL), ST_OK);
    assert_int_equal(bucket->driver->put_add(upload, piece, PIECE, NULL), ST_OK);
    assert_int_equal(get(bucket, "large", 0, last, 1, NULL),
                     ST_NOT_FOUND); /* no partial object */
    assert_int_equal(bucket->driver->put_add(upload, "the end", 7, NULL), ST_OK);
    assert_int_equal(bucket->driver->put_finish(upload, NULL), ST_OK);
    assert_int_equal(get(bucket, "large", PIECE, last, 7, NULL), ST_OK);
    assert_string_equal(last, "the end");
    assert_int_equal(bucket->driver->put_begin(bucket, "none", &upload, NULL), ST_OK);
    assert_int_equal(bucket->driver->put_add(upload, piece, PIECE, NULL), ST_OK);
    bucket->driver->put_abandon(upload);
    assert_int_equal(get(bucket, "none", 0, last, 1, NULL), ST_NOT_FOUND);
    /* The answer to the last call is lost, once: the object exists all the same. */
    assert_int_equal(bucket->driver->put_begin(bucket, "lost", &upload, NULL), ST_OK);
    assert_int_equal(bucket->driver->put_add(upload, "all", 3, NULL), ST_OK);
    s3_ask(&server, "/~faults?kind=error&method=POST&count=1");
    assert_int_equal(bucket->driver->put_finish(upload, NULL), ST_OK);
    assert_int_equal(get(bucket, "lost", 0, last, 3, NULL), ST_OK);
    /* An answer of 200 and nothing else means that nothing was assembled. */
    assert_int_equal(bucket->driver->put_begin(bucket, "empty", &upload, NULL), ST_OK);
    assert_int_equal(bucket->driver->put_add(upload, "all", 3, NULL), ST_OK);
    free(piece);
    bucket->driver->put_abandon(upload);
    bucket->driver->close(bucket);
}

static void an_object_of_too_many_pieces_is_refused(void **state)
{
    (void)state;
    struct bucket_upload *upload = NULL;
    const struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *bucket = open_at("s3://" S3_BUCKET, &setup);
    assert_int_equal(bucket->driver->put_begin(bucket, "long", &upload, NULL), ST_OK);
    for (int i = 0; i < S3_PIECES_MAX; i++)
        assert_int_equal(bucket->driver->put_add(upload, "x", 1, NULL), ST_OK);
    assert_int_equal(bucket->driver->put_add(upload, "x", 1, NULL), ST_INVALID);
    bucket->driver->put_abandon(upload);
    bucket->driver->close(bucket);
}

static void a_list_is_read_in_pages_to_its_end(void **state)
{
    (void)state;
    enum { OBJECTS = 12 };
    char name[BUCKET_NAME_SIZE], after[BUCKET_NAME_SIZE] = "";
    size_t count = 5, seen = 0;
    int64_t now_s = 0;
    struct bucket_listed listed[5];
    const struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *other = open_at("s3://" S3_BUCKET "/a", &setup);
    struct bucket *bucket = open_at("s3://" S3_BUCKET "/a/b", &setup);
    put(other, "z", "of somebody else");
    for (int i = 0; i < OBJECTS; i++) {
        snprintf(name, sizeof name, "object%02d", i);
        put(bucket, name, "x");
    }
    s3_ask(&server, "/~age?seconds=1000");
    put(bucket, "object99", "x");
    while (count == 5) {
        assert_int_equal(
            bucket->driver->list(bucket, after, listed, 5, &count, &now_s, NULL),
            ST_OK);
        for (size_t i = 0; i < count; i++, seen++) {
            bool is_new = seen == OBJECTS;
            snprintf(name, sizeof name, "object%02zu", is_new ? (size_t)99 : seen);
            assert_string_equal(listed[i].name, name);
            int64_t age_s = now_s - listed[i].modified_s;
            assert_true(is_new ? age_s < 900 : age_s >= 1000 && age_s < 1900);
            snprintf(after, sizeof after, "%s", name);
        }
    }
    assert_int_equal(seen, OBJECTS + 1);
    bucket->driver->close(bucket);
    other->driver->close(other);
}

static void what_fails_is_tried_again_and_what_is_refused_is_not(void **state)
{
    (void)state;
    char bytes[16];
    struct error error = {0};
    struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *bucket = open_at("s3://" S3_BUCKET, &setup);
    put(bucket, "again", "some bytes");
    s3_ask(&server, "/~faults?kind=error&count=3");
    assert_int_equal(get(bucket, "again", 0, bytes, 10, NULL), ST_OK);
    s3_ask(&server, "/~faults?kind=cut&count=2");
    assert_int_equal(get(bucket, "again", 0, bytes, 10, NULL), ST_OK);
    s3_ask(&server, "/~faults?kind=slow&count=1");
    assert_int_equal(get(bucket, "again", 0, bytes, 10, NULL), ST_OK);
    s3_ask(&server, "/~faults?kind=truncate&count=1");
    assert_int_equal(get(bucket, "again", 0, bytes, 10, NULL), ST_CORRUPT);
    s3_ask(&server, "/~faults?kind=error&count=4");
    assert_int_equal(get(bucket, "again", 0, bytes, 10, &error), ST_IO);
    assert_non_null(strstr(error.text, "500 InternalError"));
    bucket->driver->close(bucket);
    setup.secret_access_key = "wrong";
    bucket = open_at("s3://" S3_BUCKET, &setup);
    error = (struct error){0};
    size_t before = strlen(s3_ask(&server, "/~log"));
    assert_int_equal(get(bucket, "again", 0, bytes, 10, &error), ST_FORBIDDEN);
    assert_non_null(strstr(error.text, "403 SignatureDoesNotMatch"));
    assert_int_equal(strlen(s3_ask(&server, "/~log")),
                     before + strlen("\nGET /" S3_BUCKET "/again")); /* only once */
    assert_null(strstr(error.text, "wrong"));
    bucket->driver->close(bucket);
    setup.secret_access_key = S3_SECRET;
    bucket = open_at("s3://eps-other", &setup);
    assert_int_equal(bucket->driver->put(bucket, "x", "x", 1, NULL), ST_NOT_FOUND);
    bucket->driver->close(bucket);
    setup.endpoint = "http://127.0.0.1:1";
    bucket = open_at("s3://" S3_BUCKET, &setup);
    assert_int_equal(bucket->driver->put(bucket, "x", "x", 1, NULL), ST_IO);
    bucket->driver->close(bucket);
}

static void a_call_ends_whatever_the_store_does(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 }; /* dripping it would take hours */
    struct error error = {0};
    const struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *bucket = open_at("s3://" S3_BUCKET, &setup);
    char *bytes = calloc(1, SIZE);
    assert_non_null(bytes);
    assert_int_equal(bucket->driver->put(bucket, "large", bytes, SIZE, NULL), ST_OK);
    s3_ask(&server, "/~faults?kind=babble&count=1");
    assert_int_equal(get(bucket, "large", 0, bytes, SIZE, &error), ST_FORBIDDEN);
    assert_non_null(strstr(error.text, "403 Babble"));
    s3_ask(&server, "/~faults?kind=drip&count=4");
    minute_ms = 200;
    assert_int_equal(get(bucket, "large", 0, bytes, SIZE, NULL), ST_IO);
    minute_ms = 60000;
    assert_int_equal(get(bucket, "large", 0, bytes, SIZE, NULL), ST_OK);
    bucket->driver->close(bucket);
    free(bytes);
}

/* Following a redirect would send the signed request to another server, and trust its
 * answer. */
static void nobody_is_led_elsewhere(void **state)
{
    (void)state;
    char bytes[8];
    struct error error = {0};
    const struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *bucket = open_at("s3://" S3_BUCKET, &setup);
    put(bucket, "here", "records");
    put(bucket, "hereelsewhere", "another");
    s3_ask(&server, "/~faults?kind=redirect&count=100");
    size_t before = strlen(s3_ask(&server, "/~log"));
    assert_int_equal(get(bucket, "here", 0, bytes, 7, &error), ST_FORBIDDEN);
    assert_non_null(strstr(error.text, "307"));
    assert_int_equal(strlen(s3_ask(&server, "/~log")),
                     before + strlen("\nGET /" S3_BUCKET "/here"));
    s3_ask(&server, "/~faults?kind=redirect&method=PUT&count=100");
    assert_int_equal(bucket->driver->put(bucket, "here", "changed", 7, NULL),
                     ST_FORBIDDEN);
    s3_ask(&server, "/~faults?kind=error&count=0");
    assert_int_equal(get(bucket, "hereelsewhere", 0, bytes, 7, NULL), ST_OK);
    assert_memory_equal(bytes, "another", 7);
    bucket->driver->close(bucket);
}

static void a_call_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    char bytes[4];
    atomic_bool cancel = true;
    const struct bucket_range range = {.size = 4, .cancel = &cancel};
    const struct s3_setup setup = setup_of(S3_SECRET);
    struct bucket *bucket = open_at("s3://" S3_BUCKET, &setup);
    put(bucket, "held", "held");
    s3_ask(&server, "/~faults?kind=hold&count=1");
    assert_int_equal(bucket->driver->get(bucket, "held", &range, bytes, NULL),
                     ST_CANCELLED);
    cancel = false; /* the connection still works */
    s3_ask(&server, "/~faults?kind=error&count=0");
    assert_int_equal(bucket->driver->get(bucket, "held", &range, bytes, NULL), ST_OK);
    bucket->driver->close(bucket);
}

static void urls_and_endpoints_are_looked_at(void **state)
{
    (void)state;
    struct s3_location location = {"", ""};
    struct bucket *bucket = NULL;
    struct error error = {0};
    static const char *const wrong[] = {"",
                                        "s3://",
                                        "s3://ab",
                                        "https://bucket/x",
                                        "s3://Bucket",
                                        "s3://b_c_d",
                                        "s3://bucket/a b",
                                        "s3://bucket//a",
                                        "s3://bucket/a?b",
                                        "s3://bucket/a%2f",
                                        "s3://user@bucket"};
    static const char *const bad[] = {"http://s3.example.org",
                                      "http://10.0.0.1:9000",
                                      "ftp://127.0.0.1",
                                      "127.0.0.1:9000",
                                      "https://",
                                      "https://h/path",
                                      "https://u:p@h",
                                      "https://:9000",
                                      "https://[]:9000",
                                      "https://h:",
                                      "https://h:0",
                                      "https://h:65536",
                                      "https://h:9x",
                                      "https://[::1]0",
                                      "http://127.0.0.1.nip.io"};
    static const char *const good[] = {"https://s3.example.org:9000",
                                       "http://localhost", "http://127.0.0.1:9000",
                                       "http://[::1]:9000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (s3_location_parse(&location, wrong[i], NULL) != ST_INVALID)
            fail_msg("%s", wrong[i]);
    assert_int_equal(s3_location_parse(&location, "s3://a.bucket-1/x/y", NULL), ST_OK);
    assert_string_equal(location.bucket, "a.bucket-1");
    assert_string_equal(location.prefix, "x/y/");
    assert_int_equal(s3_location_parse(&location, "s3://bucket/", NULL), ST_OK);
    assert_string_equal(location.prefix, "");
    struct s3_setup setup = setup_of(S3_SECRET);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setup.endpoint = bad[i];
        if (s3_open(&bucket, &location, &setup, NULL) != ST_INVALID)
            fail_msg("%s", bad[i]);
    }
    setup.endpoint = bad[0];
    assert_int_equal(s3_open(&bucket, &location, &setup, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "without TLS beyond loopback"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        setup.endpoint = good[i];
        assert_int_equal(s3_open(&bucket, &location, &setup, NULL), ST_OK);
        bucket->driver->close(bucket);
    }
    setup.region = "";
    assert_int_equal(s3_open(&bucket, &location, &setup, NULL), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_comes_back_whole_or_in_part),
        cmocka_unit_test(pieces_become_one_object),
        cmocka_unit_test(a_list_is_read_in_pages_to_its_end),
        cmocka_unit_test(what_fails_is_tried_again_and_what_is_refused_is_not),
        cmocka_unit_test(a_call_ends_whatever_the_store_does),
        cmocka_unit_test(nobody_is_led_elsewhere),
        cmocka_unit_test(a_call_ends_when_it_is_cancelled),
        cmocka_unit_test(urls_and_endpoints_are_looked_at),
        cmocka_unit_test(
            an_object_of_too_many_pieces_is_refused), /* last: it fills the log */
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return cmocka_run_group_tests(tests, begin, end);
}
