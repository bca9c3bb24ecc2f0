#include "api/views/dataset_view.h"

#include <stdio.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/views/budget_view.h"
#include "api/views/epochs_view.h"
#include "api/views/import_report_view.h"

/* Returns the part of a failure that everyone may know. The rest is only for
 * the owner. */
static const char *state_reason(const struct import_failure *failure)
{
    if (failure->status == ST_OK)
        return NULL;
    bool ours = failure->status == ST_INTERNAL || failure->status == ST_DISK_FULL;
    return status_wire(ours ? failure->status : ST_IMPORT_FAILED);
}

/* Writes how many records each part has, which follows from n and the declaration. */
static void write_parts(struct json_writer *writer, const struct dataset_view *view)
{
    const struct division *division = &view->spec->grant.division;
    if (view->spec->is_public || division_parts(division) == 1 || view->records == 0)
        return;
    json_write_array(writer, "parts");
    for (unsigned p = 0; p < division_parts(division); p++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "part", part_name((enum part)p));
        json_write_count(writer, "records",
                         division_count(division, view->records, (enum part)p));
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

/* Writes the state, and what is known of the content. */
static void write_state(struct json_writer *writer, const struct dataset_view *view)
{
    json_write_text(writer, "state", view->state);
    json_write_text(writer, "state_reason", state_reason(&view->failure));
    json_write_count_if(writer, view->records > 0, "records", view->records);
    /* The size of a matrix gives the total number of rows. If units are persons, that
     * number must stay secret. */
    bool told =
        view->size > 0 && schema_unit(&view->spec->schema) == PRIVACY_UNIT_RECORD;
    json_write_count_if(writer, told, "size", view->size);
    json_write_text(writer, "unit",
                    privacy_unit_name(schema_unit(&view->spec->schema)));
    write_parts(writer, view);
}

static void write_times(struct json_writer *writer, const struct dataset_view *view)
{
    json_write_text(writer, "project", view->project);
    json_write_text(writer, "created_by", view->created_by);
    json_write_time(writer, "create_time", view->create_ms);
    json_write_time(writer, "import_time", view->import_ms);
}

static void write_evaluations(struct json_writer *writer,
                              const struct dataset_view *view)
{
    json_write_array(writer, "evaluations");
    for (size_t i = 0; i < view->evaluation_count; i++)
        json_write_text(writer, NULL, view->evaluations[i].text);
    json_write_array_end(writer);
}

char *dataset_render(const struct dataset_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    dataset_spec_write(&writer, view->spec);
    caption_write(&writer, view->caption);
    writer.digits = JSON_SHOWN;
    write_state(&writer, view);
    json_write_digest(&writer, "sha256", view->spec->is_public ? view->sha256 : NULL);
    if (view->epochs != NULL) {
        epochs_write(&writer, view->epochs, false);
    } else {
        json_write_null(&writer, "guarantee");
        json_write_null(&writer, "epochs");
    }
    write_evaluations(&writer, view);
    proposal_show(&writer, view->proposal, view->now_ms);
    write_times(&writer, view);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *dataset_summary_render(const struct dataset_view *view)
{
    const struct schema *schema = &view->spec->schema;
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", view->spec->id.text);
    caption_write(&writer, view->caption);
    json_write_text(&writer, "format", schema->reader->name);
    json_write_text(&writer, "task", task_name(schema->task));
    dataset_privacy_write(&writer, view->spec);
    dataset_division_write(&writer, view->spec);
    write_state(&writer, view);
    if (view->balance != NULL)
        budget_figures_write(&writer, "budget", view->balance);
    else
        json_write_null(&writer, "budget");
    proposal_show(&writer, view->proposal, view->now_ms);
    write_times(&writer, view);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static void write_failure(struct json_writer *writer,
                          const struct import_failure *failure,
                          const struct import_report *report)
{
    if (failure->status == ST_OK) {
        json_write_null(writer, "failure");
        return;
    }
    json_write_object(writer, "failure");
    json_write_text(writer, "code", status_wire(failure->status));
    json_write_text(writer, "detail", failure->text);
    json_write_text(writer, "file", failure->file[0] != '\0' ? failure->file : NULL);
    json_write_count_if(writer, failure->line > 0, "line", failure->line);
    json_write_count_if(writer, failure->column > 0, "column", failure->column);
    if (report != NULL)
        import_report_write(writer, report);
    json_write_object_end(writer);
}

char *import_render(const struct dataset_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", view->spec->id.text);
    json_write_text(&writer, "state", view->state);
    write_failure(&writer, &view->failure, view->report);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *upload_render(const struct upload_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", view->dataset);
    json_write_text(&writer, "file", view->file);
    json_write_flag(&writer, "complete", view->is_whole);
    json_write_count_if(&writer, !view->is_whole, "offset", view->offset);
    json_write_count_if(&writer, view->is_begun, "length", view->length);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static void write_act(struct json_writer *writer, const struct import_act *act)
{
    json_write_object(writer, "act");
    json_write_text(writer, "key", act->key);
    json_write_text(writer, "via", act->via);
    json_write_text(writer, "address", act->address);
    json_write_text(writer, "request", act->request);
    acknowledgement_write_if(writer, act->acknowledged);
    json_write_object_end(writer);
}

char *dataset_detail_render(const struct dataset_detail *detail)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "records", detail->records);
    json_write_count(&writer, "size", detail->size);
    json_write_count(&writer, "import_ms", (uint64_t)detail->import_ms);
    json_write_text(&writer, "rows_sha256", detail->rows_sha256);
    if (detail->sources_sha256[0] != '\0')
        json_write_text(&writer, "sources_sha256", detail->sources_sha256);
    if (detail->is_shuffled)
        json_write_flag(&writer, "is_shuffled", true);
    write_failure(&writer, &detail->failure, NULL);
    if (detail->act.request[0] != '\0')
        write_act(&writer, &detail->act);
    if (detail->proposal.state != PROPOSAL_NONE)
        proposal_write(&writer, &detail->proposal);
    if (detail->regrant.state != PROPOSAL_NONE)
        proposal_write(&writer, &detail->regrant);
    if (detail->words.state != PROPOSAL_NONE)
        proposal_write(&writer, &detail->words);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static bool is_there(struct json_node node)
{
    return json_present(node) && !json_is_null(node.value);
}

static uint64_t count_or_zero(struct json_node node)
{
    return is_there(node) ? json_read_count(node, 0, INT64_MAX) : 0;
}

static void read_code(enum status *status, struct json_node node)
{
    static const enum status codes[] = {
        ST_IMPORT_FAILED, ST_INVALID, ST_DUPLICATE_CONTENT, ST_DISK_FULL, ST_INTERNAL};
    const char *text = json_read_text(node);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(text, status_wire(codes[i])) == 0) {
            *status = codes[i];
            return;
        }
    }
    json_refuse(node, "must be the code of a failed import");
}

static void read_failure(struct import_failure *failure, struct json_node node)
{
    struct json_node file = json_member(&node, "file");
    read_code(&failure->status, json_member(&node, "code"));
    snprintf(failure->text, sizeof failure->text, "%s",
             json_read_text(json_member(&node, "detail")));
    if (is_there(file))
        snprintf(failure->file, sizeof failure->file, "%s", json_read_text(file));
    failure->line = count_or_zero(json_member(&node, "line"));
    failure->column = count_or_zero(json_member(&node, "column"));
}

static void read_word(char *out, size_t size, struct json_node node)
{
    const char *text = json_read_text(node);
    if (strlen(text) < size)
        snprintf(out, size, "%s", text);
    else
        json_refuse(node, "is too long");
}

static void read_act(struct import_act *act, struct json_node node)
{
    read_word(act->key, sizeof act->key, json_member(&node, "key"));
    read_word(act->via, sizeof act->via, json_member(&node, "via"));
    read_word(act->address, sizeof act->address, json_member(&node, "address"));
    read_word(act->request, sizeof act->request, json_member(&node, "request"));
    act->acknowledged = acknowledgement_read(&node);
}

static void read_digest(char hex[SHA256_HEX_SIZE], struct json_node node)
{
    const char *text = json_present(node) ? json_read_text(node) : "";
    size_t length = strlen(text);
    if (length != 0 &&
        (length != SHA256_HEX_SIZE - 1 || strspn(text, "0123456789abcdef") != length))
        json_refuse(node, "must be a digest in lower-case hex");
    else
        memcpy(hex, text, length + 1);
}

/* Earlier versions stored one text, which was "" if nothing had failed. */
static void read_reason(struct import_failure *failure, struct json_node node)
{
    snprintf(failure->text, sizeof failure->text, "%s", json_read_text(node));
    failure->status = failure->text[0] != '\0' ? ST_IMPORT_FAILED : ST_OK;
}

enum status dataset_detail_parse(struct dataset_detail *detail, const char *text,
                                 struct error *error)
{
    struct dataset_detail read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK) {
        read.records = json_read_count(json_member(&root, "records"), 0, INT64_MAX);
        read.size = json_read_count(json_member(&root, "size"), 0, INT64_MAX);
        read.import_ms =
            (int64_t)json_read_count(json_member(&root, "import_ms"), 0, INT64_MAX);
        read_digest(read.rows_sha256, json_member(&root, "rows_sha256"));
        read_digest(read.sources_sha256, json_member(&root, "sources_sha256"));
        struct json_node shuffled = json_member(&root, "is_shuffled");
        read.is_shuffled = json_present(shuffled) && json_read_flag(shuffled);
        struct json_node failure = json_member(&root, "failure");
        if (!json_present(failure))
            read_reason(&read.failure, json_member(&root, "reason"));
        else if (is_there(failure))
            read_failure(&read.failure, failure);
        struct json_node act = json_member(&root, "act");
        if (json_present(act))
            read_act(&read.act, act);
        struct json_node grant = json_member(&root, "grant");
        if (json_present(grant))
            proposal_read(&read.proposal, grant);
        struct json_node regrant = json_member(&root, "regrant");
        if (json_present(regrant))
            proposal_read(&read.regrant, regrant);
        struct json_node words = json_member(&root, "words");
        if (json_present(words))
            proposal_read(&read.words, words);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *detail = read;
    return status;
}
