#include "service/http/connection_shares.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/random.h"
#include "service/http/client_network.h"

enum { SETS = 1024 };

struct connection_share {
    struct client_network network;
    size_t count; /* never 0 */
    struct connection_share *next;
};

struct connection_shares {
    pthread_mutex_t lock; /* guards the sets */
    uint64_t salt;
    struct connection_share *sets[SETS];
};

struct connection_shares *connection_shares_create(void)
{
    struct connection_shares *shares = calloc(1, sizeof *shares);
    CHECK(shares != NULL);
    pthread_mutex_init(&shares->lock, NULL);
    random_bytes(&shares->salt, sizeof shares->salt);
    return shares;
}

void connection_shares_destroy(struct connection_shares *shares)
{
    if (shares == NULL)
        return;
    for (size_t i = 0; i < SETS; i++)
        CHECK(shares->sets[i] == NULL);
    pthread_mutex_destroy(&shares->lock);
    free(shares);
}

/* Returns the link to the share of the network, or the end of its list. */
static struct connection_share **place_of(struct connection_shares *shares,
                                          const struct client_network *network)
{
    struct connection_share **place =
        &shares->sets[client_network_hash(network, shares->salt) % SETS];
    while (*place != NULL && !client_network_equal(&(*place)->network, network))
        place = &(*place)->next;
    return place;
}

size_t connection_shares_count(struct connection_shares *shares,
                               const struct sockaddr *address)
{
    const struct client_network network = client_network_of(address);
    pthread_mutex_lock(&shares->lock);
    const struct connection_share *share = *place_of(shares, &network);
    size_t count = share != NULL ? share->count : 0;
    pthread_mutex_unlock(&shares->lock);
    return count;
}

struct connection_share *connection_share_take(struct connection_shares *shares,
                                               const struct sockaddr *address)
{
    const struct client_network network = client_network_of(address);
    pthread_mutex_lock(&shares->lock);
    struct connection_share **place = place_of(shares, &network);
    if (*place == NULL) {
        *place = calloc(1, sizeof **place);
        CHECK(*place != NULL);
        (*place)->network = network;
    }
    struct connection_share *share = *place;
    share->count++;
    pthread_mutex_unlock(&shares->lock);
    return share;
}

void connection_share_give_back(struct connection_shares *shares,
                                struct connection_share *share)
{
    pthread_mutex_lock(&shares->lock);
    if (--share->count == 0) {
        *place_of(shares, &share->network) = share->next;
        free(share);
    }
    pthread_mutex_unlock(&shares->lock);
}
