#include "api/http/exposition.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/check.h"

/* Every whole number below this is exact as a double. */
static const double whole_max = 0x1p53;

void exposition_open(struct exposition *exposition)
{
    *exposition = (struct exposition){0};
    exposition->stream = open_memstream(&exposition->text, &exposition->size);
    CHECK(exposition->stream != NULL);
}

char *exposition_close(struct exposition *exposition)
{
    CHECK(fclose(exposition->stream) == 0 && exposition->text != NULL);
    return exposition->text;
}

static const char *kind_name(enum exposition_kind kind)
{
    switch (kind) {
    case EXPOSE_COUNTER: return "counter";
    case EXPOSE_GAUGE: return "gauge";
    case EXPOSE_HISTOGRAM: return "histogram";
    }
    return "untyped";
}

void exposition_family(struct exposition *exposition, const char *name,
                       enum exposition_kind kind, const char *help)
{
    exposition->family = name;
    fprintf(exposition->stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
            kind_name(kind));
}

static void write_value(FILE *stream, double value)
{
    if (isnan(value))
        fputs("NaN", stream);
    else if (isinf(value))
        fputs(value > 0 ? "+Inf" : "-Inf", stream);
    else if (value == floor(value) && fabs(value) <= whole_max)
        fprintf(stream, "%.0f", value);
    else
        fprintf(stream, "%.17g", value);
}

static void write_escaped(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || *text == '"')
            fputc('\\', stream);
        if (*text == '\n')
            fputs("\\n", stream);
        else
            fputc(*text, stream);
    }
}

void exposition_sample(struct exposition *exposition, double value, ...)
{
    FILE *stream = exposition->stream;
    const char *name, *separator = "{";
    va_list pairs;
    fputs(exposition->family, stream);
    va_start(pairs, value);
    while ((name = va_arg(pairs, const char *)) != NULL) {
        fprintf(stream, "%s%s=\"", separator, name);
        write_escaped(stream, va_arg(pairs, const char *));
        fputc('"', stream);
        separator = ",";
    }
    va_end(pairs);
    fputs(separator[0] == ',' ? "} " : " ", stream);
    write_value(stream, value);
    fputc('\n', stream);
}

void exposition_histogram(struct exposition *exposition,
                          const struct exposition_buckets *buckets)
{
    FILE *stream = exposition->stream;
    const char *family = exposition->family;
    double below = 0;
    for (size_t i = 0; i <= buckets->count; i++) {
        below += (double)buckets->in[i];
        fprintf(stream, "%s_bucket{le=\"", family);
        if (i < buckets->count)
            fprintf(stream, "%.15g", buckets->bounds[i]);
        else
            fputs("+Inf", stream);
        fputs("\"} ", stream);
        write_value(stream, below);
        fputc('\n', stream);
    }
    fprintf(stream, "%s_sum ", family);
    write_value(stream, buckets->sum);
    fprintf(stream, "\n%s_count ", family);
    write_value(stream, below);
    fputc('\n', stream);
}
