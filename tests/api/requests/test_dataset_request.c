/* Goal: a dataset is declared exactly or not at all, and its stored text says all of
 * it. Method: bodies that must pass, each broken in one place; text rendered and read
 * again. */
#include "tests/expect.h"

#include <string.h>

#include "api/requests/dataset_request.h"
#include "api/limits.h"
#include "tests/api/verdict_fixture.h"
#include "engine/data/readers/reader_registry.h"

#define IDX                                                                            \
    "{\"id\":\"mnist\",\"format\":\"idx\",\"task\":\"classification\",\"classes\":10," \
    "\"features\":{\"shape\":[1,28,28],\"scale\":255},"                                \
    "\"privacy\":{\"epsilon\":8,\"delta\":1e-5}}"
#define CSV                                                                            \
    "{\"id\":\"adult\",\"format\":\"csv\",\"task\":\"classification\",\"header\":"     \
    "true,"                                                                            \
    "\"columns\":[{\"name\":\"age\",\"kind\":\"numeric\",\"range\":[17,90],"           \
    "\"default\":38.5},{\"name\":\"work\",\"kind\":\"categorical\","                   \
    "\"values\":[\"Private\",\"State\",\"?\"],\"default\":\"?\"},"                     \
    "{\"name\":\"id\",\"kind\":\"ignored\"},{\"name\":\"income\",\"kind\":\"label\","  \
    "\"values\":[\"<=50K\",\">50K\"]}],\"privacy\":{\"epsilon\":2.5,\"delta\":1e-6,"   \
    "\"relation\":\"replace_one\",\"order\":7.5}}"
#define HOUSING                                                                        \
    "{\"id\":\"housing\",\"format\":\"csv\",\"task\":\"regression\","                  \
    "\"columns\":[{\"name\":\"rooms\",\"kind\":\"numeric\",\"range\":[0,1e5]},"        \
    "{\"name\":\"value\",\"kind\":\"label\",\"range\":[0,5e5],\"default\":2e5}],"      \
    "\"privacy\":\"public\"}"
#define LIBSVM                                                                         \
    "{\"id\":\"a9a\",\"format\":\"libsvm\",\"task\":\"classification\",\"classes\":2," \
    "\"features\":{\"count\":123,\"range\":[0,1]},\"labels\":[-1,1],"                  \
    "\"privacy\":{\"epsilon\":1,\"delta\":1e-5}}"
#define LIBSVM_REGRESSION                                                              \
    "{\"id\":\"r\",\"format\":\"libsvm\",\"task\":\"regression\","                     \
    "\"features\":{\"count\":8},\"target\":{\"range\":[-3.25,7]},\"privacy\":"         \
    "\"public\"}"
#define NPY                                                                            \
    "{\"id\":\"waves\",\"format\":\"npy\",\"task\":\"regression\","                    \
    "\"features\":{\"shape\":[2,64],\"scale\":0.5},\"target\":{\"range\":[0,10]},"     \
    "\"privacy\":\"public\"}"
#define CIFAR                                                                          \
    "{\"id\":\"cifar\",\"format\":\"cifar100\",\"task\":\"classification\","           \
    "\"classes\":20,\"features\":{\"shape\":[3,32,32],\"scale\":255},"                 \
    "\"privacy\":{\"epsilon\":8,\"delta\":1e-5}}"

#define GERMAN                                                                         \
    "{\"id\":\"german\",\"format\":\"csv\",\"task\":\"regression\","                   \
    "\"header\":true,\"delimiter\":\";\",\"decimal\":\",\","                           \
    "\"columns\":[{\"name\":\"rooms\",\"kind\":\"numeric\",\"range\":[0,1e5]},"        \
    "{\"name\":\"value\",\"kind\":\"label\",\"range\":[0,5e5]}],"                      \
    "\"privacy\":\"public\"}"

#define STAYS                                                                          \
    "{\"id\":\"stays\",\"format\":\"csv\",\"task\":\"classification\","                \
    "\"header\":true,\"missing\":[\"NA\",\"?\",\"\"],\"columns\":["                    \
    "{\"name\":\"age\",\"kind\":\"numeric\",\"range\":[0,99],"                         \
    "\"if_missing\":\"indicator\"},"                                                   \
    "{\"name\":\"ward\",\"kind\":\"categorical\",\"values\":[\"a\",\"b\"],"            \
    "\"other\":true,\"if_missing\":\"category\"},"                                     \
    "{\"name\":\"smoker\",\"kind\":\"boolean\",\"default\":false,\"missing\":[\"-\"]}" \
    ","                                                                                \
    "{\"name\":\"in\",\"kind\":\"date\",\"format\":\"%d.%m.%Y\","                      \
    "\"range\":[\"2015-01-01\",\"2024-12-31\"],\"parts\":[\"weekday\",\"month\"],"     \
    "\"default\":\"2020-02-29\"},"                                                     \
    "{\"name\":\"code\",\"kind\":\"hashed\",\"buckets\":64,\"seed\":2385,"             \
    "\"default\":\"E1\",\"missing\":[]},"                                              \
    "{\"name\":\"died\",\"kind\":\"label\",\"values\":[\"no\",\"yes\"]}],"             \
    "\"privacy\":\"public\"}"

#define REVIEWS                                                                        \
    "{\"id\":\"reviews\",\"format\":\"jsonl\",\"task\":\"classification\","            \
    "\"missing\":[\"?\"],\"columns\":["                                                \
    "{\"name\":\"stars\",\"kind\":\"numeric\",\"range\":[1,5],\"default\":3},"         \
    "{\"name\":\"useful\",\"kind\":\"label\",\"values\":[\"no\",\"yes\"]}],"           \
    "\"privacy\":\"public\"}"

