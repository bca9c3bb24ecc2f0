#include "api/requests/start_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"
#include "base/id.h"

_Static_assert((int)LIMIT_NAME_PATTERNS == (int)NAME_PATTERNS_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_TENSOR_NAME == (int)TENSOR_NAME_SIZE - 1,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_ADAPTER_RANK == (int)ADAPTER_RANK_MAX,
               "the contract and the engine agree");

static const struct json_range alphas = {0, ADAPTER_ALPHA_MAX, true, false};

static void read_weights(struct model_start *start, struct json_node node)
{
    struct model_id model;
    struct file_id file;
    const char *text = json_read_text(node);
    if (model_id_parse(&model, text) || file_id_parse(&file, text))
        snprintf(start->weights, sizeof start->weights, "%s", text);
    else
        json_refuse(node, "must be the id of a published model, mdl_..., or of an "
                          "uploaded file, fil_...");
}

static void read_pattern(char to[TENSOR_NAME_SIZE], struct json_node node)
{
    const char *text = json_read_text(node);
    if (text[0] == '\0' || strlen(text) >= TENSOR_NAME_SIZE)
        json_refuse(node, "must have 1 to %d bytes", TENSOR_NAME_SIZE - 1);
    else
        snprintf(to, TENSOR_NAME_SIZE, "%s", text);
}

static void read_patterns(struct name_patterns *patterns, struct json_node node)
{
    size_t count = json_read_array(node, 1, LIMIT_NAME_PATTERNS);
    if (count == 0)
        return;
    patterns->texts = calloc(count, sizeof *patterns->texts);
    CHECK(patterns->texts != NULL);
    patterns->count = count;
    for (size_t i = 0; i < count; i++)
        read_pattern(patterns->texts[i], json_element(&node, i));
}

/* Choices that are a word, and choices that are an object of one member. */
static const char *const words[] = {[TRAINABLE_ALL] = "all",
                                    [TRAINABLE_HEAD] = "head",
                                    [TRAINABLE_BIAS] = "bias",
                                    NULL};
static const char *const members[] = {"last", "lora", "only", "except", NULL};
static const enum trainable_kind kinds[] = {TRAINABLE_LAST, TRAINABLE_LORA,
                                            TRAINABLE_ONLY, TRAINABLE_EXCEPT};
enum { MEMBERS = sizeof kinds / sizeof *kinds };

static bool is_word(enum trainable_kind kind)
{
    return kind <= TRAINABLE_BIAS;
}

void start_request_read_lora(struct model_start *start, struct json_node node)
{
    json_read_object(node, (const char *const[]){"rank", "alpha", "targets", NULL});
    start->trainable = TRAINABLE_LORA;
    start->rank =
        (uint32_t)json_read_count(json_member(&node, "rank"), 1, LIMIT_ADAPTER_RANK);
    start->alpha = json_read_real(json_member(&node, "alpha"), alphas);
    read_patterns(&start->named, json_member(&node, "targets"));
}

static void read_member(struct model_start *start, struct json_node node)
{
    size_t present = 0;
    json_read_object(node, members);
    for (size_t k = 0; k < MEMBERS; k++) {
        struct json_node member = json_member(&node, members[k]);
        if (!json_present(member))
            continue;
        present++;
        start->trainable = kinds[k];
        if (kinds[k] == TRAINABLE_LAST)
            start->last = (uint32_t)json_read_count(member, 1, LIMIT_TRAINED_BLOCKS);
        else if (present == 1 && kinds[k] == TRAINABLE_LORA)
            start_request_read_lora(start, member);
        else if (present == 1)
            read_patterns(&start->named, member);
    }
    if (present != 1)
        json_refuse(node, "must have one of last, lora, only and except");
}

static void read_trainable(struct model_start *start, struct json_node node)
{
    if (json_is_object(node.value)) {
        read_member(start, node);
        return;
    }
    const char *text = json_read_text(node);
    for (size_t k = 0; words[k] != NULL; k++)
        if (strcmp(text, words[k]) == 0) {
            start->trainable = (enum trainable_kind)k;
            return;
        }
    json_refuse(node, "must be all, head, bias, {\"last\":n}, {\"lora\":{...}}, "
                      "{\"only\":[...]} or {\"except\":[...]}");
}

static void read_fresh(struct model_start *start, struct json_node node)
{
    if (json_is_array(node.value))
        read_patterns(&start->fresh, node);
    else if (strcmp(json_read_text(node), "head") == 0)
        start->fresh_head = true;
    else
        json_refuse(node, "must be head or a list of patterns");
}

