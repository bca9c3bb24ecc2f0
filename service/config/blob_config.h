/*
 * blob_config.h - opens the place where the configuration says that the files are:
 * folders of the data directory, or a bucket of an object store (--blobs).
 *
 * A database belongs to one of the two from its first start on: the files that its rows
 * name are not in the other. The rest of what a bucket needs is read from the
 * environment variables that other S3 clients use:
 *
 *   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or a profile
 *   (AWS_PROFILE, else "default") of the file AWS_SHARED_CREDENTIALS_FILE;
 *   AWS_REGION or AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else
 *   AWS's own; AWS_CA_BUNDLE
 *
 * The key that encrypts the keys of files is 64 hexadecimal digits, in the file that
 * --blobs-key-file names or in EPSILOND_BLOBS_KEY. None of these secrets is a
 * command-line option, because everyone on the host can read a command line.
 */
#ifndef SERVICE_CONFIG_BLOB_CONFIG_H
#define SERVICE_CONFIG_BLOB_CONFIG_H

#include "store/store.h"

struct blobs;
struct config;

/* Makes the open directory use the blobs that the configuration names.
 *   ST_INVALID  the database's files are elsewhere, or something that is needed is
 *               missing
 *   others      as blob_objects_use */
enum status blob_config_open(struct blobs *blobs, struct store *store,
                             const struct config *config, struct error *error);

/* Like blob_config_open, for a directory that is only read. Of files in a bucket only
 * the rows are read, unless --check-objects asks for the objects too. *elsewhere says
 * whether the files are in a bucket. */
enum status blob_config_open_read(struct blobs *blobs, struct store *store,
                                  const struct config *config, bool *elsewhere,
                                  struct error *error);

#endif