#define LETTERS                                                                        \
    "{\"id\":\"letters\",\"format\":\"jsonl\",\"task\":\"classification\","            \
    "\"columns\":[{\"name\":\"body\",\"kind\":\"text\",\"length\":64,\"tokenizer\":{"  \
    "\"kind\":\"wordpiece\",\"vocabulary\":\"fil_01ARZ3NDEKTSV4RRFFQ69G5FAV\","        \
    "\"lower\":true,\"tokens\":30522,\"sha256\":["                                     \
    "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"]}},"         \
    "{\"name\":\"who\",\"kind\":\"privacy_id\"},"                                      \
    "{\"name\":\"ill\",\"kind\":\"label\",\"values\":[\"no\",\"yes\"]}],"              \
    "\"privacy\":{\"epsilon\":1,\"delta\":1e-5}}"

#define PEOPLE                                                                         \
    "{\"id\":\"people\",\"format\":\"csv\",\"task\":\"classification\",\"header\":"    \
    "true,"                                                                            \
    "\"columns\":[{\"name\":\"who\",\"kind\":\"privacy_id\"},"                         \
    "{\"name\":\"age\",\"kind\":\"numeric\",\"range\":[0,99]},"                        \
    "{\"name\":\"ill\",\"kind\":\"label\",\"values\":[\"no\",\"yes\"]}],"              \
    "\"privacy\":{\"epsilon\":1,\"delta\":1e-5}}"

static const char *const good[] = {IDX,     CSV,    HOUSING, LIBSVM, LIBSVM_REGRESSION,
                                   NPY,     CIFAR,  GERMAN,  STAYS,  PEOPLE,
                                   REVIEWS, LETTERS};

static enum status parse(struct dataset_spec *spec, const char *body,
                         struct error *error)
{
    return dataset_spec_parse(spec, json_text_of(body), error);
}

static void must_parse(struct dataset_spec *spec, const char *body)
{
    struct error error = {0};
    assert_taken(parse(spec, body, &error), body, &error);
}

static void members_arrive_in_the_struct(void **state)
{
    (void)state;
    struct dataset_spec spec;
    must_parse(&spec, CSV);
    assert_string_equal(spec.id.text, "adult");
    assert_ptr_equal(spec.schema.reader, &csv_reader);
    assert_int_equal(spec.schema.classes, 2);
    assert_true(spec.schema.header);
    assert_int_equal(spec.schema.column_count, 4);
    assert_true(spec.schema.columns[0].low == 17 && spec.schema.columns[0].high == 90);
    assert_string_equal(spec.schema.columns[0].fallback, "38.5");
    assert_int_equal(spec.schema.columns[1].value_count, 3);
    assert_string_equal(spec.schema.columns[1].values[1], "State");
    assert_string_equal(spec.schema.columns[1].fallback, "?");
    assert_int_equal(spec.schema.columns[3].kind, COLUMN_LABEL);
    assert_false(spec.is_public);
    assert_int_equal(spec.grant.relation, RELATION_REPLACE_ONE);
    assert_true(spec.grant.epsilon == 2.5 && spec.grant.delta == 1e-6);
    assert_true(spec.grant.order == 7.5);
    dataset_spec_fini(&spec);

    must_parse(&spec, LIBSVM);
    assert_true(spec.schema.has_range && spec.schema.labels[0] == -1);
    assert_int_equal(spec.grant.relation, RELATION_ZERO_OUT);
    assert_true(spec.grant.order == 0);
    dataset_spec_fini(&spec);
}

static void defaults_are_written_out(void **state)
{
    (void)state;
    struct dataset_spec spec;
    must_parse(&spec, "{\"id\":\"x\",\"format\":\"libsvm\",\"task\":\"classification\","
                      "\"classes\":3,\"features\":{\"count\":4},"
                      "\"privacy\":{\"delta\":1e-5,\"epsilon\":1}}");
    char *text = dataset_spec_render(&spec);
    assert_string_equal(
        text, "{\"id\":\"x\",\"format\":\"libsvm\",\"task\":\"classification\","
              "\"classes\":3,\"features\":{\"count\":4},\"labels\":[0.0,1.0,2.0],"
              "\"privacy\":{\"epsilon\":1.0,\"delta\":1e-05,"
              "\"relation\":\"zero_out\"}}");
    free(text);
    dataset_spec_fini(&spec);
}

static void a_whole_real_is_the_count_it_equals(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{IDX, ":10,", ":10.0,"},
                                           {IDX, "[1,28,28]", "[1.0,28.0,2.8e1]"},
                                           {LIBSVM, "123", "123.0"},
                                           {LIBSVM, ":2,", ":0.2e1,"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dataset_spec spec;
        char *body = edit(cases[i][0], cases[i][1], cases[i][2]);
        must_parse(&spec, cases[i][0]);
        char *expected = dataset_spec_render(&spec);
        dataset_spec_fini(&spec);
        must_parse(&spec, body);
        char *text = dataset_spec_render(&spec);
        assert_string_equal(text, expected);
        dataset_spec_fini(&spec);
        free(text);
        free(expected);
        free(body);
    }
}

static enum status read_dataset(const char *body, struct error *error)
{
    struct dataset_spec spec = {0};
    enum status status = parse(&spec, body, error);
    if (status == ST_OK)
        dataset_spec_fini(&spec);
    else
        assert_null(spec.schema.columns);
    return status;
}

static void all_faults_of_a_dataset_are_listed_in_its_order(void **state)
{
    (void)state;
    assert_faults(
        read_dataset,
        "{\"id\":\"A\",\"columns\":[{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[3,"
        "1]},"
        "{\"name\":\"x\",\"kind\":\"categorical\",\"values\":[\"a\",7,\"a\"],"
        "\"default\":\"c\"},{\"kind\":\"label\",\"values\":[\"n\",\"y\"],\"scale\":1},"
        "{\"name\":\"z\",\"kind\":\"number\",\"range\":0}],\"task\":\"classification\","
        "\"format\":\"csv\",\"header\":1,\"target\":{},"
        "\"privacy\":{\"delta\":2,\"order\":7.25}}",
        "/id invalid\n/columns/0/range invalid\n/columns/1/name invalid\n"
        "/columns/1/values/1 wrong_type\n/columns/1/values/2 invalid\n"
        "/columns/2/scale unknown\n/columns/2/name missing\n/columns/3/kind invalid\n"
        "/header wrong_type\n/target invalid\n/privacy/delta out_of_range\n"
        "/privacy/order invalid\n/privacy/epsilon missing\n");
    assert_faults(
        read_dataset,
        "{\"format\":\"npy\",\"task\":\"ranking\",\"features\":{\"shape\":[2,0,\"3\"],"
        "\"scale\":0},\"classes\":1,\"privacy\":\"publik\",\"id\":\"a\"}",
        "/task invalid\n/features/shape/1 out_of_range\n"
        "/features/shape/2 wrong_type\n/features/scale out_of_range\n"
        "/privacy invalid\n");
    assert_faults(read_dataset,
                  "{\"id\":\"a\",\"format\":\"libsvm\",\"task\":\"classification\","
                  "\"classes\":\"2\",\"labels\":[1,2,3],\"privacy\":\"public\"}",
                  "/classes wrong_type\n/features missing\n");
    assert_faults(read_dataset, "[]", " wrong_type\n");
}

static void what_is_rendered_reads_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct dataset_spec spec, again;
        must_parse(&spec, good[i]);
        char *text = dataset_spec_render(&spec);
        must_parse(&again, text);
        char *second = dataset_spec_render(&again);
        assert_string_equal(text, second);
        assert_true(schema_agrees(&spec.schema, &again.schema));
        assert_true(spec.is_public == again.is_public);
        assert_memory_equal(&spec.grant, &again.grant, sizeof spec.grant);
        free(text);
        free(second);
        dataset_spec_fini(&spec);
        dataset_spec_fini(&again);
    }
}

