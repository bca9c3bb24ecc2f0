#include "service/identity/auth_throttle.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/limits.h"
#include "base/check.h"
#include "base/random.h"
#include "service/http/client_network.h"

enum {
    WAYS = 8,
    SETS = LIMIT_WRONG_KEY_ADDRESSES / WAYS,
};

static const int64_t minute_ns = INT64_C(60000000000);

struct entry {
    struct client_network network;
    int64_t since_ns;
    unsigned count; /* 0: the entry is free */
};

struct auth_throttle {
    pthread_mutex_t lock; /* guards entries */
    /* Secret, so that no one can choose addresses that push another's out. */
    uint64_t salt;
    struct entry entries[SETS][WAYS];
};

struct auth_throttle *auth_throttle_create(void)
{
    struct auth_throttle *wrong = calloc(1, sizeof *wrong);
    CHECK(wrong != NULL);
    pthread_mutex_init(&wrong->lock, NULL);
    random_bytes(&wrong->salt, sizeof wrong->salt);
    return wrong;
}

void auth_throttle_destroy(struct auth_throttle *wrong)
{
    if (wrong == NULL)
        return;
    pthread_mutex_destroy(&wrong->lock);
    free(wrong);
}

static size_t set_of(const struct auth_throttle *wrong,
                     const struct client_network *from)
{
    return (size_t)(client_network_hash(from, wrong->salt) % SETS);
}

/* The entry of the network, or the one to use for it: a free one, or the oldest. */
static struct entry *find(struct entry *set, const struct client_network *network)
{
    struct entry *oldest = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        struct entry *entry = &set[i];
        if (entry->count > 0 && client_network_equal(&entry->network, network))
            return entry;
        if (oldest->count > 0 &&
            (entry->count == 0 || entry->since_ns < oldest->since_ns))
            oldest = entry;
    }
    oldest->count = 0;
    return oldest;
}

bool auth_throttle_add(struct auth_throttle *wrong, const struct sockaddr *from,
                       int64_t now_ns)
{
    const struct client_network network = client_network_of(from);
    pthread_mutex_lock(&wrong->lock);
    struct entry *entry = find(wrong->entries[set_of(wrong, &network)], &network);
    if (entry->count == 0 || now_ns - entry->since_ns >= minute_ns)
        *entry = (struct entry){.network = network, .since_ns = now_ns};
    if (entry->count <= LIMIT_WRONG_KEYS)
        entry->count++;
    bool too_many = entry->count > LIMIT_WRONG_KEYS;
    pthread_mutex_unlock(&wrong->lock);
    return too_many;
}
