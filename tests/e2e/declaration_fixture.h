/*
 * declaration_fixture.h - declarations of the points, with the labels that their file
 * has or with wrong ones. Include it after tests/expect.h.
 */
#ifndef TESTS_E2E_DECLARATION_FIXTURE_H
#define TESTS_E2E_DECLARATION_FIXTURE_H

#include "tests/e2e/sample_fixture.h"

/* The body of a declaration with this id, these labels and this member privacy. */
#define TABLE(id, values, privacy)                                                     \
    "{'id':'" id "','format':'csv','task':'classification','header':false,'columns':[" \
    "{'name':'x','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'y','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'above','kind':'label','values':[" values "]}],'privacy':" privacy "}"
#define WRONG "'no','perhaps'"
#define RIGHT "'no','yes'"

/* Asserts that the reply refuses the declaration as existing already, and names this
 * member. */
static inline void assert_exists_at(const struct reply *reply, const char *pointer)
{
    assert_problem(reply, 409, "already_exists");
    assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
}

#endif
