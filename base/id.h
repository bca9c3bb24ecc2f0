/*
 * id.h - names of things, one struct each, so that a dataset's name does not compile as a
 * job's. Clients choose the ids of datasets. Those of jobs and models are a prefix and a
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

/* Copies text if it matches [a-z0-9][a-z0-9._-]{0,62}; otherwise false, id untouched. */
bool dataset_id_parse(struct dataset_id *id, const char *text);
/* Copies text if it is the prefix and a well-formed ULID; otherwise false,
 * id untouched. */
bool job_id_parse(struct job_id *id, const char *text);
bool model_id_parse(struct model_id *id, const char *text);

/* Make a fresh id. Threads: any. */
void job_id_make(struct job_id *id);
void model_id_make(struct model_id *id);

#endif