static void idx_is_checked_member_by_member(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"mnist\"", "\"Mnist\"", "/id"},
        {"\"mnist\"", "\"\"", "/id"},
        {"\"mnist\"", "\".mnist\"", "/id"},
        {"\"mnist\"", "\"a/b\"", "/id"},
        {"\"mnist\"", "7", "/id"},
        {"\"id\":\"mnist\",", "", "/id"},
        {"\"idx\"", "\"parquet\"", "/format"},
        {"\"idx\"", "null", "/format"},
        {"\"classification\"", "\"clustering\"", "/task"},
        {"\"classes\":10,", "", "/classes"},
        {":10,", ":1,", "/classes"},
        {":10,", ":65537,", "/classes"},
        {":10,", ":10.5,", "/classes"},
        {":10,", ":-10,", "/classes"},
        {":10,", ":\"10\",", "/classes"},
        {"[1,28,28]", "[]", "/features/shape"},
        {"[1,28,28]", "[1,1,1,28,28]", "/features/shape"},
        {"[1,28,28]", "[1,0,28]", "/features/shape/1"},
        {"[1,28,28]", "[1,28,-28]", "/features/shape/2"},
        {"[1,28,28]", "[1024,1025]", "/features/shape"},
        {"[1,28,28]", "[1048576,1048576,1048576,1048576]", "/features/shape"},
        {"[1,28,28]", "[1048577]", "/features/shape/0"},
        {"[1,28,28]", "[28.5]", "/features/shape/0"},
        {"[1,28,28]", "784", "/features/shape"},
        {",\"scale\":255", "", "/features/scale"},
        {"255", "0", "/features/scale"},
        {"255", "-255", "/features/scale"},
        {"255", "1e-31", "/features/scale"},
        {"255", "1e31", "/features/scale"},
        {"255", "1e999", "/features/scale"},
        {"255", "NaN", "/features/scale"},
        {"\"scale\":255", "\"scale\":255,\"offset\":1", "/features/offset"},
        {"\"features\":{\"shape\":[1,28,28],\"scale\":255}", "\"features\":[]",
         "/features"},
        {"\"classes\"", "\"labels\":[0],\"classes\"", "/labels"},
        {"\"classes\"", "\"header\":true,\"classes\"", "/header"},
        {"\"classes\"", "\"delimiter\":\",\",\"classes\"", "/delimiter"},
        {"\"classes\"", "\"decimal\":\".\",\"classes\"", "/decimal"},
        {"\"classes\"", "\"columns\":[],\"classes\"", "/columns"},
        {"\"classes\"", "\"target\":{\"range\":[0,1]},\"classes\"", "/target"},
        {"\"classes\"", "\"clases\":10,\"classes\"", "/clases"},
        {"\"classes\"", "\"classes\":10,\"classes\"", "/classes"},
    };
    REFUSE_EACH(read_dataset, IDX, cases);
    static const struct broken twice[] = {
        {"\"classification\"", "\"regression\"", "/classes"},
    };
    REFUSE_EACH_TWICE(read_dataset, IDX, twice);
}

static void lines_of_json_have_no_dialect(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"missing\"", "\"header\":true,\"missing\"", "/header"},
        {"\"missing\"", "\"delimiter\":\",\",\"missing\"", "/delimiter"},
        {"\"missing\"", "\"decimal\":\".\",\"missing\"", "/decimal"},
        {"\"missing\"", "\"features\":{},\"missing\"", "/features"},
        {"\"missing\"", "\"privacy_id\":true,\"missing\"", "/privacy_id"},
        {"\"range\":[1,5]", "\"range\":[5,1]", "/columns/0/range"},
        {"\"jsonl\"", "\"json\"", "/format"},
    };
    REFUSE_EACH(read_dataset, REVIEWS, cases);
    struct dataset_spec spec;
    must_parse(&spec, REVIEWS);
    assert_ptr_equal(spec.schema.reader, &jsonl_reader);
    assert_true(spec.schema.header);
    assert_int_equal(spec.schema.columns[0].missing_count, 1);
    dataset_spec_fini(&spec);
}

