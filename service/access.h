/*
 * access.h - what the principal that asks may do, and what it sees, by the roles, the
 * scopes and the projects of api/roles.h.
 *
 * Whether a request has the scope of its route at all is asked once, before its handler
 * runs (session.c); whether it reaches the thing that it names is asked by whoever looks
 * that up, here. A thing that is not seen is answered as one that is not there: the same
 * lookups, the same comparisons, the same text.
 *
 * Threads: any.
 */
#ifndef SERVICE_ACCESS_H
#define SERVICE_ACCESS_H

#include <stdbool.h>

#include "api/roles.h"
#include "service/context.h"
#include "service/request.h"

struct access_question { /* who asks, what for, and where a thing is named */
    const struct principal *principal;
    enum scope scope;
    const char *pointer; /* "" where the path names it */
};

/* The question that the request asks of what its path names: by the scope of its route. */
struct access_question access_question_of(const struct request *request);

/* Whether the principal has the scope of the request's route.
 *   ST_FORBIDDEN  it has not */
enum status access_check_scope(const struct request *request, struct error *error);

/* Find a thing by its id.
 *   ST_NOT_FOUND  there is none, or the principal does not see it
 *   ST_FORBIDDEN  it is another owner's, and the principal reaches only its own */
enum status access_find_dataset(struct context *context,
                                const struct access_question *question, const char *id,
                                struct dataset **out, struct error *error);
/* The same of the dataset that the request's path names, and what may change of it. */
enum status access_read_dataset(struct context *context, const struct request *request,
                                struct dataset **out, struct dataset_info *info,
                                struct error *error);
/* Find a dataset whose declaration or files the request changes or imports. Until records
 * are imported nobody knows anything of them, and a refusal would tell, so this is for the
 * dataset's owner only.
 *   ST_FORBIDDEN  somebody else registered it */
enum status access_find_own_dataset(struct context *context,
                                    const struct access_question *question,
                                    const char *id, struct dataset **out,
                                    struct error *error);
/* Whether the principal that makes the request is the one who registered the dataset. */
bool access_owns_dataset(const struct request *request, const struct dataset *dataset);
/* The same of a job, whose body can be read.
 *   ST_INTERNAL  as job_check */
enum status access_find_job(struct context *context,
                            const struct access_question *question, const char *id,
                            struct job **out, struct error *error);
enum status access_find_model(struct context *context,
                              const struct access_question *question, const char *id,
                              const struct model_row **out, struct error *error);
enum status access_find_file(struct context *context,
                             const struct access_question *question, const char *id,
                             const struct weights_row **out, struct error *error);
/* The same; out is a copy. */
enum status access_find_webhook(struct context *context,
                                const struct access_question *question, const char *id,
                                struct webhook *out, struct error *error);

/* The same of a thing that the caller has looked up; its object is zeroed where there is
 * none. kind is a word for it: "key". */
enum status access_check_thing(const struct access_question *question, const char *kind,
                               const char *id, const struct access_object *object,
                               struct error *error);

/* Whether the principal that makes the request reaches a thing with the scope of its route:
 * for lists. */
bool access_sees(const struct request *request, const struct access_object *object);
bool access_sees_dataset(const struct request *request, const struct dataset *dataset);
bool access_sees_job(const struct request *request, const struct job *job);
bool access_sees_model(struct context *context, const struct request *request,
                       const struct model_row *row);
bool access_sees_file(const struct request *request, const struct weights_row *row);
bool access_sees_webhook(const struct request *request, const struct webhook *webhook);

/* Whether it reaches the things of every project with the scope of its route. */
bool access_is_everywhere(const struct request *request);

/* For what cannot be told apart by project.
 *   ST_FORBIDDEN  it does not: its scope stands beside a role that has no such reach */
enum status access_check_everywhere(const struct request *request, struct error *error);

#endif
