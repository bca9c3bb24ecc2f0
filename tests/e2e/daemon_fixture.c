#define _GNU_SOURCE /* memmem */
#include "tests/e2e/daemon_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <jansson.h>

enum {
    START_TIMEOUT_MS = 180000, /* a sanitizer build on a loaded machine is slow */
    STOP_TIMEOUT_MS = 180000,
    RUN_TIMEOUT_MS = 300000,
    ARGUMENTS_MAX = 32,
};

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
              NULL);
}

static const char *binary(void)
{
    const char *path = getenv("EPSILOND");
    if (path == NULL)
        fail_msg("EPSILOND must name the daemon's binary");
    return path;
}

/* A program calls the function that initialises its sanitizer by name. */
static enum daemon_sanitizer find_sanitizer(const char *path)
{
    static const char *const names[] = {
        [SANITIZER_ADDRESS] = "__asan_init", [SANITIZER_THREAD] = "__tsan_init"};
    enum daemon_sanitizer found = SANITIZER_NONE;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    size_t size = (size_t)info.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(bytes != MAP_FAILED);
    for (size_t i = SANITIZER_ADDRESS; i <= SANITIZER_THREAD; i++)
        if (memmem(bytes, size, names[i], strlen(names[i])) != NULL)
            found = (enum daemon_sanitizer)i;
    munmap(bytes, size);
    close(fd);
    return found;
}

enum daemon_sanitizer daemon_sanitizer(void)
{
    static bool known;
    static enum daemon_sanitizer sanitizer;
    if (!known)
        sanitizer = find_sanitizer(binary());
    known = true;
    return sanitizer;
}

void daemon_init(struct daemon *daemon)
{
    *daemon = (struct daemon){.directory = "/tmp/epsilond-test.XXXXXX"};
    if (mkdtemp(daemon->directory) == NULL)
        fail_msg("mkdtemp: %s", strerror(errno));
    snprintf(daemon->data_dir, sizeof daemon->data_dir, "%s/data", daemon->directory);
}

static int open_log(const struct daemon *daemon, int flags)
{
    char path[96];
    snprintf(path, sizeof path, "%s/log", daemon->directory);
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    return fd;
}

