/*
 * verified_file.h - opens a published file for an answer, if the file is still what its
 * row says.
 *
 *   CHECK_ANEW        reads and hashes the whole file. For answers that contain the
 *                     whole file.
 *   CHECK_REMEMBERED  does so too, unless this process has found the file good before
 *                     and its device, inode, size and times of change are still the
 *                     same. For answers that contain a part of the file.
 *
 * Writing to a file changes its times, so both detect what a program does to the file.
 * File times have a resolution of up to 10 ms, so a file that changed less than
 * VERIFIED_FILE_QUIET_MS before its check is not remembered: a second change might not
 * show.
 *
 * Only CHECK_ANEW detects what a disk changes by itself, below the file system. Neither
 * detects what a disk changes between the check and the sending; a client does that
 * compares the digest which comes with the answer.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODELS_VERIFIED_FILE_H
#define SERVICE_MODELS_VERIFIED_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/file_checksum.h"

enum { VERIFIED_FILE_QUIET_MS = 100 };
enum check_kind { CHECK_ANEW, CHECK_REMEMBERED };

struct verified_file {
    pthread_mutex_t lock; /* guards the rest */
    bool known;           /* the file was found good when its stat was `good` */
    struct stat good;
};

void verified_file_init(struct verified_file *checked);
void verified_file_fini(struct verified_file *checked);

/* Opens the file at path for reading. The caller closes *file.
 *   ST_CORRUPT  the file is missing, cannot be read, or does not match the seal
 *   ST_IO       it cannot be opened for another reason, such as too many open files */
enum status verified_file_open(struct verified_file *checked, const char *path,
                               const struct file_checksum *seal, enum check_kind kind,
                               int *file, struct error *error);

#endif
