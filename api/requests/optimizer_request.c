#include "api/requests/optimizer_request.h"

#include <stdio.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_word.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"
#include "engine/dp/optimizer_kind.h"

enum { NAMES_MAX = 8 + OPTIMIZER_KINDS * OPTIMIZER_MEMBERS_MAX };

static const char *const course_members[] = {"name",   "learning_rate", "schedule",
                                             "warmup", "weight_decay",  NULL};

/* A decay rate is the share that is kept from step to step. */
static const struct json_range decay_range = {0, 1, false, true};
static const struct json_range rate_range = {0, LIMIT_LEARNING_RATE, true, false};
static const struct json_range final_range = {0, LIMIT_LEARNING_RATE, false, false};
static const struct json_range positive_range = {0, 1, true, false};
static const struct json_range weight_decay_range = {0, LIMIT_WEIGHT_DECAY, false,
                                                     false};

static void read_learning_rate(struct optimizer_spec *optimizer, struct json_node node)
{
    if (!json_is_object(node.value)) {
        optimizer_spec_set_rate(optimizer, json_read_real(node, rate_range));
        return;
    }
    json_read_object(node, (const char *const[]){"initial", "final", NULL});
    optimizer->learning_rate =
        json_read_real(json_member(&node, "initial"), rate_range);
    optimizer->learning_rate_final =
        json_read_real(json_member(&node, "final"), final_range);
}

static void read_decay(double *decay, struct json_node node)
{
    if (json_present(node))
        *decay = json_read_real(node, decay_range);
}

/* Reads the members that all kinds have. The schedule is read before the rate, because
 * the default of the rate's final value depends on it. */
static void read_course(struct optimizer_spec *optimizer, const struct json_node *node)
{
    struct json_node schedule = json_member(node, "schedule");
    struct json_node decay = json_member(node, "weight_decay");
    size_t which = RATE_LINEAR;
    if (json_present(schedule))
        json_read_word(&which, schedule, rate_schedule_names);
    optimizer->schedule = (enum rate_schedule)which;
    read_decay(&optimizer->warmup, json_member(node, "warmup"));
    if (json_present(decay))
        optimizer->weight_decay = json_read_real(decay, weight_decay_range);
}

static struct json_range range_of(const struct optimizer_member *member)
{
    return member->is_decay ? decay_range : positive_range;
}

/* Refuses members that neither all kinds nor those from first to last have. */
static void refuse_others(const struct json_node *node, size_t first, size_t last)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (const char *const *name = course_members; *name != NULL; name++)
        names[count++] = *name;
    for (size_t kind = first; kind <= last; kind++) {
        const struct optimizer_row *row = optimizer_row((enum optimizer_kind)kind);
        for (const struct optimizer_member *m = row->members; m->name != NULL; m++)
            names[count++] = m->name;
    }
    names[count] = NULL;
    json_read_object(*node, names);
}

static void refuse_kind(struct json_node name)
{
    char kinds[32 * OPTIMIZER_KINDS] = "";
    size_t size = 0;
    for (size_t kind = 0; kind < OPTIMIZER_KINDS; kind++) {
        const char *between = kind == 0                     ? ""
                              : kind == OPTIMIZER_KINDS - 1 ? " or "
                                                            : ", ";
        size += (size_t)snprintf(kinds + size, sizeof kinds - size, "%s%s", between,
                                 optimizer_kind_name((enum optimizer_kind)kind));
        CHECK(size < sizeof kinds);
    }
    json_refuse(name, "must be %s", kinds);
}

void optimizer_request_read(struct optimizer_spec *optimizer, bool *has_learning_rate,
                            const struct json_node *node)
{
    struct json_node name = json_member(node, "name");
    struct json_node rate = json_member(node, "learning_rate");
    enum optimizer_kind kind = OPTIMIZER_SGD;
    refuse_others(node, 0, OPTIMIZER_KINDS - 1);
    bool known = optimizer_kind_parse(&kind, json_read_text(name));
    if (!known)
        refuse_kind(name);
    optimizer_spec_init(optimizer, kind);
    read_course(optimizer, node);
    *has_learning_rate = json_present(rate);
    if (*has_learning_rate)
        read_learning_rate(optimizer, rate);
    if (!known) /* the members of an unknown optimizer are unknown too */
        return;
    refuse_others(node, kind, kind);
    for (const struct optimizer_member *m = optimizer_row(kind)->members;
         m->name != NULL; m++) {
        struct json_node member = json_member(node, m->name);
        if (json_present(member))
            *optimizer_member_of(optimizer, m) = json_read_real(member, range_of(m));
    }
}

static void write_learning_rate(struct json_writer *writer,
                                const struct optimizer_spec *optimizer)
{
    if (optimizer->schedule == RATE_LINEAR &&
        optimizer->learning_rate == optimizer->learning_rate_final) {
        json_write_real(writer, "learning_rate", optimizer->learning_rate);
        return;
    }
    json_write_object(writer, "learning_rate");
    json_write_real(writer, "initial", optimizer->learning_rate);
    json_write_real(writer, "final", optimizer->learning_rate_final);
    json_write_object_end(writer);
}

void optimizer_request_write(struct json_writer *writer, const char *name,
                             const struct optimizer_spec *optimizer)
{
    json_write_object(writer, name);
    json_write_text(writer, "name", optimizer_kind_name(optimizer->kind));
    write_learning_rate(writer, optimizer);
    struct optimizer_spec spec = *optimizer;
    for (const struct optimizer_member *m = optimizer_row(spec.kind)->members;
         m->name != NULL; m++)
        json_write_real(writer, m->name, *optimizer_member_of(&spec, m));
    if (optimizer->schedule != RATE_LINEAR)
        json_write_text(writer, "schedule", rate_schedule_names[optimizer->schedule]);
    if (optimizer->warmup != 0)
        json_write_real(writer, "warmup", optimizer->warmup);
    if (optimizer->weight_decay != 0)
        json_write_real(writer, "weight_decay", optimizer->weight_decay);
    json_write_object_end(writer);
}

static void write_course_schema(struct json_writer *writer)
{
    static const double none = 0;
    json_schema_words(writer, "schedule", rate_schedule_names,
                      rate_schedule_names[RATE_LINEAR]);
    json_schema_real(writer, "warmup", decay_range, &none);
    json_schema_real(writer, "weight_decay", weight_decay_range, &none);
}

static void write_rate_schema(struct json_writer *writer)
{
    json_write_object(writer, "learning_rate");
    json_write_array(writer, "oneOf");
    json_schema_real(writer, NULL, rate_range, NULL);
    json_schema_object(writer, NULL);
    json_schema_real(writer, "initial", rate_range, NULL);
    json_schema_real(writer, "final", final_range, NULL);
    json_schema_object_end(writer, (const char *const[]){"initial", "final", NULL});
    json_write_array_end(writer);
    json_write_object_end(writer);
}

void optimizer_schema_write(struct json_writer *writer)
{
    for (size_t kind = 0; kind < OPTIMIZER_KINDS; kind++) {
        const struct optimizer_row *row = optimizer_row((enum optimizer_kind)kind);
        json_schema_object(writer, NULL);
        json_schema_word(writer, "name", row->name);
        write_rate_schema(writer);
        for (const struct optimizer_member *m = row->members; m->name != NULL; m++)
            json_schema_real(writer, m->name, range_of(m), &m->usual);
        write_course_schema(writer);
        json_schema_object_end(writer, (const char *const[]){"name", NULL});
    }
}
