#include "api/views/predict_answer.h"

#include <math.h>
#include <stdio.h>

#include "api/json/fault.h"
#include "api/limits.h"

/* Writes the class as it is declared: as a text in a column, otherwise as a number. */
static void write_class(struct json_writer *writer, const struct schema *schema,
                        uint32_t class_index)
{
    char name[LIMIT_TEXT + 1];
    schema_class_name(schema, class_index, name, sizeof name);
    if (schema_has_columns(schema))
        json_write_text(writer, "class", name);
    else
        json_write_raw(writer, "class", name);
}

static void write_output(struct json_writer *writer, const struct schema *schema,
                         const double *output)
{
    json_write_object(writer, NULL);
    if (schema->task == TASK_REGRESSION) {
        json_write_real(writer, "value", schema_target(schema, output[0]));
    } else {
        write_class(writer, schema, predict_answer_class(schema, output));
        json_write_reals(writer, "probabilities", output, schema->classes);
    }
    json_write_object_end(writer);
}

void predict_answer_open(struct predict_answer *answer, const struct schema *schema)
{
    answer->schema = schema;
    answer->rows = 0;
    json_writer_open(&answer->writer, JSON_SHOWN);
    json_write_object(&answer->writer, NULL);
    json_write_array(&answer->writer, "outputs");
}

uint32_t predict_answer_class(const struct schema *schema, const double *output)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < schema->classes; i++)
        if (output[i] > output[best])
            best = i;
    return best;
}

bool predict_answer_is_finite(const struct schema *schema, const double *output)
{
    size_t finite = 0, count = predict_answer_width(schema);
    while (finite < count && isfinite(output[finite]))
        finite++;
    return finite == count;
}

static void refuse_row(const struct predict_answer *answer, size_t row,
                       struct error *error)
{
    struct fault fault = {.kind = FAULT_INVALID,
                          .text = "the model's outputs for this row are not finite"};
    snprintf(fault.pointer, sizeof fault.pointer, "/inputs/%zu", answer->rows + row);
    error_set_at(error, ST_NO_ANSWER, fault.pointer, "%s", fault.text);
    fault_add(error, &fault);
}

/* Returns whether every row has finite outputs. The error names the rows that
 * do not. */
static bool are_answered(const struct predict_answer *answer, const double *outputs,
                         size_t rows, struct error *error)
{
    size_t width = predict_answer_width(answer->schema), refused = 0;
    for (size_t i = 0; i < rows && refused < LIMIT_FAULTS; i++)
        if (!predict_answer_is_finite(answer->schema, outputs + i * width)) {
            refuse_row(answer, i, error);
            refused++;
        }
    return refused == 0;
}

enum status predict_answer_add(struct predict_answer *answer, const double *outputs,
                               size_t rows, struct error *error)
{
    size_t width = predict_answer_width(answer->schema);
    if (!are_answered(answer, outputs, rows, error))
        return ST_NO_ANSWER;
    for (size_t i = 0; i < rows; i++)
        write_output(&answer->writer, answer->schema, outputs + i * width);
    answer->rows += rows;
    return ST_OK;
}

char *predict_answer_finish(struct predict_answer *answer)
{
    json_write_array_end(&answer->writer);
    json_write_object_end(&answer->writer);
    return json_writer_finish(&answer->writer);
}

size_t predict_answer_width(const struct schema *schema)
{
    return schema->task == TASK_REGRESSION ? 1 : schema->classes;
}