static void a_dialect_has_signs_of_its_own(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\";\"", "\":\"", "/delimiter"},
        {"\";\"", "\"\"", "/delimiter"},
        {"\";\"", "\";;\"", "/delimiter"},
        {"\";\"", "\"semicolon\"", "/delimiter"},
        {"\";\"", "7", "/delimiter"},
        {"\"decimal\":\",\"", "\"decimal\":\"'\"", "/decimal"},
        {"\"decimal\":\",\"", "\"decimal\":\"\"", "/decimal"},
        {"\"decimal\":\",\"", "\"decimal\":true", "/decimal"},
        {"\";\"", "\",\"", "/decimal"},
        {"\"delimiter\":\";\",", "", "/decimal"},
    };
    REFUSE_EACH(read_dataset, GERMAN, cases);
    static const struct {
        const char *sign;
        enum delimiter delimiter;
    } signs[] = {{"\";\"", DELIMITER_SEMICOLON},
                 {"\"\\t\"", DELIMITER_TAB},
                 {"\"|\"", DELIMITER_PIPE}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        struct dataset_spec spec;
        char *body = edit(GERMAN, "\";\"", signs[i].sign);
        must_parse(&spec, body);
        assert_int_equal(spec.schema.dialect.delimiter, signs[i].delimiter);
        assert_true(spec.schema.dialect.decimal_comma);
        dataset_spec_fini(&spec);
        free(body);
    }
    /* A stored text of an earlier version has neither member, and keeps its form. */
    struct dataset_spec spec;
    char *body = edit(GERMAN, "\"delimiter\":\";\",\"decimal\":\",\"",
                      "\"delimiter\":\",\",\"decimal\":\".\"");
    must_parse(&spec, body);
    char *text = dataset_spec_render(&spec);
    assert_null(strstr(text, "delimiter"));
    assert_null(strstr(text, "decimal"));
    dataset_spec_fini(&spec);
    free(text);
    free(body);
}

static void missing_cells_and_kinds_are_declared_per_column(void **state)
{
    (void)state;
    struct dataset_spec spec;
    must_parse(&spec, STAYS);
    const struct column *columns = spec.schema.columns;
    assert_int_equal(columns[0].missing_count, 3);
    assert_string_equal(columns[0].missing[1], "?");
    assert_true(columns[0].missing_feature);
    assert_string_equal(columns[0].fallback, "49.5"); /* the middle of the range */
    assert_true(columns[1].other && columns[1].missing_feature);
    assert_int_equal(columns[2].missing_count, 1);
    assert_string_equal(columns[2].fallback, "false");
    assert_true(columns[3].low == 16436 && columns[3].high == 20088);
    assert_int_equal(columns[4].missing_count, 0);
    assert_true(columns[4].has_seed && columns[4].seed == 2385);
    assert_int_equal(columns[5].missing_count, 3);
    assert_int_equal(schema_features(&spec.schema), 2 + 4 + 1 + 1 + 12 + 7 + 64);
    dataset_spec_fini(&spec);
    static const struct broken cases[] = {
        {"[\"NA\",\"?\",\"\"]", "\"NA\"", "/missing"},
        {"[\"NA\",\"?\",\"\"]", "[\" NA\"]", "/missing/0"},
        {"[\"NA\",\"?\",\"\"]", "[\"NA\",\"NA\"]", "/missing/1"},
        {"[\"NA\",\"?\",\"\"]", "[\"NA\",7]", "/missing/1"},
        {"[\"NA\",\"?\",\"\"]",
         "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\","
         "\"13\",\"14\",\"15\",\"16\",\"17\"]",
         "/missing"},
        {"[\"NA\",\"?\",\"\"]", "[\"a\"]", "/columns/1/values/0"},
        {"[\"NA\",\"?\",\"\"]", "[\"yes\"]", "/columns/5/values/1"},
        {"[\"a\",\"b\"]", "[\"a\",\"other\"]", "/columns/1/values/1"},
        {"[\"a\",\"b\"]", "[\"missing\"]", "/columns/1/values/0"},
        {"\"indicator\"", "\"category\"", "/columns/0/if_missing"},
        {"\"indicator\"", "\"default\"", "/columns/0/if_missing"},
        {"\"category\"", "\"indicator\"", "/columns/1/if_missing"},
        {"\"category\"", "\"category\",\"default\":\"a\"", "/columns/1/default"},
        {"\"range\":[0,99]", "\"range\":[0,99],\"other\":true", "/columns/0/other"},
        {"\"default\":false", "\"default\":0", "/columns/2/default"},
        {"\"default\":false", "\"range\":[0,1]", "/columns/2/range"},
        {"[\"-\"]", "[\"No\"]", "/columns/2/missing/0"},
        {"\"%d.%m.%Y\"", "\"%d.%m.%y\"", "/columns/3/format"},
        {"\"format\":\"%d.%m.%Y\",", "", "/columns/3/format"},
        {"2015-01-01", "2025-01-01", "/columns/3/range"},
        {"2015-01-01", "01.01.2015", "/columns/3/range/0"},
        {"2024-12-31", "2023-02-29", "/columns/3/range/1"},
        {"2020-02-29", "2021-02-29", "/columns/3/default"},
        {"\"weekday\"", "\"hour\"", "/columns/3/parts/0"},
        {"\"weekday\"", "\"month\"", "/columns/3/parts/1"},
        {"\"buckets\":64", "\"buckets\":0", "/columns/4/buckets"},
        {"\"buckets\":64", "\"buckets\":1", "/columns/4/buckets"},
        {"\"buckets\":64", "\"buckets\":1000000000", "/columns/4/buckets"},
        {"\"buckets\":64", "\"buckets\":1048576", "/columns"},
        {"\"buckets\":64,", "", "/columns/4/buckets"},
        {"2385", "-1", "/columns/4/seed"},
        {"2385", "9007199254740992", "/columns/4/seed"},
        {"\"E1\"", "\"\"", "/columns/4/default"},
        {"\"values\":[\"no\"", "\"seed\":1,\"values\":[\"no\"", "/columns/5/seed"},
        {"\"values\":[\"no\"", "\"if_missing\":\"category\",\"values\":[\"no\"",
         "/columns/5/if_missing"},
    };
    REFUSE_EACH(read_dataset, STAYS, cases);
}

