#include "base/mechanism.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define NAME(constant, name) [constant] = #name,
static const char *const kind_names[] = {MECHANISM_TABLE(NAME)};
#undef NAME

const char *relation_name(enum relation relation)
{
    switch (relation) {
    case RELATION_ZERO_OUT: return "zero_out";
    case RELATION_REPLACE_ONE: return "replace_one";
    }
    return "";
}

bool relation_parse(enum relation *relation, const char *text)
{
    static const enum relation all[] = {RELATION_ZERO_OUT, RELATION_REPLACE_ONE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(text, relation_name(all[i])) == 0) {
            *relation = all[i];
            return true;
        }
    }
    return false;
}

const char *mechanism_kind_name(enum mechanism_kind kind)
{
    CHECK((size_t)kind < MECHANISM_KINDS);
    return kind_names[kind];
}

bool mechanism_kind_parse(enum mechanism_kind *kind, const char *text)
{
    for (size_t k = 0; k < MECHANISM_KINDS; k++) {
        if (strcmp(text, kind_names[k]) == 0) {
            *kind = (enum mechanism_kind)k;
            return true;
        }
    }
    return false;
}

void mechanism_init(struct mechanism *m, enum mechanism_kind kind,
                    enum relation relation, struct mechanism_run run)
{
    *m = (struct mechanism){.kind = kind,
                            .relation = relation,
                            .prefixes_priced = true,
                            .run_count = 1,
                            .runs = malloc(sizeof run)};
    CHECK(m->runs != NULL);
    m->runs[0] = run;
}

void mechanism_init_release(struct mechanism *m, enum relation relation,
                            double noise_multiplier)
{
    mechanism_init(m, MECHANISM_JOINT_RELEASE, relation,
                   (struct mechanism_run){1, noise_multiplier, 1});
}

void mechanism_fini(struct mechanism *m)
{
    free(m->runs);
    free(m->run_kinds);
    *m = (struct mechanism){0};
}

void mechanism_append(struct mechanism *m, struct mechanism_run run)
{
    struct mechanism_run *last = &m->runs[m->run_count - 1];
    if (last->sampling_rate == run.sampling_rate &&
        last->noise_multiplier == run.noise_multiplier) {
        last->steps += run.steps;
        return;
    }
    CHECK(m->run_count < MECHANISM_RUNS_MAX);
    m->runs = reallocarray(m->runs, m->run_count + 1, sizeof *m->runs);
    CHECK(m->runs != NULL);
    m->runs[m->run_count++] = run;
}

void mechanism_copy(struct mechanism *to, const struct mechanism *from)
{
    *to = *from;
    to->runs = calloc(from->run_count, sizeof *to->runs);
    CHECK(to->runs != NULL);
    memcpy(to->runs, from->runs, from->run_count * sizeof *to->runs);
    if (from->run_kinds == NULL)
        return;
    to->run_kinds = calloc(from->run_count, sizeof *to->run_kinds);
    CHECK(to->run_kinds != NULL);
    memcpy(to->run_kinds, from->run_kinds, from->run_count * sizeof *to->run_kinds);
}

uint64_t mechanism_steps(const struct mechanism *m)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < m->run_count; i++)
        steps += m->runs[i].steps;
    return steps;
}

/* Moves *at past literal. Returns false if literal is not there. */
static bool skip(const char **at, const char *literal)
{
    size_t length = strlen(literal);
    if (strncmp(*at, literal, length) != 0)
        return false;
    *at += length;
    return true;
}

/* Copies the characters up to a closing quote and moves past it. */
static bool word(const char **at, char *out, size_t size)
{
    size_t length = strcspn(*at, "\"");
    if (length >= size || (*at)[length] != '"')
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length + 1;
    return true;
}

static bool real_parse(const char **at, double *value)
{
    char *end;
    *value = strtod(*at, &end);
    bool found = end != *at;
    *at = end;
    return found;
}

static bool run_valid(const struct mechanism_run *run)
{
    return run->sampling_rate > 0 && run->sampling_rate <= 1 &&
           run->noise_multiplier > 0 && isfinite(run->noise_multiplier) &&
           run->steps > 0;
}

