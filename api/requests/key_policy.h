/*
 * key_policy.h - the upper limits of a key, in addition to its role: as JSON, in the
 * request that creates a key, in its response and in its row.
 *
 *   {"max_epsilon_per_job","min_noise_multiplier","algorithms":[name],"max_open_jobs",
 *    "max_share":{"share","period":"P30D"}}      each of them may be absent
 *
 * Shares are of a dataset's capacity at its weighted orders, because epsilons do
 * not add.
 */
#ifndef API_REQUESTS_KEY_POLICY_H
#define API_REQUESTS_KEY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/json/json_reader.h"
#include "base/status.h"

enum { KEY_POLICY_ALGORITHMS = 32, KEY_POLICY_DAYS_MAX = 3650 };

struct algorithm;
struct json_writer;

struct key_policy {              /* zeroed: nothing is limited */
    double max_epsilon_per_job;  /* 0: any */
    double min_noise_multiplier; /* 0: any */
    size_t algorithm_count;      /* 0: all */
    const struct algorithm *algorithms[KEY_POLICY_ALGORITHMS];
    uint64_t max_open_jobs; /* queued and running; 0: any number */
    double max_share;       /* of a dataset, within share_days; 0: any */
    uint64_t share_days;
};

/* Returns whether the policy limits anything. */
bool key_policy_limits(const struct key_policy *policy);

/* Returns whether b allows everything that a allows. */
bool key_policy_is_within(const struct key_policy *a, const struct key_policy *b);

/* Reads the body {"policy": policy or null} of a request that changes the policy.
 *   ST_INVALID  the error names the member */
enum status key_policy_request_parse(struct key_policy *policy, struct json_text body,
                                     struct error *error);

/* Returns whether both allow the same. */
bool key_policy_equal(const struct key_policy *a, const struct key_policy *b);

/* Reads the member "policy" of root, which must be present: null limits nothing. */
void key_policy_read_member(struct key_policy *policy, const struct json_node *root);

/* Reads the node into policy. Refuses what is not understood. */
void key_policy_read(struct key_policy *policy, struct json_node node);

/* Reads a text that was rendered and stored. ST_INVALID: it is not such a text. */
enum status key_policy_parse(struct key_policy *policy, const char *text,
                             struct error *error);

/* Writes the policy as a member; null if it limits nothing. */
void key_policy_write(struct json_writer *writer, const char *name,
                      const struct key_policy *policy);
/* Renders the policy as a text of its own, {} if it limits nothing; to be freed. */
char *key_policy_render(const struct key_policy *policy);

#endif
