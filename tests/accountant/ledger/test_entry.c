/* Goal: the form of an entry never changes: its hash equals one computed in Python (the
 * audit of accountant/audit/README.md), its texts are fixed to the letter, and no other
 * text is accepted. */
#include "accountant/ledger/entry.h"

#include <string.h>

#include "tests/expect.h"

static const uint8_t curve[16] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
static const uint8_t rest[16] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

static struct ledger_row commit_row(void)
{
    struct ledger_row row = {.seq = 18,
                             .dataset = "mnist",
                             .epoch = 2,
                             .job = "job_x",
                             .kind = "COMMIT",
                             .curve = curve,
                             .curve_size = sizeof curve,
                             .released = rest,
                             .meta = "{\"a\":1}",
                             .actor = "local",
                             .time_ms = 1767225600123};
    for (int i = 0; i < SHA256_SIZE; i++)
        row.prev[i] = (uint8_t)(i + 1);
    return row;
}

static void the_hash_is_the_documented_one(void **state)
{
    (void)state;
    struct ledger_row row = commit_row();
    char hex[SHA256_HEX_SIZE];
    entry_hash(row.hash, &row);
    sha256_render(hex, row.hash);
    assert_string_equal(
        hex, "ca85a5689b9fd0c5d8b9b3871c195cb56a631a8665b3af722314f80ef5a33b89");
    row.kind = "RESERVE";
    row.released = NULL;
    entry_hash(row.hash, &row);
    sha256_render(hex, row.hash);
    assert_string_equal(
        hex, "443a1adf8a669af86b1717ca4926da8d76d14c66b88d32b08b65ecf4cab66fe8");
}

/* Moving a character from one field to the next must change the hash. */
static void every_field_is_in_the_hash(void **state)
{
    (void)state;
    uint8_t truth[SHA256_SIZE], hash[SHA256_SIZE];
    struct ledger_row row = commit_row();
    entry_hash(truth, &row);
    struct ledger_row others[12];
    for (size_t i = 0; i < 12; i++)
        others[i] = row;
    others[0].seq++;
    others[1].dataset = "mnis";
    others[2].epoch++;
    others[3].job = "job_xC";
    others[4].kind = "COMMI";
    others[5].curve = rest;
    others[6].curve_size = 8;
    others[7].released = curve;
    others[8].meta = "{\"a\":2}";
    others[9].actor = "locaL";
    others[10].time_ms++;
    others[11].prev[31] ^= 1;
    for (size_t i = 0; i < 12; i++) {
        entry_hash(hash, &others[i]);
        assert_memory_not_equal(hash, truth, sizeof hash);
    }
}

static void curves_are_little_endian_doubles_and_nothing_negative(void **state)
{
    (void)state;
    struct curve given = {0}, back = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        given.at[i] = 2.385 * (double)i;
    given.at[3] = INFINITY;
    entry_curve_encode(bytes, &given);
    static const uint8_t one[8] = {0x14, 0xae, 0x47, 0xe1, 0x7a, 0x14, 0x03, 0x40};
    assert_memory_equal(bytes + 8, one, 8); /* 2.385 */
    assert_true(entry_charge_decode(&back, bytes, sizeof bytes));
    assert_memory_equal(&given, &back, sizeof given);
    assert_false(entry_charge_decode(&back, bytes, sizeof bytes - 8));
    static const double bad[] = {-0x1p-1074, NAN, -INFINITY, -1};
    for (size_t i = 0; i < 4; i++) {
        given.at[49] = bad[i];
        entry_curve_encode(bytes, &given);
        assert_false(entry_charge_decode(&back, bytes, sizeof bytes));
    }
}

