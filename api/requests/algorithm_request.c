#include "api/requests/algorithm_request.h"

#include <math.h>
#include <string.h>

#include "api/json/json_word.h"
#include "api/json/json_writer.h"
#include "base/check.h"
#include "engine/dp/algorithms/registry.h"

static double read_choice(struct json_node node, const char *const *choices)
{
    size_t choice = 0;
    json_read_word(&choice, node, choices);
    return (double)choice;
}

static double read_value(struct json_node node,
                         const struct algorithm_parameter *parameter)
{
    switch (parameter->kind) {
    case PARAMETER_REAL:
        return json_read_real(node, (struct json_range){parameter->low, parameter->high,
                                                        parameter->low_open, false});
    case PARAMETER_COUNT:
        return (double)json_read_count(node, (uint64_t)parameter->low,
                                       (uint64_t)parameter->high);
    case PARAMETER_FLAG: return json_read_flag(node);
    case PARAMETER_CHOICE: return read_choice(node, parameter->choices);
    }
    return 0;
}

/* Finds the choice that decides whether the parameter has a meaning. */
static const struct algorithm_parameter *
find_choice(const struct algorithm *algorithm,
            const struct algorithm_parameter *parameter)
{
    size_t i = 0;
    while (strcmp(algorithm->parameters[i].name, parameter->only_with) != 0)
        i++;
    return &algorithm->parameters[i];
}

static void check_members(const struct json_node *node,
                          const struct algorithm *algorithm)
{
    const char *members[ALGORITHM_PARAMETERS_MAX + 2] = {"name"};
    CHECK(algorithm->parameter_count <= ALGORITHM_PARAMETERS_MAX);
    for (size_t i = 0; i < algorithm->parameter_count; i++)
        members[i + 1] = algorithm->parameters[i].name;
    json_read_object(*node, members);
}

/* Refuses parameters that have no meaning here: ignoring them would hide a mistake. */
static void check_applies(const struct json_node *node,
                          const struct algorithm_spec *spec)
{
    const struct algorithm *algorithm = spec->algorithm;
    for (size_t i = 0; i < algorithm->parameter_count; i++) {
        const struct algorithm_parameter *parameter = &algorithm->parameters[i];
        struct json_node value = json_member(node, parameter->name);
        if (json_present(value) && !algorithm_applies(spec, parameter))
            json_refuse(
                value, "applies only where %s is \"%s\"", parameter->only_with,
                find_choice(algorithm, parameter)->choices[parameter->only_value]);
    }
}

void algorithm_request_read(struct algorithm_spec *spec, const struct json_node *node)
{
    struct json_node name = json_member(node, "name");
    if (!json_is_object(node->value))
        json_refuse(*node, "must be an object that names an algorithm");
    const struct algorithm *algorithm = algorithm_find(json_read_text(name));
    if (algorithm == NULL) {
        json_refuse(name, "no such algorithm: GET /v1/algorithms lists them");
        return;
    }
    check_members(node, algorithm);
    algorithm_spec_init(spec, algorithm);
    size_t refusals = json_refusals(*node);
    for (size_t i = 0; i < algorithm->parameter_count; i++) {
        struct json_node value = json_member(node, algorithm->parameters[i].name);
        if (json_present(value))
            spec->values[i] = read_value(value, &algorithm->parameters[i]);
    }
    if (json_refusals(*node) == refusals)
        check_applies(node, spec);
}

static void write_value(struct json_writer *writer, const char *name,
                        const struct algorithm_parameter *parameter, double value)
{
    switch (parameter->kind) {
    case PARAMETER_REAL: json_write_real(writer, name, value); return;
    case PARAMETER_COUNT: json_write_count(writer, name, (uint64_t)value); return;
    case PARAMETER_FLAG: json_write_flag(writer, name, value != 0); return;
    case PARAMETER_CHOICE:
        json_write_text(writer, name, parameter->choices[(size_t)value]);
        return;
    }
}

void algorithm_request_write(struct json_writer *writer, const char *name,
                             const struct algorithm_spec *spec)
{
    json_write_object(writer, name);
    json_write_text(writer, "name", spec->algorithm->name);
    for (size_t i = 0; i < spec->algorithm->parameter_count; i++)
        if (algorithm_applies(spec, &spec->algorithm->parameters[i]) &&
            !isnan(spec->values[i]))
            write_value(writer, spec->algorithm->parameters[i].name,
                        &spec->algorithm->parameters[i], spec->values[i]);
    json_write_object_end(writer);
}

