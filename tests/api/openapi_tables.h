/*
 * openapi_tables.h - what the tables of the code say about openapi.yaml, as JSON. The
 * schemas are written by the code that writes them for clients.
 *
 *   routes          a row each
 *   codes           {code of a problem: its HTTP status}
 *   formats         each with its form, its files and its numbers of classes
 *   enums           {path of a schema: its words}
 *   choices         {name of a schema: [the member that tells its objects apart, the
 *                   schemas of these objects]}
 *
 * Ownership: the caller releases the object with json_decref.
 */
#ifndef TESTS_API_OPENAPI_TABLES_H
#define TESTS_API_OPENAPI_TABLES_H

#include <jansson.h>
#include <stdlib.h>

#include "accountant/mechanisms/curve_orders.h"
#include "accountant/mechanisms/outside.h"
#include "api/http/routes.h"
#include "api/json/fault.h"
#include "api/json/json_writer.h"
#include "api/requests/algorithm_request.h"
#include "api/requests/averaging_request.h"
#include "api/requests/job_request.h"
#include "api/requests/model_schema.h"
#include "api/requests/optimizer_request.h"
#include "api/requests/proposal.h"
#include "api/requests/webhook_event.h"
#include "api/views/budget_view.h"
#include "api/views/problem.h"
#include "base/check.h"
#include "engine/data/readers/reader_registry.h"
#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/statistics/statistic.h"

static json_t *table_of_routes(void)
{
    static const char *const bodies[] = {
        [BODY_NONE] = "none",  [BODY_EMPTY] = "empty",       [BODY_JSON] = "json",
        [BODY_LOGIN] = "json", [BODY_PATCH] = "patch",       [BODY_PREDICT] = "predict",
        [BODY_FILE] = "file",  [BODY_OPTIONAL] = "optional", [BODY_ROWS] = "rows"};
    json_t *list = json_array();
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b}", "name",
                                        route->name, "method", route->method, "path",
                                        route->path, "scope", scope_name(route->scope),
                                        "body", bodies[route->body], "query",
                                        route->query, "types", route->types, "act",
                                        route->act, "keyed", (int)route->keyed));
    }
    return list;
}

static json_t *table_of_codes(void)
{
    json_t *codes = json_object();
    for (unsigned status = ST_OK + 1; status < STATUS_COUNT; status++)
        json_object_set_new(codes, status_wire((enum status)status),
                            json_integer(problem_http_status((enum status)status)));
    return codes;
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

#define ONE(...) +1
enum {
    READERS = READER_TABLE(ONE),
    ALGORITHMS = ALGORITHM_TABLE(ONE),
    LAYERS = LAYER_TABLE(ONE)
};
#undef ONE

static const char *format_name(unsigned i)
{
    return readers[i]->name;
}

static const char *algorithm_name(unsigned i)
{
    return algorithms[i]->name;
}

static const char *activation_name(unsigned i)
{
    return layer_kinds[i]->is_activation ? layer_kinds[i]->name : NULL;
}

static const char *neighbour_name(unsigned i)
{
    return neighbour_names[i];
}

static const char *preset_name(unsigned i)
{
    return preset_names[i];
}

static const char *job_accountant_name(unsigned i)
{
    return job_accountant_names[i];
}

/* The words of the enum at path, which begins with the name of a schema: the names of
 * the members from first to before end, except those that are NULL. */
static const struct {
    const char *path;
    const char *(*name)(unsigned member);
    unsigned first, end;
} enum_rows[] = {
    {"ProblemCode", status_wire, ST_OK + 1, STATUS_COUNT},
    {"FaultCode", fault_wire, FAULT_MALFORMED, FAULT_INVALID + 1},
    {"Scope", scope_name, SCOPE_EVERYBODY + 1, SCOPE_COUNT},
    {"Role", role_name, ROLE_ANALYST, ROLE_COUNT},
    {"Session/properties/role", role_name, ROLE_LOCAL, ROLE_COUNT},
    {"Session/properties/via", via_name, VIA_LOCAL, VIA_CLI},
    {"Relation", relation_name, 0, RELATION_REPLACE_ONE + 1},
    {"Neighbour", neighbour_name, 0, NEIGHBOUR_REPLACE_ONE + 1},
    {"Unit", privacy_unit_name, 0, PRIVACY_UNIT_PERSON + 1},
    {"PartName", part_name, 0, PARTS_MAX},
    {"Task", task_name, 0, TASK_REGRESSION + 1},
    {"DatasetFormat", format_name, 0, READERS},
    {"AlgorithmName", algorithm_name, 0, ALGORITHMS},
    {"LossName", loss_name, 0, LOSS_HUBER},
    {"ModelPreset/properties/preset", preset_name, PRESET_NONE + 1, PRESETS},
    {"ModelPreset/properties/activation", activation_name, 0, LAYERS},
    {"JobPrivacy/properties/accountant", job_accountant_name, 0, ACCOUNTANT_PLD + 1},
    {"StatisticKind", statistic_kind_name, 0, STATISTIC_KINDS},
    {"Fits", ledger_fits_name, 0, FITS_NO + 1},
    {"GrantState", proposal_state_name, PROPOSAL_PENDING, PROPOSAL_LAPSED + 1},
    {"WebhookEvent", webhook_event_name, 0, EVENT_TEST},
    {"WebhookMessageType", webhook_event_name, 0, WEBHOOK_EVENT_TYPES},
};

static json_t *table_of_enums(void)
{
    json_t *enums = json_object(), *orders = json_array();
    for (size_t i = 0; i < sizeof enum_rows / sizeof *enum_rows; i++) {
        json_t *words = json_array();
        for (unsigned k = enum_rows[i].first; k < enum_rows[i].end; k++)
            if (enum_rows[i].name(k) != NULL)
                json_array_append_new(words, json_string(enum_rows[i].name(k)));
        json_object_set_new(enums, enum_rows[i].path, words);
    }
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        json_array_append_new(orders, json_real(curve_orders[i]));
    json_object_set_new(enums, "GridOrder/if", orders);
    return enums;
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
