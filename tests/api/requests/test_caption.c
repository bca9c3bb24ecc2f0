/* Goal: captions are read within their limits, merged as RFC 7396 says, stored and
 * found; and a declaration, plan or stored text is the same with and without a
 * caption. */
#include "api/requests/caption.h"

#include <stdlib.h>
#include <string.h>

#include "api/requests/dataset_request.h"
#include "api/json/fault.h"
#include "api/requests/job_request.h"
#include "tests/expect.h"

static const struct caption none = {0};

/* Returns the stored text `before` after the patch, as it is stored. The caller frees
 * it. */
static char *merged(const char *before, const char *patch)
{
    struct caption from = {0}, to = {0};
    struct error error = {0};
    assert_int_equal(caption_restore(&from, before, NULL), ST_OK);
    if (caption_merge(&to, &from, json_text_of(patch), &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    char *text = caption_render(&to);
    caption_fini(&from);
    caption_fini(&to);
    return text;
}

static void assert_merges(const char *before, const char *patch, const char *after)
{
    char *text = merged(before, patch);
    assert_string_equal(text, after);
    free(text);
}

static void a_patch_changes_what_it_names_and_nothing_else(void **state)
{
    static const char both[] =
        "{\"display_name\":\"Flu\",\"tags\":{\"run\":\"12\",\"team\":\"north\"}}";
    (void)state;
    assert_merges("{}", "{}", "{}");
    assert_merges(both, "{}", both);
    assert_merges("{}", "{\"tags\":{\"team\":\"north\",\"run\":\"12\"}}",
                  "{\"tags\":{\"run\":\"12\",\"team\":\"north\"}}");
    assert_merges(both, "{\"display_name\":\"Cold\"}",
                  "{\"display_name\":\"Cold\",\"tags\":{\"run\":\"12\","
                  "\"team\":\"north\"}}");
    assert_merges(both, "{\"display_name\":null}",
                  "{\"tags\":{\"run\":\"12\",\"team\":\"north\"}}");
    assert_merges(both, "{\"tags\":{\"run\":null,\"unknown\":null,\"team\":\"south\"}}",
                  "{\"display_name\":\"Flu\",\"tags\":{\"team\":\"south\"}}");
    assert_merges(both, "{\"tags\":null}", "{\"display_name\":\"Flu\"}");
    assert_merges(both, "{\"tags\":{}}", both);
}

static void assert_refused(const char *patch, const char *pointer)
{
    struct caption out = {0};
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    assert_int_equal(caption_merge(&out, &none, json_text_of(patch), &error),
                     ST_INVALID);
    assert_true(caption_is_empty(&out));
    assert_int_not_equal(faults.count, 0);
    if (strcmp(faults.list[0].pointer, pointer) != 0)
        fail_msg("%.60s: %s", patch, faults.list[0].pointer);
}

static void what_is_no_patch_is_refused_by_its_place(void **state)
{
    (void)state;
    assert_refused("[]", "");
    assert_refused("\"Flu\"", "");
    assert_refused("null", "");
    assert_refused("{\"state\":\"READY\"}", "/state");
    assert_refused("{\"display_name\":\"\"}", "/display_name");
    assert_refused("{\"display_name\":7}", "/display_name");
    assert_refused("{\"display_name\":\"a\\nb\"}", "/display_name");
    assert_refused("{\"display_name\":\"a\\u007f\"}", "/display_name");
    assert_refused("{\"display_name\":\"a\\u009f\"}", "/display_name");
    assert_refused("{\"display_name\":\"a\\u202eb\"}", "/display_name");
    assert_refused("{\"display_name\":\"\\u2066\"}", "/display_name");
    assert_merges("{}", "{\"display_name\":\"\\u2029\\u202f\\u206a\\u00a0\"}",
                  "{\"display_name\":\"\u2029\u202f\u206a\u00a0\"}");
    assert_refused("{\"tags\":[]}", "/tags");
    assert_refused("{\"tags\":\"a:b\"}", "/tags");
    assert_refused("{\"tags\":{\"Team\":\"a\"}}", "/tags/Team");
    assert_refused("{\"tags\":{\"\":\"a\"}}", "/tags/");
    assert_refused("{\"tags\":{\"-a\":\"a\"}}", "/tags/-a");
    assert_refused("{\"tags\":{\"a:b\":\"a\"}}", "/tags/a:b");
    assert_refused("{\"tags\":{\"a\":\"\"}}", "/tags/a");
    assert_refused("{\"tags\":{\"a\":true}}", "/tags/a");
    assert_refused("{\"tags\":{\"a\":\"\\u0001\"}}", "/tags/a");
}

/* Returns a patch whose display name is count characters of two bytes each. */
static char *long_name(size_t count)
{
    char *text = calloc(1, 2 * count + 32);
    assert_non_null(text);
    strcat(text, "{\"display_name\":\"");
    for (size_t i = 0; i < count; i++)
        strcat(text, "\xc3\xa9");
    return strcat(text, "\"}");
}

static char *many_tags(size_t count)
{
    char *text = calloc(1, 32 * count + 32), tag[32];
    assert_non_null(text);
    strcat(text, "{\"tags\":{");
    for (size_t i = 0; i < count; i++) {
        snprintf(tag, sizeof tag, "%s\"k%zu\":\"v\"", i > 0 ? "," : "", i);
        strcat(text, tag);
    }
    return strcat(text, "}}");
}

static void limits_are_of_characters_and_of_what_is_merged(void **state)
{
    (void)state;
    char *longest = long_name(LIMIT_DISPLAY_NAME),
         *longer = long_name(LIMIT_DISPLAY_NAME + 1);
    char *most = many_tags(LIMIT_TAGS), *more = many_tags(LIMIT_TAGS + 1);
    assert_merges("{}", longest, longest);
    assert_refused(longer, "/display_name");
    char *full = merged("{}", most), *same = merged(full, most);
    assert_string_equal(full, same);
    assert_refused(more, "/tags");
    /* One tag more is too many, unless another is removed. */
    struct caption from = {0}, to = {0};
    assert_int_equal(caption_restore(&from, full, NULL), ST_OK);
    static const char one_more[] = "{\"tags\":{\"x\":\"v\"}}";
    static const char instead[] = "{\"tags\":{\"x\":\"v\",\"k3\":null}}";
    assert_int_equal(caption_merge(&to, &from, json_text_of(one_more), NULL),
                     ST_INVALID);
    assert_int_equal(caption_merge(&to, &from, json_text_of(instead), NULL), ST_OK);
    assert_int_equal(to.tag_count, LIMIT_TAGS);
    caption_fini(&from);
    caption_fini(&to);
    char key[LIMIT_TAG_KEY + 1], text[2 * LIMIT_TAG_KEY];
    memset(key, 'a', LIMIT_TAG_KEY);
    key[LIMIT_TAG_KEY] = '\0';
    snprintf(text, sizeof text, "{\"tags\":{\"%s\":\"v\"}}", key);
    assert_merges("{}", text, text);
    snprintf(text, sizeof text, "{\"tags\":{\"%sa\":\"v\"}}", key);
    struct caption out = {0};
    assert_int_equal(caption_merge(&out, &none, json_text_of(text), NULL), ST_INVALID);
    free(longest);
    free(longer);
    free(most);
    free(more);
    free(full);
    free(same);
}

static bool fits(const char *q, const char *tag)
{
    static const char text[] =
        "{\"display_name\":\"Flu survey 2026\",\"tags\":{\"team\":\"North: lab\"}}";
    struct caption caption = {0};
    struct caption_search search;
    assert_int_equal(caption_restore(&caption, text, NULL), ST_OK);
    assert_int_equal(caption_search_read(&search, q, tag, NULL), ST_OK);
    bool found = caption_fits(&caption, "mnist-2", &search);
    assert_true(found || !caption_search_is_any(&search));
    caption_fini(&caption);
    return found;
}

static void what_is_searched_for_is_found(void **state)
{
    (void)state;
    assert_true(fits(NULL, NULL));
    assert_true(fits("mnist", NULL));
    assert_true(fits("mnist-2", NULL));
    assert_false(fits("nist", NULL)); /* an id is found by its prefix */
    assert_false(fits("MNIST", NULL));
    assert_true(fits("SURVEY", NULL));
    assert_true(fits("u s", NULL));
    assert_true(fits("team:n", NULL));
    assert_true(fits("LAB", NULL));
    assert_false(fits("survey 2025", NULL));
    assert_true(fits(NULL, "team:North: lab"));
    assert_false(fits(NULL, "team:North"));
    assert_false(fits(NULL, "team:north: lab"));
    assert_false(fits(NULL, "group:North: lab"));
    assert_true(fits("flu", "team:North: lab"));
    assert_false(fits("cold", "team:North: lab"));
}

static void a_search_that_can_find_nothing_is_refused(void **state)
{
    static const char *const tags[] = {
        "", "team", "team:", ":north", "Team:north", "team:a\n"};
    struct caption_search search;
    char longer[LIMIT_SEARCH + 2];
    (void)state;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_int_equal(caption_search_read(&search, NULL, tags[i], NULL), ST_INVALID);
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(caption_search_read(&search, longer, NULL, NULL), ST_INVALID);
    assert_int_equal(caption_search_read(&search, longer + 1, NULL, NULL), ST_OK);
    assert_int_equal(caption_search_read(&search, "", NULL, NULL), ST_INVALID);
}

/* --- a caption is no part of its object --- */

#define WORDS ",\"display_name\":\"Flu\",\"tags\":{\"team\":\"north\"}"

static void a_declaration_is_the_same_text_with_and_without_a_caption(void **state)
{
#define POINTS                                                                         \
    "{\"id\":\"points\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["  \
    "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]},"                           \
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"a\",\"b\"]}],"                   \
    "\"privacy\":{\"epsilon\":8,\"delta\":1e-5}"
    static const char plain[] = POINTS "}", called[] = POINTS WORDS "}";
    struct dataset_spec one, other;
    (void)state;
    assert_int_equal(dataset_spec_parse(&one, json_text_of(plain), NULL), ST_OK);
    assert_int_equal(dataset_spec_parse(&other, json_text_of(called), NULL), ST_OK);
    assert_true(caption_is_empty(&one.caption));
    assert_string_equal(other.caption.display_name, "Flu");
    char *a = dataset_spec_render(&one), *b = dataset_spec_render(&other);
    assert_string_equal(a, b);
    char *body = dataset_body_render(&other);
    assert_non_null(strstr(body, WORDS));
    /* A stored declaration has no caption, and one with a caption is damaged. */
    struct dataset_spec kept;
    assert_int_equal(dataset_spec_restore(&kept, body, NULL), ST_INVALID);
    assert_int_equal(dataset_spec_restore(&kept, b, NULL), ST_OK);
    dataset_spec_fini(&kept);
    free(body);
    free(a);
    free(b);
    dataset_spec_fini(&one);
    dataset_spec_fini(&other);
}

static void a_refused_body_leaves_no_caption_behind(void **state)
{
    static const char bad[] = "{\"id\":\"Points\"" WORDS "}";
    struct dataset_spec spec = {0};
    struct job_request request = {0};
    (void)state;
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(bad), NULL), ST_INVALID);
    assert_null(spec.caption.display_name);
    assert_int_equal(job_request_parse(&request, json_text_of(bad), NULL), ST_INVALID);
    assert_null(request.caption.display_name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_changes_what_it_names_and_nothing_else),
        cmocka_unit_test(what_is_no_patch_is_refused_by_its_place),
        cmocka_unit_test(limits_are_of_characters_and_of_what_is_merged),
        cmocka_unit_test(what_is_searched_for_is_found),
        cmocka_unit_test(a_search_that_can_find_nothing_is_refused),
        cmocka_unit_test(a_declaration_is_the_same_text_with_and_without_a_caption),
        cmocka_unit_test(a_refused_body_leaves_no_caption_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