static void npy_is_declared_as_idx_is(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"npy\"", "\"npz\"", "/format"},
        {",\"target\":{\"range\":[0,10]}", "", "/target"},
        {"[2,64]", "[2,0]", "/features/shape/1"},
        {"\"shape\":[2,64],", "", "/features/shape"},
        {",\"scale\":0.5", "", "/features/scale"},
        {"\"scale\":0.5", "\"scale\":0.5,\"order\":\"C\"", "/features/order"},
        {"\"task\"", "\"labels\":[0,1],\"task\"", "/labels"},
    };
    struct dataset_spec spec;
    must_parse(&spec, NPY);
    assert_ptr_equal(spec.schema.reader, &npy_reader);
    assert_int_equal(schema_features(&spec.schema), 128);
    dataset_spec_fini(&spec);
    REFUSE_EACH(read_dataset, NPY, cases);
}

static void cifar_is_checked_member_by_member(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"20", "10", "/classes"},
        {"20", "99", "/classes"},
        {"\"classes\":20,", "", "/classes"},
        {"cifar100", "cifar10", "/classes"},
        {"cifar100", "cifar", "/format"},
        {"[3,32,32]", "[32,32,3]", "/features/shape"},
        {"[3,32,32]", "[3072]", "/features/shape"},
        {"[3,32,32]", "[3,32,0]", "/features/shape/2"},
        {"\"scale\":255", "\"scale\":0", "/features/scale"},
        {"\"scale\":255", "\"offset\":1", "/features/offset"},
        {"{\"shape\":[3,32,32],\"scale\":255}", "[]", "/features"},
        {"\"classes\"", "\"labels\":[0],\"classes\"", "/labels"},
        {"\"classes\"", "\"target\":{\"range\":[0,1]},\"classes\"", "/target"},
    };
    REFUSE_EACH(read_dataset, CIFAR, cases);
    static const struct broken twice[] = {
        {"\"classification\",\"classes\":20", "\"regression\"", "/task"},
    };
    REFUSE_EACH_TWICE(read_dataset, CIFAR, twice);
}

static void the_features_of_cifar_need_not_be_declared(void **state)
{
    (void)state;
    static const char *const features[] = {"", "\"features\":{},",
                                           "\"features\":{\"scale\":255},"};
    struct dataset_spec full;
    must_parse(&full, CIFAR);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        char *body = edit(CIFAR, "\"features\":{\"shape\":[3,32,32],\"scale\":255},",
                          features[i]);
        struct dataset_spec spec;
        must_parse(&spec, body);
        assert_int_equal(schema_features(&spec.schema), 3072);
        assert_true(spec.schema.scale == 255);
        assert_true(schema_agrees(&spec.schema, &full.schema));
        dataset_spec_fini(&spec);
        free(body);
    }
    dataset_spec_fini(&full);
}

static void budgets_are_checked_member_by_member(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {",\"privacy\":{\"epsilon\":8,\"delta\":1e-5}", "", "/privacy"},
        {"{\"epsilon\":8,\"delta\":1e-5}", "\"Public\"", "/privacy"},
        {"{\"epsilon\":8,\"delta\":1e-5}", "null", "/privacy"},
        {"{\"epsilon\":8,\"delta\":1e-5}", "8", "/privacy"},
        {"\"epsilon\":8,", "", "/privacy/epsilon"},
        {"\"epsilon\":8,", "\"epsilon\":0,", "/privacy/epsilon"},
        {"\"epsilon\":8,", "\"epsilon\":-1,", "/privacy/epsilon"},
        {"\"epsilon\":8,", "\"epsilon\":30.0001,", "/privacy/epsilon"},
        {"\"epsilon\":8,", "\"epsilon\":\"8\",", "/privacy/epsilon"},
        {"\"epsilon\":8,", "\"epsilon\":1e999,", "/privacy/epsilon"},
        {"\"epsilon\":8,", "\"epsilon\":10.5,", "/acknowledge"},
        {"1e-5}", "1e-5},\"acknowledge\":[\"epsilon_above_10\"]", "/acknowledge"},
        {"1e-5}", "0.9},\"acknowledge\":[\"delta_above_1_over_n\"]", "/acknowledge"},
        {"{\"epsilon\":8,\"delta\":1e-5}",
         "\"public\",\"acknowledge\":[\"epsilon_above_10\"]", "/acknowledge"},
        {",\"delta\":1e-5", "", "/privacy/delta"},
        {"1e-5", "0", "/privacy/delta"},
        {"1e-5", "1", "/privacy/delta"},
        {"1e-5", "1.5", "/privacy/delta"},
        {"1e-5", "-1e-5", "/privacy/delta"},
        {"1e-5", "1.8189894035458565e-12", "/privacy/delta"}, /* 2^-39 itself */
        {"1e-5", "1e-5,\"relation\":\"add_remove\"", "/privacy/relation"},
        {"1e-5", "1e-5,\"relation\":null", "/privacy/relation"},
        {"1e-5", "1e-5,\"order\":0", "/privacy/order"},
        {"1e-5", "1e-5,\"order\":1", "/privacy/order"},
        {"1e-5", "1e-5,\"order\":21", "/privacy/order"},
        {"1e-5", "1e-5,\"order\":2049", "/privacy/order"},
        {"1e-5", "1e-5,\"orders\":20", "/privacy/orders"},
    };
    REFUSE_EACH(read_dataset, IDX, cases);
    struct dataset_spec spec;
    char *body = edit(IDX, "1e-5", "1.8189894035458567e-12,\"order\":20");
    must_parse(&spec, body);
    dataset_spec_fini(&spec);
    free(body);
    body = edit(IDX, "{\"epsilon\":8,\"delta\":1e-5}",
                "{\"epsilon\":30,\"delta\":1e-5},\"acknowledge\":["
                "\"epsilon_above_10\"]");
    must_parse(&spec, body);
    assert_int_equal(spec.acknowledged, ACKNOWLEDGED_EPSILON);
    dataset_spec_fini(&spec);
    free(body);
}

