#include "api/requests/averaging_request.h"

#include "api/json/json_schema.h"
#include "api/json/json_word.h"
#include "api/json/json_writer.h"

/* The member of each kind, if it has one. The literature averages the second half of
 * the steps. An average over a thousand steps is the usual exponential one. */
static const struct {
    const char *name;
    size_t offset;
    struct json_range range;
    double usual;
} members[] = {
    [AVERAGING_NONE] = {NULL, 0, {0}, 0},
    [AVERAGING_TAIL] = {"share",
                        offsetof(struct averaging_spec, share),
                        {0, 1, true, false},
                        0.5},
    [AVERAGING_EMA] = {"decay",
                       offsetof(struct averaging_spec, decay),
                       {0, 1, false, true},
                       0.999},
};

void averaging_request_read(struct averaging_spec *averaging,
                            const struct json_node *node)
{
    size_t kind;
    *averaging = (struct averaging_spec){0};
    json_read_object(*node, (const char *const[]){"kind", "share", "decay", NULL});
    if (!json_read_word(&kind, json_member(node, "kind"), averaging_kind_names))
        return;
    averaging->kind = (enum averaging_kind)kind;
    json_read_object(*node, (const char *const[]){"kind", members[kind].name, NULL});
    if (members[kind].name == NULL)
        return;
    struct json_node member = json_member(node, members[kind].name);
    *(double *)((char *)averaging + members[kind].offset) =
        json_present(member) ? json_read_real(member, members[kind].range)
                             : members[kind].usual;
}

void averaging_request_write(struct json_writer *writer, const char *name,
                             const struct averaging_spec *averaging)
{
    enum averaging_kind kind = averaging->kind;
    if (kind == AVERAGING_NONE)
        return;
    json_write_object(writer, name);
    json_write_text(writer, "kind", averaging_kind_names[kind]);
    json_write_real(writer, members[kind].name,
                    *(const double *)((const char *)averaging + members[kind].offset));
    json_write_object_end(writer);
}

void averaging_schema_write(struct json_writer *writer)
{
    for (size_t i = 0; averaging_kind_names[i] != NULL; i++) {
        json_schema_object(writer, NULL);
        json_schema_word(writer, "kind", averaging_kind_names[i]);
        if (members[i].name != NULL)
            json_schema_real(writer, members[i].name, members[i].range,
                             &members[i].usual);
        json_schema_object_end(writer, (const char *const[]){"kind", NULL});
    }
}
