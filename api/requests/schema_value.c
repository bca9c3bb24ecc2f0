#include "api/requests/schema_value.h"

#include <stdlib.h>

#include "base/check.h"
#include "engine/data/readers/reader_registry.h"

void *schema_value_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    CHECK(memory != NULL);
    return memory;
}

void schema_value_read_range(double *low, double *high, struct json_node node)
{
    size_t refusals = json_refusals(node);
    json_read_array(node, 2, 2);
    *low = json_read_real(json_element(&node, 0), json_any_real);
    *high = json_read_real(json_element(&node, 1), json_any_real);
    if (json_refusals(node) == refusals && !(*low < *high && isfinite(*high - *low)))
        json_refuse(node, "must be [low, high] with low below high");
}

void schema_value_write_range(struct json_writer *writer, double low, double high)
{
    json_write_reals(writer, "range", (const double[]){low, high}, 2);
}

void schema_value_remember(json_t *seen, struct json_node node, const char *text)
{
    if (text[0] == '\0')
        return;
    if (json_object_get(seen, text) != NULL)
        json_refuse(node, "stands here a second time");
    CHECK(json_object_set_new(seen, text, json_true()) == 0);
}

void schema_value_refuse(const struct json_node *object, const char *name,
                         const char *reason)
{
    struct json_node node = json_member(object, name);
    if (json_present(node))
        json_refuse(node, "%s", reason);
}

void schema_value_refuse_of(const struct reader *reader, const struct json_node *object,
                            const char *name, const char *has)
{
    struct json_node node = json_member(object, name);
    if (json_present(node))
        json_refuse(node, "%s %s", reader->name, has);
}

void schema_value_refuse_unless(enum record_form form, const struct json_node *object,
                                const char *name, const char *has)
{
    char names[READER_NAMES_SIZE];
    struct json_node node = json_member(object, name);
    reader_names(names, &form);
    if (json_present(node))
        json_refuse(node, "only %s %s", names, has);
}

void schema_value_refuse_dialect(const struct reader *reader,
                                 const struct json_node *object)
{
    schema_value_refuse_of(reader, object, "header", "has no line of names");
    schema_value_refuse_of(reader, object, "delimiter", "has no delimiter");
    schema_value_refuse_of(reader, object, "decimal", "has no decimal sign to declare");
}
