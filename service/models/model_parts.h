/*
 * model_parts.h - the files of a published model: its own, and the uploaded file that has
 * its body if its own file was written without it (engine/model_file/model_file.h). The
 * certificate says which file that is.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODELS_MODEL_PARTS_H
#define SERVICE_MODELS_MODEL_PARTS_H

#include <stdbool.h>

#include "engine/model_file/model_values.h"
#include "store/blobs/blob.h"

struct daemon_state;
struct model_row;

struct model_parts {             /* zeroed before; not copied afterwards */
    struct blob_loan own, other; /* other: of the body's file */
    struct file_checksum seal;
    struct weights_source body;
    bool has_body; /* its own file was written without it */
};

/* Finds the file of the model's body, without borrowing it.
 *   name, seal      of the file
 *   ST_NOT_FOUND    the model needs none: its own file is whole
 *   ST_CORRUPT      it was deleted, or is another one */
enum status model_parts_find_body(struct blob_name *name, struct file_checksum *seal,
                                  struct daemon_state *context,
                                  const struct model_row *row, struct error *error);

/* Borrows the files, which model_parts_give_back gives back, also on failure.
 *   ST_CORRUPT   a file is missing
 *   ST_INTERNAL  the store of a file does not answer
 *   others       as blob_fetch */
enum status model_parts_borrow(struct model_parts *parts, struct daemon_state *context,
                               const struct model_row *row, struct error *error);
void model_parts_give_back(struct model_parts *parts,
                           const struct daemon_state *context);

/* The files for predictor_source. A body that is in memory is not read again. */
struct model_source model_parts_files(const struct model_parts *parts,
                                      const struct daemon_state *context);

/* Returns whether a published model has its body in the uploaded file of that id. */
bool model_parts_need(struct daemon_state *context, const char *file);

/* Makes one whole file of the model and its body, without a name, opened for reading; the
 * caller closes *file.
 *   seal              of the whole file
 *   ST_MODEL_CORRUPT  a file is missing, or is not what was published
 *   ST_INTERNAL       the whole file cannot be written, or as job_check
 *   others            as blob_fetch */
enum status model_parts_merge(int *file, struct file_checksum *seal,
                              struct daemon_state *context, const struct model_row *row,
                              struct error *error);

#endif
