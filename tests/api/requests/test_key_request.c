/* Goal: the body of a key request is parsed whole or refused at its members, and a
 * policy reads back. */
#include "api/requests/key_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "engine/dp/algorithms/registry.h"
#include "tests/expect.h"

static enum status parse(struct key_request *request, const char *text,
                         struct error *error)
{
    char body[1024];
    snprintf(body, sizeof body, "%s", text);
    for (char *quote = body; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    *error = (struct error){0};
    return key_request_parse(request, json_text_of(body), error);
}

static void a_body_says_whose_key_it_is_and_what_it_may(void **state)
{
    (void)state;
    struct key_request request;
    struct error error;
    assert_int_equal(parse(&request,
                           "{'owner':'ana@x.org','project':'fraud','role':'analyst'}",
                           &error),
                     ST_OK);
    assert_string_equal(request.principal.name, "ana@x.org");
    assert_int_equal(request.days, LIMIT_KEY_DAYS_DEFAULT);
    assert_false(key_policy_limits(&request.policy));
    assert_int_equal(parse(&request,
                           "{'owner':'a','project':'p','role':'auditor','days':7,"
                           "'scopes':['jobs:submit','ops:read'],'policy':{"
                           "'max_epsilon_per_job':1,'min_noise_multiplier':0.5,"
                           "'algorithms':['dpsgd'],'max_open_jobs':2,"
                           "'max_share':{'share':0.2,'period':'P30D'}}}",
                           &error),
                     ST_OK);
    assert_true(request.principal.scopes ==
                (SCOPE_BIT(SCOPE_JOBS_SUBMIT) | SCOPE_BIT(SCOPE_OPS_READ)));
    assert_int_equal(request.days, 7);
    assert_int_equal(request.policy.share_days, 30);
    struct key_policy again;
    char *text = key_policy_render(&request.policy);
    assert_int_equal(key_policy_parse(&again, text, &error), ST_OK);
    free(text);
    assert_memory_equal(&again, &request.policy, sizeof again);
    assert_true(again.algorithms[0] == algorithm_find("dpsgd"));
}

static void each_scope_may_be_asked_for_once(void **state)
{
    (void)state;
    struct key_request request;
    struct error error;
    char body[1024];
    for (int more = 0; more < 2; more++) {
        size_t used =
            (size_t)snprintf(body, sizeof body,
                             "{'owner':'a','project':'p','role':'auditor','scopes':[");
        for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
            used += (size_t)snprintf(body + used, sizeof body - used, "'%s'%s",
                                     scope_name(i), i + 1 < SCOPE_COUNT ? "," : "");
        snprintf(body + used, sizeof body - used, "%s]}", more ? ",'ops:read'" : "");
        assert_int_equal(parse(&request, body, &error), more ? ST_INVALID : ST_OK);
    }
    assert_string_equal(error.pointer, "/scopes");
}

static void what_is_not_understood_is_refused_at_its_member(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
    } cases[] = {
        {"{'project':'p','role':'analyst'}", "/owner"},
        {"{'owner':'a','role':'analyst'}", "/project"},
        {"{'owner':'a','project':'p'}", "/role"},
        {"{'owner':'a b','project':'p','role':'analyst'}", "/owner"},
        {"{'owner':'local','project':'p','role':'analyst'}", "/owner"},
        {"{'owner':'a','project':'P','role':'analyst'}", "/project"},
        {"{'owner':'a','project':'p','role':'local'}", "/role"},
        {"{'owner':'a','project':'p','role':'analyst','scopes':['x']}", "/scopes/0"},
        {"{'owner':'a','project':'p','role':'analyst','days':3651}", "/days"},
        {"{'owner':'a','project':'p','role':'analyst','keys':1}", "/keys"},
        {"{'owner':'a','project':'p','role':'analyst','policy':{'max_share':{'share':0."
         "2,"
         "'period':'P30'}}}",
         "/policy/max_share/period"},
        {"{'owner':'a','project':'p','role':'analyst','policy':{'max_share':{'share':2,"
         "'period':'P30D'}}}",
         "/policy/max_share/share"},
        {"{'owner':'a','project':'p','role':'analyst','policy':{'algorithms':['no']}}",
         "/policy/algorithms/0"},
        {"{'owner':'a','project':'p','role':'analyst','policy':{'algorithms':[]}}",
         "/policy/algorithms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct key_request request = {.days = 77};
        struct error error;
        assert_int_equal(parse(&request, cases[i].body, &error), ST_INVALID);
        assert_string_equal(error.pointer, cases[i].pointer);
        assert_int_equal(request.days, 77);
    }
}

/* Such a key could create a key without a policy, and use that one. */
static void who_makes_keys_has_no_policy(void **state)
{
    (void)state;
    static const char *const makers[] = {
        "{'owner':'a','project':'p','role':'data_owner','policy':{'max_open_jobs':1}}",
        "{'owner':'a','project':'p','role':'operator','policy':{'max_open_jobs':1}}",
        "{'owner':'a','project':'p','role':'analyst','scopes':['keys:admin'],"
        "'policy':{'max_open_jobs':1}}"};
    const struct principal host = {.via = VIA_CLI};
    struct key_request request;
    struct error error;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        assert_int_equal(parse(&request, makers[i], &error), ST_OK);
        assert_int_equal(key_request_check(&request, &host, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/policy");
        request.policy = (struct key_policy){0};
        assert_int_equal(key_request_check(&request, &host, &error), ST_OK);
    }
    assert_int_equal(parse(&request,
                           "{'owner':'a','project':'p','role':'analyst','policy':"
                           "{'max_open_jobs':1}}",
                           &error),
                     ST_OK);
    assert_int_equal(key_request_check(&request, &host, &error), ST_OK);
}

/* Every role tries to create every role with every further scope. */
static void no_key_reaches_further_than_its_maker(void **state)
{
    (void)state;
    size_t made_count = 0;
    for (unsigned minting = ROLE_ANALYST; minting < ROLE_COUNT; minting++)
        for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
            for (unsigned extra = SCOPE_EVERYBODY; extra < SCOPE_COUNT; extra++) {
                const struct principal minter = {.project = "p",
                                                 .role = (enum role)minting,
                                                 .via = VIA_BEARER,
                                                 .scopes = SCOPE_BIT(SCOPE_KEYS_ADMIN)};
                const struct key_request request = {
                    .principal = {.project = "p",
                                  .role = (enum role)role,
                                  .scopes =
                                      extra == SCOPE_EVERYBODY ? 0 : SCOPE_BIT(extra)}};
                if (key_request_check(&request, &minter, NULL) != ST_OK)
                    continue;
                made_count++;
                for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
                    assert_true(principal_reach(&request.principal, (enum scope)i) <=
                                principal_reach(&minter, (enum scope)i));
            }
    assert_true(made_count > 0);
    const struct principal ops = {.role = ROLE_OPERATOR, .via = VIA_BEARER};
    const struct key_request same = {.principal = {.role = ROLE_OPERATOR}};
    assert_int_equal(key_request_check(&same, &ops, NULL), ST_OK);
}

static struct key_policy policy_of(const char *members)
{
    char body[512];
    struct key_policy policy = {.max_open_jobs = 77};
    snprintf(body, sizeof body, "{'policy':{%s}}", members);
    for (char *quote = body; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    assert_int_equal(key_policy_request_parse(&policy, json_text_of(body), NULL),
                     ST_OK);
    return policy;
}

/* In each pair the first policy allows nothing that the second does not, and the second
 * allows more. */
static void what_allows_nothing_more_is_told_from_what_does(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"'max_epsilon_per_job':1", ""},
        {"'max_epsilon_per_job':1", "'max_epsilon_per_job':2"},
        {"'min_noise_multiplier':2", ""},
        {"'min_noise_multiplier':2", "'min_noise_multiplier':1"},
        {"'algorithms':['dpsgd']", ""},
        {"'algorithms':['dpsgd']", "'algorithms':['adp','dpsgd']"},
        {"'max_open_jobs':1", ""},
        {"'max_open_jobs':1", "'max_open_jobs':2"},
        {"'max_share':{'share':0.1,'period':'P30D'}", ""},
        {"'max_share':{'share':0.1,'period':'P30D'}",
         "'max_share':{'share':0.2,'period':'P30D'}"},
        {"'max_share':{'share':0.1,'period':'P30D'}",
         "'max_share':{'share':0.1,'period':'P7D'}"},
        {"'max_open_jobs':1,'max_epsilon_per_job':1", "'max_open_jobs':1"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct key_policy narrow = policy_of(pairs[i][0]);
        const struct key_policy wide = policy_of(pairs[i][1]);
        assert_true(key_policy_is_within(&narrow, &narrow));
        if (!key_policy_is_within(&narrow, &wide) ||
            key_policy_is_within(&wide, &narrow))
            fail_msg("%s and %s", pairs[i][0], pairs[i][1]);
    }
    const struct key_policy one = policy_of("'max_open_jobs':1"),
                            other = policy_of("'max_epsilon_per_job':1");
    assert_false(key_policy_is_within(&one, &other));
    assert_false(key_policy_is_within(&other, &one));
}

static void a_change_names_its_policy_or_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {"{}", "{\"policy\":1}",
                                        "{\"policy\":{\"x\":1}}",
                                        "{\"policy\":null,\"more\":1}"};
    struct key_policy policy = {.max_open_jobs = 77};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            key_policy_request_parse(&policy, json_text_of(wrong[i]), NULL),
            ST_INVALID);
    assert_int_equal(policy.max_open_jobs, 77);
    assert_int_equal(key_policy_request_parse(
                         &policy, json_text_sized("{\"policy\":null}", 15), NULL),
                     ST_OK);
    assert_false(key_policy_limits(&policy));
}