static void the_texts_are_these_and_are_read_back(void **state)
{
    (void)state;
    struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0},
                 grant_back;
    struct filter filter, filter_back;
    struct curve capacity = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    char *text = entry_grant_render(&grant, &filter, NULL, 0);
    assert_string_equal(
        text, "{\"grid\":\"g1\",\"relation\":\"zero_out\",\"epsilon\":2,"
              "\"delta\":1.0000000000000001e-05,\"order\":null,\"orders\":[10,7],"
              "\"weights\":[0.75,0.25],\"noise_delta\":9.0949470177292824e-13}");
    struct ledger_row row = {
        .job = "", .curve = bytes, .curve_size = sizeof bytes, .meta = text};
    assert_true(entry_grant_parse(&grant_back, &filter_back, NULL, &row));
    assert_true(grant_back.epsilon == 2 && grant_back.order == 0);
    assert_memory_equal(filter_back.capacity, filter.capacity, sizeof filter.capacity);
    free(text);

    struct mechanism m, m_back;
    enum parts parts = PARTS_BOTH;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 1.5, 7});
    text = entry_reserve_render(&m, PARTS_UNNAMED, NULL);
    assert_string_equal(text,
                        "{\"grid\":\"g1\",\"steps\":7,\"mechanism\":{\"kind\":"
                        "\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,1.5,7]],"
                        "\"prefixes_priced\":true}}");
    row.meta = text;
    assert_true(entry_reserve_parse(&m_back, &parts, &row));
    assert_int_equal(mechanism_steps(&m_back), 7);
    mechanism_fini(&m_back);
    mechanism_fini(&m);
    free(text);

    struct entry_commit commit = {.reserve_seq = 12, .steps = 5}, commit_back;
    text = entry_commit_render(&commit);
    assert_string_equal(
        text, "{\"grid\":\"g1\",\"reserve\":12,\"steps\":5,\"model_sha256\":null}");
    free(text);
    commit.has_model = true;
    commit.model_sha256[31] = 0xab;
    text = entry_commit_render(&commit);
    row.meta = text;
    row.released = bytes;
    assert_true(entry_commit_parse(&commit_back, &row));
    assert_memory_equal(commit_back.model_sha256, commit.model_sha256, SHA256_SIZE);
    free(text);
}

static void an_entry_says_where_the_unit_is_a_person(void **state)
{
    (void)state;
    struct grant grant = {RELATION_REPLACE_ONE, 2, 1e-5, 0, {0, 0},
                          PRIVACY_UNIT_PERSON,  0},
                 back;
    struct filter filter, filter_back;
    struct curve capacity = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    char *text = entry_grant_render(&grant, &filter, NULL, 0);
    const char *head = "{\"grid\":\"g1\",\"relation\":\"replace_one\","
                       "\"unit\":\"person\",\"epsilon\":2,";
    assert_memory_equal(text, head, strlen(head));
    struct ledger_row row = {
        .job = "", .curve = bytes, .curve_size = sizeof bytes, .meta = text};
    assert_true(entry_grant_parse(&back, &filter_back, NULL, &row));
    assert_int_equal(back.unit, PRIVACY_UNIT_PERSON);
    assert_int_equal(back.relation, RELATION_REPLACE_ONE);
    char *other = strstr(text, "person");
    memcpy(other, "record", 6); /* not the rendered form */
    assert_false(entry_grant_parse(&back, &filter_back, NULL, &row));
    free(text);

    struct mechanism m, m_back;
    enum parts parts;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 1.5, 7});
    m.unit = PRIVACY_UNIT_PERSON;
    text = entry_reserve_render(&m, PARTS_UNNAMED, NULL);
    row.meta = text;
    assert_non_null(strstr(text, "\"relation\":\"zero_out\",\"unit\":\"person\","
                                 "\"runs\":"));
    assert_true(entry_reserve_parse(&m_back, &parts, &row));
    assert_int_equal(m_back.unit, PRIVACY_UNIT_PERSON);
    mechanism_fini(&m_back);
    mechanism_fini(&m);
    memcpy(strstr(text, "person"), "record", 6);
    assert_false(entry_reserve_parse(&m_back, &parts, &row));
    free(text);
}

/* A name and a reason with every character that JSON escapes and a text may hold. */
static void a_grant_names_who_approved_it_and_why(void **state)
{
    (void)state;
    static const struct grant_approval approvals[] = {
        {"bob@example.org", "second look: \"fine\", a\\b, \xc3\xa9t\xc3\xa9"},
        {"bob", "}"},
        {"bob", "\",\"reason\":\"x"},
        {"bob", "\\"},
    };
    const struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    struct grant grant_back;
    struct filter filter, filter_back;
    struct curve capacity = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    for (size_t i = 0; i < sizeof approvals / sizeof *approvals; i++) {
        struct grant_approval back;
        char *text = entry_grant_render(&grant, &filter, &approvals[i], 0);
        struct ledger_row row = {
            .job = "", .curve = bytes, .curve_size = sizeof bytes, .meta = text};
        assert_true(entry_grant_parse(&grant_back, &filter_back, &back, &row));
        assert_string_equal(back.approved_by, approvals[i].approved_by);
        assert_string_equal(back.reason, approvals[i].reason);
        text[strlen(text) - 2] = ' '; /* the closing quote */
        assert_false(entry_grant_parse(&grant_back, &filter_back, &back, &row));
        free(text);
    }
    char *text = entry_grant_render(&grant, &filter, &approvals[0], 0);
    assert_non_null(strstr(text,
                           "\"noise_delta\":9.0949470177292824e-13,\"approved_by\":"
                           "\"bob@example.org\",\"reason\":\"second look: "
                           "\\\"fine\\\", a\\\\b, \xc3\xa9t\xc3\xa9\"}"));
    free(text);
}

