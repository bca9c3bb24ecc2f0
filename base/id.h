/*
 * id.h - identifiers. Each kind is a struct of its own, so that a dataset's id does not
 * compile as a job's. Clients choose the ids of datasets. The others are a prefix and a
 * ULID (48 bits of wall clock, 80 random bits, 26 characters of Crockford's base 32).
 */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdbool.h>

enum { DATASET_ID_LENGTH_MAX = 63 };

struct dataset_id {
    char text[DATASET_ID_LENGTH_MAX + 1];
};
struct job_id {
    char text[32]; /* job_ and 26 characters */
};
struct model_id {
    char text[32]; /* mdl_ and 26 characters */
};
struct grant_id {
    char text[32]; /* grt_ and 26 characters */
};

struct sweep_id {
    char text[32]; /* swp_ and 26 characters */
};

struct survey_id { /* of statistics, or of the evaluation of a model */
    char text[32]; /* sta_ or mev_ and 26 characters */
};
struct charge_id {
    char text[32]; /* chg_ and 26 characters */
};

struct file_id {
    char text[32]; /* fil_ and 26 characters */
};

struct webhook_id {
    char text[32]; /* whk_ and 26 characters */
};
struct delivery_id {
    char text[32]; /* msg_ and 26 characters */
};

/* Copies text if it matches [a-z0-9][a-z0-9._-]{0,62}. Otherwise returns false and
 * leaves id untouched. */
bool dataset_id_parse(struct dataset_id *id, const char *text);
/* Copies text if it is the prefix and a well-formed ULID. Otherwise returns false and
 * leaves id untouched. */
bool job_id_parse(struct job_id *id, const char *text);
bool model_id_parse(struct model_id *id, const char *text);
bool file_id_parse(struct file_id *id, const char *text);
bool webhook_id_parse(struct webhook_id *id, const char *text);
bool delivery_id_parse(struct delivery_id *id, const char *text);
bool grant_id_parse(struct grant_id *id, const char *text);
bool sweep_id_parse(struct sweep_id *id, const char *text);
bool survey_id_parse(struct survey_id *id, const char *text);
bool survey_id_is_evaluation(const struct survey_id *id);
bool charge_id_parse(struct charge_id *id, const char *text);

/* Returns the id under which the ledger keeps a survey or a charge. The ledger uses a
 * job's type of id for everything that is charged. */
struct job_id holder_of_survey(const struct survey_id *survey);
struct job_id holder_of_charge(const struct charge_id *charge);

/* Returns the id under which the ledger keeps the cost of a job's evaluation on a
 * holdout: evl_ and the characters of the job's id. The job also has a reservation
 * under its own id. */
struct job_id job_evaluation_id(const struct job_id *job);
/* Copies text if it is the id of a job, of a survey or of a charge, or one
 * that job_evaluation_id makes of a job's id. Otherwise returns false and
 * leaves id untouched. */
bool charged_id_parse(struct job_id *id, const char *text);
/* Returns the job that such an id belongs to. If the id is a charge's, the result names
 * no job. */
struct job_id charged_job(const struct job_id *id);

/* Generate a new id. Threads: any. */
void job_id_make(struct job_id *id);
void model_id_make(struct model_id *id);
void file_id_make(struct file_id *id);
void webhook_id_make(struct webhook_id *id);
/* A delivery's id contains its time only to the whole second: the event that it reports
 * became visible at a tick (privacy.md P6). */
void delivery_id_make(struct delivery_id *id);
void grant_id_make(struct grant_id *id);
void sweep_id_make(struct sweep_id *id);
void survey_id_make(struct survey_id *id); /* of statistics */
void survey_id_make_evaluation(struct survey_id *id);
void charge_id_make(struct charge_id *id);

#endif