static void ids_of_persons_make_the_unit(void **state)
{
    (void)state;
    struct dataset_spec spec, again;
    must_parse(&spec, CSV);
    assert_int_equal(spec.grant.unit, PRIVACY_UNIT_RECORD);
    dataset_spec_fini(&spec);
    must_parse(&spec, PEOPLE);
    assert_int_equal(spec.schema.columns[0].kind, COLUMN_PRIVACY_ID);
    assert_int_equal(schema_unit(&spec.schema), PRIVACY_UNIT_PERSON);
    assert_int_equal(spec.grant.unit, PRIVACY_UNIT_PERSON);
    assert_int_equal(schema_features(&spec.schema), 1); /* an id is no feature */
    char *text = dataset_spec_render(&spec);
    assert_int_equal(dataset_spec_restore(&again, text, NULL), ST_OK);
    assert_int_equal(again.grant.unit, PRIVACY_UNIT_PERSON);
    assert_true(dataset_spec_same_privacy(&spec, &again));
    again.grant.unit = PRIVACY_UNIT_RECORD;
    assert_false(dataset_spec_same_privacy(&spec, &again));
    free(text);
    dataset_spec_fini(&spec);
    dataset_spec_fini(&again);
}

/* If a format has no columns, ids come in a separate file. */
static void so_do_ids_in_a_file(void **state)
{
    (void)state;
    static const char *const bodies[] = {IDX, LIBSVM, CIFAR};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        struct dataset_spec spec, again;
        char *body = edit(bodies[k], "\"privacy\"", "\"privacy_id\":true,\"privacy\"");
        must_parse(&spec, body);
        assert_int_equal(spec.grant.unit, PRIVACY_UNIT_PERSON);
        assert_true(schema_has_file(&spec.schema, "privacy_id"));
        char *text = dataset_spec_render(&spec);
        assert_int_equal(dataset_spec_restore(&again, text, NULL), ST_OK);
        assert_int_equal(again.grant.unit, PRIVACY_UNIT_PERSON);
        free(text);
        free(body);
        dataset_spec_fini(&spec);
        dataset_spec_fini(&again);
        body = edit(bodies[k], "\"privacy\"", "\"privacy_id\":false,\"privacy\"");
        must_parse(&spec, body);
        assert_int_equal(spec.grant.unit, PRIVACY_UNIT_RECORD);
        text = dataset_spec_render(&spec);
        assert_null(strstr(text, "privacy_id"));
        free(text);
        free(body);
        dataset_spec_fini(&spec);
    }
}

static void a_file_of_ids_is_of_private_data_without_columns(void **state)
{
    (void)state;
    static const struct broken with_columns[] = {
        {"\"privacy\"", "\"privacy_id\":true,\"privacy\"", "/privacy_id"},
        {"\"privacy\"", "\"privacy_id\":false,\"privacy\"", "/privacy_id"},
    };
    static const struct broken without[] = {
        {"\"privacy\"", "\"privacy_id\":1,\"privacy\"", "/privacy_id"},
        {"\"privacy\"", "\"privacy_id\":\"user\",\"privacy\"", "/privacy_id"},
        {"{\"epsilon\":8,\"delta\":1e-5}", "\"public\",\"privacy_id\":true",
         "/privacy"},
    };
    REFUSE_EACH(read_dataset, CSV, with_columns);
    REFUSE_EACH(read_dataset, IDX, without);
}

static void how_many_rows_of_a_person_are_kept_may_be_said(void **state)
{
    (void)state;
    char *of_images = edit(IDX, "\"privacy\"", "\"privacy_id\":true,\"privacy\"");
    const char *const bodies[] = {PEOPLE, of_images};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        struct dataset_spec spec, again;
        must_parse(&spec, bodies[k]);
        assert_int_equal(schema_rows_kept(&spec.schema), 16);
        char *text = dataset_spec_render(&spec);
        assert_null(strstr(text, "rows_kept"));
        free(text);
        dataset_spec_fini(&spec);
        char *body = edit(bodies[k], "\"privacy\":", "\"rows_kept\":2,\"privacy\":");
        must_parse(&spec, body);
        assert_int_equal(schema_rows_kept(&spec.schema), 2);
        text = dataset_spec_render(&spec);
        assert_non_null(strstr(text, "\"rows_kept\":2,"));
        assert_int_equal(dataset_spec_restore(&again, text, NULL), ST_OK);
        assert_int_equal(schema_rows_kept(&again.schema), 2);
        free(text);
        free(body);
        dataset_spec_fini(&spec);
        dataset_spec_fini(&again);
    }
    free(of_images);
}

