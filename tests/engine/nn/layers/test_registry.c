/* Goal: the table is the only place that knows a layer: each row is complete, and no
 * other source file names a layer. api/test_openapi checks that openapi.yaml agrees
 * about the members. Method: every row, and the text of every other file. */
#include <string.h>

#include "tests/expect.h"

#include "engine/nn/layers/registry.h"
#include "engine/nn/model_spec.h"
#include "tests/source_fixture.h"

static void every_row_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t k = 0; layer_kinds[k] != NULL; k++) {
        const struct layer_kind *kind = layer_kinds[k];
        assert_ptr_equal(layer_find(kind->name), kind); /* and no other kind has its
                                                           name */
        assert_true(strspn(kind->name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
                    strlen(kind->name));
        assert_non_null(kind->build);
        assert_true(kind->type == NULL || layer_find(kind->type) != NULL);
        assert_true(!kind->is_activation || kind->own != NULL);
        assert_int_equal(kind->stands_in_for == NULL, kind->stands_in_because == NULL);
    }
}

static size_t size_of(enum member_kind kind)
{
    switch (kind) {
    case MEMBER_COUNT:
    case MEMBER_LAYERS: return sizeof(uint32_t);
    case MEMBER_COLUMNS: return 0;
    case MEMBER_REAL: return sizeof(double);
    case MEMBER_FLAG: return sizeof(bool);
    case MEMBER_KERNEL:
    case MEMBER_VARIANT: return 0;
    }
    return 0;
}

/* Checks that exactly one word chooses the row itself, and that the other words choose
 * rows of the same type. */
static void assert_variants(const struct layer_kind *kind,
                            const struct layer_variant *variants)
{
    size_t self = 0;
    assert_non_null(variants);
    for (; variants->word != NULL; variants++) {
        const char *type = variants->kind->type;
        self += variants->kind == kind;
        assert_string_equal(type != NULL ? type : variants->kind->name,
                            kind->type != NULL ? kind->type : kind->name);
    }
    assert_int_equal(self, 1);
}

static void every_member_has_a_place_a_range_and_a_default(void **state)
{
    (void)state;
    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        for (size_t m = 0; m < layer_kinds[k]->member_count; m++) {
            const struct layer_member *member = &layer_kinds[k]->members[m];
            for (size_t j = 0; j < m; j++)
                assert_string_not_equal(layer_kinds[k]->members[j].name, member->name);
            assert_true(member->offset + size_of(member->kind) <=
                        sizeof(struct layer_spec));
            assert_int_equal(member->kind == MEMBER_VARIANT, member->variants != NULL);
            if (member->kind == MEMBER_VARIANT)
                assert_variants(layer_kinds[k], member->variants);
            if (member->kind != MEMBER_COUNT && member->kind != MEMBER_REAL)
                continue;
            assert_true(member->low <= member->high);
            assert_true(
                !member->optional || member->follows_kernel ||
                (member->fallback >= member->low && member->fallback <= member->high));
        }
}

static bool is_activation(const struct layer_kind *kind)
{
    return kind->is_activation;
}

static bool is_none(const struct layer_kind *kind)
{
    (void)kind;
    return false;
}

static bool is_dense(const struct layer_kind *kind)
{
    return kind == &layer_dense;
}

static void names_are_a_list_for_people(void **state)
{
    char text[128], cut[12];
    (void)state;
    layer_names(text, sizeof text, is_activation, "or");
    assert_string_equal(text, "relu, tanh, sigmoid, softplus, gelu or gelu_tanh");
    layer_names(text, sizeof text, is_dense, "or");
    assert_string_equal(text, "dense");
    layer_names(text, sizeof text, is_none, "or");
    assert_string_equal(text, "");
    layer_names(cut, sizeof cut, is_activation, "or");
    assert_string_equal(cut, "relu, tanh,");
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* Returns whether text contains the name, as "name" or as layer_NAME. */
static bool names_layer(const char *text, const char *name)
{
    char quoted[64], row[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    snprintf(row, sizeof row, "layer_%s", name);
    for (const char *at = text; (at = strstr(at, row)) != NULL; at++)
        if (!is_word(at[strlen(row)]) && (at == text || !is_word(at[-1])))
            return true;
    return strstr(text, quoted) != NULL;
}

/* The comment of a request names an mlp's activation; a job has a member of the name of
 * the layer that it begins with, and an encoder of texts one of the name of the layer
 * that ends it. */
static bool is_excused(const char *path, const char *name, const char *text)
{
    if (strcmp(name, "standardise") == 0)
        return strstr(text, "layer_standardise") == NULL;
    if (strcmp(name, "take") == 0)
        return strstr(text, "layer_take") == NULL;
    return strcmp(path, "api/requests/model_request.h") == 0 &&
           strcmp(name, "relu") == 0;
}

static void assert_names_none(const char *path, const char *text)
{
    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        if (names_layer(text, layer_kinds[k]->name) &&
            !is_excused(path, layer_kinds[k]->name, text))
            fail_msg("%s names %s", path, layer_kinds[k]->name);
}

static void nothing_outside_the_folder_names_a_layer(void **state)
{
    static const char *const patterns[] = {"api/*.[ch]",
                                           "api/*/*.[ch]",
                                           "service/*/*.[ch]",
                                           "engine/*.[ch]",
                                           "engine/nn/*.[ch]",
                                           "engine/dp/*.[ch]",
                                           "engine/dp/algorithms/*.[ch]",
                                           "engine/model_file/*.[ch]",
                                           "engine/rounding/*.[ch]",
                                           "engine/difference/*.[ch]"};
    (void)state;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        sources_walk(patterns[p], assert_names_none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_name),
        cmocka_unit_test(every_member_has_a_place_a_range_and_a_default),
        cmocka_unit_test(names_are_a_list_for_people),
        cmocka_unit_test(nothing_outside_the_folder_names_a_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
