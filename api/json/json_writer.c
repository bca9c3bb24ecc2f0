#include "api/json/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"

void json_writer_open(struct json_writer *writer, enum json_digits digits)
{
    *writer = (struct json_writer){.digits = digits};
    writer->stream = open_memstream(&writer->text, &writer->size);
    CHECK(writer->stream != NULL);
}

char *json_writer_finish(struct json_writer *writer)
{
    bool failed = ferror(writer->stream) != 0;
    if (fclose(writer->stream) != 0)
        failed = true;
    if (!failed)
        return writer->text;
    free(writer->text);
    return NULL;
}

char *json_writer_close(struct json_writer *writer)
{
    char *text = json_writer_finish(writer);
    CHECK(text != NULL);
    return text;
}

/* Returns the length of the UTF-8 sequence at text, or 0 if it is broken, overlong, a
 * surrogate or beyond U+10FFFF (Unicode 15, table 3-7). */
static size_t sequence_length(const unsigned char *text)
{
    unsigned char first = text[0];
    size_t length = first < 0x80   ? 1
                    : first < 0xc2 ? 0
                    : first < 0xe0 ? 2
                    : first < 0xf0 ? 3
                    : first < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
        (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

static void write_string(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', stream);
    while (*at != '\0') {
        size_t length = sequence_length(at);
        if (length == 0)
            fputs("\xef\xbf\xbd", stream);
        else if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", stream);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(stream, "\\u%04x", *at);
        else
            fwrite(at, 1, length, stream);
        at += length > 0 ? length : 1;
    }
    putc('"', stream);
}

static void begin(struct json_writer *writer, const char *name)
{
    if (writer->comma)
        putc(',', writer->stream);
    writer->comma = true;
    if (name != NULL) {
        write_string(writer->stream, name);
        putc(':', writer->stream);
    }
}

static void open_container(struct json_writer *writer, const char *name, char bracket)
{
    begin(writer, name);
    putc(bracket, writer->stream);
    writer->comma = false;
}

static void close_container(struct json_writer *writer, char bracket)
{
    putc(bracket, writer->stream);
    writer->comma = true;
}

void json_write_object(struct json_writer *writer, const char *name)
{
    open_container(writer, name, '{');
}

void json_write_object_end(struct json_writer *writer)
{
    close_container(writer, '}');
}

void json_write_array(struct json_writer *writer, const char *name)
{
    open_container(writer, name, '[');
}

void json_write_array_end(struct json_writer *writer)
{
    close_container(writer, ']');
}

void json_write_text(struct json_writer *writer, const char *name, const char *text)
{
    if (text == NULL) {
        json_write_null(writer, name);
        return;
    }
    begin(writer, name);
    write_string(writer->stream, text);
}

void json_write_real(struct json_writer *writer, const char *name, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_write_null(writer, name);
        return;
    }
    int digits = 15;
    snprintf(text, sizeof text, "%.*g", digits, value);
    while (writer->digits == JSON_EXACT && strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.*g", ++digits, value);
    begin(writer, name);
    fputs(text, writer->stream);
    if (strpbrk(text, ".e") == NULL)
        fputs(".0", writer->stream);
}

void json_write_count(struct json_writer *writer, const char *name, uint64_t value)
{
    begin(writer, name);
    fprintf(writer->stream, "%" PRIu64, value);
}

void json_write_flag(struct json_writer *writer, const char *name, bool value)
{
    begin(writer, name);
    fputs(value ? "true" : "false", writer->stream);
}

void json_write_null(struct json_writer *writer, const char *name)
{
    begin(writer, name);
    fputs("null", writer->stream);
}

void json_write_real_if(struct json_writer *writer, bool known, const char *name,
                        double value)
{
    if (known)
        json_write_real(writer, name, value);
    else
        json_write_null(writer, name);
}

void json_write_count_if(struct json_writer *writer, bool known, const char *name,
                         uint64_t value)
{
    if (known)
        json_write_count(writer, name, value);
    else
        json_write_null(writer, name);
}

void json_write_raw(struct json_writer *writer, const char *name, const char *json)
{
    begin(writer, name);
    fputs(json, writer->stream);
}

void json_write_time(struct json_writer *writer, const char *name, int64_t wall_ms)
{
    char text[CLOCK_TEXT_SIZE];
    if (wall_ms != 0)
        clock_render(text, wall_ms);
    json_write_text(writer, name, wall_ms != 0 ? text : NULL);
}

void json_write_digest(struct json_writer *writer, const char *name,
                       const uint8_t *digest)
{
    char text[SHA256_HEX_SIZE];
    if (digest != NULL)
        sha256_render(text, digest);
    json_write_text(writer, name, digest != NULL ? text : NULL);
}

void json_write_reals(struct json_writer *writer, const char *name,
                      const double *values, size_t count)
{
    json_write_array(writer, name);
    for (size_t i = 0; i < count; i++)
        json_write_real(writer, NULL, values[i]);
    json_write_array_end(writer);
}
