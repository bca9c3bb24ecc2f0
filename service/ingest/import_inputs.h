/*
 * import_inputs.h - the files from which a dataset is imported: whether all of them have
 * arrived, and how the matrix is read from them.
 *
 * Threads: import_inputs_check any that may read the place of the files; the others the
 * importer's.
 */
#ifndef SERVICE_INGEST_IMPORT_INPUTS_H
#define SERVICE_INGEST_IMPORT_INPUTS_H

#include <stdbool.h>

#include "base/status.h"

struct daemon_state;
struct dataset_spec;
struct error;
struct import_failure;
struct import_report;
struct import_result;

/* Checks that every file that the declaration needs was uploaded.
 *   ST_IMPORT_FAILED  one was not, and failure says which
 *   other             the place of the files cannot be read, which is no failure of the
 *                     import */
enum status import_inputs_check(struct daemon_state *context,
                                const struct dataset_spec *spec,
                                struct import_failure *failure, struct error *error);

struct import_output {
    const char *path;             /* of the matrix */
    bool takes_any;               /* no content of a file fails the import */
    struct import_report *report; /* gets the faults of the files; NULL: none is kept */
};

/* Reads the files, with the tokenizer of the column of texts if the schema has one, and
 * writes the matrix. On failure the reason is in failure:
 *   ST_DISK_FULL      the disk is nearly full
 *   ST_IMPORT_FAILED  the files are not what the declaration says
 *   ST_CANCELLED      the import was cancelled
 *   other             a file or the tokenizer cannot be fetched */
enum status import_inputs_read(struct daemon_state *context,
                               const struct dataset_spec *spec,
                               const struct import_output *output,
                               struct import_result *result,
                               struct import_failure *failure);

/* Removes the files, after the matrix is stored. */
void import_inputs_remove(struct daemon_state *context,
                          const struct dataset_spec *spec);

#endif