static void rows_kept_are_of_persons_and_a_power_of_two(void **state)
{
    (void)state;
    static const struct broken of_persons[] = {
        {"\"privacy\":", "\"rows_kept\":0,\"privacy\":", "/rows_kept"},
        {"\"privacy\":", "\"rows_kept\":3,\"privacy\":", "/rows_kept"},
        {"\"privacy\":", "\"rows_kept\":32,\"privacy\":", "/rows_kept"},
        {"\"privacy\":", "\"rows_kept\":\"2\",\"privacy\":", "/rows_kept"},
    };
    static const struct broken of_records[] = {
        {"\"privacy\":", "\"rows_kept\":2,\"privacy\":", "/rows_kept"},
        {"\"privacy\":", "\"privacy_id\":false,\"rows_kept\":16,\"privacy\":",
         "/rows_kept"},
    };
    REFUSE_EACH(read_dataset, PEOPLE, of_persons);
    REFUSE_EACH(read_dataset, IDX, of_records);
}

static void ids_of_persons_are_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"privacy_id\"", "\"privacy_id\",\"range\":[0,1]", "/columns/0/range"},
        {"\"privacy_id\"", "\"privacy_id\",\"values\":[\"a\"]", "/columns/0/values"},
        {"\"privacy_id\"", "\"privacy_id\",\"default\":\"a\"", "/columns/0/default"},
        {"\"privacy_id\"},",
         "\"privacy_id\"},{\"name\":\"b\",\"kind\":\"privacy_id\"},", "/columns"},
        {"{\"epsilon\":1,\"delta\":1e-5}", "\"public\"", "/privacy"},
    };
    REFUSE_EACH(read_dataset, PEOPLE, cases);
}

static void columns_are_checked_member_by_member(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"label\"", "\"lable\"", "/columns/3/kind"},
        {"\"header\":true", "\"header\":1", "/header"},
        {"\"age\"", "\"work\"", "/columns/1/name"},
        {"\"age\"", "\"\"", "/columns/0/name"},
        {"\"age\"", "\" age\"", "/columns/0/name"},
        {"\"numeric\"", "\"number\"", "/columns/0/kind"},
        {"\"kind\":\"numeric\",", "", "/columns/0/kind"},
        {"\"range\":[17,90],", "", "/columns/0/range"},
        {"[17,90]", "[90,17]", "/columns/0/range"},
        {"[17,90]", "[17,17]", "/columns/0/range"},
        {"[17,90]", "[17]", "/columns/0/range"},
        {"[17,90]", "[17,90,91]", "/columns/0/range"},
        {"[17,90]", "[17,\"90\"]", "/columns/0/range/1"},
        {"[17,90]", "[-1e308,1e308]", "/columns/0/range"},
        {"38.5", "\"38.5\"", "/columns/0/default"},
        {"\"range\":[17,90]", "\"range\":[17,90],\"values\":[\"a\"]",
         "/columns/0/values"},
        {"\"range\":[17,90]", "\"range\":[17,90],\"unit\":\"y\"", "/columns/0/unit"},
        {"\"State\"", "\"Private\"", "/columns/1/values/1"},
        {"\"State\"", "\"State \"", "/columns/1/values/1"},
        {"\"State\"", "\"\"", "/columns/1/values/1"},
        {"\"State\"", "3", "/columns/1/values/1"},
        {"[\"Private\",\"State\",\"?\"]", "[]", "/columns/1/values"},
        {"\"default\":\"?\"", "\"default\":\"!\"", "/columns/1/default"},
        {"\"default\":\"?\"", "\"range\":[0,1]", "/columns/1/range"},
        {"\"ignored\"", "\"ignored\",\"default\":1", "/columns/2/default"},
        {"\"ignored\"", "\"ignored\",\"values\":[\"a\"]", "/columns/2/values"},
        {"\"ignored\"", "\"ignored\",\"range\":[0,1]", "/columns/2/range"},
        {"\"ignored\"", "\"label\",\"values\":[\"a\",\"b\"]", "/columns"},
        {"\"label\"", "\"categorical\"", "/columns"},
        {"[\"<=50K\",\">50K\"]", "[\"<=50K\"]", "/columns/3/values"},
        {"\"header\"", "\"classes\":3,\"header\"", "/classes"},
        {"\"header\"", "\"features\":{},\"header\"", "/features"},
        {"\"header\"", "\"labels\":[],\"header\"", "/labels"},
        {"\"header\"", "\"target\":{},\"header\"", "/target"},
    };
    REFUSE_EACH(read_dataset, CSV, cases);
    static const struct broken twice[] = {
        {"\"values\":[\"<=50K\",\">50K\"]", "\"range\":[0,1]", "/columns/3/range"},
    };
    REFUSE_EACH_TWICE(read_dataset, CSV, twice);
    static const struct broken more[] = {
        {"\"columns\"", "\"classes\":2,\"columns\"", "/classes"},
        {"{\"name\":\"rooms\",\"kind\":\"numeric\",\"range\":[0,1e5]},", "",
         "/columns"},
        {"\"numeric\",\"range\":[0,1e5]", "\"ignored\"", "/columns"},
    };
    REFUSE_EACH(read_dataset, HOUSING, more);
    static const struct broken more_twice[] = {
        {"\"range\":[0,5e5]", "\"values\":[\"a\",\"b\"]", "/columns/1/values"},
    };
    REFUSE_EACH_TWICE(read_dataset, HOUSING, more_twice);
    struct dataset_spec spec;
    char *body = edit(CSV, "\"header\"", "\"classes\":2,\"header\"");
    must_parse(&spec, body);
    dataset_spec_fini(&spec);
    free(body);
}

