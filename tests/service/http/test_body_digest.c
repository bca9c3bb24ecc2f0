/* Goal: a body passes if it matches every digest that its sender gives with a supported
 * algorithm, and a field that cannot be parsed is refused. Method: tables of fields,
 * with the body in pieces; digests by Python's hashlib. */
#include "service/http/body_digest.h"

#include <string.h>

#include "tests/expect.h"

#define BODY     ".1,.2,no\n.3,.4,yes\n"
#define SHA256   "sha-256=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=:"
#define OTHER256 "sha-256=:ILoH7gPozbw7cjJfABYWbZVQxopQ8VWjnKDht1krkAw=:"
#define SHA512                                                                         \
    "sha-512=:+h9axaj4dWXMjfUPJ3me1e3NOc6ESm/gLfZH1GGvnHZjL1f19j7DZOWwylnIlUIXKQ2a"    \
    "TmYMA6pCvl5ujm2U7w==:"
#define OTHER512                                                                       \
    "sha-512=:vhUqwCvdb7YOEWTAp1/jt2QIOIUT4ItZO4HsMm3gPTZ8HvOYDLo28Qz2tVJb8793VpleK"   \
    "Tl30DDWS1eFStdmHw==:"

struct fields {
    const char *content, *repr;
};

static enum status check(const struct fields *fields, const char *body,
                         struct error *error)
{
    struct body_digest *digest;
    enum status status =
        body_digest_begin(&digest, fields->content, fields->repr, error);
    for (const char *at = body; status == ST_OK && *at != '\0'; at++)
        body_digest_take(digest, at, 1);
    if (status == ST_OK)
        status = body_digest_check(digest, error);
    body_digest_destroy(digest);
    return status;
}

static void a_body_passes_that_has_all_its_digests(void **state)
{
    static const struct {
        struct fields fields;
        bool passes;
    } cases[] = {
        {{NULL, NULL}, true},
        {{SHA256, NULL}, true},
        {{NULL, SHA256}, true},
        {{SHA512, NULL}, true},
        {{SHA256 ", " SHA512, SHA256}, true},
        {{" " SHA512 "\t,\t" SHA256 " ", NULL}, true},
        {{SHA256 ";a=b", NULL}, true},
        {{"md5=:AAAA:", NULL}, true},
        {{"other=1, *x=\"a, " OTHER256 " \\\" \", a.b-c_d*=?1," SHA256, NULL}, true},
        {{OTHER256, NULL}, false},
        {{NULL, OTHER256}, false},
        {{OTHER512, NULL}, false},
        {{SHA256 ", " OTHER512, NULL}, false},
        {{OTHER256 ", " SHA512, NULL}, false},
        {{SHA256, OTHER256}, false},
        {{OTHER256 "," SHA256, NULL}, true}, /* the last of one name (RFC 8941, 3.2) */
        {{SHA256 "," OTHER256, NULL}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        enum status status = check(&cases[i].fields, BODY, &error);
        if (status != (cases[i].passes ? ST_OK : ST_INVALID))
            fail_msg("case %zu: %s", i, error.text);
        if (!cases[i].passes)
            assert_non_null(strstr(error.text, "-Digest"));
    }
}

static void a_field_that_cannot_be_read_is_refused(void **state)
{
    static const char *const fields[] = {
        "",
        ",",
        "sha-256",
        "sha-256=",
        "sha-256=::",
        "sha-256=:AAAA:",
        "sha-256=NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=",
        "sha-256=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=",
        "sha-256=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=:x",
        "sha-256=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8T$=:",
        "sha-512=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=:",
        "SHA-256=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=:",
        SHA256 ",",
        SHA256 " " SHA512,
        "=" SHA256,
    };
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct error error = {0};
        if (check(&(struct fields){fields[i], NULL}, BODY, &error) != ST_INVALID ||
            check(&(struct fields){SHA256, fields[i]}, BODY, NULL) != ST_INVALID)
            fail_msg("%s", fields[i]);
        assert_non_null(strstr(error.text, "sha-256=:BASE64:"));
    }
}

static void what_is_not_checked_costs_nothing(void **state)
{
    struct body_digest *digest;
    (void)state;
    assert_int_equal(body_digest_begin(&digest, "md5=:AAAA:", NULL, NULL), ST_OK);
    assert_null(digest);
    body_digest_take(NULL, "a", 1);
    assert_int_equal(body_digest_check(NULL, NULL), ST_OK);
    body_digest_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_passes_that_has_all_its_digests),
        cmocka_unit_test(a_field_that_cannot_be_read_is_refused),
        cmocka_unit_test(what_is_not_checked_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
