#include "tests/e2e/account_fixture.h"

#include <string.h>

#include "tests/expect.h"

void account_curve(double curve[ACCOUNT_ORDERS], const json_t *list)
{
    assert_int_equal(json_array_size(list), ACCOUNT_ORDERS);
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++) {
        const json_t *value = json_array_get(list, i);
        curve[i] = json_is_null(value) ? (double)INFINITY : json_number_value(value);
    }
}

void account_read(struct account *account, struct client *client, const char *dataset)
{
    const struct reply *budget = client_get(client, "/v1/datasets/%s/budget", dataset);
    assert_status(budget, 200);
    account_curve(account->capacity, reply_at(budget, "capacity"));
    account_curve(account->committed, reply_at(budget, "committed"));
    account_curve(account->held, reply_at(budget, "held"));
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++)
        account->weighted[i] = isfinite(account->capacity[i]);
}

void account_room(const struct account *account, double room[2])
{
    size_t found = 0;
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++) {
        if (!account->weighted[i])
            continue;
        assert_true(found < 2);
        room[found++] = account->capacity[i] - account->committed[i] - account->held[i];
    }
    assert_int_equal(found, 2);
}

bool account_is_sound(const struct account *account)
{
    double room[2];
    account_room(account, room);
    return room[0] >= 0 || room[1] >= 0;
}

unsigned account_admits(const struct account *account,
                        const double curve[ACCOUNT_ORDERS])
{
    unsigned most = 0;
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++) {
        double used = account->committed[i] + account->held[i];
        unsigned count = 0;
        assert_true(curve[i] > 0);
        while (account->weighted[i] && (used += curve[i]) <= account->capacity[i])
            count++;
        if (count > most)
            most = count;
    }
    return most;
}

const json_t *account_entry(const struct reply *ledger, const char *kind,
                            const char *job)
{
    size_t i;
    json_t *entry;
    json_array_foreach(reply_at(ledger, "entries"), i, entry)
    {
        const char *of = json_string_value(json_object_get(entry, "job"));
        if (strcmp(json_string_value(json_object_get(entry, "kind")), kind) == 0 &&
            of != NULL && strcmp(of, job) == 0)
            return entry;
    }
    return NULL;
}
