/* Goal: a user named by a proxy is answered as long as the file of groups grants them
 * what it granted, and their stream for a quarter of an hour. Method: a file of groups
 * that is changed and read again, and simulated seconds. */
#include "base/principal.h"
#include "service/identity/sso.h"

#include <string.h>

#include "api/limits.h"
#include "tests/expect.h"
#include "tests/store/place_fixture.h"

static struct place place;
static char path[96];
static struct sso *sso;

static const struct sso_headers ana = {.email = "ana@example.org",
                                       .groups = "staff, fraud"};

static void write_row(const char *group, const char *role, const char *project)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"groups\":[{\"group\":\"%s\",\"role\":\"%s\",\"project\":\"%s\"}]}",
            group, role, project);
    assert_int_equal(fclose(file), 0);
    if (sso != NULL)
        assert_int_equal(sso_reload(sso, NULL), ST_OK);
}

static int begin(void **state)
{
    struct proxy_trust trust;
    (void)state;
    sso = NULL;
    place = place_make();
    snprintf(path, sizeof path, "%s/groups.json", place.folder);
    write_row("fraud", "analyst", "fraud");
    assert_int_equal(proxy_trust_parse(&trust, "unix", NULL), ST_OK);
    assert_int_equal(sso_open(&sso, &trust, path, NULL), ST_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sso_close(sso);
    place_remove(&place);
    return 0;
}

static struct principal read_ana(void)
{
    struct principal principal;
    assert_int_equal(sso_read(sso, &ana, &principal, NULL), ST_OK);
    return principal;
}

static enum status renew(const struct principal *principal, int64_t stream_s)
{
    return sso_renew(sso, &ana, principal, stream_s, NULL);
}

static void who_has_what_they_had_stays(void **state)
{
    (void)state;
    const struct principal principal = read_ana();
    assert_int_equal(renew(&principal, 0), ST_OK);
    write_row("staff", "analyst", "fraud");
    assert_int_equal(renew(&principal, 0), ST_OK);
}

static void another_role_project_or_none_is_an_end(void **state)
{
    (void)state;
    const struct principal principal = read_ana();
    write_row("fraud", "auditor", "fraud");
    assert_int_equal(renew(&principal, 0), ST_FORBIDDEN);
    write_row("fraud", "analyst", "risk");
    assert_int_equal(renew(&principal, 0), ST_FORBIDDEN);
    write_row("owners", "analyst", "fraud");
    assert_int_equal(renew(&principal, 0), ST_FORBIDDEN);
    write_row("fraud", "analyst", "fraud");
    assert_int_equal(renew(&principal, 0), ST_OK);
}

static void another_name_is_another_person(void **state)
{
    (void)state;
    struct principal principal = read_ana();
    snprintf(principal.name, sizeof principal.name, "bob@example.org");
    assert_int_equal(renew(&principal, 0), ST_FORBIDDEN);
}

static void a_stream_ends_after_its_quarter_of_an_hour(void **state)
{
    (void)state;
    const struct principal principal = read_ana();
    assert_int_equal(renew(&principal, LIMIT_SIGN_ON_STREAM_S - 1), ST_OK);
    assert_int_equal(renew(&principal, LIMIT_SIGN_ON_STREAM_S), ST_SESSION_ENDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(who_has_what_they_had_stays),
        TEST(another_role_project_or_none_is_an_end),
        TEST(another_name_is_another_person),
        TEST(a_stream_ends_after_its_quarter_of_an_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
