#define _GNU_SOURCE /* posix_spawn_file_actions_addclosefrom_np, pipe2 */
#include "service/runs/rank_launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/requests/rank_text.h"
#include "base/check.h"
#include "base/clock.h"

extern char **environ;

enum { LOOK_MS = 50, TERM_MS = 3000, LINE_MAX_SIZE = 1 << 16 };

/* --- the command --- */

static char *replace(const char *word, size_t length, unsigned ranks)
{
    static const char place[] = "{ranks}";
    char number[16], *to = malloc(length + sizeof number);
    CHECK(to != NULL);
    snprintf(to, length + 1, "%s", word);
    char *found = strstr(to, place);
    if (found == NULL)
        return to;
    size_t before = (size_t)(found - to), digits;
    digits = (size_t)snprintf(number, sizeof number, "%u", ranks);
    const char *behind = word + before + strlen(place);
    size_t rest = length - before - strlen(place);
    memcpy(to + before, number, digits);
    memcpy(to + before + digits, behind, rest);
    to[before + digits + rest] = '\0';
    return to;
}

char **rank_words(const char *command, unsigned ranks)
{
    static const char blanks[] = " \t";
    size_t count = 0;
    char **words = calloc(strlen(command) / 2 + 2, sizeof *words);
    CHECK(words != NULL);
    command += strspn(command, blanks);
    while (*command != '\0') {
        size_t length = strcspn(command, blanks);
        words[count++] = replace(command, length, ranks);
        command += length;
        command += strspn(command, blanks);
    }
    return words;
}

