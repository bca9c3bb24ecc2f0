#include "api/requests/key_policy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_writer.h"
#include "api/limits.h"
#include "engine/dp/algorithms/registry.h"

bool key_policy_limits(const struct key_policy *policy)
{
    return policy->max_epsilon_per_job > 0 || policy->min_noise_multiplier > 0 ||
           policy->algorithm_count > 0 || policy->max_open_jobs > 0 ||
           policy->max_share > 0;
}

static void read_algorithms(struct key_policy *policy, struct json_node node)
{
    if (!json_present(node))
        return;
    policy->algorithm_count = json_read_array(node, 1, KEY_POLICY_ALGORITHMS);
    for (size_t i = 0; i < policy->algorithm_count; i++) {
        struct json_node element = json_element(&node, i);
        policy->algorithms[i] = algorithm_find(json_read_text(element));
        if (policy->algorithms[i] == NULL)
            json_refuse(element, "must be a name of GET /v1/algorithms");
    }
}

/* Reads "P30D". */
static uint64_t read_days(struct json_node node)
{
    const char *text = json_read_text(node);
    char *end = NULL;
    unsigned long days = 0;
    if (text[0] == 'P' && isdigit((unsigned char)text[1]) && strlen(text) <= 6)
        days = strtoul(text + 1, &end, 10);
    if (end == NULL || strcmp(end, "D") != 0 || days == 0 || days > KEY_POLICY_DAYS_MAX)
        json_refuse(node, "must be a number of days from P1D to P%dD",
                    KEY_POLICY_DAYS_MAX);
    return days;
}

static void read_share(struct key_policy *policy, struct json_node node)
{
    if (!json_present(node))
        return;
    json_read_object(node, (const char *const[]){"share", "period", NULL});
    policy->max_share = json_read_real(json_member(&node, "share"),
                                       (struct json_range){0, 1, true, false});
    policy->share_days = read_days(json_member(&node, "period"));
}

void key_policy_read(struct key_policy *policy, struct json_node node)
{
    struct json_node epsilon = json_member(&node, "max_epsilon_per_job");
    struct json_node noise = json_member(&node, "min_noise_multiplier");
    struct json_node open = json_member(&node, "max_open_jobs");
    *policy = (struct key_policy){0};
    json_read_object(node, (const char *const[]){"max_epsilon_per_job",
                                                 "min_noise_multiplier", "algorithms",
                                                 "max_open_jobs", "max_share", NULL});
    if (json_present(epsilon))
        policy->max_epsilon_per_job =
            json_read_real(epsilon, (struct json_range){0, LIMIT_EPSILON, true, false});
    if (json_present(noise))
        policy->min_noise_multiplier = json_read_real(
            noise, (struct json_range){LIMIT_NOISE_MULTIPLIER_MIN,
                                       LIMIT_NOISE_MULTIPLIER_MAX, false, false});
    if (json_present(open))
        policy->max_open_jobs = json_read_count(open, 1, LIMIT_QUEUE_LENGTH * 1000);
    read_algorithms(policy, json_member(&node, "algorithms"));
    read_share(policy, json_member(&node, "max_share"));
}

/* Returns whether limit a is at least as strict as limit b. The larger limit allows
 * more; 0 allows everything. */
static bool is_below(double a, double b)
{
    return b == 0 || (a > 0 && a <= b);
}

static bool allows(const struct key_policy *policy, const struct algorithm *algorithm)
{
    bool found = policy->algorithm_count == 0;
    for (size_t i = 0; i < policy->algorithm_count; i++)
        found = found || policy->algorithms[i] == algorithm;
    return found;
}

bool key_policy_is_within(const struct key_policy *a, const struct key_policy *b)
{
    bool within = b->algorithm_count == 0 || a->algorithm_count > 0;
    for (size_t i = 0; i < a->algorithm_count; i++)
        within = within && allows(b, a->algorithms[i]);
    return within && is_below(a->max_epsilon_per_job, b->max_epsilon_per_job) &&
           a->min_noise_multiplier >= b->min_noise_multiplier &&
           is_below((double)a->max_open_jobs, (double)b->max_open_jobs) &&
           is_below(a->max_share, b->max_share) && a->share_days >= b->share_days;
}

bool key_policy_equal(const struct key_policy *a, const struct key_policy *b)
{
    return key_policy_is_within(a, b) && key_policy_is_within(b, a);
}

void key_policy_read_member(struct key_policy *policy, const struct json_node *root)
{
    struct json_node node = json_member(root, "policy");
    if (!json_present(node))
        json_refuse(node, "is required; null limits nothing");
    else if (!json_is_null(node.value))
        key_policy_read(policy, node);
}

enum status key_policy_request_parse(struct key_policy *policy, struct json_text body,
                                     struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct key_policy read = {0};
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"policy", NULL});
        key_policy_read_member(&read, &root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *policy = read;
    return status;
}

enum status key_policy_parse(struct key_policy *policy, const char *text,
                             struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct key_policy read = {0};
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK)
        key_policy_read(&read, root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *policy = read;
    return status;
}

static void write_members(struct json_writer *writer, const struct key_policy *policy)
{
    if (policy->max_epsilon_per_job > 0)
        json_write_real(writer, "max_epsilon_per_job", policy->max_epsilon_per_job);
    if (policy->min_noise_multiplier > 0)
        json_write_real(writer, "min_noise_multiplier", policy->min_noise_multiplier);
    if (policy->algorithm_count > 0) {
        json_write_array(writer, "algorithms");
        for (size_t i = 0; i < policy->algorithm_count; i++)
            json_write_text(writer, NULL, policy->algorithms[i]->name);
        json_write_array_end(writer);
    }
    if (policy->max_open_jobs > 0)
        json_write_count(writer, "max_open_jobs", policy->max_open_jobs);
    if (policy->max_share > 0) {
        char period[16];
        snprintf(period, sizeof period, "P%uD", (unsigned)policy->share_days);
        json_write_object(writer, "max_share");
        json_write_real(writer, "share", policy->max_share);
        json_write_text(writer, "period", period);
        json_write_object_end(writer);
    }
}

void key_policy_write(struct json_writer *writer, const char *name,
                      const struct key_policy *policy)
{
    if (!key_policy_limits(policy)) {
        json_write_null(writer, name);
        return;
    }
    json_write_object(writer, name);
    write_members(writer, policy);
    json_write_object_end(writer);
}

char *key_policy_render(const struct key_policy *policy)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    write_members(&writer, policy);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
