#include "api/requests/averaging_request.h"

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"

static const struct json_range share_range = {0, 1, true, false};
static const struct json_range decay_range = {0, 1, false, true};

/* The literature averages the second half of the steps. An average over a thousand
 * steps is the usual exponential one. */
static const double share_usual = 0.5, decay_usual = 0.999;

static double read_or(struct json_node node, struct json_range range, double usual)
{
    return json_present(node) ? json_read_real(node, range) : usual;
}

void averaging_request_read(struct averaging_spec *averaging,
                            const struct json_node *node)
{
    struct json_node kind = json_member(node, "kind");
    json_read_object(*node, (const char *const[]){"kind", "share", "decay", NULL});
    *averaging = (struct averaging_spec){0};
    if (!averaging_kind_parse(&averaging->kind, json_read_text(kind))) {
        json_refuse(kind, "must be none, tail or ema");
        return;
    }
    switch (averaging->kind) {
    case AVERAGING_NONE:
        json_read_object(*node, (const char *const[]){"kind", NULL});
        return;
    case AVERAGING_TAIL:
        json_read_object(*node, (const char *const[]){"kind", "share", NULL});
        averaging->share =
            read_or(json_member(node, "share"), share_range, share_usual);
        return;
    case AVERAGING_EMA:
        json_read_object(*node, (const char *const[]){"kind", "decay", NULL});
        averaging->decay =
            read_or(json_member(node, "decay"), decay_range, decay_usual);
        return;
    }
}

void averaging_request_write(struct json_writer *writer, const char *name,
                             const struct averaging_spec *averaging)
{
    if (averaging->kind == AVERAGING_NONE)
        return;
    json_write_object(writer, name);
    json_write_text(writer, "kind", averaging_kind_name(averaging->kind));
    if (averaging->kind == AVERAGING_TAIL)
        json_write_real(writer, "share", averaging->share);
    else
        json_write_real(writer, "decay", averaging->decay);
    json_write_object_end(writer);
}

void averaging_schema_write(struct json_writer *writer)
{
    static const enum averaging_kind kinds[] = {AVERAGING_NONE, AVERAGING_TAIL,
                                                AVERAGING_EMA};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_schema_object(writer, NULL);
        json_schema_word(writer, "kind", averaging_kind_name(kinds[i]));
        if (kinds[i] == AVERAGING_TAIL)
            json_schema_real(writer, "share", share_range, &share_usual);
        if (kinds[i] == AVERAGING_EMA)
            json_schema_real(writer, "decay", decay_range, &decay_usual);
        json_schema_object_end(writer, (const char *const[]){"kind", NULL});
    }
}
