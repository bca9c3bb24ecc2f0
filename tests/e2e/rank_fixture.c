#include "tests/e2e/rank_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"

bool ranks_can_start(void)
{
    return daemon_sanitizer() == SANITIZER_NONE &&
           system("mpirun --version >/dev/null 2>&1") == 0;
}

struct client *ranks_client(struct stage *stage)
{
    if (stage == NULL)
        skip_because("no mpirun, or a sanitizer");
    return &stage->client;
}

/* Returns the parent of a process and stores the process's name; 0 if there is no such
 * process. */
static pid_t parent_of(const char *process, char name[64])
{
    char path[300], text[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) != NULL)
        sscanf(text, "%*d (%63[^)]) %*c %d", name, &parent);
    fclose(file);
    return parent;
}

unsigned find_ranks(const struct daemon *daemon, pid_t *found, unsigned max)
{
    unsigned count = 0;
    struct dirent *entry;
    DIR *proc = opendir("/proc");
    while ((entry = readdir(proc)) != NULL) {
        char name[64] = "", launcher[16], unused[64];
        snprintf(launcher, sizeof launcher, "%d", parent_of(entry->d_name, name));
        if (strcmp(name, "epsilond-rank") != 0 ||
            parent_of(launcher, unused) != daemon->pid)
            continue;
        if (count < max)
            found[count] = (pid_t)atoi(entry->d_name);
        count++;
    }
    closedir(proc);
    return count;
}

pid_t launcher_of(pid_t rank)
{
    char process[16], name[64];
    snprintf(process, sizeof process, "%d", rank);
    return parent_of(process, name);
}

unsigned find_processes(const char *program, pid_t *found, unsigned max)
{
    unsigned count = 0;
    struct dirent *entry;
    DIR *proc = opendir("/proc");
    while ((entry = readdir(proc)) != NULL) {
        char path[300], is[512] = "";
        snprintf(path, sizeof path, "/proc/%s/exe", entry->d_name);
        if (readlink(path, is, sizeof is - 1) < 0 || strcmp(is, program) != 0)
            continue;
        if (count < max)
            found[count] = (pid_t)atoi(entry->d_name);
        count++;
    }
    closedir(proc);
    return count;
}

void assert_ranks_gone(const pid_t *found, unsigned count)
{
    unsigned waited = 0;
    for (unsigned i = 0; i < count; i++)
        for (; waited < 1200 && kill(found[i], 0) == 0; waited++)
            nanosleep(&(struct timespec){0, 50000000}, NULL);
    assert_true(waited < 1200);
}

void assert_charged_in_part(const struct reply *job)
{
    double authorised = reply_number(job, "privacy.authorised_steps");
    assert_true(authorised >= ENDLESS_STEPS / 4.0 && authorised < ENDLESS_STEPS);
    assert_true(reply_number(job, "privacy.epsilon_spent") > 0);
    assert_true(json_is_null(reply_at(job, "model")));
}
