/*
 * file_users.h - which datasets, jobs and models need an uploaded file. Such a file
 * is not deleted: its dataset could not be imported, its jobs could not start, and its
 * models could not predict.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_HANDLERS_FILE_USERS_H
#define SERVICE_HANDLERS_FILE_USERS_H

#include "base/id.h"
#include "base/status.h"

struct access_question;
struct daemon_state;

/* Checks that nothing needs the file.
 *   question        names who asks: a dataset or model that this principal does not see
 *                   is not named
 *   ST_FILE_IN_USE  a dataset, a job or a model does; error->text says what to do */
enum status file_users_check_none(struct daemon_state *context,
                                  const struct access_question *question,
                                  const struct file_id *file, struct error *error);

#endif