/* The member follows the parts and precedes the approver, as one number in one form. */
static void a_grant_names_the_one_that_it_replaces(void **state)
{
    (void)state;
    const struct grant_approval approval = {"bob", "a typo, \"replaces\":3"};
    const struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0.25, 7},
                                PRIVACY_UNIT_RECORD, 0};
    struct grant grant_back;
    struct grant_approval back;
    struct filter filter, filter_back;
    struct curve capacity = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    struct ledger_row row = {.job = "", .curve = bytes, .curve_size = sizeof bytes};
    char *text = entry_grant_render(&grant, &filter, &approval, 0);
    row.meta = text;
    assert_int_equal(entry_replaces(&row), 0);
    free(text);
    text = entry_grant_render(&grant, &filter, &approval, UINT64_MAX);
    row.meta = text;
    assert_int_equal(entry_replaces(&row), UINT64_MAX);
    free(text);
    text = entry_grant_render(&grant, &filter, &approval, 1203);
    row.meta = text;
    assert_non_null(strstr(text, ",\"holdout\":0.25,\"seed\":7,\"replaces\":1203,"
                                 "\"approved_by\":\"bob\",\"reason\":"));
    assert_true(entry_grant_parse(&grant_back, &filter_back, &back, &row));
    assert_string_equal(back.reason, approval.reason);
    assert_true(grant_same(&grant_back, &grant));
    static const char *const damaged[] = {"+203", "0203", "-203", "1.03", "    "};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        memcpy(strstr(text, "\"replaces\":") + strlen("\"replaces\":"), damaged[i], 4);
        assert_false(entry_grant_parse(&grant_back, &filter_back, &back, &row));
    }
    free(text);
}

/* External work belongs to a charge and names its engine; a job's work does neither. */
static void a_reserve_of_work_elsewhere_names_its_engine(void **state)
{
    (void)state;
    static const char charge[] = "chg_01J9ZQ4T8Y6W3V5K7M2N1P0R8S";
    static const char job[] = "job_01J9ZQ4T8Y6W3V5K7M2N1P0R8S";
    char engine[ENTRY_ENGINE_SIZE];
    uint8_t bytes[ENTRY_CURVE_SIZE] = {0};
    struct mechanism m, back = {0};
    enum parts parts;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 1.5, 7});
    char *text = entry_reserve_render(&m, PARTS_HOLDOUT, "opacus 1.5");
    assert_string_equal(text,
                        "{\"grid\":\"g1\",\"steps\":7,\"external\":\"opacus "
                        "1.5\",\"parts\":[\"holdout\"],"
                        "\"mechanism\":{\"kind\":\"gaussian\",\"relation\":"
                        "\"zero_out\",\"runs\":[[1,1.5,7]],\"prefixes_priced\":true}}");
    struct ledger_row row = {
        .job = charge, .curve = bytes, .curve_size = sizeof bytes, .meta = text};
    entry_engine(engine, &row);
    assert_string_equal(engine, "opacus 1.5");
    assert_true(entry_reserve_parse(&back, &parts, &row));
    assert_int_equal(parts, PARTS_HOLDOUT);
    mechanism_fini(&back);
    row.job = job;
    assert_false(entry_reserve_parse(&back, &parts, &row));
    free(text);
    row.meta = text = entry_reserve_render(&m, PARTS_UNNAMED, NULL);
    entry_engine(engine, &row);
    assert_string_equal(engine, "");
    assert_true(entry_reserve_parse(&back, &parts, &row));
    mechanism_fini(&back);
    row.job = charge;
    assert_false(entry_reserve_parse(&back, &parts, &row));
    free(text);
    mechanism_fini(&m);
    static const char *const bad[] = {"", " opacus", "a\"b", "a\nb", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(entry_engine_is_good(bad[i]));
}

static void other_texts_are_not_read(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "{\"grid\":\"g2\",\"reserve\":12,\"steps\":5,\"model_sha256\":null}",
        "{\"grid\":\"g1\",\"reserve\":012,\"steps\":5,\"model_sha256\":null}",
        "{\"grid\":\"g1\",\"reserve\":12,\"steps\":-5,\"model_sha256\":null}",
        "{\"grid\":\"g1\",\"reserve\":12,\"steps\":5,\"model_sha256\":null} ",
        "{\"grid\":\"g1\",\"reserve\":12,\"steps\":5,\"model_sha256\":\"00\"}",
        "{\"grid\":\"g1\",\"reserve\":12,\"steps\":5,\"model_sha256\":nil}",
        "{\"grid\":\"g1\",\"steps\":7,\"mechanism\":",
        "{\"grid\":\"g1\",\"steps\":7,\"mechanism\":}",
    };
    uint8_t bytes[ENTRY_CURVE_SIZE] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ledger_row row = {
            .job = "", .curve = bytes, .curve_size = sizeof bytes, .meta = bad[i]};
        struct grant grant;
        struct filter filter;
        struct mechanism m;
        enum parts parts;
        struct entry_commit commit;
        assert_false(entry_grant_parse(&grant, &filter, NULL, &row));
        assert_false(entry_reserve_parse(&m, &parts, &row));
        row.released = bytes;
        assert_false(entry_commit_parse(&commit, &row));
    }
}

