/* Goal: each role may do what was decided for it, and sees only its project. Method:
 * the whole table, written here independently from the design; then every reach against
 * own, foreign and missing objects. */
#include "api/http/roles.h"

#include <string.h>

#include "tests/expect.h"

/* n nothing, o own, p project, e everywhere, in the order of the roles of a key. */
static const struct {
    const char *scope, *reach;
} decided[] = {
    {"budgets:read", "ppeee"},      {"budgets:audit", "npene"},
    {"datasets:admin", "npnnn"},    {"datasets:freeze", "npeen"},
    {"grants:propose", "npenn"},    {"grants:approve", "nnenn"},
    {"jobs:submit", "ppnnn"},       {"jobs:read", "ppeee"},
    {"jobs:cancel", "opeen"},       {"jobs:edit", "opnnn"},
    {"models:read", "ppnnn"},       {"models:edit", "opnnn"},
    {"certificates:read", "ppnne"}, {"keys:admin", "npnen"},
    {"audit:read", "nnene"},        {"ops:read", "nnnen"},
    {"webhooks:admin", "nooen"},    {"charges:submit", "ppnnn"},
};

static void every_role_reaches_as_far_as_was_decided(void **state)
{
    (void)state;
    assert_int_equal(sizeof decided / sizeof *decided, SCOPE_COUNT - 1);
    for (size_t i = 0; i < SCOPE_COUNT - 1; i++) {
        enum scope scope;
        assert_true(scope_parse(&scope, decided[i].scope));
        assert_string_equal(scope_name(scope), decided[i].scope);
        for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++) {
            char letter = "nope"[role_reach((enum role)role, scope)];
            if (letter != decided[i].reach[role - ROLE_ANALYST])
                fail_msg("%s of %s: %c", decided[i].scope, role_name((enum role)role),
                         letter);
        }
        assert_int_equal(role_reach(ROLE_LOCAL, scope), REACH_EVERYWHERE);
        assert_int_equal(role_reach(ROLE_NOBODY, scope), REACH_NONE);
    }
}

static void a_role_of_a_key_has_a_name_and_no_other_is_read(void **state)
{
    (void)state;
    enum role role = ROLE_NOBODY;
    enum scope scope = SCOPE_EVERYBODY;
    for (unsigned i = ROLE_ANALYST; i < ROLE_COUNT; i++) {
        assert_true(role_parse(&role, role_name((enum role)i)));
        assert_int_equal(role, i);
    }
    assert_false(role_parse(&role, "local"));
    assert_false(role_parse(&role, ""));
    assert_false(role_parse(&role, "Analyst"));
    assert_false(scope_parse(&scope, ""));
    assert_false(scope_parse(&scope, "jobs"));
}

static const struct access_object mine = {"fraud", "ana"}, ours = {"fraud", "bob"},
                                  theirs = {"ads", "ana"}, nothing = {NULL, NULL};

static void expect_all(const struct principal *principal, enum scope scope,
                       enum access of_mine, enum access of_ours, enum access of_theirs,
                       enum access of_nothing)
{
    assert_int_equal(access_decide(principal, scope, &mine), of_mine);
    assert_int_equal(access_decide(principal, scope, &ours), of_ours);
    assert_int_equal(access_decide(principal, scope, &theirs), of_theirs);
    assert_int_equal(access_decide(principal, scope, &nothing), of_nothing);
}

static void what_is_not_reached_is_not_there_and_no_scope_tells_nothing(void **state)
{
    (void)state;
    struct principal ana = {
        .name = "ana", .project = "fraud", .role = ROLE_ANALYST, .via = VIA_BEARER};
    expect_all(&ana, SCOPE_JOBS_READ, ACCESS_ALLOWED, ACCESS_ALLOWED, ACCESS_NOT_FOUND,
               ACCESS_NOT_FOUND);
    expect_all(&ana, SCOPE_JOBS_CANCEL, ACCESS_ALLOWED, ACCESS_FORBIDDEN,
               ACCESS_NOT_FOUND, ACCESS_NOT_FOUND);
    expect_all(&ana, SCOPE_DATASETS_ADMIN, ACCESS_FORBIDDEN, ACCESS_FORBIDDEN,
               ACCESS_FORBIDDEN, ACCESS_FORBIDDEN);
    ana.role = ROLE_PRIVACY_OFFICER;
    expect_all(&ana, SCOPE_JOBS_READ, ACCESS_ALLOWED, ACCESS_ALLOWED, ACCESS_ALLOWED,
               ACCESS_NOT_FOUND);
    expect_all(&principal_local, SCOPE_GRANTS_APPROVE, ACCESS_ALLOWED, ACCESS_ALLOWED,
               ACCESS_ALLOWED, ACCESS_NOT_FOUND);
    ana = (struct principal){.name = "ana", .project = "fraud"};
    expect_all(&ana, SCOPE_JOBS_READ, ACCESS_FORBIDDEN, ACCESS_FORBIDDEN,
               ACCESS_FORBIDDEN, ACCESS_FORBIDDEN);
}

static void
a_scope_beside_the_role_reaches_the_project_and_narrows_nothing(void **state)
{
    (void)state;
    struct principal ana = {.name = "ana",
                            .project = "fraud",
                            .role = ROLE_ANALYST,
                            .scopes = SCOPE_BIT(SCOPE_BUDGETS_AUDIT) |
                                      SCOPE_BIT(SCOPE_JOBS_CANCEL)};
    assert_int_equal(principal_reach(&ana, SCOPE_BUDGETS_AUDIT), REACH_PROJECT);
    assert_int_equal(principal_reach(&ana, SCOPE_JOBS_CANCEL), REACH_PROJECT);
    assert_int_equal(principal_reach(&ana, SCOPE_KEYS_ADMIN), REACH_NONE);
    assert_true((principal_scopes(&ana) & SCOPE_BIT(SCOPE_BUDGETS_AUDIT)) != 0);
    assert_true((principal_scopes(&ana) & SCOPE_BIT(SCOPE_KEYS_ADMIN)) == 0);
    ana.role = ROLE_AUDITOR;
    assert_int_equal(principal_reach(&ana, SCOPE_BUDGETS_AUDIT), REACH_EVERYWHERE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_reaches_as_far_as_was_decided),
        cmocka_unit_test(a_role_of_a_key_has_a_name_and_no_other_is_read),
        cmocka_unit_test(what_is_not_reached_is_not_there_and_no_scope_tells_nothing),
        cmocka_unit_test(
            a_scope_beside_the_role_reaches_the_project_and_narrows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