void start_request_read(struct model_start *start, const struct json_node *model)
{
    struct json_node weights = json_member(model, "weights");
    struct json_node trainable = json_member(model, "trainable");
    struct json_node fresh = json_member(model, "fresh");
    if (json_present(weights))
        read_weights(start, weights);
    if (json_present(trainable))
        read_trainable(start, trainable);
    if (start->trainable == TRAINABLE_LORA && !json_present(weights))
        json_refuse(trainable,
                    "an adapter changes a model that exists: give its weights");
    if (!json_present(fresh))
        return;
    read_fresh(start, fresh);
    if (!json_present(weights))
        json_refuse(fresh, "needs weights: without them every layer is fresh");
}

static void write_patterns(struct json_writer *writer, const char *name,
                           const struct name_patterns *patterns)
{
    json_write_array(writer, name);
    for (size_t i = 0; i < patterns->count; i++)
        json_write_text(writer, NULL, patterns->texts[i]);
    json_write_array_end(writer);
}

void start_request_write_lora(struct json_writer *writer,
                              const struct model_start *start)
{
    json_write_object(writer, "lora");
    json_write_count(writer, "rank", start->rank);
    json_write_real(writer, "alpha", start->alpha);
    write_patterns(writer, "targets", &start->named);
    json_write_object_end(writer);
}

static void write_trainable(struct json_writer *writer, const struct model_start *start)
{
    if (is_word(start->trainable)) {
        json_write_text(writer, "trainable", words[start->trainable]);
        return;
    }
    json_write_object(writer, "trainable");
    if (start->trainable == TRAINABLE_LAST)
        json_write_count(writer, "last", start->last);
    else if (start->trainable == TRAINABLE_LORA)
        start_request_write_lora(writer, start);
    else
        write_patterns(writer, start->trainable == TRAINABLE_ONLY ? "only" : "except",
                       &start->named);
    json_write_object_end(writer);
}

void start_request_write(struct json_writer *writer, const struct model_start *start,
                         enum trainable_kind usual)
{
    if (start->weights[0] != '\0')
        json_write_text(writer, "weights", start->weights);
    if (start->trainable != usual || !is_word(start->trainable))
        write_trainable(writer, start);
    if (start->fresh_head)
        json_write_text(writer, "fresh", "head");
    else if (start->fresh.count > 0)
        write_patterns(writer, "fresh", &start->fresh);
}

static void schema_patterns(struct json_writer *writer, const char *name)
{
    json_schema_list(writer, name, 1, LIMIT_NAME_PATTERNS);
    json_write_object(writer, "items");
    json_write_text(writer, "type", "string");
    json_write_count(writer, "minLength", 1);
    json_write_count(writer, "maxLength", LIMIT_TENSOR_NAME);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void schema_choice(struct json_writer *writer, const char *name)
{
    const char *const required[] = {name, NULL};
    json_schema_object(writer, NULL);
    schema_patterns(writer, name);
    json_schema_object_end(writer, required);
}

static void schema_last(struct json_writer *writer)
{
    const char *const required[] = {"last", NULL};
    json_schema_object(writer, NULL);
    json_schema_count(writer, "last", 1, LIMIT_TRAINED_BLOCKS, NULL);
    json_schema_object_end(writer, required);
}

static void schema_lora(struct json_writer *writer)
{
    const char *const all[] = {"rank", "alpha", "targets", NULL}, *const required[] = {
                                                                      "lora", NULL};
    json_schema_object(writer, NULL);
    json_schema_object(writer, "lora");
    json_schema_count(writer, "rank", 1, LIMIT_ADAPTER_RANK, NULL);
    json_schema_real(writer, "alpha", alphas, NULL);
    schema_patterns(writer, "targets");
    json_schema_object_end(writer, all);
    json_schema_object_end(writer, required);
}

void start_schema_write_weights(struct json_writer *writer)
{
    json_write_object(writer, "weights");
    json_write_text(writer, "type", "string");
    json_write_object_end(writer);
}

void start_schema_write_trainable(struct json_writer *writer, enum trainable_kind usual)
{
    json_write_object(writer, "trainable");
    json_write_array(writer, "oneOf");
    json_schema_words(writer, NULL, words, NULL);
    schema_last(writer);
    schema_lora(writer);
    schema_choice(writer, "only");
    schema_choice(writer, "except");
    json_write_array_end(writer);
    json_write_text(writer, "default", words[usual]);
    json_write_object_end(writer);
}

void start_schema_write_fresh(struct json_writer *writer)
{
    json_write_object(writer, "fresh");
    json_write_array(writer, "oneOf");
    json_schema_words(writer, NULL, (const char *const[]){"head", NULL}, NULL);
    schema_patterns(writer, NULL);
    json_write_array_end(writer);
    json_write_object_end(writer);
}
