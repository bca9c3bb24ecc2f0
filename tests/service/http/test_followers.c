/* Goal: only ticks wake a follower, in order of submission, and it is then sent what is
 * newer than its cursor: nothing twice, no point left out, and finally the end; and the
 * number of streams is bounded. Method: made-up feeds, whose versions the test sets,
 * and a connection that only records when it is suspended and resumed. */
#include "service/http/followers.h"

#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "service/http/reply.h"
#include "tests/expect.h"

enum { COMMENT_AFTER = 15, CLIENTS = 4 };

struct client { /* a connection */
    int place;
    bool suspended, gone;
    size_t resumed;
};

static int woken[64], woken_count; /* places, in order */

static bool suspend(void *waiting)
{
    struct client *client = waiting;
    assert_false(client->suspended);
    client->suspended = !client->gone;
    return client->suspended;
}

static void resume(void *waiting)
{
    struct client *client = waiting;
    assert_true(client->suspended);
    client->suspended = false;
    client->resumed++;
    if (woken_count < 64)
        woken[woken_count++] = client->place;
}

/* --- a feed: its version, and an event that shows its range of versions --- */

struct subject {
    uint64_t version;
    size_t composed;
    bool is_over;
};

static uint64_t version_of(const struct event_feed *feed)
{
    return ((const struct subject *)feed->subject)->version;
}

static struct event_batch *compose(const struct event_feed *feed,
                                   const struct event_key *key)
{
    char text[64];
    /* The test owns the feed's subject and may write to it. */
    struct subject *subject = (struct subject *)(uintptr_t)feed->subject;
    subject->composed++;
    int size = snprintf(text, sizeof text, "%llu-%llu;",
                        key->from.begun ? (unsigned long long)key->from.version : 0,
                        (unsigned long long)subject->version);
    struct event_batch *batch = event_batch_create(key, strdup(text), (size_t)size);
    batch->to = (struct event_cursor){.begun = true, .version = subject->version};
    batch->is_last = subject->is_over;
    return batch;
}

static const struct event_feed_kind kind = {version_of, compose};

/* --- scenes --- */

struct scene {
    struct followers *followers;
    struct subject subjects[CLIENTS];
    struct client clients[CLIENTS];
    struct stream streams[CLIENTS];
};

static bool told_to_leave;

static bool may_stay(void *waiting)
{
    (void)waiting;
    return !told_to_leave;
}

static struct followers *make(void)
{
    const struct followers_hooks hooks = {suspend, resume, may_stay};
    woken_count = 0;
    return followers_create(&hooks);
}

static enum status follow(struct scene *scene, int place, struct subject *subject,
                          uint64_t order)
{
    struct following following = {
        .feed = {.kind = &kind, .subject = subject, .order = order},
        .principal = &principal_local,
        .waiting = &scene->clients[place]};
    scene->clients[place].place = place;
    return followers_follow(scene->followers, &following, &scene->streams[place], NULL);
}

/* Reads from the stream until it waits or ends, and returns pull's last result. */
static ssize_t drain(struct stream *stream, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;
    while ((got = stream->pull(stream->context, used, text + used, 7)) > 0) {
        used += (size_t)got;
        assert_true(used + 8 < size);
    }
    text[used] = '\0';
    return got;
}

static void assert_gives(struct stream *stream, const char *expected, ssize_t then)
{
    char text[1024];
    assert_int_equal(drain(stream, text, sizeof text), then);
    assert_string_equal(text, expected);
}

static void end(struct scene *scene, int count)
{
    for (int i = 0; i < count; i++)
        scene->streams[i].close(scene->streams[i].context);
    followers_destroy(scene->followers);
}

/* --- claims --- */

static void a_stream_gives_what_is_newer_and_waits(void **state)
{
    (void)state;
    struct scene scene = {.followers = make(), .subjects = {{.version = 3}}};
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    assert_gives(&scene.streams[0], "retry: 3000\n\n0-3;", STREAM_WAITS);
    assert_true(scene.clients[0].suspended);
    scene.subjects[0].version = 5; /* two changes between ticks are one event */
    followers_tick(scene.followers);
    assert_false(scene.clients[0].suspended);
    assert_gives(&scene.streams[0], "3-5;", STREAM_WAITS);
    end(&scene, 1);
}

