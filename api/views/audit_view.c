#include "api/views/audit_view.h"

#include "api/json/json_writer.h"

enum { MS_PER_S = 1000 };

static void write_or_null(struct json_writer *writer, const char *name,
                          const char *text)
{
    json_write_text(writer, name, text[0] != '\0' ? text : NULL);
}

char *audit_row_render(const struct audit_row *row)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "seq", row->seq);
    json_write_time(&writer, "time", row->second * MS_PER_S);
    write_or_null(&writer, "actor", row->actor);
    write_or_null(&writer, "key", row->key);
    write_or_null(&writer, "project", row->project);
    write_or_null(&writer, "via", row->via);
    write_or_null(&writer, "ip", row->address);
    json_write_text(&writer, "action", row->action);
    write_or_null(&writer, "object", row->object);
    json_write_text(&writer, "result", row->result);
    write_or_null(&writer, "code", row->code);
    write_or_null(&writer, "request_id", row->request);
    json_write_raw(&writer, "detail", row->detail);
    json_write_digest(&writer, "prev", row->prev);
    json_write_digest(&writer, "hash", row->hash);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *dataset_act_render(const struct dataset_spec *spec, bool anew)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    if (spec->is_public) {
        json_write_flag(&writer, "public", true);
    } else {
        json_write_real(&writer, "epsilon", spec->grant.epsilon);
        json_write_real(&writer, "delta", spec->grant.delta);
    }
    if (anew)
        json_write_flag(&writer, "anew", true);
    acknowledgement_write_if(&writer, spec->acknowledged);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *regrant_act_render(const struct grant *grant, enum acknowledged acknowledged)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_real(&writer, "epsilon", grant->epsilon);
    json_write_real(&writer, "delta", grant->delta);
    if (grant->discovery_delta != 0)
        json_write_real(&writer, "discovery_delta", grant->discovery_delta);
    acknowledgement_write_if(&writer, acknowledged);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *import_act_render(enum acknowledged acknowledged)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    acknowledgement_write_if(&writer, acknowledged);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *job_act_render(const struct job_act *act)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", act->dataset);
    json_write_text(&writer, "algorithm", act->algorithm);
    if (act->is_private) {
        json_write_real(&writer, "epsilon", act->epsilon);
        json_write_count(&writer, "ledger_seq", act->ledger_seq);
    }
    if (act->purchase != NULL)
        standardise_request_write(&writer, "standardise", act->purchase);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
