/*
 * predict_file.h - predictions for a csv file of any length: the body of a route whose
 * row has BODY_ROWS, read while it arrives, and an answer that is in a file without a
 * name until the last row is predicted.
 *
 *   predict_file_begin -> predict_file_feed --- a piece --> predict_file_run --+
 *                              ^                                               |
 *                              +------------- needs more text -----------------+
 *                         predict_file_end -> predict_file_run -> predict_file_reply
 *
 * Invariants
 *   (1) Memory holds at most PREDICT_FILE_PIECE bytes more than a record, and the
 *       outputs of a few rows. What was sent is never stored; the answer is on the
 *       disk, in scratch/, and is gone when the request ends, however that happens.
 *   (2) The answer begins only when all rows were predicted, so it is whole, or a
 *       problem. libmicrohttpd answers after a body, and most clients read an answer
 *       only when they have sent theirs.
 *   (3) After the first fault no row is predicted, but all further rows are read, so
 *       that the problem names the faults of the whole file, up to LIMIT_FAULTS.
 *
 * Threads: one at a time. The HTTP server's threads call predict_file_begin, _feed,
 * _end and _abandon, a file predictor the others.
 */
#ifndef SERVICE_HANDLERS_PREDICT_FILE_H
#define SERVICE_HANDLERS_PREDICT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct daemon_state;
struct predict_file; /* opaque */
struct reply;
struct request;

enum {
    PREDICT_FILE_PIECE = 256 << 10, /* bytes of text that are worked on at a time */
};

/* Finds the model that the request's path names.
 *   ST_NOT_FOUND, ST_INTERNAL  as prediction_find
 *   ST_INVALID     the records of its dataset have no columns
 *   ST_QUEUE_FULL  LIMIT_PREDICT_FILES are being predicted
 *   ST_DISK_FULL   there is no room for an answer
 *   ST_NO_MEMORY */
enum status predict_file_begin(struct predict_file **out, struct daemon_state *context,
                               const struct request *request, struct error *error);
void predict_file_abandon(struct predict_file *file); /* NULL is allowed */

/* Returns how many bytes of the body make predict_file_run due: at least one. */
size_t predict_file_room(const struct predict_file *file);
/* Takes the next bytes of the body, fewer than there is room for.
 *   ST_BODY_TOO_LARGE  the body exceeds --upload-size-max */
enum status predict_file_feed(struct predict_file *file, const char *data, size_t size,
                              struct error *error);
/* The body has ended. */
void predict_file_end(struct predict_file *file);

/* Makes error, which is borrowed, the answer, unless there is one. */
void predict_file_refuse(struct predict_file *file, const struct error *error);

/* Reads and predicts rows for a fraction of a second. Returns whether there is more to
 * do before more text is needed. */
bool predict_file_run(struct predict_file *file);

/* Sets the reply to the predictions.
 *   the status of the file's first fault, with all of them in error->faults */
enum status predict_file_reply(struct predict_file *file, struct reply *reply,
                               struct error *error);

#endif