static void scopes_are_stored_as_names(void **state)
{
    (void)state;
    uint64_t scopes = 1, all = 0;
    char text[KEY_SCOPES_SIZE];
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
        all |= SCOPE_BIT(i);
    key_scopes_render(text, all);
    assert_true(key_scopes_parse(&scopes, text));
    assert_true(scopes == all);
    assert_true(key_scopes_parse(&scopes, "jobs:read,ops:read"));
    assert_true(scopes == (SCOPE_BIT(SCOPE_JOBS_READ) | SCOPE_BIT(SCOPE_OPS_READ)));
    assert_true(key_scopes_parse(&scopes, ""));
    assert_true(scopes == 0);
    assert_false(key_scopes_parse(&scopes, "jobs:reads"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_says_whose_key_it_is_and_what_it_may),
        cmocka_unit_test(each_scope_may_be_asked_for_once),
        cmocka_unit_test(what_is_not_understood_is_refused_at_its_member),
        cmocka_unit_test(who_makes_keys_has_no_policy),
        cmocka_unit_test(no_key_reaches_further_than_its_maker),
        cmocka_unit_test(what_allows_nothing_more_is_told_from_what_does),
        cmocka_unit_test(a_change_names_its_policy_or_none),
        cmocka_unit_test(scopes_are_stored_as_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