static pid_t spawn(const struct daemon *daemon, const char *const *arguments)
{
    const char *argv[ARGUMENTS_MAX] = {binary()};
    size_t count = 1;
    for (; arguments[count - 1] != NULL; count++) {
        assert_true(count < ARGUMENTS_MAX - 1);
        argv[count] = arguments[count - 1];
    }
    int log = open_log(daemon, O_WRONLY | O_CREAT | O_APPEND);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        fail_msg("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(126);
        setenv("EPSILOND_REVEAL_DELAY", "0.05", 0); /* keeps a test's own value */
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        /* execv does not take const strings, but does not change them. */
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(log);
    return pid;
}

/* Returns the exit code, 128 + the signal, or -1 while the process runs. */
static int reap(pid_t pid)
{
    int status;
    pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == 0)
        return -1;
    assert_int_equal(got, pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int reap_within(pid_t pid, int timeout_ms)
{
    for (int waited = 0; waited <= timeout_ms; waited += 10) {
        int code = reap(pid);
        if (code >= 0)
            return code;
        pause_ms(10);
    }
    return -1;
}

/* Returns "" if nothing was started. */
static char *read_log(const struct daemon *daemon)
{
    int fd = open_log(daemon, O_RDONLY | O_CREAT);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    char *text = calloc((size_t)info.st_size + 1, 1);
    assert_non_null(text);
    size_t size = 0;
    ssize_t got;
    while (size < (size_t)info.st_size &&
           (got = read(fd, text + size, (size_t)info.st_size - size)) > 0)
        size += (size_t)got;
    close(fd);
    return text;
}

void daemon_show_log(const struct daemon *daemon)
{
    char *log = read_log(daemon);
    print_error("the daemon's log:\n%s\n", log);
    free(log);
}

bool daemon_logged(const struct daemon *daemon, const char *text)
{
    char *log = read_log(daemon);
    bool found = strstr(log, text) != NULL;
    free(log);
    return found;
}

/* Returns the port in the last complete "listening" line that begins at or after from;
 * 0 for a unix socket; -1 if there is no such line. */
static int listening_port(const char *log, size_t from)
{
    int port = -1;
    if (strlen(log) < from)
        return -1;
    for (const char *line = log + from, *end; (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        json_t *entry = json_loadb(line, (size_t)(end - line), 0, NULL);
        const char *event = json_string_value(json_object_get(entry, "event"));
        const char *text = json_string_value(json_object_get(entry, "port"));
        if (event != NULL && text != NULL && strcmp(event, "listening") == 0)
            port = (int)strtoul(text, NULL, 10);
        json_decref(entry);
    }
    return port;
}

static void fail_to_start(struct daemon *daemon, const char *why, int code)
{
    print_error("%s (exit code %d)\n", why, code);
    daemon_show_log(daemon);
    daemon->pid = 0;
    fail();
}

static void wait_until_listening(struct daemon *daemon, size_t log_size)
{
    for (int waited = 0; waited <= START_TIMEOUT_MS; waited += 10) {
        char *log = read_log(daemon);
        int port = listening_port(log, log_size);
        free(log);
        if (port >= 0) {
            daemon->port = (unsigned)port;
            return;
        }
        int code = reap(daemon->pid);
        if (code >= 0)
            fail_to_start(daemon, "the daemon ended before it listened", code);
        pause_ms(10);
    }
    kill(daemon->pid, SIGKILL);
    waitpid(daemon->pid, NULL, 0);
    fail_to_start(daemon, "the daemon does not say that it listens", -1);
}

/* Returns the value that follows an option, or NULL. */
static const char *option_value(const char *const *options, const char *name)
{
    for (size_t i = 0; options != NULL && options[i] != NULL; i++)
        if (strcmp(options[i], name) == 0)
            return options[i + 1];
    return NULL;
}

void daemon_start(struct daemon *daemon, const char *const *options)
{
    const char *listen = option_value(options, "--listen");
    assert_int_equal(daemon->pid, 0);
    const char *arguments[ARGUMENTS_MAX] = {"--data-dir", daemon->data_dir, "--listen",
                                            "127.0.0.1:0"};
    for (size_t i = 0; options != NULL && options[i] != NULL; i++) {
        assert_true(i + 4 < ARGUMENTS_MAX - 1);
        arguments[i + 4] = options[i];
    }
    close(open_log(daemon, O_WRONLY | O_CREAT | O_APPEND));
    char *log = read_log(daemon);
    size_t log_size = strlen(log);
    free(log);
    daemon->pid = spawn(daemon, arguments);
    wait_until_listening(daemon, log_size);
    daemon->certificate = option_value(options, "--tls-cert");
    daemon->socket_path =
        listen != NULL && strncmp(listen, "unix:", 5) == 0 ? listen + 5 : NULL;
    snprintf(daemon->base, sizeof daemon->base, "%s://127.0.0.1:%u",
             daemon->certificate != NULL ? "https" : "http", daemon->port);
}

int daemon_stop(struct daemon *daemon, int signal)
{
    assert_true(daemon->pid > 0);
    pid_t pid = daemon->pid;
    assert_int_equal(kill(pid, signal), 0);
    int code = reap_within(pid, STOP_TIMEOUT_MS);
    if (code < 0)
        fail_msg("the daemon outlives signal %d", signal);
    daemon->pid = 0;
    return code;
}

int daemon_run(struct daemon *daemon, const char *const *arguments)
{
    pid_t pid = spawn(daemon, arguments);
    int code = reap_within(pid, RUN_TIMEOUT_MS);
    if (code < 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        fail_msg("%s does not end", arguments[0]);
    }
    return code;
}

int daemon_verify(struct daemon *daemon)
{
    return daemon_run(
        daemon, (const char *const[]){"verify", "--data-dir", daemon->data_dir, NULL});
}

bool daemon_has_postgres(void)
{
    struct daemon daemon;
    daemon_init(&daemon);
    daemon_run(&daemon, (const char *const[]){"verify", "--data-dir", daemon.directory,
                                              "--store", "none", NULL});
    bool has = !daemon_logged(&daemon, "without PostgreSQL");
    daemon_fini(&daemon);
    if (!has)
        skip_part("the daemon was built without PostgreSQL");
    return has;
}

int daemon_wait(struct daemon *daemon)
{
    assert_true(daemon->pid > 0);
    int code = reap_within(daemon->pid, STOP_TIMEOUT_MS);
    if (code < 0)
        fail_msg("the daemon does not end");
    daemon->pid = 0;
    return code;
}

static void fail_at_exit(void)
{
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

/* cmocka does not count failures in a group's teardown, so the program fails at its
 * exit. */
static void expect_clean(const struct daemon *daemon)
{
    if (!daemon_logged(daemon, "Sanitizer") && !daemon_logged(daemon, "runtime error:"))
        return;
    daemon_show_log(daemon);
    atexit(fail_at_exit);
}

void daemon_fini(struct daemon *daemon)
{
    if (daemon->pid > 0) {
        kill(daemon->pid, SIGKILL);
        waitpid(daemon->pid, NULL, 0);
        daemon->pid = 0;
    }
    expect_clean(daemon);
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", daemon->directory);
    assert_int_equal(system(command), 0);
}

static long process_status(const struct daemon *daemon, const char *name)
{
    char path[48], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)daemon->pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    long value = -1;
    while (value < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    fclose(file);
    assert_true(value >= 0);
    return value;
}

long daemon_resident(const struct daemon *daemon)
{
    return process_status(daemon, "VmRSS:");
}

long daemon_resident_peak(const struct daemon *daemon)
{
    return process_status(daemon, "VmHWM:");
}

void assert_growth(long grown, long most)
{
    print_message("resident memory grew by %ld KiB, of %ld\n", grown, most);
    if (daemon_sanitizer() != SANITIZER_NONE)
        skip_part("a sanitizer has memory of its own");
    else
        assert_true(grown < most);
}

/* The second number of schedstat counts nanoseconds on a run queue. */
static double starved_s(pid_t pid)
{
    char pattern[48];
    glob_t found;
    double total = 0;
    snprintf(pattern, sizeof pattern, "/proc/%d/task/*/schedstat", (int)pid);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");
        unsigned long long ran, waited;
        if (file == NULL) /* the thread has ended since */
            continue;
        if (fscanf(file, "%llu %llu", &ran, &waited) == 2)
            total += (double)waited * 1e-9;
        fclose(file);
    }
    globfree(&found);
    return total;
}

double daemon_starved_s(const struct daemon *daemon)
{
    return starved_s(daemon->pid) + starved_s(getpid());
}
