/* Goal: a pending grant keeps its proposer and its time, lapses by itself, and is
 * decided with a reason of one line. Method: stored texts, read back; clocks on both
 * sides of the day on which it lapses; bodies of every wrong form. */
#include "api/requests/proposal.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "api/views/dataset_view.h"

static const int64_t day_ms = INT64_C(86400000);

static struct proposal pending(void)
{
    return (struct proposal){.state = PROPOSAL_PENDING,
                             .id = {"grt_01JJZ0000000000000000000AB"},
                             .proposed_by = "ana@example.org",
                             .propose_ms = INT64_C(1753000000000)};
}

static void it_lapses_after_fourteen_days_and_not_before(void **state)
{
    (void)state;
    struct proposal proposal = pending();
    const int64_t lapse_ms = proposal.propose_ms + 14 * day_ms;
    assert_int_equal(proposal_state_at(&proposal, lapse_ms - 1), PROPOSAL_PENDING);
    assert_int_equal(proposal_state_at(&proposal, lapse_ms), PROPOSAL_LAPSED);
    proposal.state = PROPOSAL_APPROVED;
    assert_int_equal(proposal_state_at(&proposal, lapse_ms), PROPOSAL_APPROVED);
}

static void nothing_but_an_approval_opens(void **state)
{
    (void)state;
    struct proposal proposal = pending();
    assert_true(proposal_bars(&proposal));
    proposal.state = PROPOSAL_REJECTED;
    assert_true(proposal_bars(&proposal));
    proposal.state = PROPOSAL_APPROVED;
    assert_false(proposal_bars(&proposal));
    proposal.state = PROPOSAL_NONE;
    assert_false(proposal_bars(&proposal));
}

static void what_is_kept_is_read_back(void **state)
{
    (void)state;
    struct dataset_detail detail = {.records = 7, .proposal = pending()}, back;
    struct proposal *proposal = &detail.proposal;
    for (int decided = 0; decided < 2; decided++) {
        char *text = dataset_detail_render(&detail);
        assert_int_equal(dataset_detail_parse(&back, text, NULL), ST_OK);
        char *again = dataset_detail_render(&back);
        assert_string_equal(text, again);
        assert_int_equal(back.proposal.state, proposal->state);
        assert_string_equal(back.proposal.decision.reason, proposal->decision.reason);
        free(again);
        free(text);
        proposal->state = PROPOSAL_REJECTED;
        proposal->decide_ms = proposal->propose_ms + 1000;
        strcpy(proposal->decision.approved_by, "bob");
        strcpy(proposal->decision.reason,
               "the range of \"age\" is not in the code book");
    }
    /* Rows of earlier versions have no proposal. */
    static const char before[] = "{\"records\":7,\"size\":0,\"import_ms\":0,\"rows_"
                                 "sha256\":\"\",\"failure\":null}";
    assert_int_equal(dataset_detail_parse(&back, before, NULL), ST_OK);
    assert_int_equal(back.proposal.state, PROPOSAL_NONE);
    char *text = dataset_detail_render(&back);
    assert_string_equal(text, before);
    free(text);
}

/* It is stored next to the declaration's proposal, and proposes its own numbers. */
static void a_further_epoch_is_kept_beside_the_declarations(void **state)
{
    (void)state;
    struct dataset_detail detail = {.proposal = pending(), .regrant = pending()}, back;
    const struct dataset_spec spec = {.id = {"people"},
                                      .grant = {.epsilon = 4, .delta = 1e-5}};
    detail.proposal.state = PROPOSAL_APPROVED;
    detail.regrant.further = (struct grant){.epsilon = 1.25, .delta = 1e-6, .order = 6};
    char *text = dataset_detail_render(&detail);
    assert_int_equal(dataset_detail_parse(&back, text, NULL), ST_OK);
    assert_false(proposal_is_further(&back.proposal));
    assert_int_equal(back.proposal.state, PROPOSAL_APPROVED);
    assert_true(proposal_is_further(&back.regrant));
    assert_int_equal(back.regrant.state, PROPOSAL_PENDING);
    assert_true(back.regrant.further.epsilon == 1.25 &&
                back.regrant.further.delta == 1e-6 && back.regrant.further.order == 6);
    free(text);
    text = proposal_render(&back.regrant, &spec, NULL, ACKNOWLEDGED_NOTHING, 0);
    assert_non_null(strstr(text, "\"kind\":\"regrant\""));
    assert_non_null(strstr(text, "\"epsilon\":1.25"));
    assert_non_null(strstr(text, "\"replaces\":null"));
    free(text);
    text = proposal_render(&back.proposal, &spec, &back.regrant.further,
                           ACKNOWLEDGED_DELTA, 0);
    assert_non_null(strstr(text, "\"acknowledge\":[\"delta_above_1_over_n\"]"));
    assert_non_null(strstr(text, "\"kind\":\"declaration\""));
    assert_non_null(strstr(text, "\"epsilon\":4"));
    assert_non_null(strstr(text, "\"replaces\":{\"epsilon\":1.25,"));
    free(text);
}

