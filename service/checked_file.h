/*
 * checked_file.h - a published file, opened to be served only if it is still what its
 * row says.
 *
 *   CHECK_ANEW        reads and hashes the whole file. It is for answers that are all
 *                     of the file.
 *   CHECK_REMEMBERED  does so too, unless the file was found good in this process and
 *                     its device, inode, size and times of change are still what they
 *                     were then. It is for answers that are a part of the file.
 *
 * Writing to a file changes its times, so whatever a program does to it is seen by
 * both. Times of files move in ticks of up to 10 ms, so a file that changed less than
 * CHECKED_FILE_QUIET_MS before its check is not remembered: a second change might not
 * show.
 *
 * What a disk changes by itself, under the file system, is seen by CHECK_ANEW alone.
 * What it changes between the check and the sending is seen by neither, but by a client
 * that compares the digest which comes with the answer.
 *
 * Threads: any.
 */
#ifndef SERVICE_CHECKED_FILE_H
#define SERVICE_CHECKED_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/file_seal.h"

enum { CHECKED_FILE_QUIET_MS = 100 };
enum check_kind { CHECK_ANEW, CHECK_REMEMBERED };

struct checked_file {
    pthread_mutex_t lock; /* guards the rest */
    bool known;           /* the file was found good, and was then as good says */
    struct stat good;
};

void checked_file_init(struct checked_file *checked);
void checked_file_fini(struct checked_file *checked);

/* Opens the file at path for reading; *file is the caller's to close.
 *   ST_CORRUPT  it is missing, cannot be read, or is not of this seal
 *   ST_IO       it cannot be opened for another reason, such as too many open files */
enum status checked_file_open(struct checked_file *checked, const char *path,
                              const struct file_seal *seal, enum check_kind kind,
                              int *file, struct error *error);

#endif
