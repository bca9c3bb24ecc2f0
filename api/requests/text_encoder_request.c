#include "api/requests/text_encoder_request.h"

#include <string.h>

#include "api/json/json_schema.h"
#include "api/json/json_word.h"
#include "api/limits.h"
#include "engine/nn/layers/text_encoder.h"

_Static_assert((int)LIMIT_BLOCKS == (int)TEXT_ENCODER_BLOCKS_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_VOCABULARY == (int)MODEL_VOCABULARY_MAX,
               "the contract and the engine agree");

struct size {
    const char *name;
    size_t offset; /* of its value in struct text_encoder, a uint32_t */
    uint64_t low, high;
};

static const struct size sizes[] = {
    {"blocks", offsetof(struct text_encoder, blocks), 1, LIMIT_BLOCKS},
    {"width", offsetof(struct text_encoder, width), 1, LIMIT_WIDTH},
    {"heads", offsetof(struct text_encoder, heads), 1, LIMIT_WIDTH},
    {"intermediate", offsetof(struct text_encoder, intermediate), 1, LIMIT_WIDTH},
    {"vocabulary", offsetof(struct text_encoder, vocabulary), 1, LIMIT_VOCABULARY},
    {"positions", offsetof(struct text_encoder, positions), 1, LIMIT_VOCABULARY},
    {TEXT_ENCODER_SEPARATOR, offsetof(struct text_encoder, separator), 0,
     LIMIT_VOCABULARY - 1},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const char *const taken[] = {"first", "mean", NULL};

/* Returns whether models of the preset have this size. */
static bool has_size(enum preset preset, const struct size *size)
{
    return strcmp(size->name, TEXT_ENCODER_SEPARATOR) != 0 ||
           text_encoder_has_types(preset);
}

static uint32_t *size_of(struct text_encoder *encoder, const struct size *size)
{
    return (uint32_t *)(void *)((char *)encoder + size->offset);
}

static uint32_t size_in(const struct text_encoder *encoder, const struct size *size)
{
    return *(const uint32_t *)(const void *)((const char *)encoder + size->offset);
}

/* Refuses the model at the member that does not fit the others. */
static void check(const struct model_spec *model, const struct json_node *node)
{
    struct error error = {0};
    if (text_encoder_check(model, 0, &error) != ST_OK)
        json_refuse(json_member(node, strrchr(error.pointer, '/') + 1), "%s",
                    error.text);
}

void text_encoder_request_read(struct model_spec *model, const struct json_node *node)
{
    struct json_node take = json_member(node, "take");
    size_t index = 0;

    model->text_encoder = text_encoder_usual(model->preset);
    model->text_encoder.vocabulary = 0;
    for (size_t k = 0; k < SIZES; k++) {
        struct json_node member = json_member(node, sizes[k].name);
        if (has_size(model->preset, &sizes[k]) && json_present(member))
            *size_of(&model->text_encoder, &sizes[k]) =
                (uint32_t)json_read_count(member, sizes[k].low, sizes[k].high);
    }
    if (json_present(take) && json_read_word(&index, take, taken))
        model->text_encoder.mean = index == 1;
    check(model, node);
}

void text_encoder_request_write(struct json_writer *writer,
                                const struct model_spec *model)
{
    for (size_t k = 0; k < SIZES; k++)
        if (has_size(model->preset, &sizes[k]))
            json_write_count(writer, sizes[k].name,
                             size_in(&model->text_encoder, &sizes[k]));
    json_write_text(writer, "take", taken[model->text_encoder.mean]);
}

bool text_encoder_schema_write(struct json_writer *writer, const char *member,
                               const struct model_spec *model)
{
    if (strcmp(member, "take") == 0) {
        json_schema_words(writer, member, taken, taken[model->text_encoder.mean]);
        return true;
    }
    for (size_t k = 0; k < SIZES; k++)
        if (strcmp(member, sizes[k].name) == 0) {
            const uint64_t usual = size_in(&model->text_encoder, &sizes[k]);
            json_schema_count(writer, member, sizes[k].low, sizes[k].high, &usual);
            return true;
        }
    return false;
}
