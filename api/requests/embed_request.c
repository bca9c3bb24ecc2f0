#include "api/requests/embed_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"
#include "engine/data/string_index.h"
#include "engine/nn/layer.h"

enum { PLACE_SIZE = 64 };

void embed_request_read(struct named_columns *columns, struct json_node names)
{
    if (!json_present(names))
        return;
    size_t count = json_read_array(names, 1, LIMIT_COLUMNS);
    for (size_t i = 0; i < count; i++)
        named_columns_add(columns, json_read_text(json_element(&names, i)));
}

void embed_request_write(struct json_writer *writer, const char *name,
                         const struct named_columns *columns)
{
    if (columns->count == 0)
        return;
    json_write_array(writer, name);
    for (size_t i = 0; i < columns->count; i++)
        json_write_text(writer, NULL, columns->list[i].name);
    json_write_array_end(writer);
}

static bool takes_columns(const struct layer_kind *kind)
{
    for (size_t m = 0; m < kind->member_count; m++)
        if (kind->members[m].kind == MEMBER_COLUMNS)
            return true;
    return false;
}

/* Writes the pointer of the model's layer, or of the member of its preset. Returns false
 * if it has no such layer. */
static bool find_layer(char place[PLACE_SIZE], const struct model_spec *model)
{
    size_t number = 0, entry = 0;
    while (entry < model->layer_count && !takes_columns(model->layers[entry].kind)) {
        entry += layer_spec_extent(&model->layers[entry]);
        number++;
    }
    if (model->preset == PRESET_NONE)
        snprintf(place, PLACE_SIZE, "/model/layers/%zu", number);
    else
        snprintf(place, PLACE_SIZE, "/model/embed");
    return entry < model->layer_count;
}

static bool has_words(const struct column *column)
{
    return column_kind_form(column->kind) == COLUMN_FORM_WORD;
}

static enum status refuse_name(const char *place, size_t index, const char *fault,
                               struct error *error)
{
    char pointer[PLACE_SIZE + 32];
    snprintf(pointer, sizeof pointer, "%s/columns/%zu", place, index);
    return error_set_at(error, ST_INVALID, pointer, "%s", fault);
}

/* Gives the columns that the index names their features. */
static enum status fit_indexed(struct named_columns *columns,
                               const struct string_index *names,
                               const struct schema *schema, const char *place,
                               struct error *error)
{
    uint32_t first = 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        uint32_t at = string_index_find(names, column->name, strlen(column->name));
        if (at != STRING_INDEX_ABSENT && !has_words(column))
            return refuse_name(place, at,
                               "must be a column of kind categorical or hashed: others "
                               "have no words to embed",
                               error);
        if (at != STRING_INDEX_ABSENT) {
            columns->list[at].first = first;
            columns->list[at].words = schema_column_features(column);
        }
        first += schema_is_feature(column) ? schema_column_features(column) : 0;
    }
    for (size_t i = 0; i < columns->count; i++)
        if (columns->list[i].words == 0)
            return refuse_name(place, i, "the dataset has no column of this name",
                               error);
    return ST_OK;
}

static enum status check_once(const struct named_columns *columns,
                              const struct string_index *names, const char *place,
                              struct error *error)
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns->list[i].name;
        uint32_t at = string_index_find(names, name, strlen(name));
        if (at != i)
            return refuse_name(place, at > i ? at : i, "names a column twice", error);
    }
    return ST_OK;
}

static enum status fit_names(struct named_columns *columns, const struct schema *schema,
                             const char *place, struct error *error)
{
    char **texts = calloc(columns->count, sizeof *texts);
    CHECK(texts != NULL);
    for (size_t i = 0; i < columns->count; i++) {
        texts[i] = columns->list[i].name;
        columns->list[i].words = 0;
    }
    struct string_index *names = string_index_create(texts, columns->count);
    CHECK(names != NULL);
    enum status status = check_once(columns, names, place, error);
    if (status == ST_OK)
        status = fit_indexed(columns, names, schema, place, error);
    string_index_destroy(names);
    free(texts);
    return status;
}

static void take_all(struct named_columns *columns, const struct schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (has_words(&schema->columns[i]))
            named_columns_add(columns, schema->columns[i].name);
}

enum status embed_request_fit(struct model_spec *model, const struct schema *schema,
                              struct error *error)
{
    char place[PLACE_SIZE];
    if (!find_layer(place, model))
        return ST_OK;
    if (model->embedded.count == 0)
        take_all(&model->embedded, schema);
    if (model->embedded.count == 0)
        return error_set_at(
            error, ST_INVALID, place,
            "embeds columns of words: the dataset has no column of kind "
            "categorical or hashed");
    return fit_names(&model->embedded, schema, place, error);
}
