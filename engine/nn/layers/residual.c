/* A residual forks its input into two values that share their activations. The layers
 * of body and shortcut follow each other in the network, and a node adds their outputs
 * (fork.h):
 *
 *   fork --> body -------> add
 *     \--> shortcut ----/
 */
#include "engine/nn/layers/fork.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    size_t body = (size_t)(spec - builder->model->layers) + 1;
    struct view body_end;
    struct fork fork;
    enum status status;

    if (builder->depth == MODEL_NESTING_MAX)
        return builder_refuse(builder, "", "is nested deeper than %d",
                              MODEL_NESTING_MAX);
    if (spec->body == 0)
        return builder_refuse(builder, "/body", "must hold a layer");
    status = fork_build(builder, &fork);
    if (status != ST_OK)
        return status;
    builder->view = fork.one;
    status = builder_branch(builder, "body", body, spec->body);
    if (status != ST_OK)
        return status;
    body_end = builder->view;
    builder->view = fork.other;
    status = builder_branch(builder, "shortcut", body + spec->body, spec->shortcut);
    if (status != ST_OK)
        return status;
    fork.other = builder->view;
    builder->view = body_end;
    return fork_join(builder, &fork.other);
}

static const struct layer_member members[] = {
    {.name = "body",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, body),
     .low = 1},
    {.name = "shortcut",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, shortcut),
     .optional = true},
};

const struct layer_kind layer_residual = {
    .name = "residual",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build,
};
