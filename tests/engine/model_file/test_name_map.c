/* Goal: a public file's names become the model's, what it has in addition is ignored if
 * the map says so and refused by name otherwise, and nothing is read twice. Method: names
 * as the public files have them; files of a tiny model with one tensor renamed, added or
 * changed. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/expect.h"

#include "engine/model_file/model_file.h"
#include "engine/model_file/name_map.h"
#include "engine/nn/layers/preset.h"

enum { TENSORS = 64, TOKENS = 4, OUTPUTS = 2 };

static struct network *network_of(enum preset preset, bool mean)
{
    struct network *network;
    struct error error = {0};
    struct model_spec model = {.preset = preset,
                               .text_encoder = {.blocks = 1,
                                                .width = 2,
                                                .heads = 1,
                                                .intermediate = 3,
                                                .vocabulary = 5,
                                                .positions = 6,
                                                .mean = mean},
                               .start.trainable = TRAINABLE_HEAD};
    preset_expand(&model, OUTPUTS);
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){TOKENS, OUTPUTS}, &error),
                     ST_OK);
    model_spec_fini(&model);
    return network;
}

static void names_of_public_files_become_ours(void **state)
{
    static const struct {
        enum preset preset;
        const char *theirs, *ours;
        bool ignored;
    } cases[] = {
        {PRESET_BERT, "embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight",
         false},
        {PRESET_BERT, "bert.encoder.layer.11.output.LayerNorm.beta",
         "bert.encoder.layer.11.output.LayerNorm.bias", false},
        {PRESET_BERT, "encoder.layer.0.attention.self.query.weight",
         "bert.encoder.layer.0.attention.self.query.weight", false},
        {PRESET_BERT, "pooler.dense.bias", "bert.pooler.dense.bias", true},
        {PRESET_BERT, "embeddings.position_ids", "bert.embeddings.position_ids", true},
        {PRESET_BERT, "cls.predictions.bias", "cls.predictions.bias", true},
        {PRESET_BERT, "cls.seq_relationship.weight", "cls.seq_relationship.weight",
         true},
        {PRESET_BERT, "classifier.weight", "classifier.weight", false},
        {PRESET_BERT, "qa_outputs.weight", "qa_outputs.weight", false},
        {PRESET_ROBERTA, "embeddings.word_embeddings.weight",
         "roberta.embeddings.word_embeddings.weight", false},
        {PRESET_ROBERTA, "lm_head.dense.weight", "lm_head.dense.weight", true},
        {PRESET_ROBERTA, "roberta.pooler.dense.weight", "roberta.pooler.dense.weight",
         true},
        {PRESET_ROBERTA, "classifier.out_proj.bias", "classifier.out_proj.bias", false},
        {PRESET_DISTILBERT, "transformer.layer.5.ffn.lin1.weight",
         "distilbert.transformer.layer.5.ffn.lin1.weight", false},
        {PRESET_DISTILBERT, "vocab_projector.bias", "vocab_projector.bias", true},
        {PRESET_DISTILBERT, "vocab_layer_norm.weight", "vocab_layer_norm.weight", true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char ours[TENSOR_NAME_SIZE], longest[TENSOR_NAME_SIZE] = "embeddings.";
        struct network *network = network_of(cases[k].preset, false);
        const struct name_map *map = name_map_of(network);
        name_map_ours(map, cases[k].theirs, ours);
        assert_string_equal(ours, cases[k].ours);
        assert_int_equal(name_map_ignores(map, ours), cases[k].ignored);
        name_map_ours(map, cases[k].ours, ours); /* ours stays ours */
        assert_string_equal(ours, cases[k].ours);
        memset(longest + strlen(longest), 'x', sizeof longest - 1 - strlen(longest));
        name_map_ours(map, longest, ours);
        assert_string_equal(ours, "");
        network_destroy(network);
    }
}

static void other_models_have_their_own_names(void **state)
{
    struct model_spec model = {.preset = PRESET_LINEAR};
    struct network *network;
    struct error error = {0};
    char ours[TENSOR_NAME_SIZE];
    (void)state;
    preset_expand(&model, OUTPUTS);
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){TOKENS, OUTPUTS}, &error),
                     ST_OK);
    assert_null(name_map_of(network));
    assert_string_equal(name_map_name(NULL), "");
    name_map_ours(NULL, "embeddings.LayerNorm.gamma", ours);
    assert_string_equal(ours, "embeddings.LayerNorm.gamma");
    assert_false(name_map_ignores(NULL, "cls.predictions.bias"));
    network_destroy(network);
    model_spec_fini(&model);
}