/* A batch that has started is still sent whole. */
static void whose_key_has_ended_is_told_nothing_more(void **state)
{
    (void)state;
    struct scene scene = {.followers = make(), .subjects = {{.version = 3}}};
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    assert_gives(&scene.streams[0], "retry: 3000\n\n0-3;", STREAM_WAITS);
    scene.subjects[0].version = 5;
    told_to_leave = true;
    followers_tick(scene.followers);
    assert_gives(&scene.streams[0], "", STREAM_END);
    told_to_leave = false;
    end(&scene, 1);
}

/* The object that the stream follows does not change. */
static void a_quiet_stream_ends_at_the_tick_at_which_its_key_has_ended(void **state)
{
    (void)state;
    struct scene scene = {.followers = make(), .subjects = {{.version = 3}}};
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    assert_gives(&scene.streams[0], "retry: 3000\n\n0-3;", STREAM_WAITS);
    followers_tick(scene.followers);
    assert_true(scene.clients[0].suspended);
    told_to_leave = true;
    followers_tick(scene.followers);
    assert_false(scene.clients[0].suspended);
    assert_gives(&scene.streams[0], "", STREAM_END);
    told_to_leave = false;
    end(&scene, 1);
}

static void nobody_is_woken_between_ticks_or_for_nothing(void **state)
{
    (void)state;
    struct scene scene = {.followers = make(), .subjects = {{.version = 1}}};
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    assert_gives(&scene.streams[0], "retry: 3000\n\n0-1;", STREAM_WAITS);
    followers_tick(scene.followers);
    assert_true(scene.clients[0].suspended);
    scene.subjects[0].version = 2;
    assert_true(scene.clients[0].suspended);
    followers_tick(scene.followers);
    assert_int_equal(scene.clients[0].resumed, 1);
    assert_gives(&scene.streams[0], "1-2;", STREAM_WAITS);
    end(&scene, 1);
}

static void a_comment_comes_after_fifteen_quiet_ticks(void **state)
{
    (void)state;
    struct scene scene = {.followers = make(), .subjects = {{.version = 1}}};
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    assert_gives(&scene.streams[0], "retry: 3000\n\n0-1;", STREAM_WAITS);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COMMENT_AFTER; i++) {
            assert_true(scene.clients[0].suspended);
            followers_tick(scene.followers);
        }
        assert_gives(&scene.streams[0], ":\n\n", STREAM_WAITS);
    }
    end(&scene, 1);
}

static void one_tick_wakes_in_order_of_submission(void **state)
{
    (void)state;
    static const int expected[] = {2, 0, 3, 1};
    struct scene scene = {.followers = make()};
    static const uint64_t orders[CLIENTS] = {5, UINT64_MAX, 2, 9};
    char text[64];
    for (int i = 0; i < CLIENTS; i++) {
        scene.subjects[i].version = 1;
        assert_int_equal(follow(&scene, i, &scene.subjects[i], orders[i]), ST_OK);
        drain(&scene.streams[i], text, sizeof text);
    }
    for (int i = CLIENTS; i-- > 0;)
        scene.subjects[i].version = 2;
    followers_tick(scene.followers);
    assert_int_equal(woken_count, CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(woken[i], expected[i]);
    end(&scene, CLIENTS);
}

static void what_many_read_is_composed_once(void **state)
{
    (void)state;
    char text[64];
    struct scene scene = {.followers = make(), .subjects = {{.version = 4}}};
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(follow(&scene, i, &scene.subjects[0], 1), ST_OK);
        drain(&scene.streams[i], text, sizeof text);
    }
    assert_int_equal(scene.subjects[0].composed, 1);
    scene.subjects[0].version = 5;
    followers_tick(scene.followers);
    for (int i = 0; i < CLIENTS; i++)
        assert_gives(&scene.streams[i], "4-5;", STREAM_WAITS);
    assert_int_equal(scene.subjects[0].composed, 2);
    end(&scene, CLIENTS);
}

