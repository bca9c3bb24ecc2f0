#include "engine/data/readers/reading.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum status reading_open(struct reading *reading, struct source **source, size_t file)
{
    const char *path = reading->paths[file];
    reading->place = (struct reading_place){.file = file};
    if (path == NULL)
        return error_set(reading->error, ST_IMPORT_FAILED, "the file was not uploaded");
    return source_open(source, path, reading->bounds, reading->error);
}

enum status reading_check_scale(struct reading *reading)
{
    float scale = (float)reading->schema->scale;
    if (!(scale > 0) || !isfinite(scale) || !isfinite((float)UINT8_MAX / scale))
        return reading_refuse(reading, 0, 0, "the scale is out of float32's range");
    return ST_OK;
}

enum status reading_begin(struct reading *reading, enum element element)
{
    const struct schema *schema = reading->schema;
    struct matrix_shape shape = {.features = schema_features(schema),
                                 .texts = schema_text_floats(schema),
                                 .classes = schema->classes,
                                 .element = element,
                                 .scale = 1};
    if (element == ELEMENT_U8)
        shape.scale = (float)schema->scale;
    return matrix_writer_begin(reading->writer, &shape, reading->error);
}

size_t reading_cells(const struct reading *reading)
{
    return reading->cells > 0 ? reading->cells : reading->schema->column_count;
}

enum status reading_refuse(struct reading *reading, uint64_t line, uint64_t column,
                           const char *format, ...)
{
    char text[sizeof reading->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reading->place.line = line;
    reading->place.column = column;
    return error_set(reading->error, ST_IMPORT_FAILED, "%s", text);
}
