#include "api/requests/class_weights_request.h"

#include <stdlib.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

static const struct json_range weight_range = {0, LIMIT_CLASS_WEIGHT, true, false};

void class_weights_request_read(struct class_weights *weights, struct json_node node)
{
    size_t count = json_read_array(node, 2, LIMIT_CLASSES);
    if (count == 0)
        return;
    weights->values = calloc(count, sizeof *weights->values);
    CHECK(weights->values != NULL);
    weights->count = count;
    for (size_t i = 0; i < count; i++)
        weights->values[i] = json_read_real(json_element(&node, i), weight_range);
}

enum status class_weights_check(const struct class_weights *weights, uint32_t classes,
                                struct error *error)
{
    if (weights->count == 0 || weights->count == classes)
        return ST_OK;
    if (classes == 0)
        return error_set_at(error, ST_INVALID, "/class_weights",
                            "a regression has no classes");
    return error_set_at(error, ST_INVALID, "/class_weights",
                        "must be %u numbers, one for each class", classes);
}

void class_weights_request_write(struct json_writer *writer, const char *name,
                                 const struct class_weights *weights)
{
    if (weights->count > 0)
        json_write_reals(writer, name, weights->values, weights->count);
}

void class_weights_schema_write(struct json_writer *writer, const char *name,
                                uint32_t classes)
{
    if (classes == 0)
        return;
    json_schema_list(writer, name, classes, classes);
    json_schema_real(writer, "items", weight_range, NULL);
    json_write_object_end(writer);
}
