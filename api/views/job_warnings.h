/*
 * job_warnings.h - what a person should know of a job before it is charged, in the
 * estimate and in the answer that submits it. A warning prevents nothing.
 *
 *   no_evaluation   the data is private, and the job asks for no evaluation
 */
#ifndef API_VIEWS_JOB_WARNINGS_H
#define API_VIEWS_JOB_WARNINGS_H

#include <stdbool.h>

struct job_request;
struct json_writer;

/* Writes "warnings": [{"code","text"}] into an object that is open; nothing if there are
 * none. */
void job_warnings_write(struct json_writer *writer, const struct job_request *request,
                        bool is_private);

#endif