/* --- files --- */

/* A file of the network's tensors and of others, which have one value each. */
struct content {
    struct tensor tensors[TENSORS];
    size_t count;
    float values[1024];
};

static void content_of(struct content *content, const struct network *network)
{
    *content = (struct content){.count = network_tensor_count(network)};
    assert_true(content->count + 2 < TENSORS && network_floats(network) < 1024);
    for (size_t i = 0; i < content->count; i++)
        content->tensors[i] = *network_tensor(network, i);
    for (size_t i = 0; i < network_floats(network); i++)
        content->values[i] = (float)i;
}

static void rename_tensor(struct content *content, const char *from, const char *to)
{
    for (size_t i = 0; i < content->count; i++)
        if (strcmp(content->tensors[i].name, from) == 0) {
            snprintf(content->tensors[i].name, TENSOR_NAME_SIZE, "%s", to);
            return;
        }
    fail_msg("no %s", from);
}

static void add_tensor(struct content *content, const char *name, const char *like)
{
    struct tensor *added = &content->tensors[content->count];
    for (size_t i = 0; i < content->count; i++)
        if (strcmp(content->tensors[i].name, like) == 0)
            *added = content->tensors[i];
    snprintf(added->name, TENSOR_NAME_SIZE, "%s", name);
    content->count++;
}

/* Makes the values of a tensor whole numbers, which have as many bytes. */
static void make_whole(const char *path, const char *name)
{
    char text[32768], start[TENSOR_NAME_SIZE + 16];
    FILE *file = fopen(path, "r+b");
    size_t size = fread(text, 1, sizeof text, file);
    snprintf(start, sizeof start, "\"%s\":{\"dtype\":\"", name);
    char *at = memmem(text, size, start, strlen(start));
    assert_non_null(at);
    fseek(file, at - text + (long)strlen(start), SEEK_SET);
    fputs("I32", file);
    fclose(file);
}

struct change {
    const char *from, *to; /* a tensor is renamed */
    const char *added, *like;
    const char *whole;
    const char *refused; /* a word of the refusal; NULL: it is taken */
};

static void check(const struct network *network, const struct change *change)
{
    char path[64];
    struct error error = {0};
    struct content content;
    struct file_checksum seal;
    snprintf(path, sizeof path, "/tmp/test_name_map.%ld", (long)getpid());
    content_of(&content, network);
    if (change->from != NULL)
        rename_tensor(&content, change->from, change->to);
    if (change->added != NULL)
        add_tensor(&content, change->added, change->like);
    const struct safetensors_content file = {.tensors = content.tensors,
                                             .tensor_count = content.count,
                                             .parameters = content.values};
    assert_int_equal(safetensors_write(path, &file, &seal, &error), ST_OK);
    if (change->whole != NULL)
        make_whole(path, change->whole);
    const struct weights_source weights = {.path = path};
    enum status status = model_file_check_start(&weights, network, &error);
    if (change->refused != NULL) {
        assert_int_equal(status, ST_INVALID);
        assert_string_equal(error.pointer, "/model/weights");
        assert_non_null(strstr(error.text, change->refused));
    } else if (status != ST_OK) {
        fail_msg("%s", error.text);
    }
    unlink(path);
}

#define NORM  "bert.embeddings.LayerNorm.weight"
#define OLD   "bert.embeddings.LayerNorm.gamma"
#define WORDS "bert.embeddings.word_embeddings.weight"
#define HEAD  "classifier.bias"