static const char *type_name(enum parameter_kind kind)
{
    switch (kind) {
    case PARAMETER_REAL: return "number";
    case PARAMETER_COUNT: return "integer";
    case PARAMETER_FLAG: return "boolean";
    case PARAMETER_CHOICE: return "string";
    }
    return "null";
}

static void write_bounds(struct json_writer *writer,
                         const struct algorithm_parameter *parameter)
{
    if (isfinite(parameter->low))
        write_value(writer, parameter->low_open ? "exclusiveMinimum" : "minimum",
                    parameter, parameter->low);
    if (isfinite(parameter->high))
        write_value(writer, "maximum", parameter, parameter->high);
}

static void write_parameter(struct json_writer *writer,
                            const struct algorithm_parameter *parameter)
{
    json_write_object(writer, parameter->name);
    json_write_text(writer, "type", type_name(parameter->kind));
    json_write_text(writer, "description", parameter->about);
    if (parameter->kind == PARAMETER_REAL || parameter->kind == PARAMETER_COUNT)
        write_bounds(writer, parameter);
    if (parameter->kind == PARAMETER_CHOICE) {
        json_write_array(writer, "enum");
        for (size_t i = 0; parameter->choices[i] != NULL; i++)
            json_write_text(writer, NULL, parameter->choices[i]);
        json_write_array_end(writer);
    }
    if (!parameter->optional)
        write_value(writer, "default", parameter, parameter->fallback);
    json_write_object_end(writer);
}

/* Writes {"if": the choice has that value, "else": the parameter is not named}. A
 * choice that is not named has its default. */
static void write_condition(struct json_writer *writer,
                            const struct algorithm *algorithm,
                            const struct algorithm_parameter *parameter)
{
    const struct algorithm_parameter *choice = find_choice(algorithm, parameter);
    json_write_object(writer, NULL);
    json_write_object(writer, "if");
    json_write_object(writer, "properties");
    json_write_object(writer, choice->name);
    json_write_text(writer, "const", choice->choices[parameter->only_value]);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_array(writer, "required");
    if ((size_t)choice->fallback != parameter->only_value)
        json_write_text(writer, NULL, choice->name);
    json_write_array_end(writer);
    json_write_object_end(writer);
    json_write_object(writer, "else");
    json_write_object(writer, "properties");
    json_write_flag(writer, parameter->name, false);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void write_conditions(struct json_writer *writer,
                             const struct algorithm *algorithm)
{
    size_t count = 0;
    for (size_t i = 0; i < algorithm->parameter_count; i++)
        count += algorithm->parameters[i].only_with != NULL;
    if (count == 0)
        return;
    json_write_array(writer, "allOf");
    for (size_t i = 0; i < algorithm->parameter_count; i++)
        if (algorithm->parameters[i].only_with != NULL)
            write_condition(writer, algorithm, &algorithm->parameters[i]);
    json_write_array_end(writer);
}

void algorithm_schema_write(struct json_writer *writer, const char *name,
                            const struct algorithm *algorithm)
{
    json_write_object(writer, name);
    json_write_text(writer, "type", "object");
    json_write_object(writer, "properties");
    json_write_object(writer, "name");
    json_write_text(writer, "const", algorithm->name);
    json_write_object_end(writer);
    for (size_t i = 0; i < algorithm->parameter_count; i++)
        write_parameter(writer, &algorithm->parameters[i]);
    json_write_object_end(writer);
    json_write_array(writer, "required");
    json_write_text(writer, NULL, "name");
    json_write_array_end(writer);
    json_write_flag(writer, "additionalProperties", false);
    write_conditions(writer, algorithm);
    json_write_object_end(writer);
}

void algorithm_view_write(struct json_writer *writer, const struct algorithm *algorithm)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "name", algorithm->name);
    json_write_text(writer, "title", algorithm->title);
    json_write_text(writer, "paper", algorithm->paper);
    json_write_text(writer, "charge", algorithm->charge);
    json_write_text(writer, "when_to_use", algorithm->when_to_use);
    json_write_flag(writer, "private", algorithm->is_private);
    algorithm_schema_write(writer, "schema", algorithm);
    json_write_object_end(writer);
}