static bool run_parse(const char **at, struct mechanism_run *run)
{
    char *end;
    if (!skip(at, "[") || !real_parse(at, &run->sampling_rate) || !skip(at, ",") ||
        !real_parse(at, &run->noise_multiplier) || !skip(at, ","))
        return false;
    run->steps = strtoull(*at, &end, 10);
    *at = end;
    return skip(at, "]") && run_valid(run);
}

static bool runs_parse(const char **at, struct mechanism *m)
{
    size_t capacity = 0;
    do {
        if (m->run_count == MECHANISM_RUNS_MAX)
            return false;
        if (m->run_count == capacity) {
            capacity = capacity == 0 ? 4 : 2 * capacity;
            m->runs = reallocarray(m->runs, capacity, sizeof *m->runs);
            CHECK(m->runs != NULL);
        }
        if (!run_parse(at, &m->runs[m->run_count]))
            return false;
        m->run_count++;
    } while (skip(at, ","));
    return true;
}

/* --- extra members: writing, reading, and validity for the runs --- */

static bool turns_render(FILE *out, const struct mechanism *m)
{
    return m->turns == 0 ||
           fprintf(out, ",\"turns\":%llu", (unsigned long long)m->turns) > 0;
}

static bool turns_parse(const char **at, struct mechanism *m)
{
    char *end;
    if (!skip(at, ",\"turns\":"))
        return true;
    m->turns = strtoull(*at, &end, 10);
    *at = end;
    return m->turns > 0;
}

static bool alike(const struct mechanism_run *run, const struct mechanism_run *first)
{
    return run->sampling_rate == first->sampling_rate &&
           run->noise_multiplier == first->noise_multiplier;
}

static bool turns_valid(const struct mechanism *m)
{
    if (m->turns == 0)
        return true;
    if (m->turns < 2 || m->turns > MECHANISM_TURNS_MAX)
        return false;
    for (size_t i = 0; i < m->run_count; i++) {
        const struct mechanism_run *run = &m->runs[i], *first = &m->runs[1];
        bool is_last = i + 2 >= m->run_count;
        if (i % 2 == 0 ? run->sampling_rate != 1
                       : !(run->sampling_rate < 1 && alike(run, first) &&
                           (is_last ? run->steps <= first->steps
                                    : run->steps == first->steps)))
            return false;
    }
    return true;
}

static const char *bound_name(enum error_feedback_bound bound)
{
    switch (bound) {
    case ERROR_FEEDBACK_M1: return "m1";
    case ERROR_FEEDBACK_M2: return "m2";
    case ERROR_FEEDBACK_M2R: return "m2r";
    case ERROR_FEEDBACK_M3: return "m3";
    }
    return "";
}

static bool bound_parse(enum error_feedback_bound *bound, const char *text)
{
    static const enum error_feedback_bound all[] = {
        ERROR_FEEDBACK_M1, ERROR_FEEDBACK_M2, ERROR_FEEDBACK_M2R, ERROR_FEEDBACK_M3};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(text, bound_name(all[i])) == 0) {
            *bound = all[i];
            return true;
        }
    }
    return false;
}

static bool feedback_render(FILE *out, const struct mechanism *m)
{
    const struct error_feedback *f = &m->error_feedback;
    return fprintf(out, ",\"feedback\":[\"%s\",%llu,%.17g,%.17g]", bound_name(f->bound),
                   (unsigned long long)f->period, f->rest, f->error_clip) > 0;
}

static bool feedback_parse(const char **at, struct mechanism *m)
{
    struct error_feedback *f = &m->error_feedback;
    char name[8], *end;
    if (!skip(at, ",\"feedback\":[\"") || !word(at, name, sizeof name) ||
        !bound_parse(&f->bound, name) || !skip(at, ","))
        return false;
    f->period = strtoull(*at, &end, 10);
    *at = end;
    return skip(at, ",") && real_parse(at, &f->rest) && skip(at, ",") &&
           real_parse(at, &f->error_clip) && skip(at, "]");
}