static void a_file_is_taken_or_its_tensor_is_named(void **state)
{
    static const struct change changes[] = {
        {0},
        {.from = NORM, .to = OLD},
        {.from = NORM, .to = "embeddings.LayerNorm.gamma"},
        {.added = "bert.embeddings.position_ids", .like = HEAD},
        {.added = "embeddings.position_ids",
         .like = HEAD,
         .whole = "embeddings.position_ids"},
        {.added = "cls.predictions.bias", .like = HEAD},
        {.from = NORM, .to = "bert.embeddings.LayerNorm.scale", .refused = "no " NORM},
        {.from = HEAD, .to = "head.bias", .refused = "fresh"},
        {.added = "qa_outputs.bias", .like = HEAD, .refused = "qa_outputs.bias"},
        {.added = "qa_outputs.bias",
         .like = HEAD,
         .whole = "qa_outputs.bias",
         .refused = "no such tensor"},
        {.added = OLD, .like = NORM, .refused = OLD " and " NORM},
        {.whole = WORDS, .refused = "I32"},
    };
    (void)state;
    struct network *network = network_of(PRESET_BERT, false);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
        check(network, &changes[k]);
    network_destroy(network);
}

/* A model that takes the mean has no pooler. */
static void what_a_model_has_no_use_for_is_ignored(void **state)
{
    static const struct change pooler = {.added = "bert.pooler.dense.bias",
                                         .like = HEAD};
    (void)state;
    struct network *network = network_of(PRESET_BERT, true);
    check(network, &pooler);
    network_destroy(network);
}

/* --- a file without the body --- */

enum { FLOATS = 1024 };

/* Values of every tensor of the network: those of the body, and those of the rest. */
static void fill(float *values, const struct network *network, float body, float rest)
{
    for (size_t i = 0; i < network_floats(network); i++)
        values[i] = (float)i + (i < network_parameters(network) ? rest : body);
}

static void write_content(const char *path, struct content *content,
                          struct file_checksum *seal)
{
    const struct safetensors_content file = {.tensors = content->tensors,
                                             .tensor_count = content->count,
                                             .parameters = content->values};
    assert_int_equal(safetensors_write(path, &file, seal, NULL), ST_OK);
}

/* The rest has the values of its own file, even if the body's file has such tensors; the
 * body those of the other one, under other names. */
static void a_model_is_its_file_and_that_of_its_body(void **state)
{
    char own[64], other[64];
    float values[FLOATS], read[FLOATS] = {0}, started[FLOATS] = {0};
    struct content content;
    struct file_checksum seal;
    struct error error = {0};
    struct network *network = network_of(PRESET_BERT, false);
    struct weights_source body = {.path = other};
    (void)state;
    snprintf(own, sizeof own, "/tmp/test_own.%ld", (long)getpid());
    snprintf(other, sizeof other, "/tmp/test_body.%ld", (long)getpid());
    assert_true(model_file_has_body(network));
    fill(values, network, 0, 0.5F);
    const struct model_content model = {.network = network, .parameters = values};
    assert_int_equal(model_file_write_without_body(own, &model, &seal, NULL), ST_OK);
    content_of(&content, network);
    rename_tensor(&content, NORM, "embeddings.LayerNorm.gamma");
    write_content(other, &content, &body.seal);

    if (model_file_read_on(own, &seal, &body, network, read, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(read, values, network_floats(network) * sizeof *values);
    const struct weights_source weights = {.path = own, .seal = seal, .body = &body};
    assert_int_equal(model_file_check_start(&weights, network, &error), ST_OK);
    assert_int_equal(model_file_read_start(&weights, network, started, &error), ST_OK);
    assert_memory_equal(started, values, network_floats(network) * sizeof *values);

    /* Its own file is not the model, and the body's is none without it. */
    assert_int_equal(model_file_read(own, &seal, network, read, NULL), ST_CORRUPT);
    assert_int_equal(model_file_read_on(other, NULL, &body, network, read, NULL),
                     ST_CORRUPT);
    body.seal.sha256[0] ^= 1;
    assert_int_equal(model_file_read_on(own, &seal, &body, network, read, NULL),
                     ST_CORRUPT);
    assert_int_equal(model_file_read_start(&weights, network, started, NULL),
                     ST_CORRUPT);
    unlink(other);
    assert_int_equal(model_file_read_on(own, &seal, &body, network, read, NULL), ST_IO);
    unlink(own);
    network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_public_files_become_ours),
        cmocka_unit_test(other_models_have_their_own_names),
        cmocka_unit_test(a_file_is_taken_or_its_tensor_is_named),
        cmocka_unit_test(what_a_model_has_no_use_for_is_ignored),
        cmocka_unit_test(a_model_is_its_file_and_that_of_its_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
