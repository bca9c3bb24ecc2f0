/*
 * standardise_fixture.h - what tests of standardise read of a daemon: budgets, releases
 * that were bought, and tensors of models. Include after client_fixture.h.
 */
#ifndef TESTS_E2E_STANDARDISE_FIXTURE_H
#define TESTS_E2E_STANDARDISE_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"

/* Waits for the end of these statistics, which must succeed. */
static inline const struct reply *await(struct client *client, const char *id)
{
    const struct reply *reply;
    while (reply = client_get(client, "/v1/statistics/%s", id),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "SUCCEEDED");
    return reply;
}

/* Returns the epsilon that the dataset has spent. */
static inline double spent(struct client *client, const char *dataset)
{
    return reply_number(client_get(client, "/v1/datasets/%s/budget", dataset),
                        "epsilon_spent");
}

/* Returns how many reservations of the dataset's ledger are for statistics. */
static inline size_t count_purchases(struct client *client, const char *dataset)
{
    size_t count = 0, place;
    const json_t *entry;
    const struct reply *ledger =
        client_get(client, "/v1/datasets/%s/ledger?page_size=100", dataset);
    json_array_foreach(reply_at(ledger, "entries"), place, entry)
    {
        const char *job = json_string_value(json_object_get(entry, "job"));
        const char *kind = json_string_value(json_object_get(entry, "kind"));
        count +=
            job != NULL && strncmp(job, "sta_", 4) == 0 && strcmp(kind, "RESERVE") == 0;
    }
    return count;
}

/* Returns one number of a tensor in a file of weights. */
static inline float tensor_at(const struct reply *file, const char *name, size_t place)
{
    uint64_t size;
    float value;
    char path[64];
    memcpy(&size, file->body, sizeof size);
    json_t *header = json_loadb(file->body + 8, (size_t)size, 0, NULL);
    assert_non_null(header);
    snprintf(path, sizeof path, "%s", name);
    const json_t *offsets =
        json_object_get(json_object_get(header, path), "data_offsets");
    assert_non_null(offsets);
    size_t begin = (size_t)json_integer_value(json_array_get(offsets, 0));
    memcpy(&value, file->body + 8 + size + begin + 4 * place, sizeof value);
    json_decref(header);
    return value;
}

#endif
