/*
 * verdict_fixture.h - checks of a parser's verdict on a body: it accepts the body, or
 * refuses it as invalid at the member at fault; and bodies that must pass, broken in
 * one place at a time. Include after tests/expect.h.
 */
#ifndef TESTS_API_VERDICT_FIXTURE_H
#define TESTS_API_VERDICT_FIXTURE_H

#include <string.h>

#include "api/json/fault.h"
#include "base/status.h"
#include "tests/expect.h"

static inline void assert_taken(enum status status, const char *body,
                                const struct error *error)
{
    if (status != ST_OK)
        fail_msg("%s: %s: %s", body, error->pointer, error->text);
}

/* Asserts that the error names the member and has a text. */
static inline void assert_points_at(const struct error *error, const char *body,
                                    const char *pointer)
{
    if (strcmp(error->pointer, pointer) != 0)
        fail_msg("%s: pointer %s, text %s", body, error->pointer, error->text);
    assert_true(error->text[0] != '\0');
}

static inline void assert_refused_at(enum status status, const char *body,
                                     const struct error *error, const char *pointer)
{
    if (status != ST_INVALID)
        fail_msg("accepted: %s", body);
    assert_points_at(error, body, pointer);
}

/* Returns base with the first `from` replaced by `to`. The caller frees it. */
static inline char *edit(const char *base, const char *from, const char *to)
{
    const char *at = strstr(base, from);
    char *text = malloc(strlen(base) + strlen(to) + 1);
    if (at == NULL)
        fail_msg("no %s in %s", from, base);
    assert_non_null(text);
    sprintf(text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from));
    return text;
}

struct broken {
    const char *from, *to, *pointer; /* of the fault, or the first of them */
};

/* Parses a body and keeps nothing. The reader fails the test if a refusal left
 * something behind. */
typedef enum status verdict_reader(const char *body, struct error *error);

static inline void refuse_each(verdict_reader *read, const char *base,
                               const struct broken *cases, size_t count,
                               size_t faults_each)
{
    for (size_t i = 0; i < count; i++) {
        char *body = edit(base, cases[i].from, cases[i].to);
        struct faults faults = {0};
        struct error error = {.faults = &faults};
        enum status status = read(body, &error);
        assert_refused_at(status, body, &error, cases[i].pointer);
        if (faults.count != faults_each)
            fail_msg("%s: %zu faults, the last at %s: %s", body, faults.count,
                     faults.list[faults.count - 1].pointer,
                     faults.list[faults.count - 1].text);
        free(body);
    }
}

/* Compares all faults of a body with expected, a line each: "pointer code". Each fault
 * has a text, and the error itself has the first fault. */
static inline void assert_faults(verdict_reader *read, const char *body,
                                 const char *expected)
{
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    char text[LIMIT_FAULTS * 128] = "";
    assert_int_equal(read(body, &error), ST_INVALID);
    for (size_t i = 0; i < faults.count; i++) {
        const struct fault *fault = &faults.list[i];
        size_t used = strlen(text);
        assert_true(fault->text[0] != '\0');
        snprintf(text + used, sizeof text - used, "%s %s\n", fault->pointer,
                 fault_wire(fault->kind));
    }
    assert_string_equal(text, expected);
    assert_string_equal(error.pointer, faults.list[0].pointer);
    assert_string_equal(error.text, faults.list[0].text);
}

/* Each change makes one fault, and no further ones. */
#define REFUSE_EACH(read, base, cases)                                                 \
    refuse_each(read, base, cases, sizeof cases / sizeof *cases, 1)
#define REFUSE_EACH_TWICE(read, base, cases)                                           \
    refuse_each(read, base, cases, sizeof cases / sizeof *cases, 2)

#endif