static void what_a_further_epoch_is_to_have_is_read_by_its_members(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
    } wrong[] = {
        {"{\"delta\":1e-6}", "/epsilon"},
        {"{\"epsilon\":0,\"delta\":1e-6}", "/epsilon"},
        {"{\"epsilon\":31,\"delta\":1e-6}", "/epsilon"},
        {"{\"epsilon\":1}", "/delta"},
        {"{\"epsilon\":1,\"delta\":1}", "/delta"},
        {"{\"epsilon\":1,\"delta\":1e-6,\"order\":2.1}", "/order"},
        {"{\"epsilon\":1,\"delta\":1e-6,\"relation\":\"zero_out\"}", "/relation"},
        {"{\"epsilon\":1,\"delta\":1e-6,\"acknowledge\":[\"all\"]}", "/acknowledge/0"},
    };
    static const char good[] = "{\"epsilon\":1,\"delta\":1e-6,\"acknowledge\":["
                               "\"epsilon_above_10\"]}";
    enum acknowledged confirmed = ACKNOWLEDGED_NOTHING;
    struct grant grant = {.relation = RELATION_REPLACE_ONE};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error error = {0};
        assert_int_equal(further_grant_parse(&grant, &confirmed,
                                             json_text_of(wrong[i].body), &error),
                         ST_INVALID);
        assert_string_equal(error.pointer, wrong[i].pointer);
        assert_true(grant.epsilon == 0);
    }
    assert_int_equal(further_grant_parse(&grant, &confirmed, json_text_of(good), NULL),
                     ST_OK);
    assert_int_equal(confirmed, ACKNOWLEDGED_EPSILON);
    assert_true(grant.epsilon == 1 && grant.delta == 1e-6 && grant.order == 0);
    assert_int_equal(grant.relation, RELATION_REPLACE_ONE);
}

static void a_damaged_row_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\"id\":\"grt_short\"", "\"state\":\"LAPSED\"",
                                        "\"state\":\"approved\"", "\"proposed_by\":7",
                                        "\"reason\":null"};
    struct dataset_detail detail = {.proposal = pending()}, back;
    char *text = dataset_detail_render(&detail);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char name[24], damaged[1024];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(wrong[i], ":") + 1, wrong[i]);
        char *at = strstr(strstr(text, "\"grant\":"), name);
        assert_non_null(at);
        snprintf(damaged, sizeof damaged, "%.*s%s%s", (int)(at - text), text, wrong[i],
                 at + strcspn(at, ",}"));
        assert_int_equal(dataset_detail_parse(&back, damaged, NULL), ST_INVALID);
    }
    free(text);
}

static void a_reason_is_one_line_that_says_something(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "{}",
                                      "{\"reason\":\"\"}",
                                      "{\"reason\":7}",
                                      "{\"reason\":\"a\\nb\"}",
                                      "{\"reason\":\"a\\u007f\"}",
                                      "{\"reason\":\"a\",\"force\":true}",
                                      "{\"reason\":\"a\",\"reason\":\"b\"}"};
    char reason[GRANT_REASON_SIZE] = "untouched", body[300], long_one[202];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        assert_int_equal(decision_parse(reason, json_text_of(bad[i]), &error),
                         ST_INVALID);
        assert_string_equal(reason, "untouched");
    }
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    snprintf(body, sizeof body, "{\"reason\":\"%s\"}", long_one);
    assert_int_equal(decision_parse(reason, json_text_of(body), NULL), ST_INVALID);
    snprintf(body, sizeof body, "{\"reason\":\"%s\"}", long_one + 1);
    assert_int_equal(decision_parse(reason, json_text_of(body), NULL), ST_OK);
    assert_int_equal(strlen(reason), 200);
}

static void an_approval_of_a_policy_says_which(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"reason\":\"x\"}", "{\"policy\":null}",
                                      "{\"policy\":7,\"reason\":\"x\"}",
                                      "{\"policy\":null,\"reason\":\"x\",\"id\":7}"};
    static const char *const good[] = {
        "{\"policy\":{\"max_open_jobs\":2},\"reason\":\"x\"}",
        "{\"policy\":null,\"reason\":\"x\"}"};
    char reason[GRANT_REASON_SIZE] = "untouched";
    struct key_policy policy = {.max_open_jobs = 7};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            policy_approval_parse(&policy, reason, json_text_of(bad[i]), NULL),
            ST_INVALID);
    assert_string_equal(reason, "untouched");
    assert_int_equal(policy.max_open_jobs, 7);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(
            policy_approval_parse(&policy, reason, json_text_of(good[i]), NULL), ST_OK);
        assert_string_equal(reason, "x");
        assert_int_equal(policy.max_open_jobs, i == 0 ? 2 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_lapses_after_fourteen_days_and_not_before),
        cmocka_unit_test(nothing_but_an_approval_opens),
        cmocka_unit_test(what_is_kept_is_read_back),
        cmocka_unit_test(a_further_epoch_is_kept_beside_the_declarations),
        cmocka_unit_test(what_a_further_epoch_is_to_have_is_read_by_its_members),
        cmocka_unit_test(a_damaged_row_is_refused),
        cmocka_unit_test(an_approval_of_a_policy_says_which),
        cmocka_unit_test(a_reason_is_one_line_that_says_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