/* The reader asks for more in the middle of a batch, and much later. */
static void a_slow_reader_gets_its_batch_and_then_the_newest(void **state)
{
    (void)state;
    char text[64];
    struct scene scene = {.followers = make(), .subjects = {{.version = 1}}};
    struct stream *stream = &scene.streams[0];
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    drain(stream, text, sizeof text);
    scene.subjects[0].version = 2;
    followers_tick(scene.followers);
    assert_int_equal(stream->pull(stream->context, 0, text, 2), 2);
    for (uint64_t version = 3; version < 40; version++) {
        scene.subjects[0].version = version;
        followers_tick(scene.followers);
    }
    assert_int_equal(scene.clients[0].resumed, 1);
    assert_gives(stream, "2;2-39;", STREAM_WAITS);
    end(&scene, 1);
}

static void the_last_batch_ends_the_stream(void **state)
{
    (void)state;
    struct scene scene = {.followers = make(),
                          .subjects = {{.version = 7, .is_over = true}}};
    assert_int_equal(follow(&scene, 0, &scene.subjects[0], 1), ST_OK);
    assert_gives(&scene.streams[0], "retry: 3000\n\n0-7;", STREAM_END);
    assert_false(scene.clients[0].suspended);
    end(&scene, 1);
}

static void whoever_has_gone_or_finds_it_closed_is_let_go(void **state)
{
    (void)state;
    char text[64];
    struct scene scene = {.followers = make(), .subjects = {{.version = 1}}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(follow(&scene, i, &scene.subjects[0], 1), ST_OK);
    scene.clients[0].gone = true;
    assert_int_equal(drain(&scene.streams[0], text, sizeof text), STREAM_END);
    assert_int_equal(drain(&scene.streams[1], text, sizeof text), STREAM_WAITS);
    followers_close(scene.followers);
    assert_false(scene.clients[1].suspended);
    assert_int_equal(drain(&scene.streams[1], text, sizeof text), STREAM_END);
    assert_int_equal(drain(&scene.streams[2], text, sizeof text), STREAM_END);
    end(&scene, 3);
}

/* Opens as many streams as allowed, at most `most`, and returns their number. */
static size_t open_all(struct followers *followers, const struct principal *principal,
                       struct stream *streams, size_t most)
{
    static struct subject subject;
    static struct client client;
    struct error error = {0};
    const struct following following = {.feed = {.kind = &kind, .subject = &subject},
                                        .principal = principal,
                                        .waiting = &client};
    size_t count = 0;
    while (count < most &&
           followers_follow(followers, &following, &streams[count], &error) == ST_OK)
        count++;
    if (count < most)
        assert_int_equal(error.status, ST_QUEUE_FULL);
    return count;
}

static void there_are_so_many_streams_and_of_one_principal_fewer(void **state)
{
    (void)state;
    struct principal ana, bob;
    assert_true(principal_parse(&ana, "ana") && principal_parse(&bob, "bob"));
    struct followers *followers = make();
    static struct stream streams[LIMIT_FOLLOWERS + 1];
    size_t count = open_all(followers, &ana, streams, LIMIT_FOLLOWERS);
    assert_int_equal(count, LIMIT_FOLLOWERS_EACH);
    count += open_all(followers, &bob, streams + count, LIMIT_FOLLOWERS);
    assert_int_equal(count, 2 * LIMIT_FOLLOWERS_EACH);
    count += open_all(followers, &principal_local, streams + count,
                      LIMIT_FOLLOWERS + 1 - count);
    assert_int_equal(count, LIMIT_FOLLOWERS);
    streams[0].close(streams[0].context); /* room for one more of ana's */
    assert_int_equal(open_all(followers, &ana, streams, 2), 1);
    for (size_t i = 0; i < count; i++)
        streams[i].close(streams[i].context);
    followers_destroy(followers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_gives_what_is_newer_and_waits),
        cmocka_unit_test(whose_key_has_ended_is_told_nothing_more),
        cmocka_unit_test(a_quiet_stream_ends_at_the_tick_at_which_its_key_has_ended),
        cmocka_unit_test(nobody_is_woken_between_ticks_or_for_nothing),
        cmocka_unit_test(a_comment_comes_after_fifteen_quiet_ticks),
        cmocka_unit_test(one_tick_wakes_in_order_of_submission),
        cmocka_unit_test(what_many_read_is_composed_once),
        cmocka_unit_test(a_slow_reader_gets_its_batch_and_then_the_newest),
        cmocka_unit_test(the_last_batch_ends_the_stream),
        cmocka_unit_test(whoever_has_gone_or_finds_it_closed_is_let_go),
        cmocka_unit_test(there_are_so_many_streams_and_of_one_principal_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