static void libsvm_is_checked_member_by_member(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"123", "0", "/features/count"},
        {"123", "1048577", "/features/count"},
        {"123", "123.25", "/features/count"},
        {"[0,1]", "[1,0]", "/features/range"},
        {"[0,1]", "null", "/features/range"},
        {"[-1,1]", "[-1]", "/labels"},
        {"[-1,1]", "[-1,0,1]", "/labels"},
        {"[-1,1]", "[1,1.0]", "/labels/1"},
        {"[-1,1]", "[0,-0.0]", "/labels/1"},
        {"\"labels\"", "\"target\":{\"range\":[0,1]},\"labels\"", "/target"},
    };
    REFUSE_EACH(read_dataset, LIBSVM, cases);
    static const struct broken twice[] = {
        {"[-1,1]", "[\"-1\",\"1\"]", "/labels/0"},
    };
    REFUSE_EACH_TWICE(read_dataset, LIBSVM, twice);
    static const struct broken more[] = {
        {"\"target\":{\"range\":[-3.25,7]},", "", "/target"},
        {"{\"range\":[-3.25,7]}", "{}", "/target/range"},
        {"{\"range\":[-3.25,7]}", "{\"range\":[7,-3.25]}", "/target/range"},
        {"{\"range\":[-3.25,7]}", "{\"range\":[-3.25,7],\"low\":1}", "/target/low"},
        {"\"target\"", "\"labels\":[0,1],\"target\"", "/labels"},
    };
    REFUSE_EACH(read_dataset, LIBSVM_REGRESSION, more);
}

static void one_hot_features_are_counted_against_the_limit(void **state)
{
    (void)state;
    enum { values = 65536, columns = 17 };
    size_t size = (size_t)columns * values * 9;
    char *body = malloc(size);
    assert_non_null(body);
    size_t at =
        (size_t)sprintf(body, "{\"id\":\"w\",\"format\":\"csv\",\"task\":"
                              "\"regression\",\"privacy\":\"public\",\"columns\":["
                              "{\"name\":\"y\",\"kind\":\"label\",\"range\":[0,1]}");
    for (int c = 0; c < columns; c++) {
        at += (size_t)sprintf(body + at,
                              ",{\"name\":\"c%d\",\"kind\":\"categorical\","
                              "\"values\":[\"0\"",
                              c);
        for (int v = 1; v < values; v++)
            at += (size_t)sprintf(body + at, ",\"%x\"", v);
        at += (size_t)sprintf(body + at, "]}");
    }
    strcpy(body + at, "]}");
    struct dataset_spec spec;
    struct error error = {0};
    assert_int_equal(parse(&spec, body, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/columns");
    free(body);
}

static void columns_are_limited_in_number(void **state)
{
    (void)state;
    for (size_t count = LIMIT_COLUMNS; count <= LIMIT_COLUMNS + 1; count++) {
        char *body = malloc(64 * count + 200);
        struct dataset_spec spec;
        struct error error = {0};
        assert_non_null(body);
        size_t at = (size_t)sprintf(body, "{\"id\":\"w\",\"format\":\"csv\",\"task\":"
                                          "\"regression\",\"privacy\":\"public\","
                                          "\"columns\":[{\"name\":\"y\",\"kind\":"
                                          "\"label\",\"range\":[0,1]}");
        for (size_t c = 1; c < count; c++)
            at += (size_t)sprintf(body + at,
                                  ",{\"name\":\"c%zu\",\"kind\":\"numeric\","
                                  "\"range\":[0,1]}",
                                  c);
        strcpy(body + at, "]}");
        if (count == LIMIT_COLUMNS) {
            must_parse(&spec, body);
            dataset_spec_fini(&spec);
        } else {
            assert_int_equal(parse(&spec, body, &error), ST_INVALID);
            assert_string_equal(error.pointer, "/columns");
        }
        free(body);
    }
}

static void the_body_is_an_object(void **state)
{
    (void)state;
    static const char *const bodies[] = {"", "[]", "\"public\"", "null", "{}", "7"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct dataset_spec spec;
        assert_int_equal(parse(&spec, bodies[i], NULL), ST_INVALID);
    }
}

static void a_larger_epsilon_that_was_kept_reads_back(void **state)
{
    (void)state;
    struct dataset_spec spec;
    char *body = edit(IDX, "\"epsilon\":8,", "\"epsilon\":1000,");
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(body), NULL), ST_INVALID);
    assert_int_equal(dataset_spec_restore(&spec, body, NULL), ST_OK);
    assert_true(spec.grant.epsilon == 1000);
    assert_true(LIMIT_EPSILON == LEDGER_EPSILON_MAX);
    dataset_spec_fini(&spec);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_epsilon_that_was_kept_reads_back),
        cmocka_unit_test(members_arrive_in_the_struct),
        cmocka_unit_test(defaults_are_written_out),
        cmocka_unit_test(a_whole_real_is_the_count_it_equals),
        cmocka_unit_test(all_faults_of_a_dataset_are_listed_in_its_order),
        cmocka_unit_test(what_is_rendered_reads_back),
        cmocka_unit_test(idx_is_checked_member_by_member),
        cmocka_unit_test(lines_of_json_have_no_dialect),
        cmocka_unit_test(a_dialect_has_signs_of_its_own),
        cmocka_unit_test(missing_cells_and_kinds_are_declared_per_column),
        cmocka_unit_test(npy_is_declared_as_idx_is),
        cmocka_unit_test(cifar_is_checked_member_by_member),
        cmocka_unit_test(the_features_of_cifar_need_not_be_declared),
        cmocka_unit_test(budgets_are_checked_member_by_member),
        cmocka_unit_test(ids_of_persons_make_the_unit),
        cmocka_unit_test(so_do_ids_in_a_file),
        cmocka_unit_test(a_file_of_ids_is_of_private_data_without_columns),
        cmocka_unit_test(ids_of_persons_are_checked),
        cmocka_unit_test(how_many_rows_of_a_person_are_kept_may_be_said),
        cmocka_unit_test(rows_kept_are_of_persons_and_a_power_of_two),
        cmocka_unit_test(columns_are_checked_member_by_member),
        cmocka_unit_test(libsvm_is_checked_member_by_member),
        cmocka_unit_test(one_hot_features_are_counted_against_the_limit),
        cmocka_unit_test(columns_are_limited_in_number),
        cmocka_unit_test(the_body_is_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
