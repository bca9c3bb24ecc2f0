#include "api/requests/sweep_run.h"

#include <stdlib.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

void sweep_run_fini(struct sweep_run *run)
{
    free(run->settings);
    *run = (struct sweep_run){0};
}

void sweep_run_write(struct json_writer *writer, const char *name,
                     const struct sweep_run *run)
{
    json_write_object(writer, name);
    json_write_text(writer, "id", run->id.text);
    json_write_count(writer, "run", run->run);
    json_write_count(writer, "runs", run->runs);
    json_write_real(writer, "epsilon", run->epsilon);
    json_write_raw(writer, "settings", run->settings);
    json_write_object_end(writer);
}

void sweep_run_read(struct sweep_run *run, struct json_node node)
{
    if (!json_present(node))
        return;
    struct json_node id = json_member(&node, "id");
    if (!sweep_id_parse(&run->id, json_read_text(id)))
        json_refuse(id, "must be the id of a sweep");
    run->runs = json_read_count(json_member(&node, "runs"), 1, LIMIT_SWEEP_RUNS);
    run->run = json_read_count(json_member(&node, "run"), 0, LIMIT_SWEEP_RUNS - 1);
    run->epsilon = json_read_real(json_member(&node, "epsilon"), json_any_real);
    struct json_node settings = json_member(&node, "settings");
    if (!json_is_object(settings.value)) {
        json_refuse(settings, "must be an object");
        return;
    }
    run->settings = json_dumps(settings.value, JSON_COMPACT);
    CHECK(run->settings != NULL);
}
