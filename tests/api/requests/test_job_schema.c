/* Goal: a dataset's job schema offers exactly what the tables have and the dataset
 * accepts. Method: each entry of the tables is looked up in the schemas of datasets of
 * each task and shape. The e2e test shows that bodies are judged alike. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/requests/dataset_request.h"
#include "api/requests/job_schema.h"
#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/registry.h"

#define PRIVATE "{\"epsilon\":2,\"delta\":1e-5}"
#define IMAGES(shape)                                                                  \
    "\"format\":\"idx\",\"task\":\"classification\",\"classes\":10,"                   \
    "\"features\":{\"shape\":" shape ",\"scale\":255}"
#define WAVES                                                                          \
    "\"format\":\"npy\",\"task\":\"regression\",\"features\":{\"shape\":[8],"          \
    "\"scale\":1},\"target\":{\"range\":[0,1]}"
#define PAIRS                                                                          \
    "\"format\":\"libsvm\",\"task\":\"classification\",\"classes\":2,"                 \
    "\"features\":{\"count\":4}"

static json_t *schema_of(const char *data, const char *privacy, double epsilon_max)
{
    char text[512];
    struct dataset_spec spec;
    int size =
        snprintf(text, sizeof text, "{\"id\":\"d\",%s,\"privacy\":%s}", data, privacy);
    assert_int_equal(
        dataset_spec_parse(&spec, json_text_sized(text, (size_t)size), NULL), ST_OK);
    const struct job_schema_view view = {.dataset = &spec.id,
                                         .facts = {.schema = &spec.schema,
                                                   .records = 60000,
                                                   .is_public = spec.is_public,
                                                   .relation = RELATION_ZERO_OUT,
                                                   .delta = spec.is_public ? 0 : 1e-5},
                                         .epsilon_max = epsilon_max};
    char *rendered = job_schema_render(&view);
    json_t *schema = json_loads(rendered, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(schema);
    free(rendered);
    dataset_spec_fini(&spec);
    return schema;
}

/* Returns the value at "a/b/c", in which numbers index lists, or NULL if there is
 * none. */
static json_t *at(json_t *value, const char *path)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *name; value != NULL && (name = strsep(&rest, "/")) != NULL;)
        value = json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
                                     : json_object_get(value, name);
    return value;
}

/* Returns the alternative of the list in which the member `name` is the constant
 * `value`. */
static json_t *alternative(json_t *list, const char *name, const char *value)
{
    json_t *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        const char *text =
            json_string_value(at(at(at(item, "properties"), name), "const"));
        if (text != NULL && strcmp(text, value) == 0)
            return item;
    }
    return NULL;
}

static bool lists(json_t *list, const char *text)
{
    json_t *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item) && strcmp(json_string_value(item), text) == 0)
            return true;
    }
    return false;
}

static void every_layer_and_each_of_its_members_is_described(void **state)
{
    (void)state;
    json_auto_t *schema = schema_of(PAIRS, PRIVATE, 1);
    json_t *layers = at(schema, "$defs/layer/oneOf");
    size_t types = 0;
    for (size_t i = 0; layer_kinds[i] != NULL; i++) {
        const struct layer_kind *kind = layer_kinds[i];
        json_t *layer = alternative(layers, "type", kind->name);
        assert_true((layer != NULL) == (kind->type == NULL));
        if (layer == NULL)
            continue;
        types++;
        assert_int_equal(json_object_size(at(layer, "properties")),
                         kind->member_count + 1);
        for (size_t m = 0; m < kind->member_count; m++) {
            const struct layer_member *member = &kind->members[m];
            json_t *described = at(at(layer, "properties"), member->name);
            assert_non_null(described);
            assert_true(lists(at(layer, "required"), member->name) != member->optional);
            if (member->kind != MEMBER_COUNT)
                continue;
            assert_true(json_number_value(at(described, "minimum")) == member->low);
            assert_true(json_number_value(at(described, "maximum")) == member->high);
            if (member->optional && !member->follows_kernel)
                assert_true(json_number_value(at(described, "default")) ==
                            member->fallback);
        }
        assert_true(lists(at(layer, "required"), "type"));
    }
    assert_int_equal(json_array_size(layers), types);
}

static void algorithms_are_those_that_the_data_takes(void **state)
{
    (void)state;
    for (int is_public = 0; is_public < 2; is_public++) {
        json_auto_t *schema = schema_of(PAIRS, is_public ? "\"public\"" : PRIVATE, 1);
        json_t *offered = at(schema, "properties/algorithm/oneOf");
        for (size_t i = 0; algorithms[i] != NULL; i++) {
            json_t *one = alternative(offered, "name", algorithms[i]->name);
            assert_true((one != NULL) == ((is_public || algorithms[i]->is_private) &&
                                          !algorithms[i]->uses_histograms));
        }
        assert_int_equal(json_array_size(at(schema, "allOf")),
                         json_array_size(offered));
        assert_string_equal(
            json_string_value(at(schema, "properties/algorithm/default/name")),
            is_public ? "sgd" : "dpsgd");
        assert_true((at(schema, "properties/privacy/default") == NULL) == is_public);
        assert_true((at(schema, "properties/privacy/properties/budget_fraction") ==
                     NULL) == is_public);
    }
}

