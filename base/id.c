#include "base/id.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

enum { ULID_LENGTH = 26, PREFIX_LENGTH = 4, ULID_RANDOM_SIZE = 10, MS_PER_S = 1000 };

static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
static const char id_first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
static const char id_rest[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";

bool dataset_id_parse(struct dataset_id *id, const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > DATASET_ID_LENGTH_MAX)
        return false;
    if (strchr(id_first, text[0]) == NULL || strspn(text, id_rest) != length)
        return false;
    memcpy(id->text, text, length + 1);
    return true;
}

static bool well_formed(const char *text, const char *prefix)
{
    return strlen(text) == PREFIX_LENGTH + ULID_LENGTH &&
           memcmp(text, prefix, PREFIX_LENGTH) == 0 &&
           strspn(text + PREFIX_LENGTH, crockford) == ULID_LENGTH;
}

/* Copies a well-formed id. The buffer of every such id is larger than the id. */
static void take(char *out, const char *text)
{
    memcpy(out, text, PREFIX_LENGTH + ULID_LENGTH + 1);
}

bool job_id_parse(struct job_id *id, const char *text)
{
    if (!well_formed(text, "job_"))
        return false;
    take(id->text, text);
    return true;
}

static struct job_id with_prefix(const struct job_id *id, const char *prefix)
{
    struct job_id other = *id;
    memcpy(other.text, prefix, PREFIX_LENGTH);
    return other;
}

struct job_id job_evaluation_id(const struct job_id *job)
{
    return with_prefix(job, "evl_");
}

bool charged_id_parse(struct job_id *id, const char *text)
{
    if (!well_formed(text, "evl_") && !well_formed(text, "sta_") &&
        !well_formed(text, "mev_") && !well_formed(text, "chg_"))
        return job_id_parse(id, text);
    take(id->text, text);
    return true;
}

struct job_id charged_job(const struct job_id *id)
{
    return with_prefix(id, "job_");
}

bool model_id_parse(struct model_id *id, const char *text)
{
    if (!well_formed(text, "mdl_"))
        return false;
    take(id->text, text);
    return true;
}

bool grant_id_parse(struct grant_id *id, const char *text)
{
    if (!well_formed(text, "grt_"))
        return false;
    take(id->text, text);
    return true;
}

bool file_id_parse(struct file_id *id, const char *text)
{
    if (!well_formed(text, "fil_"))
        return false;
    take(id->text, text);
    return true;
}

bool sweep_id_parse(struct sweep_id *id, const char *text)
{
    if (!well_formed(text, "swp_"))
        return false;
    take(id->text, text);
    return true;
}

bool survey_id_parse(struct survey_id *id, const char *text)
{
    if (!well_formed(text, "sta_") && !well_formed(text, "mev_"))
        return false;
    take(id->text, text);
    return true;
}

bool survey_id_is_evaluation(const struct survey_id *id)
{
    return strncmp(id->text, "mev_", PREFIX_LENGTH) == 0;
}

bool charge_id_parse(struct charge_id *id, const char *text)
{
    if (!well_formed(text, "chg_"))
        return false;
    take(id->text, text);
    return true;
}

struct job_id holder_of_survey(const struct survey_id *survey)
{
    struct job_id holder;
    snprintf(holder.text, sizeof holder.text, "%s", survey->text);
    return holder;
}

struct job_id holder_of_charge(const struct charge_id *charge)
{
    struct job_id holder;
    snprintf(holder.text, sizeof holder.text, "%s", charge->text);
    return holder;
}

bool webhook_id_parse(struct webhook_id *id, const char *text)
{
    if (!well_formed(text, "whk_"))
        return false;
    take(id->text, text);
    return true;
}

bool delivery_id_parse(struct delivery_id *id, const char *text)
{
    if (!well_formed(text, "msg_"))
        return false;
    take(id->text, text);
    return true;
}

/* Writes 130 bits as 26 characters of 5 bits: two zero bits, 48 bits of time and 80
 * random bits, most significant first. */
static void ulid_make(char out[ULID_LENGTH + 1], int64_t wall_ms)
{
    uint8_t random[ULID_RANDOM_SIZE];
    uint64_t time_ms = (uint64_t)wall_ms;
    random_bytes(random, sizeof random);
    for (int i = 9; i >= 0; i--, time_ms >>= 5)
        out[i] = crockford[time_ms & 31];
    for (int i = 0; i < 16; i++) {
        int bit = 5 * i;
        unsigned pair = (unsigned)random[bit / 8] << 8;
        if (bit / 8 + 1 < ULID_RANDOM_SIZE)
            pair |= random[bit / 8 + 1];
        out[10 + i] = crockford[(pair >> (11 - bit % 8)) & 31];
    }
    out[ULID_LENGTH] = '\0';
}

void job_id_make(struct job_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "job_%s", ulid);
}

void file_id_make(struct file_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "fil_%s", ulid);
}

void model_id_make(struct model_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "mdl_%s", ulid);
}

void charge_id_make(struct charge_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "chg_%s", ulid);
}

void grant_id_make(struct grant_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "grt_%s", ulid);
}

void sweep_id_make(struct sweep_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "swp_%s", ulid);
}

void survey_id_make(struct survey_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "sta_%s", ulid);
}

void survey_id_make_evaluation(struct survey_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "mev_%s", ulid);
}

void webhook_id_make(struct webhook_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_ms());
    snprintf(id->text, sizeof id->text, "whk_%s", ulid);
}

void delivery_id_make(struct delivery_id *id)
{
    char ulid[ULID_LENGTH + 1];
    ulid_make(ulid, clock_wall_s() * MS_PER_S);
    snprintf(id->text, sizeof id->text, "msg_%s", ulid);
}
