#include "api/requests/proposal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/limits.h"

static const int64_t ms_per_day = INT64_C(86400000);

const char *const proposal_state_names[PROPOSAL_STATE_COUNT + 1] = {
    "PENDING", "APPROVED", "REJECTED", "LAPSED", NULL};

const char *proposal_state_name(enum proposal_state state)
{
    return proposal_state_names[state - PROPOSAL_PENDING];
}

struct proposal proposal_make(const char *principal, int64_t now_ms)
{
    struct proposal proposal = {.state = PROPOSAL_PENDING, .propose_ms = now_ms};
    grant_id_make(&proposal.id);
    snprintf(proposal.proposed_by, sizeof proposal.proposed_by, "%s", principal);
    return proposal;
}

static int64_t lapse_ms(const struct proposal *proposal)
{
    return proposal->propose_ms + LIMIT_GRANT_DAYS * ms_per_day;
}

enum proposal_state proposal_state_at(const struct proposal *proposal, int64_t now_ms)
{
    bool lapsed = proposal->state == PROPOSAL_PENDING && now_ms >= lapse_ms(proposal);
    return lapsed ? PROPOSAL_LAPSED : proposal->state;
}

bool proposal_bars(const struct proposal *proposal)
{
    return proposal->state != PROPOSAL_NONE && proposal->state != PROPOSAL_APPROVED;
}

bool proposal_is_further(const struct proposal *proposal)
{
    return proposal->further.epsilon > 0;
}

bool proposal_is_words(const struct proposal *proposal)
{
    return proposal->words.threshold > 0;
}

bool proposed_words_same(const struct proposed_words *a, const struct proposed_words *b)
{
    return a->column == b->column && a->threshold == b->threshold &&
           a->deviation == b->deviation && a->delta == b->delta;
}

static const char *member_of(const struct proposal *proposal)
{
    if (proposal_is_words(proposal))
        return "words";
    return proposal_is_further(proposal) ? "regrant" : "grant";
}

/* --- the numbers of a further epoch --- */

static void write_further(struct json_writer *writer, const struct grant *further)
{
    json_write_real(writer, "epsilon", further->epsilon);
    json_write_real(writer, "delta", further->delta);
    if (further->order != 0)
        json_write_real(writer, "order", further->order);
    if (further->discovery_delta != 0)
        json_write_real(writer, "discovery_delta", further->discovery_delta);
}

enum status further_grant_parse(struct grant *grant, enum acknowledged *acknowledged,
                                struct json_text body, struct error *error)
{
    enum acknowledged confirmed = ACKNOWLEDGED_NOTHING;
    struct grant read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root,
                         (const char *const[]){"epsilon", "delta", "order",
                                               "discovery_delta", "acknowledge", NULL});
        dataset_grant_read(&read, &root, LIMIT_EPSILON);
        confirmed = acknowledgement_read(&root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK) {
        grant->epsilon = read.epsilon;
        grant->delta = read.delta;
        grant->order = read.order;
        grant->discovery_delta = read.discovery_delta;
        *acknowledged = confirmed;
    }
    return status;
}

/* --- the stored form --- */

static void write_words(struct json_writer *writer, const struct proposed_words *words)
{
    json_write_count(writer, "column", words->column);
    json_write_real(writer, "threshold", words->threshold);
    json_write_real(writer, "deviation", words->deviation);
    json_write_real(writer, "discovery_delta", words->delta);
    json_write_text(writer, "statistics", words->statistics.text);
}

static void read_words(struct proposed_words *words, const struct json_node *object)
{
    static const struct json_range positive = {0, INFINITY, true, true};
    struct json_node run = json_member(object, "statistics");
    const char *text = json_read_text(run);
    words->column =
        (uint32_t)json_read_count(json_member(object, "column"), 0, UINT32_MAX);
    words->threshold = json_read_real(json_member(object, "threshold"), positive);
    words->deviation = json_read_real(json_member(object, "deviation"), positive);
    words->delta = json_read_real(json_member(object, "discovery_delta"), positive);
    if (text[0] != '\0' && !survey_id_parse(&words->statistics, text))
        json_refuse(run, "must be the id of statistics");
}

