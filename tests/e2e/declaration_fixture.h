/*
 * declaration_fixture.h - points declared with the labels that their file has, or with others.
 * After tests/expect.h.
 */
#ifndef TESTS_E2E_DECLARATION_FIXTURE_H
#define TESTS_E2E_DECLARATION_FIXTURE_H

#include "tests/e2e/sample_fixture.h"

/* The body of a declaration: an id, the labels, and the member privacy. */
#define TABLE(id, values, privacy)                                                     \
    "{'id':'" id "','format':'csv','task':'classification','header':false,'columns':[" \
    "{'name':'x','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'y','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'above','kind':'label','values':[" values "]}],'privacy':" privacy "}"
#define WRONG "'no','perhaps'"
#define RIGHT "'no','yes'"

/* The reply says that there is one, of which this member decides. */
static inline void assert_exists_at(const struct reply *reply, const char *pointer)
{
    assert_problem(reply, 409, "already_exists");
    assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
}

#endif