static bool feedback_valid(const struct mechanism *m)
{
    const struct error_feedback *f = &m->error_feedback;
    bool has_rest = f->bound != ERROR_FEEDBACK_M1;
    bool has_clip = f->bound != ERROR_FEEDBACK_M2R;
    bool sampled = f->bound == ERROR_FEEDBACK_M3;
    return m->run_count == 1 && isfinite(f->rest) && isfinite(f->error_clip) &&
           (has_rest ? f->rest > 0 : f->rest == 0) &&
           (has_clip ? f->error_clip >= 0 : f->error_clip == 0) &&
           (f->period == 0) == sampled && m->prefixes_priced == !sampled &&
           (sampled || m->runs[0].sampling_rate == 1);
}

static bool filter_render(FILE *out, const struct mechanism *m)
{
    return fprintf(out, ",\"filter\":[%.17g,%.17g]", m->filter.order_max,
                   m->filter.noise_share) > 0;
}

static bool filter_parse(const char **at, struct mechanism *m)
{
    return skip(at, ",\"filter\":[") && real_parse(at, &m->filter.order_max) &&
           skip(at, ",") && real_parse(at, &m->filter.noise_share) && skip(at, "]");
}

static bool filter_valid(const struct mechanism *m)
{
    const struct mechanism_filter *f = &m->filter;
    return m->run_count == 1 && !m->prefixes_priced && f->order_max > 1 &&
           isfinite(f->order_max) && f->noise_share > 0 && f->noise_share <= 1;
}

static bool discovery_render(FILE *out, const struct mechanism *m)
{
    return fprintf(out, ",\"texts\":[%.17g,%llu]", m->discovery.threshold,
                   (unsigned long long)m->discovery.rows) > 0;
}

static bool discovery_parse(const char **at, struct mechanism *m)
{
    char *end;
    if (!skip(at, ",\"texts\":[") || !real_parse(at, &m->discovery.threshold) ||
        !skip(at, ","))
        return false;
    m->discovery.rows = strtoull(*at, &end, 10);
    *at = end;
    return skip(at, "]");
}

static bool discovery_valid(const struct mechanism *m)
{
    const struct mechanism_discovery *d = &m->discovery;
    return mechanism_steps(m) == 1 && m->prefixes_priced && d->threshold > 1 &&
           isfinite(d->threshold) && d->rows >= 1 && d->rows <= MECHANISM_ROWS_MAX &&
           (m->unit == PRIVACY_UNIT_PERSON || d->rows == 1);
}

static bool kinds_render(FILE *out, const struct mechanism *m)
{
    bool whole = fprintf(out, ",\"kinds\":[") > 0;
    for (size_t i = 0; i < m->run_count; i++)
        whole = fprintf(out, "%s\"%s\"", i == 0 ? "" : ",",
                        kind_names[m->run_kinds[i]]) > 0 &&
                whole;
    return fprintf(out, "]") > 0 && whole;
}

static bool kinds_parse(const char **at, struct mechanism *m)
{
    char name[32];
    m->run_kinds = calloc(m->run_count, sizeof *m->run_kinds);
    CHECK(m->run_kinds != NULL);
    bool good = skip(at, ",\"kinds\":[");
    for (size_t i = 0; good && i < m->run_count; i++)
        good = (i == 0 || skip(at, ",")) && skip(at, "\"") &&
               word(at, name, sizeof name) &&
               mechanism_kind_parse(&m->run_kinds[i], name);
    return good && skip(at, "]");
}

/* A run that was a sequence itself would need an order of its own runs. */
static bool kinds_valid(const struct mechanism *m)
{
    bool good = m->run_kinds != NULL && m->prefixes_priced;
    for (size_t i = 0; good && i < m->run_count; i++)
        good = m->run_kinds[i] != MECHANISM_SEQUENCE;
    return good;
}

struct extra { /* all NULL: the kind has no extra member */
    bool (*render)(FILE *out, const struct mechanism *m);
    bool (*parse)(const char **at, struct mechanism *m);
    bool (*valid)(const struct mechanism *m);
};