/* Returns whether text is read as a COMMIT, and checks that what was read is rendered
 * to the same bytes. */
static bool reads_as_rendered(const char *text)
{
    static const uint8_t bytes[ENTRY_CURVE_SIZE] = {0};
    const struct ledger_row row = {.job = "",
                                   .curve = bytes,
                                   .curve_size = sizeof bytes,
                                   .released = bytes,
                                   .meta = text};
    struct entry_commit commit;
    if (!entry_commit_parse(&commit, &row))
        return false;
    char *again = entry_commit_render(&commit);
    assert_string_equal(again, text);
    free(again);
    return true;
}

static const struct entry_commit commits[] = {
    {.reserve_seq = 0, .steps = 0},
    {.reserve_seq = 12, .steps = UINT64_MAX, .parts = PARTS_TRAIN},
    {.reserve_seq = UINT64_MAX, .steps = 10, .parts = PARTS_HOLDOUT, .has_model = true},
    {.reserve_seq = 100, .steps = 5, .parts = PARTS_BOTH, .has_model = true},
};

/* Each byte of each text is changed, removed, or preceded by another byte. */
static void a_commit_is_read_in_its_rendered_form_alone(void **state)
{
    (void)state;
    static const char letters[] = "0129-+ ,:\"}afAFnN\\";
    char other[512];
    assert_false(reads_as_rendered("{\"grid\":\"g1\",\"reserve\":12,\"steps\":"
                                   "18446744073709551616,\"model_sha256\":null}"));
    for (size_t c = 0; c < sizeof commits / sizeof *commits; c++) {
        char *text = entry_commit_render(&commits[c]);
        size_t length = strlen(text);
        assert_true(length + 2 < sizeof other && reads_as_rendered(text));
        for (size_t i = 0; i < length; i++) {
            snprintf(other, sizeof other, "%.*s%s", (int)i, text, text + i + 1);
            reads_as_rendered(other);
            for (const char *letter = letters; *letter != '\0'; letter++) {
                snprintf(other, sizeof other, "%.*s%c%s", (int)i, text, *letter,
                         text + i + 1);
                reads_as_rendered(other);
                snprintf(other, sizeof other, "%.*s%c%s", (int)i, text, *letter,
                         text + i);
                reads_as_rendered(other);
            }
            snprintf(other, sizeof other, "%.*s", (int)i, text);
            assert_false(reads_as_rendered(other));
        }
        free(text);
    }
}

static void what_is_released_never_exceeds_the_rest(void **state)
{
    (void)state;
    struct curve held = {0}, committed = {0}, released = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        held.at[i] = 0.1 * (double)(i + 1);
        committed.at[i] = 0.03 * (double)(i + 1);
    }
    held.at[0] = INFINITY;
    held.at[1] = committed.at[1] = INFINITY;
    held.at[2] = committed.at[2];
    entry_released(&released, &held, &committed);
    assert_true(isinf(released.at[0]));
    assert_true(released.at[1] == 0 && released.at[2] == 0);
    for (size_t i = 3; i < CURVE_ORDERS; i++) {
        assert_true((long double)released.at[i] + committed.at[i] <= held.at[i]);
        assert_close(released.at[i], 0.07 * (double)(i + 1), 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_the_documented_one),
        cmocka_unit_test(every_field_is_in_the_hash),
        cmocka_unit_test(curves_are_little_endian_doubles_and_nothing_negative),
        cmocka_unit_test(the_texts_are_these_and_are_read_back),
        cmocka_unit_test(an_entry_says_where_the_unit_is_a_person),
        cmocka_unit_test(a_grant_names_who_approved_it_and_why),
        cmocka_unit_test(a_grant_names_the_one_that_it_replaces),
        cmocka_unit_test(a_reserve_of_work_elsewhere_names_its_engine),
        cmocka_unit_test(other_texts_are_not_read),
        cmocka_unit_test(a_commit_is_read_in_its_rendered_form_alone),
        cmocka_unit_test(what_is_released_never_exceeds_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