void proposal_write(struct json_writer *writer, const struct proposal *proposal)
{
    json_write_object(writer, member_of(proposal));
    if (proposal_is_further(proposal))
        write_further(writer, &proposal->further);
    if (proposal_is_words(proposal))
        write_words(writer, &proposal->words);
    json_write_text(writer, "id", proposal->id.text);
    json_write_text(writer, "state", proposal_state_name(proposal->state));
    json_write_text(writer, "proposed_by", proposal->proposed_by);
    json_write_count(writer, "propose_ms", (uint64_t)proposal->propose_ms);
    json_write_text(writer, "decided_by", proposal->decision.approved_by);
    json_write_text(writer, "reason", proposal->decision.reason);
    json_write_count(writer, "decide_ms", (uint64_t)proposal->decide_ms);
    json_write_object_end(writer);
}

static void read_text(char *out, size_t room, struct json_node node)
{
    const char *text = json_read_text(node);
    if (strlen(text) >= room)
        json_refuse(node, "is too long");
    else
        memcpy(out, text, strlen(text) + 1);
}

static enum proposal_state read_state(struct json_node node)
{
    const char *text = json_read_text(node);
    for (enum proposal_state state = PROPOSAL_PENDING; state < PROPOSAL_LAPSED; state++)
        if (strcmp(text, proposal_state_name(state)) == 0)
            return state;
    json_refuse(node, "must be the state of a grant");
    return PROPOSAL_NONE;
}

void proposal_read(struct proposal *proposal, struct json_node node)
{
    struct json_node id = json_member(&node, "id");
    if (!grant_id_parse(&proposal->id, json_read_text(id)))
        json_refuse(id, "must be the id of a grant");
    proposal->state = read_state(json_member(&node, "state"));
    if (json_present(json_member(&node, "epsilon")))
        dataset_grant_read(&proposal->further, &node, LIMIT_EPSILON);
    if (json_present(json_member(&node, "threshold")))
        read_words(&proposal->words, &node);
    read_text(proposal->proposed_by, sizeof proposal->proposed_by,
              json_member(&node, "proposed_by"));
    read_text(proposal->decision.approved_by, sizeof proposal->decision.approved_by,
              json_member(&node, "decided_by"));
    read_text(proposal->decision.reason, sizeof proposal->decision.reason,
              json_member(&node, "reason"));
    proposal->propose_ms =
        (int64_t)json_read_count(json_member(&node, "propose_ms"), 0, INT64_MAX);
    proposal->decide_ms =
        (int64_t)json_read_count(json_member(&node, "decide_ms"), 0, INT64_MAX);
}

/* --- the form in responses --- */

static void write_or_null(struct json_writer *writer, const char *name,
                          const char *text)
{
    json_write_text(writer, name, text[0] != '\0' ? text : NULL);
}

static void show_members(struct json_writer *writer, const struct proposal *proposal,
                         int64_t now_ms)
{
    json_write_text(writer, "state",
                    proposal_state_name(proposal_state_at(proposal, now_ms)));
    json_write_text(writer, "proposed_by", proposal->proposed_by);
    write_or_null(writer, "decided_by", proposal->decision.approved_by);
    write_or_null(writer, "reason", proposal->decision.reason);
    json_write_time(writer, "propose_time", proposal->propose_ms);
    json_write_time(writer, "lapse_time", lapse_ms(proposal));
    json_write_time(writer, "decide_time", proposal->decide_ms);
}

void proposal_show(struct json_writer *writer, const struct proposal *proposal,
                   int64_t now_ms)
{
    if (proposal == NULL || proposal->state == PROPOSAL_NONE) {
        json_write_null(writer, "grant");
        return;
    }
    json_write_object(writer, "grant");
    json_write_text(writer, "id", proposal->id.text);
    show_members(writer, proposal, now_ms);
    json_write_object_end(writer);
}

/* Writes the budget that the proposal grants, or will grant once approved. */
static void write_promise(struct json_writer *writer, const struct proposal *proposal,
                          const struct dataset_spec *spec)
{
    struct dataset_spec promised = *spec; /* borrows from spec */
    if (proposal_is_further(proposal)) {
        promised.grant.epsilon = proposal->further.epsilon;
        promised.grant.delta = proposal->further.delta;
        promised.grant.order = proposal->further.order;
        promised.grant.discovery_delta = proposal->further.discovery_delta;
    }
    dataset_privacy_write(writer, &promised);
}

