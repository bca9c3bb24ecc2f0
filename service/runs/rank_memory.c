#define _XOPEN_SOURCE 700 /* declares nftw */
#include "service/runs/rank_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE  "/dev/shm"
#define PREFIX "epsilond-ranks-"

enum { FOLDERS_OPEN = 16, TRIES = 16 };

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    remove(path);
    return 0;
}

static void remove_all(const char *path)
{
    nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* Opens the folder and locks it. Returns -1 if it is another user's, is locked, or has
 * been removed before the lock was taken. */
static int lock_folder(const char *path)
{
    struct stat info;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -1;
    if (fstat(folder, &info) == 0 && info.st_uid == geteuid() &&
        flock(folder, LOCK_EX | LOCK_NB) == 0 && access(path, F_OK) == 0)
        return folder;
    close(folder);
    return -1;
}

enum status rank_memory_make(struct rank_memory *memory, struct error *error)
{
    /* Another process's sweep may remove a folder before it is locked: try again. */
    for (int try = 0; try < TRIES; try++) {
        snprintf(memory->path, sizeof memory->path, PLACE "/" PREFIX "XXXXXX");
        if (mkdtemp(memory->path) == NULL)
            break;
        memory->lock = lock_folder(memory->path);
        if (memory->lock >= 0)
            return ST_OK;
    }
    memory->path[0] = '\0';
    return error_set(error, ST_INTERNAL, "no folder for ranks in " PLACE ": %s",
                     strerror(errno));
}

void rank_memory_remove(struct rank_memory *memory)
{
    if (memory->path[0] == '\0')
        return;
    remove_all(memory->path);
    close(memory->lock);
    memory->path[0] = '\0';
}

void rank_memory_sweep(void)
{
    struct dirent *entry;
    DIR *place = opendir(PLACE);
    while (place != NULL && (entry = readdir(place)) != NULL) {
        char path[RANK_MEMORY_PATH_SIZE];
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
            snprintf(path, sizeof path, PLACE "/%s", entry->d_name) >= (int)sizeof path)
            continue;
        struct rank_memory left = {.lock = lock_folder(path)};
        if (left.lock < 0)
            continue;
        memcpy(left.path, path, sizeof path);
        rank_memory_remove(&left);
    }
    if (place != NULL)
        closedir(place);
}
