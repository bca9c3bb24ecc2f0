#include "mpi/mpi_memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The daemon's folder (service/runs/rank_memory.h), if the launcher passes it on. */
static const char folder_variable[] = "OMPI_MCA_btl_vader_backing_directory";

/* Lets Open MPI choose the folders, because this machine does not have that folder. */
static void forget(const char *folder)
{
    const char *session = getenv("TMPDIR");
    if (session != NULL && strcmp(session, folder) == 0)
        unsetenv("TMPDIR");
    unsetenv(folder_variable);
}

static bool are_on_one_machine(void)
{
    const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE"),
               *all = getenv("OMPI_COMM_WORLD_SIZE");
    return here != NULL && all != NULL && strcmp(here, all) == 0;
}

enum status mpi_memory_prepare(struct error *error)
{
    const char *folder = getenv(folder_variable);
    bool is_missing = folder != NULL && access(folder, W_OK) != 0;
    if (is_missing && are_on_one_machine())
        return error_set(error, ST_CANCELLED, "%s: the daemon has ended the job",
                         folder);
    if (is_missing)
        forget(folder);
    if (are_on_one_machine()) {
        setenv("OMPI_MCA_pml", "ob1", 0);
        setenv("OMPI_MCA_btl", "self,vader", 0);
    }
    return ST_OK;
}

/* Returns whether the path is that of a shared memory file of vader or of its
 * successor sm. */
static bool is_memory(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return strncmp(name, "vader_segment.", strlen("vader_segment.")) == 0 ||
           strncmp(name, "sm_segment.", strlen("sm_segment.")) == 0;
}

/* Calls act with the path of each shared memory file that this process maps. */
static void for_each_file(void (*act)(const char *path))
{
    static const char removed[] = " (deleted)";
    char line[4608];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/'), *end;
        line[strcspn(line, "\n")] = '\0';
        if (path == NULL || !is_memory(path))
            continue;
        if ((end = strstr(path, removed)) != NULL)
            *end = '\0';
        act(path);
    }
    if (maps != NULL)
        fclose(maps);
}

static void hide(const char *path)
{
    unlink(path); /* or another rank has done so */
}

void mpi_memory_hide(void)
{
    for_each_file(hide);
}

static void name_again(const char *path)
{
    int file =
        open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (file >= 0)
        close(file);
}

void mpi_memory_name_again(void)
{
    for_each_file(name_again);
}