static void write_replaced(struct json_writer *writer, const struct grant *replaces)
{
    if (replaces == NULL) {
        json_write_null(writer, "replaces");
        return;
    }
    json_write_object(writer, "replaces");
    json_write_real(writer, "epsilon", replaces->epsilon);
    json_write_real(writer, "delta", replaces->delta);
    if (replaces->discovery_delta != 0)
        json_write_real(writer, "discovery_delta", replaces->discovery_delta);
    json_write_object_end(writer);
}

/* Writes what is discovered, at which threshold and noise, and how probable it is that
 * a text of one unit is shown. */
static void show_words(struct json_writer *writer, const struct proposed_words *words,
                       const struct dataset_spec *spec)
{
    bool is_there = words->column < spec->schema.column_count;
    json_write_object(writer, "words");
    json_write_text(writer, "column",
                    is_there ? spec->schema.columns[words->column].name : NULL);
    json_write_real(writer, "threshold", words->threshold);
    json_write_real(writer, "deviation", words->deviation);
    json_write_real(writer, "discovery_delta", words->delta);
    write_or_null(writer, "statistics", words->statistics.text);
    json_write_object_end(writer);
}

char *proposal_render(const struct proposal *proposal, const struct dataset_spec *spec,
                      const struct grant *replaces, enum acknowledged needed,
                      int64_t now_ms)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", proposal->id.text);
    json_write_text(&writer, "dataset", spec->id.text);
    json_write_text(&writer, "kind",
                    proposal_is_words(proposal)     ? "words"
                    : proposal_is_further(proposal) ? "regrant"
                                                    : "declaration");
    if (proposal_is_words(proposal))
        show_words(&writer, &proposal->words, spec);
    write_promise(&writer, proposal, spec);
    write_replaced(&writer, replaces);
    show_members(&writer, proposal, now_ms);
    acknowledgement_write(&writer, needed);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *proposal_act_render(const struct proposal *proposal,
                          const struct dataset_spec *spec,
                          enum acknowledged acknowledged)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "grant", proposal->id.text);
    if (proposal_is_words(proposal))
        show_words(&writer, &proposal->words, spec);
    write_promise(&writer, proposal, spec);
    json_write_text(&writer, "proposed_by", proposal->proposed_by);
    json_write_text(&writer, "reason", proposal->decision.reason);
    acknowledgement_write_if(&writer, acknowledged);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* --- a decision --- */

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static void read_reason(char reason[GRANT_REASON_SIZE], const struct json_node *root)
{
    struct json_node node = json_member(root, "reason");
    const char *text = json_read_text(node);
    if (strlen(text) > LIMIT_REASON)
        json_refuse(node, "must have at most 200 bytes");
    else if (has_control(text))
        json_refuse(node, "must be one line, without control characters");
    else if (json_present(node) && text[0] == '\0')
        json_refuse(node, "must say why");
    else
        snprintf(reason, GRANT_REASON_SIZE, "%s", text);
}

enum status decision_parse(char reason[GRANT_REASON_SIZE], struct json_text body,
                           struct error *error)
{
    char read[GRANT_REASON_SIZE] = "";
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"reason", NULL});
        read_reason(read, &root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        memcpy(reason, read, sizeof read);
    return status;
}

enum status grant_approval_parse(char reason[GRANT_REASON_SIZE],
                                 enum acknowledged *acknowledged, struct json_text body,
                                 struct error *error)
{
    char read[GRANT_REASON_SIZE] = "";
    enum acknowledged confirmed = ACKNOWLEDGED_NOTHING;
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"reason", "acknowledge", NULL});
        read_reason(read, &root);
        confirmed = acknowledgement_read(&root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK) {
        *acknowledged = confirmed;
        memcpy(reason, read, sizeof read);
    }
    return status;
}

enum status policy_approval_parse(struct key_policy *policy,
                                  char reason[GRANT_REASON_SIZE], struct json_text body,
                                  struct error *error)
{
    char read[GRANT_REASON_SIZE] = "";
    struct key_policy named = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"policy", "reason", NULL});
        key_policy_read_member(&named, &root);
        read_reason(read, &root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK) {
        *policy = named;
        memcpy(reason, read, sizeof read);
    }
    return status;
}