static void presets_fit_the_shape(void **state)
{
    (void)state;
    static const struct {
        const char *data, *preset;
        bool fits;
    } cases[] = {
        {PAIRS, "linear", true},
        {PAIRS, "mlp", true},
        {PAIRS, "cnn_mnist", false},
        {PAIRS, "resnet18_gn", false},
        {IMAGES("[1,28,28]"), "cnn_mnist", true},
        {IMAGES("[28,28]"), "cnn_mnist", true},
        {IMAGES("[1,2,2]"), "cnn_mnist", false},
        {IMAGES("[3,32,32]"), "cnn_cifar", true},
        {IMAGES("[3,32,32]"), "resnet34_gn", true},
        {WAVES, "cnn_cifar", false},
        {IMAGES("[1,28,28]"), "scatter", true},
        {IMAGES("[1,30,28]"), "scatter", false},
        {PAIRS, "scatter", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *schema = schema_of(cases[i].data, PRIVATE, 1);
        json_t *models = at(schema, "properties/model/oneOf");
        if ((alternative(models, "preset", cases[i].preset) != NULL) != cases[i].fits)
            fail_msg("%s on %s", cases[i].preset, cases[i].data);
    }
    json_auto_t *schema = schema_of(IMAGES("[3,32,20]"), PRIVATE, 1);
    json_t *resnet =
        alternative(at(schema, "properties/model/oneOf"), "preset", "resnet18_gn");
    json_auto_t *shape = json_pack("[iii]", 32, 20, 3);
    assert_true(json_equal(at(resnet, "properties/input/default/shape"), shape));
}

static void losses_suit_the_task(void **state)
{
    (void)state;
    static const struct {
        const char *data, *usual;
        const char *losses[3];
    } cases[] = {
        {PAIRS, "logistic", {"softmax_cross_entropy", "logistic"}},
        {IMAGES("[28,28]"), "softmax_cross_entropy", {"softmax_cross_entropy"}},
        {WAVES, "squared", {"squared"}},
    };
    for (size_t i = 0; i < 3; i++) {
        json_auto_t *schema = schema_of(cases[i].data, PRIVATE, 1);
        json_t *named = at(schema, "$defs/loss/oneOf/0/enum");
        size_t count = 0;
        for (; cases[i].losses[count] != NULL; count++)
            assert_true(lists(named, cases[i].losses[count]));
        assert_int_equal(json_array_size(named), count);
        bool regression = strstr(cases[i].data, "regression") != NULL;
        assert_true((at(schema, "$defs/loss/oneOf/1/properties/huber") != NULL) ==
                    regression);
        json_t *linear =
            alternative(at(schema, "properties/model/oneOf"), "preset", "linear");
        assert_string_equal(json_string_value(at(linear, "properties/loss/default")),
                            cases[i].usual);
    }
}

static void numbers_are_those_of_the_dataset(void **state)
{
    (void)state;
    json_auto_t *schema = schema_of(IMAGES("[28,28]"), PRIVATE, 0.75);
    json_t *members = at(schema, "properties");
    assert_int_equal(json_integer_value(at(members, "batch_size/maximum")), 60000);
    assert_int_equal(json_integer_value(at(members, "batch_size/default")), 1024);
    assert_int_equal(json_integer_value(at(members, "epochs/default")), 20);
    assert_true(json_number_value(at(members, "optimizer/default/learning_rate")) == 2);
    json_t *privacy = at(members, "privacy");
    assert_true(json_number_value(at(privacy, "then/properties/epsilon/maximum")) ==
                0.75);
    assert_true(json_number_value(at(privacy, "properties/delta/maximum")) == 1e-5);
    assert_true(json_number_value(at(privacy, "properties/epsilon/maximum")) == 30);
    json_auto_t *waves = schema_of(WAVES, "\"public\"", 0);
    assert_null(at(waves, "properties/privacy/then"));
    assert_true(json_number_value(
                    at(waves, "properties/optimizer/default/learning_rate")) == 0.1);
}

/* An algorithm that uses every record has its own batch, and one that chooses its
 * learning rate shows none. */
static void what_differs_by_algorithm_follows_from_its_name(void **state)
{
    (void)state;
    json_auto_t *schema = schema_of(PAIRS, "\"public\"", 0);
    json_t *rule;
    size_t i;
    json_array_foreach(at(schema, "allOf"), i, rule)
    {
        const struct algorithm *algorithm = algorithm_find(json_string_value(
            at(rule, "if/properties/algorithm/properties/name/const")));
        json_t *then = at(rule, "then/properties");
        assert_non_null(algorithm);
        assert_true(json_is_false(at(then, "privacy")) != algorithm->is_private);
        assert_true(lists(at(rule, "then/required"), "privacy") ==
                    algorithm->is_private);
        if (algorithm->full_batch)
            assert_int_equal(json_integer_value(at(then, "batch_size/default")), 60000);
        if (algorithm->epochs > 0)
            assert_int_equal(json_integer_value(at(then, "epochs/default")),
                             algorithm->epochs);
        assert_true((at(then, "optimizer/default/learning_rate") != NULL) ==
                    (algorithm->learning_rate == NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_and_each_of_its_members_is_described),
        cmocka_unit_test(algorithms_are_those_that_the_data_takes),
        cmocka_unit_test(presets_fit_the_shape),
        cmocka_unit_test(losses_suit_the_task),
        cmocka_unit_test(numbers_are_those_of_the_dataset),
        cmocka_unit_test(what_differs_by_algorithm_follows_from_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
