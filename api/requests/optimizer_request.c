#include "api/requests/optimizer_request.h"

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "api/limits.h"

/* A decay rate is the share that is kept from step to step. */
static const struct json_range decay_range = {0, 1, false, true};
static const struct json_range rate_range = {0, LIMIT_LEARNING_RATE, true, false};
static const struct json_range final_range = {0, LIMIT_LEARNING_RATE, false, false};
static const struct json_range epsilon_range = {0, 1, true, false};
static const struct json_range weight_decay_range = {0, LIMIT_WEIGHT_DECAY, false,
                                                     false};

void optimizer_request_init(struct optimizer_spec *optimizer, enum optimizer_kind kind)
{
    *optimizer = (struct optimizer_spec){.kind = kind};
    if (kind == OPTIMIZER_ADAM) { /* Kingma & Ba 2015, Algorithm 1 */
        optimizer->beta1 = 0.9;
        optimizer->beta2 = 0.999;
        optimizer->epsilon = 1e-8;
    }
}

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

/* Reads the members that both kinds have. The schedule is read before the rate, because
 * the default of the rate's final value depends on it. */
static void read_course(struct optimizer_spec *optimizer, const struct json_node *node)
{
    struct json_node schedule = json_member(node, "schedule");
    struct json_node decay = json_member(node, "weight_decay");
    if (json_present(schedule) &&
        !rate_schedule_parse(&optimizer->schedule, json_read_text(schedule)))
        json_refuse(schedule, "must be linear or cosine");
    read_decay(&optimizer->warmup, json_member(node, "warmup"));
    if (json_present(decay))
        optimizer->weight_decay = json_read_real(decay, weight_decay_range);
}

static void read_adam(struct optimizer_spec *optimizer, const struct json_node *node)
{
    struct json_node epsilon = json_member(node, "epsilon");
    json_read_object(*node, (const char *const[]){"name", "learning_rate", "beta1",
                                                  "beta2", "epsilon", "schedule",
                                                  "warmup", "weight_decay", NULL});
    read_decay(&optimizer->beta1, json_member(node, "beta1"));
    read_decay(&optimizer->beta2, json_member(node, "beta2"));
    if (json_present(epsilon))
        optimizer->epsilon = json_read_real(epsilon, epsilon_range);
}

void optimizer_request_read(struct optimizer_spec *optimizer, bool *has_learning_rate,
                            const struct json_node *node)
{
    struct json_node name = json_member(node, "name");
    struct json_node rate = json_member(node, "learning_rate");
    enum optimizer_kind kind = OPTIMIZER_SGD;
    json_read_object(*node, (const char *const[]){
                                "name", "learning_rate", "momentum", "beta1", "beta2",
                                "epsilon", "schedule", "warmup", "weight_decay", NULL});
    bool known = optimizer_kind_parse(&kind, json_read_text(name));
    if (!known)
        json_refuse(name, "must be sgd or adam");
    optimizer_request_init(optimizer, kind);
    read_course(optimizer, node);
    *has_learning_rate = json_present(rate);
    if (*has_learning_rate)
        read_learning_rate(optimizer, rate);
    if (!known) /* the members of an unknown optimizer are unknown too */
        return;
    switch (kind) {
    case OPTIMIZER_SGD:
        json_read_object(*node, (const char *const[]){"name", "learning_rate",
                                                      "momentum", "schedule", "warmup",
                                                      "weight_decay", NULL});
        read_decay(&optimizer->momentum, json_member(node, "momentum"));
        return;
    case OPTIMIZER_ADAM: read_adam(optimizer, node); return;
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
    switch (optimizer->kind) {
    case OPTIMIZER_SGD: json_write_real(writer, "momentum", optimizer->momentum); break;
    case OPTIMIZER_ADAM:
        json_write_real(writer, "beta1", optimizer->beta1);
        json_write_real(writer, "beta2", optimizer->beta2);
        json_write_real(writer, "epsilon", optimizer->epsilon);
        break;
    }
    if (optimizer->schedule != RATE_LINEAR)
        json_write_text(writer, "schedule", rate_schedule_name(optimizer->schedule));
    if (optimizer->warmup != 0)
        json_write_real(writer, "warmup", optimizer->warmup);
    if (optimizer->weight_decay != 0)
        json_write_real(writer, "weight_decay", optimizer->weight_decay);
    json_write_object_end(writer);
}

static void write_course_schema(struct json_writer *writer)
{
    static const enum rate_schedule schedules[] = {RATE_LINEAR, RATE_COSINE};
    static const double none = 0;
    json_write_object(writer, "schedule");
    json_write_array(writer, "enum");
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        json_write_text(writer, NULL, rate_schedule_name(schedules[i]));
    json_write_array_end(writer);
    json_write_text(writer, "default", rate_schedule_name(RATE_LINEAR));
    json_write_object_end(writer);
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
    static const enum optimizer_kind kinds[] = {OPTIMIZER_SGD, OPTIMIZER_ADAM};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct optimizer_spec usual;
        optimizer_request_init(&usual, kinds[i]);
        json_schema_object(writer, NULL);
        json_schema_word(writer, "name", optimizer_kind_name(kinds[i]));
        write_rate_schema(writer);
        switch (kinds[i]) {
        case OPTIMIZER_SGD:
            json_schema_real(writer, "momentum", decay_range, &usual.momentum);
            break;
        case OPTIMIZER_ADAM:
            json_schema_real(writer, "beta1", decay_range, &usual.beta1);
            json_schema_real(writer, "beta2", decay_range, &usual.beta2);
            json_schema_real(writer, "epsilon", epsilon_range, &usual.epsilon);
            break;
        }
        write_course_schema(writer);
        json_schema_object_end(writer, (const char *const[]){"name", NULL});
    }
}
