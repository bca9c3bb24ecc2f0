/*
 * blob_choice.h - where the configuration says that the files are: in folders of the data
 * directory, or in a bucket of an object store (--blobs).
 *
 * A database belongs to one of the two from its first start on: its rows name files that are
 * in the other nowhere. What else is needed of a bucket comes as such software has it:
 *
 *   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or a profile (AWS_PROFILE,
 *   else "default") of the file AWS_SHARED_CREDENTIALS_FILE; AWS_REGION or
 *   AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS's own; AWS_CA_BUNDLE
 *
 * The key that wraps the keys of files is 64 hexadecimal digits, in the file that
 * --blobs-key-file names or in EPSILOND_BLOBS_KEY. None of these is an option: what stands in
 * a command line is read by everybody on the host.
 */
#ifndef SERVICE_BLOB_CHOICE_H
#define SERVICE_BLOB_CHOICE_H

#include "service/config.h"
#include "store/blob.h"
#include "store/store.h"

/* Has the blobs of the open directory be where the configuration says.
 *   ST_INVALID  the database's files are not there, or what is needed is missing
 *   others      as blob_objects_use */
enum status blob_choice_open(struct blobs *blobs, struct store *store,
                             const struct config *config, struct error *error);

/* The same for a directory that is only read: of files in a bucket only the rows are looked
 * at, unless --check-objects asks for the objects. *elsewhere: they are in one. */
enum status blob_choice_open_read(struct blobs *blobs, struct store *store,
                                  const struct config *config, bool *elsewhere,
                                  struct error *error);

#endif
