#include "api/views/onnx_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/views/model_view.h"
#include "base/check.h"
#include "base/hash.h"

static void add(struct onnx_properties *properties, const char *key, const char *value)
{
    CHECK(properties->count < ONNX_PROPERTIES_MAX);
    properties->items[properties->count++] = (struct onnx_property){key, value};
}

/* Writes the fewest digits that read back to the same double, as in the certificate. */
static void render_number(char text[ONNX_NUMBER_SIZE], double number)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, ONNX_NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

/* Adds the guarantee. The certificate was already checked when the row was read. */
static void add_guarantee(struct onnx_properties *properties, const char *certificate)
{
    struct json_reader reader;
    struct json_node root;

    CHECK(json_reader_open(&reader, &root, json_text_of(certificate), NULL) == ST_OK);
    struct json_node guarantee = json_member(&root, "guarantee");
    if (json_is_object(guarantee.value)) {
        render_number(
            properties->epsilon,
            json_read_real(json_member(&guarantee, "epsilon"), json_any_real));
        render_number(properties->delta,
                      json_read_real(json_member(&guarantee, "delta"), json_any_real));
        add(properties, "epsilon", properties->epsilon);
        add(properties, "delta", properties->delta);
    }
    json_reader_close(&reader);
}

static char *render_classes(const struct schema *schema)
{
    struct json_writer writer;
    char name[LIMIT_TEXT + 1];

    json_writer_open(&writer, JSON_EXACT);
    json_write_array(&writer, NULL);
    for (uint32_t i = 0; i < schema->classes; i++) {
        schema_class_name(schema, i, name, sizeof name);
        json_write_text(&writer, NULL, name);
    }
    json_write_array_end(&writer);
    return json_writer_close(&writer);
}

void onnx_properties_init(struct onnx_properties *properties,
                          const struct model_row *row, const char *dataset,
                          const struct model_spec *model, const struct schema *schema)
{
    uint8_t digest[SHA256_SIZE];

    *properties = (struct onnx_properties){.arch = model_spec_render(model),
                                           .inputs = inputs_render(schema)};
    sha256_of(digest, row->card, strlen(row->card));
    sha256_render(properties->certificate_sha256, digest);
    sha256_render(properties->sha256, row->sha256);
    add(properties, "format", "epsilond/1");
    add(properties, "model", row->id.text);
    add(properties, "job", row->job.text);
    add(properties, "dataset", dataset);
    add(properties, "sha256", properties->sha256);
    add(properties, "certificate", row->card);
    add(properties, "certificate_sha256", properties->certificate_sha256);
    add_guarantee(properties, row->card);
    add(properties, "arch", properties->arch);
    add(properties, "inputs", properties->inputs);
    if (schema->classes == 0)
        return;
    properties->classes = render_classes(schema);
    add(properties, "classes", properties->classes);
}

void onnx_properties_fini(struct onnx_properties *properties)
{
    free(properties->arch);
    free(properties->inputs);
    free(properties->classes);
    *properties = (struct onnx_properties){0};
}