void rank_words_free(char **words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* --- start --- */

static bool may_be_secret(const char *variable)
{
    static const char *const prefixes[] = {"EPSILOND_", "PG", "AWS_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* The variables that name the folder: one for the shared memory of the ranks, and one
 * for the session files of mpirun, which passes TMPDIR to no other machine. */
static const char *const own_variables[] = {"OMPI_MCA_btl_vader_backing_directory=",
                                            "TMPDIR="};
enum { OWN_VARIABLES = 2, OWN_SIZE = 48 + RANK_MEMORY_PATH_SIZE };

static bool is_own(const char *variable)
{
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        if (strncmp(variable, own_variables[i], strlen(own_variables[i])) == 0)
            return true;
    return false;
}

/* Returns the environment for the launcher, to be freed: the process's own variables,
 * without possible secrets, and those of Open MPI, whose text is in own. */
static char **environment(const char *folder, char own[OWN_VARIABLES][OWN_SIZE])
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **variables = calloc(count + OWN_VARIABLES + 1, sizeof *variables);
    CHECK(variables != NULL);
    for (size_t i = 0; i < count; i++)
        if (!may_be_secret(environ[i]) && !is_own(environ[i]))
            variables[kept++] = environ[i];
    for (size_t i = 0; i < OWN_VARIABLES; i++) {
        snprintf(own[i], OWN_SIZE, "%s%s", own_variables[i], folder);
        variables[kept++] = own[i];
    }
    return variables;
}

/* Resets the signals that the daemon blocks and ignores, because the child must take
 * them. */
static int spawn(struct rank_launcher *launcher, char *const *words, int input,
                 int output)
{
    char own[OWN_VARIABLES][OWN_SIZE];
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    char **variables = environment(launcher->memory.path, own);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                              POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    int failed =
        posix_spawnp(&launcher->pid, words[0], &files, &attributes, words, variables);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(variables);
    return failed;
}

/* Starts the launcher with pipes and a folder. */
static enum status start(struct rank_launcher *launcher, char *const *words,
                         struct error *error)
{
    int input[2], output[2], failed = 0;
    if (pipe2(input, O_CLOEXEC) != 0)
        return error_set(error, ST_INTERNAL, "no pipe: %s", strerror(errno));
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        close(input[1]);
        return error_set(error, ST_INTERNAL, "no pipe: %s", strerror(errno));
    }
    failed = spawn(launcher, words, input[0], output[1]);
    close(input[0]);
    close(output[1]);
    launcher->to = input[1];
    launcher->from = output[0];
    fcntl(launcher->to, F_SETFL, O_NONBLOCK);
    fcntl(launcher->from, F_SETFL, O_NONBLOCK);
    if (failed == 0) {
        launcher->line = malloc(LINE_MAX_SIZE);
        CHECK(launcher->line != NULL);
        return ST_OK;
    }
    close(launcher->to);
    close(launcher->from);
    launcher->pid = 0;
    return error_set(error, ST_INTERNAL, "%s cannot be started: %s", words[0],
                     strerror(failed));
}

enum status rank_launcher_start(struct rank_launcher *launcher, char *const *words,
                                struct error *error)
{
    *launcher = (struct rank_launcher){.to = -1,
                                       .from = -1,
                                       .heard_ns = clock_monotonic_ns(),
                                       .silence_s = RANK_SILENCE_S};
    if (words[0] == NULL)
        return error_set(error, ST_INTERNAL, "there is no --ranks-launcher");
    rank_memory_sweep();
    enum status status = rank_memory_make(&launcher->memory, error);
    if (status == ST_OK)
        status = start(launcher, words, error);
    if (status != ST_OK)
        rank_memory_remove(&launcher->memory);
    return status;
}

/* --- talk --- */

/* Returns whether a signal has stopped the launcher. */
static bool is_stopped(const struct rank_launcher *launcher)
{
    siginfo_t how = {0};
    return waitid(P_PID, (id_t)launcher->pid, &how, WSTOPPED | WNOHANG | WNOWAIT) ==
               0 &&
           how.si_pid == launcher->pid;
}

static bool is_silent(struct rank_launcher *launcher)
{
    int64_t now = clock_monotonic_ns();
    if (!launcher->has_spoken && !is_stopped(launcher))
        launcher->heard_ns = now;
    return now - launcher->heard_ns > launcher->silence_s * INT64_C(1000000000);
}

/* Waits until file is ready for events. */
static enum status wait_for(struct rank_launcher *launcher, int file, short events,
                            const atomic_bool *cancel, struct error *error)
{
    struct pollfd entry = {.fd = file, .events = events};
    while (!atomic_load(cancel)) {
        if (poll(&entry, 1, LOOK_MS) > 0)
            return ST_OK;
        if (is_silent(launcher))
            return error_set(error, ST_INTERNAL, "the ranks were silent for %u s",
                             launcher->silence_s);
    }
    return error_set(error, ST_CANCELLED, "stopped");
}

enum status rank_launcher_write(struct rank_launcher *launcher, const char *text,
                                size_t size, const atomic_bool *cancel,
                                struct error *error)
{
    while (size > 0) {
        enum status status = wait_for(launcher, launcher->to, POLLOUT, cancel, error);
        if (status != ST_OK)
            return status;
        ssize_t written = write(launcher->to, text, size);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return error_set(error, ST_INTERNAL, "the ranks read no more: %s",
                             strerror(errno));
        if (written > 0) {
            text += written;
            size -= (size_t)written;
        }
    }
    return ST_OK;
}

/* Takes the first line of what was read, if it is complete, and skips empty lines
 * before it. */
static bool take_line(struct rank_launcher *launcher, char *line, size_t size,
                      bool *is_long)
{
    size_t empty = 0;
    while (empty < launcher->filled && launcher->line[empty] == '\n')
        empty++;
    launcher->filled -= empty;
    memmove(launcher->line, launcher->line + empty, launcher->filled);
    char *end =
        launcher->filled > 0 ? memchr(launcher->line, '\n', launcher->filled) : NULL;
    size_t length = end != NULL ? (size_t)(end - launcher->line) : launcher->filled;
    *is_long = length >= size;
    if (end == NULL || *is_long)
        return false;
    memcpy(line, launcher->line, length);
    line[length] = '\0';
    launcher->filled -= length + 1;
    memmove(launcher->line, end + 1, launcher->filled);
    return true;
}

enum status rank_launcher_read(struct rank_launcher *launcher, char *line, size_t size,
                               const atomic_bool *cancel, struct error *error)
{
    bool is_long = false;
    CHECK(size <= LINE_MAX_SIZE);
    while (!take_line(launcher, line, size, &is_long)) {
        if (is_long)
            return error_set(error, ST_INTERNAL, "the ranks wrote what is no report");
        enum status status = wait_for(launcher, launcher->from, POLLIN, cancel, error);
        if (status != ST_OK)
            return status;
        ssize_t got = read(launcher->from, launcher->line + launcher->filled,
                           LINE_MAX_SIZE - launcher->filled);
        if (got == 0)
            return error_set(error, ST_INTERNAL,
                             "the ranks ended before the job did; the log may say why");
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return error_set(error, ST_INTERNAL, "the ranks cannot be read: %s",
                             strerror(errno));
        if (got > 0) {
            launcher->filled += (size_t)got;
            launcher->has_spoken = true;
            launcher->heard_ns = clock_monotonic_ns();
        }
    }
    return ST_OK;
}

/* --- end --- */

/* Returns whether the process has ended, within patience_ms. It is not reaped, so that
 * its pid stays the number of its group and is not reused. */
static bool has_ended(pid_t pid, unsigned patience_ms, siginfo_t *how)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    for (unsigned waited = 0;; waited += LOOK_MS) {
        how->si_pid = 0;
        if (waitid(P_PID, (id_t)pid, how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            how->si_pid == pid)
            return true;
        if (waited >= patience_ms)
            return false;
        nanosleep(&pause, NULL);
    }
}

bool rank_launcher_end(struct rank_launcher *launcher, unsigned patience_ms)
{
    siginfo_t how = {0};
    if (launcher->pid == 0)
        return false;
    close(launcher->to);
    bool by_itself = has_ended(launcher->pid, patience_ms, &how) &&
                     how.si_code == CLD_EXITED && how.si_status == 0;
    if (how.si_pid != launcher->pid) {
        kill(-launcher->pid, SIGTERM);
        has_ended(launcher->pid, TERM_MS, &how);
    }
    kill(-launcher->pid, SIGKILL);
    while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(launcher->from);
    free(launcher->line);
    rank_memory_remove(&launcher->memory);
    *launcher = (struct rank_launcher){.to = -1, .from = -1};
    return by_itself;
}
