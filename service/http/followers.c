/* libmicrohttpd pulls a stream's bytes (pull) as long as its connection takes them. If
 * there are none, the connection is suspended in the middle of the pull, and the
 * follower is added to `waiting`. A tick removes it again and resumes the connection,
 * and the library pulls once more. */
#include "service/http/followers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "service/http/reply.h"

enum {
    COMMENT_TICKS = 15
}; /* seconds; a client that receives nothing for twice that has lost its connection */

/* Tells clients to reconnect this many milliseconds after a stream breaks. */
static const char greeting[] = "retry: 3000\n\n";
static const char comment[] = ":\n\n";

struct follower {
    struct followers *all;
    struct event_feed feed;
    struct event_cursor cursor; /* after the batch that is being sent */
    struct event_batch *batch;  /* its text is being sent; or NULL */
    const char *text;           /* being sent */
    size_t size, sent;
    uint64_t spoke; /* the tick at which something was sent last */
    bool is_last;   /* nothing comes after the text */
    struct principal principal;
    void *waiting;
};

struct followers {
    struct followers_hooks hooks;
    struct event_batches *batches;
    atomic_uint_fast64_t ticks;
    pthread_mutex_t lock; /* guards all below */
    bool closed;
    size_t count, waiting_count;
    struct follower *open[LIMIT_FOLLOWERS];    /* (count), in no order */
    struct follower *waiting[LIMIT_FOLLOWERS]; /* (waiting_count), suspended */
};

struct followers *followers_create(const struct followers_hooks *hooks)
{
    struct followers *followers = calloc(1, sizeof *followers);
    CHECK(followers != NULL);
    followers->hooks = *hooks;
    followers->batches = event_batches_create();
    pthread_mutex_init(&followers->lock, NULL);
    return followers;
}

void followers_destroy(struct followers *followers)
{
    if (followers == NULL)
        return;
    CHECK(followers->count == 0);
    event_batches_destroy(followers->batches);
    pthread_mutex_destroy(&followers->lock);
    free(followers);
}

/* --- a stream, on its connection's thread --- */

static bool has_news(const struct follower *follower)
{
    const struct event_feed *feed = &follower->feed;
    return !follower->cursor.begun ||
           feed->kind->version(feed) != follower->cursor.version;
}

static bool is_quiet(const struct follower *follower)
{
    return atomic_load(&follower->all->ticks) - follower->spoke >= COMMENT_TICKS;
}

static void say(struct follower *follower, const char *text, size_t size)
{
    follower->text = text;
    follower->size = size;
    follower->sent = 0;
    follower->spoke = atomic_load(&follower->all->ticks);
}

/* Takes the batch after the cursor, which may have been composed for another follower
 * already. */
static void take_news(struct follower *follower)
{
    const struct event_feed *feed = &follower->feed;
    struct event_batches *batches = follower->all->batches;
    struct event_key key = {.subject = feed->subject,
                            .dataset = feed->dataset,
                            .histograms = feed->histograms,
                            .version = feed->kind->version(feed),
                            .from = follower->cursor};
    memcpy(key.project, feed->project, sizeof key.project);
    event_batch_drop(follower->batch);
    follower->batch = event_batches_find(batches, &key);
    if (follower->batch == NULL) {
        follower->batch = feed->kind->compose(feed, &key);
        event_batches_keep(batches, follower->batch);
    }
    follower->cursor = follower->batch->to;
    follower->is_last = follower->batch->is_last;
    if (follower->batch->size > 0)
        say(follower, follower->batch->text, follower->batch->size);
}

enum pause { PAUSE_BEGUN, PAUSE_NOT_NEEDED, PAUSE_REFUSED };

/* Suspends the connection until a tick. It may be resumed as soon as the lock is
 * released. */
static enum pause wait_for_tick(struct follower *follower)
{
    struct followers *all = follower->all;
    enum pause pause = PAUSE_NOT_NEEDED;
    pthread_mutex_lock(&all->lock);
    if (!has_news(follower) && !is_quiet(follower)) {
        bool waits = !all->closed && all->hooks.suspend(follower->waiting);
        pause = waits ? PAUSE_BEGUN : PAUSE_REFUSED;
        if (waits)
            all->waiting[all->waiting_count++] = follower;
    }
    pthread_mutex_unlock(&all->lock);
    return pause;
}