static const struct extra extras[MECHANISM_KINDS] = {
    [MECHANISM_FIXED_SUBSET] = {turns_render, turns_parse, turns_valid},
    [MECHANISM_ERROR_FEEDBACK] = {feedback_render, feedback_parse, feedback_valid},
    [MECHANISM_FILTERED_GAUSSIAN] = {filter_render, filter_parse, filter_valid},
    [MECHANISM_DISCOVERY] = {discovery_render, discovery_parse, discovery_valid},
    [MECHANISM_SEQUENCE] = {kinds_render, kinds_parse, kinds_valid},
};

static const struct extra *extra_of(enum mechanism_kind kind)
{
    CHECK((size_t)kind < MECHANISM_KINDS);
    return &extras[kind];
}

bool mechanism_extra_valid(const struct mechanism *m)
{
    const struct extra *extra = extra_of(m->kind);
    return extra->valid == NULL || extra->valid(m);
}

/* --- the whole text --- */

char *mechanism_render(const struct mechanism *m)
{
    const struct extra *extra = extra_of(m->kind);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL);
    bool whole = fprintf(out, "{\"kind\":\"%s\",\"relation\":\"%s\"",
                         kind_names[m->kind], relation_name(m->relation)) > 0;
    if (m->unit != PRIVACY_UNIT_RECORD)
        whole =
            fprintf(out, ",\"unit\":\"%s\"", privacy_unit_name(m->unit)) > 0 && whole;
    whole = fprintf(out, ",\"runs\":[") > 0 && whole;
    for (size_t i = 0; i < m->run_count; i++)
        whole = fprintf(out, "%s[%.17g,%.17g,%llu]", i == 0 ? "" : ",",
                        m->runs[i].sampling_rate, m->runs[i].noise_multiplier,
                        (unsigned long long)m->runs[i].steps) > 0 &&
                whole;
    whole = fprintf(out, "]") > 0 && whole;
    if (extra->render != NULL)
        whole = extra->render(out, m) && whole;
    whole = fprintf(out, ",\"prefixes_priced\":%s}",
                    m->prefixes_priced ? "true" : "false") > 0 &&
            whole;
    /* Without memory the stream drops what it cannot hold, and fclose does not
     * report it. */
    CHECK(fclose(out) == 0 && whole && text != NULL);
    return text;
}

/* Reads the unit. A mechanism on records omits it: a text that names that unit is
 * not canonical. */
static bool unit_read(const char **at, struct mechanism *m)
{
    char name[32];
    m->unit = PRIVACY_UNIT_RECORD;
    return !skip(at, ",\"unit\":\"") ||
           (word(at, name, sizeof name) && privacy_unit_parse(&m->unit, name));
}

static bool parse(struct mechanism *m, const char *text)
{
    char name[32];
    const char *at = text;
    if (!skip(&at, "{\"kind\":\"") || !word(&at, name, sizeof name) ||
        !mechanism_kind_parse(&m->kind, name) || !skip(&at, ",\"relation\":\"") ||
        !word(&at, name, sizeof name) || !relation_parse(&m->relation, name) ||
        !unit_read(&at, m) || !skip(&at, ",\"runs\":[") || !runs_parse(&at, m) ||
        !skip(&at, "]"))
        return false;
    const struct extra *extra = extra_of(m->kind);
    if ((extra->parse != NULL && !extra->parse(&at, m)) ||
        !skip(&at, ",\"prefixes_priced\":"))
        return false;
    m->prefixes_priced = skip(&at, "true}");
    return (m->prefixes_priced || skip(&at, "false}")) && *at == '\0' &&
           mechanism_extra_valid(m);
}

enum status mechanism_parse(struct mechanism *m, const char *text, struct error *error)
{
    struct mechanism read = {0};
    bool canonical = parse(&read, text);
    if (canonical) {
        char *again = mechanism_render(&read);
        canonical = strcmp(again, text) == 0;
        free(again);
    }
    if (!canonical) {
        mechanism_fini(&read);
        return error_set(error, ST_INVALID, "not the canonical text of a mechanism");
    }
    *m = read;
    return ST_OK;
}
