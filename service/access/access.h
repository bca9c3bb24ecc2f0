/*
 * access.h - decides what a principal may do and see, by the roles, scopes and projects
 * of api/http/roles.h.
 *
 * session.c checks once, before the handler runs, whether the principal has the scope
 * of the route at all. The functions here look up the object that a request names, and
 * check whether the principal reaches it. An object that the principal may not see gets
 * the same answer as one that does not exist: the same lookups, the same comparisons,
 * the same text.
 *
 * Threads: any.
 */
#ifndef SERVICE_ACCESS_ACCESS_H
#define SERVICE_ACCESS_ACCESS_H

#include <stdbool.h>

#include "api/http/roles.h"
#include "service/webhooks/webhooks.h"

struct daemon_state;
struct dataset;
struct job;
struct model_row;
struct webhook;
struct weights_row;

/* The principal, the scope that it needs, and the place of the object's name. */
struct access_question {
    const struct principal *principal;
    enum scope scope;
    const char *pointer; /* where the request names it; "" if in the path */
};

/* Checks that the principal has the scope at all.
 *   ST_FORBIDDEN  it does not */
enum status access_check_scope(const struct access_question *question,
                               struct error *error);

/* Finds an object by its id.
 *   ST_NOT_FOUND  there is none, or the principal may not see it
 *   ST_FORBIDDEN  it belongs to another owner, and the principal reaches only its
 *                 own */
enum status access_find_dataset(struct daemon_state *context,
                                const struct access_question *question, const char *id,
                                struct dataset **out, struct error *error);
/* Finds a dataset whose declaration or files the request changes or imports. Only the
 * dataset's owner may do this: until records are imported no one else may learn
 * anything of them, and a refusal would reveal something.
 *   ST_FORBIDDEN  someone else registered it */
enum status access_find_own_dataset(struct daemon_state *context,
                                    const struct access_question *question,
                                    const char *id, struct dataset **out,
                                    struct error *error);
/* Returns whether the principal registered the dataset. */
bool access_owns_dataset(const struct principal *principal,
                         const struct dataset *dataset);
/* Like access_find_dataset, for a job, a model and a file. The body of the job can be
 * read.
 *   ST_INTERNAL  as job_check, for a job only */
enum status access_find_job(struct daemon_state *context,
                            const struct access_question *question, const char *id,
                            struct job **out, struct error *error);
enum status access_find_model(struct daemon_state *context,
                              const struct access_question *question, const char *id,
                              const struct model_row **out, struct error *error);
enum status access_find_file(struct daemon_state *context,
                             const struct access_question *question, const char *id,
                             const struct weights_row **out, struct error *error);
/* Like access_find_dataset; out is a copy. */
enum status access_find_webhook(struct daemon_state *context,
                                const struct access_question *question, const char *id,
                                struct webhook *out, struct error *error);

/* Like access_find_dataset, for an object that the caller has looked up; object is
 * zeroed if there is none. kind is the word for it in the error text: "key". */
enum status access_check_thing(const struct access_question *question, const char *kind,
                               const char *id, const struct access_object *object,
                               struct error *error);

/* Return whether the principal reaches an object with the scope. Lists use this. */
bool access_sees(const struct access_question *question,
                 const struct access_object *object);
bool access_sees_dataset(const struct access_question *question,
                         const struct dataset *dataset);
bool access_sees_job(const struct access_question *question, const struct job *job);
bool access_sees_model(struct daemon_state *context,
                       const struct access_question *question,
                       const struct model_row *row);
bool access_sees_file(const struct access_question *question,
                      const struct weights_row *row);
bool access_sees_webhook(const struct access_question *question,
                         const struct webhook *webhook);

/* Returns whether the principal reaches the objects of every project with the
 * scope. */
bool access_is_everywhere(const struct access_question *question);

/* Checks access_is_everywhere, for data that cannot be separated by project.
 *   ST_FORBIDDEN  the principal has the scope, but its role does not reach every
 *                 project */
enum status access_check_everywhere(const struct access_question *question,
                                    struct error *error);

#endif