/* Finds what to send next, or suspends the connection. */
static enum pause next(struct follower *follower)
{
    if (!follower->all->hooks.may_stay(follower->waiting))
        return PAUSE_REFUSED;
    if (has_news(follower)) {
        take_news(follower);
        return PAUSE_NOT_NEEDED;
    }
    if (is_quiet(follower)) {
        say(follower, comment, sizeof comment - 1);
        return PAUSE_NOT_NEEDED;
    }
    return wait_for_tick(follower);
}

static ssize_t pull(void *context, uint64_t position, char *to, size_t room)
{
    struct follower *follower = context;
    (void)position;
    while (follower->sent == follower->size) {
        enum pause pause = follower->is_last ? PAUSE_REFUSED : next(follower);
        if (pause == PAUSE_BEGUN)
            return STREAM_WAITS;
        if (pause == PAUSE_REFUSED)
            return STREAM_END;
    }
    size_t left = follower->size - follower->sent;
    size_t size = left < room ? left : room;
    memcpy(to, follower->text + follower->sent, size);
    follower->sent += size;
    return (ssize_t)size;
}

static void leave(void *context)
{
    struct follower *follower = context;
    struct followers *all = follower->all;
    size_t place = 0;
    pthread_mutex_lock(&all->lock);
    while (all->open[place] != follower)
        place++;
    all->open[place] = all->open[--all->count];
    pthread_mutex_unlock(&all->lock);
    event_batch_drop(follower->batch);
    free(follower);
}

/* --- opening one --- */

static size_t count_of(const struct followers *followers,
                       const struct principal *principal)
{
    size_t count = 0;
    for (size_t i = 0; i < followers->count; i++)
        count += principal_equal(&followers->open[i]->principal, principal);
    return count;
}

/* Adds the follower if there is room. Without keys everyone is the local principal, so
 * its streams cannot be limited per client. */
static bool enter(struct followers *followers, struct follower *follower)
{
    const struct principal *principal = &follower->principal;
    pthread_mutex_lock(&followers->lock);
    bool room = followers->count < LIMIT_FOLLOWERS &&
                (principal_equal(principal, &principal_local) ||
                 count_of(followers, principal) < LIMIT_FOLLOWERS_EACH);
    if (room)
        followers->open[followers->count++] = follower;
    pthread_mutex_unlock(&followers->lock);
    return room;
}

enum status followers_follow(struct followers *followers,
                             const struct following *following, struct stream *stream,
                             struct error *error)
{
    struct follower *follower = calloc(1, sizeof *follower);
    CHECK(follower != NULL);
    follower->all = followers;
    follower->feed = following->feed;
    follower->cursor = following->from;
    follower->principal = *following->principal;
    follower->waiting = following->waiting;
    say(follower, greeting, sizeof greeting - 1);
    if (!enter(followers, follower)) {
        free(follower);
        return error_set(error, ST_QUEUE_FULL, "too many event streams are open");
    }
    *stream = (struct stream){.size = stream_size_unknown,
                              .held = sizeof *follower,
                              .pull = pull,
                              .close = leave,
                              .context = follower};
    return ST_OK;
}

/* --- ticks --- */

static int by_order(const void *left, const void *right)
{
    const struct follower *const *a = left, *const *b = right;
    uint64_t x = (*a)->feed.order, y = (*b)->feed.order;
    return (x > y) - (x < y);
}

/* Resumes the followers that have something to send or may not stay, in order; or all
 * of them. The caller holds the lock. */
static void wake(struct followers *followers, bool all)
{
    struct follower *due[LIMIT_FOLLOWERS];
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < followers->waiting_count; i++) {
        struct follower *follower = followers->waiting[i];
        if (all || is_quiet(follower) || has_news(follower) ||
            !followers->hooks.may_stay(follower->waiting))
            due[count++] = follower;
        else
            followers->waiting[kept++] = follower;
    }
    followers->waiting_count = kept;
    qsort(due, count, sizeof *due, by_order);
    for (size_t i = 0; i < count; i++)
        followers->hooks.resume(due[i]->waiting);
}

void followers_tick(struct followers *followers)
{
    pthread_mutex_lock(&followers->lock);
    atomic_fetch_add(&followers->ticks, 1);
    wake(followers, false);
    pthread_mutex_unlock(&followers->lock);
}

void followers_close(struct followers *followers)
{
    pthread_mutex_lock(&followers->lock);
    followers->closed = true;
    wake(followers, true);
    pthread_mutex_unlock(&followers->lock);
}
