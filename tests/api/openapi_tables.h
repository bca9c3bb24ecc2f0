/*
 * openapi_tables.h - what the tables of the code say about openapi.yaml, as JSON. The
 * schemas are written by the code that writes them for clients.
 *
 *   routes, codes   a row each
 *   formats         each with its form, its files and its numbers of classes
 *   enums           {name of a schema: its words}
 *   choices         {name of a schema: [the member that tells its objects apart, the
 *                   schemas of these objects]}
 *
 * Ownership: the caller releases the object with json_decref.
 */
#ifndef TESTS_API_OPENAPI_TABLES_H
#define TESTS_API_OPENAPI_TABLES_H

#include <jansson.h>
#include <stdlib.h>

#include "api/http/routes.h"
#include "api/json/fault.h"
#include "api/json/json_writer.h"
#include "api/requests/algorithm_request.h"
#include "api/requests/averaging_request.h"
#include "api/requests/model_schema.h"
#include "api/requests/optimizer_request.h"
#include "api/views/problem.h"
#include "base/check.h"
#include "engine/data/readers/reader_registry.h"
#include "engine/dp/algorithms/registry.h"

static json_t *table_of_routes(void)
{
    static const char *const bodies[] = {
        [BODY_NONE] = "none",  [BODY_EMPTY] = "empty", [BODY_JSON] = "json",
        [BODY_LOGIN] = "json", [BODY_PATCH] = "patch", [BODY_PREDICT] = "predict",
        [BODY_FILE] = "file"};
    json_t *list = json_array();
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        json_array_append_new(
            list,
            json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b}", "name", route->name,
                      "method", route->method, "path", route->path, "scope",
                      scope_name(route->scope), "body", bodies[route->body], "query",
                      route->query, "types", route->types, "keyed", (int)route->keyed));
    }
    return list;
}

/* Two statuses may have one code. */
static json_t *table_of_codes(void)
{
    json_t *list = json_array(), *seen = json_object();
    for (int status = ST_OK + 1; status < STATUS_COUNT; status++) {
        const char *code = status_wire((enum status)status);
        if (json_object_get(seen, code) != NULL)
            continue;
        json_object_set_new(seen, code, json_true());
        json_array_append_new(list,
                              json_pack("{s:s,s:i}", "code", code, "status",
                                        (int)problem_http_status((enum status)status)));
    }
    json_decref(seen);
    return list;
}

static json_t *table_of_formats(void)
{
    static const char *const forms[] = {[FORM_SHAPED] = "shaped",
                                        [FORM_INDEXED] = "indexed",
                                        [FORM_COLUMNS] = "columns"};
    json_t *all = json_array();
    for (size_t i = 0; readers[i] != NULL; i++) {
        json_t *files = json_array(), *classes = json_array();
        const struct schema schema = {.reader = readers[i],
                                      .has_id_file = readers[i]->form != FORM_COLUMNS};
        for (size_t k = 0; k < schema_file_count(&schema); k++)
            json_array_append_new(files, json_string(schema_file_name(&schema, k)));
        for (size_t k = 0; k < READER_CLASS_COUNTS_MAX; k++)
            if (readers[i]->class_counts[k].count > 0)
                json_array_append_new(classes,
                                      json_integer(readers[i]->class_counts[k].count));
        json_array_append_new(all,
                              json_pack("{s:s,s:s,s:o,s:o}", "name", readers[i]->name,
                                        "form", forms[readers[i]->form], "files", files,
                                        "classes", classes));
    }
    return all;
}

static json_t *table_of_enums(void)
{
    json_t *codes = json_array(), *faults = json_array(), *scopes = json_array();
    json_t *roles = json_array(), *formats = json_array(), *names = json_array();
    json_t *table = table_of_codes();
    for (size_t i = 0; i < json_array_size(table); i++)
        json_array_append(codes, json_object_get(json_array_get(table, i), "code"));
    json_decref(table);
#define X(symbol, wire) json_array_append_new(faults, json_string(wire));
    FAULT_LIST(X)
#undef X
#define X(symbol, name, ...) json_array_append_new(scopes, json_string(name));
    SCOPE_LIST(X)
#undef X
    for (int role = ROLE_ANALYST; role <= ROLE_AUDITOR; role++)
        json_array_append_new(roles, json_string(role_name((enum role)role)));
    for (size_t i = 0; readers[i] != NULL; i++)
        json_array_append_new(formats, json_string(readers[i]->name));
    for (size_t i = 0; algorithms[i] != NULL; i++)
        json_array_append_new(names, json_string(algorithms[i]->name));
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "ProblemCode", codes, "FaultCode",
                     faults, "Scope", scopes, "Role", roles, "DatasetFormat", formats,
                     "AlgorithmName", names);
}

static void write_choice(struct json_writer *writer, const char *name,
                         const char *member, void (*write)(struct json_writer *writer))
{
    json_write_array(writer, name);
    json_write_text(writer, NULL, member);
    json_write_array(writer, NULL);
    write(writer);
    json_write_array_end(writer);
    json_write_array_end(writer);
}

static void write_algorithms(struct json_writer *writer)
{
    for (size_t i = 0; algorithms[i] != NULL; i++)
        algorithm_schema_write(writer, NULL, algorithms[i]);
}

static json_t *table_of_choices(void)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    write_choice(&writer, "Layer", "type", model_schema_write_layers);
    write_choice(&writer, "Algorithm", "name", write_algorithms);
    write_choice(&writer, "Optimizer", "name", optimizer_schema_write);
    write_choice(&writer, "Averaging", "kind", averaging_schema_write);
    json_write_object_end(&writer);
    char *text = json_writer_close(&writer);
    json_t *choices = json_loads(text, 0, NULL);
    free(text);
    return choices;
}

static json_t *openapi_tables(void)
{
    json_t *tables =
        json_pack("{s:o,s:o,s:o,s:o,s:o}", "routes", table_of_routes(), "codes",
                  table_of_codes(), "formats", table_of_formats(), "enums",
                  table_of_enums(), "choices", table_of_choices());
    CHECK(tables != NULL);
    return tables;
}

#endif
