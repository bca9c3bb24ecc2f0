#include "api/views/predict_csv.h"

#include <string.h>

#include "api/limits.h"
#include "api/views/predict_answer.h"

/* Quotes a text whose readers would otherwise find another cell. */
static void write_text(FILE *stream, char delimiter, const char *text)
{
    size_t size = strlen(text);
    const char special[] = {delimiter, '"', '\r', '\n', '\0'};
    bool blank = size == 0 || strchr(" \t", text[0]) != NULL ||
                 strchr(" \t", text[size - 1]) != NULL;
    if (!blank && strpbrk(text, special) == NULL) {
        fputs(text, stream);
        return;
    }
    putc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

static void write_number(FILE *stream, bool decimal_comma, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    char *point = decimal_comma ? strchr(text, '.') : NULL;
    if (point != NULL)
        *point = ',';
    fputs(text, stream);
}

void predict_csv_begin(FILE *stream, const struct schema *schema)
{
    static const char prefix[] = "probability_";
    const char delimiter = delimiter_sign(schema->dialect.delimiter);
    char name[sizeof prefix + LIMIT_TEXT + 1];
    fputs(schema->task == TASK_REGRESSION ? "value" : "class", stream);
    for (uint32_t i = 0; i < schema->classes; i++) {
        strcpy(name, prefix);
        schema_class_name(schema, i, name + strlen(prefix), LIMIT_TEXT + 1);
        putc(delimiter, stream);
        write_text(stream, delimiter, name);
    }
    putc('\n', stream);
}

static void write_classes(FILE *stream, const struct schema *schema,
                          const double *output)
{
    const char delimiter = delimiter_sign(schema->dialect.delimiter);
    char name[LIMIT_TEXT + 1];
    schema_class_name(schema, predict_answer_class(schema, output), name, sizeof name);
    write_text(stream, delimiter, name);
    for (uint32_t i = 0; i < schema->classes; i++) {
        putc(delimiter, stream);
        write_number(stream, schema->dialect.decimal_comma, output[i]);
    }
}

void predict_csv_add(FILE *stream, const struct schema *schema, const double *outputs,
                     size_t rows)
{
    size_t width = predict_answer_width(schema);
    for (size_t i = 0; i < rows; i++) {
        if (schema->task == TASK_REGRESSION)
            write_number(stream, schema->dialect.decimal_comma,
                         schema_target(schema, outputs[i]));
        else
            write_classes(stream, schema, outputs + i * width);
        putc('\n', stream);
    }
}
