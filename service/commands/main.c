/* epsilond trains models under a differential-privacy budget that cannot be overspent.
 * This file is the process from its arguments to its exit code. The commands have files
 * of their own. Without a command, main opens the service, listens, waits for a signal
 * to stop, and closes everything in the reverse order. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "base/log.h"
#include "service/commands/admin_socket.h"
#include "service/commands/backup_command.h"
#include "service/commands/demo_command.h"
#include "service/commands/key_command.h"
#include "service/commands/migrate_command.h"
#include "service/commands/ping_command.h"
#include "service/commands/rank_command.h"
#include "service/commands/regrant_command.h"
#include "service/commands/seal_command.h"
#include "service/commands/verify_command.h"
#include "service/config/config.h"
#include "service/identity/access_keys.h"
#include "service/identity/key_admin.h"
#include "service/metrics/metrics_listener.h"
#include "service/process/blas_kernel.h"
#include "service/process/daemon_state.h"
#include "service/process/systemd_notify.h"
#include "service/server/daemon_lifecycle.h"
#include "service/server/server.h"
#include "service/threads/tick_clock.h"

/* Makes sure that other users can read nothing of the process, on disk or as a core. */
static void close_off(void)
{
    const struct rlimit none = {0, 0};
    umask(S_IRWXG | S_IRWXO);
    setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    prctl(PR_SET_DUMPABLE, 0); /* a leak check at exit must attach to the process */
#endif
}

/* Blocks the signals that the process handles. Every later thread inherits the mask, so
 * only main takes them, by sigwait. */
static void block_signals(sigset_t *awaited)
{
    sigemptyset(awaited);
    sigaddset(awaited, SIGTERM);
    sigaddset(awaited, SIGINT);
    sigaddset(awaited, SIGHUP);
    pthread_sigmask(SIG_BLOCK, awaited, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Waits for a signal to stop. SIGHUP only makes the server read its files again. */
static void wait_for_end(const sigset_t *awaited, struct server *server)
{
    int number = SIGHUP;
    while (number == SIGHUP) {
        if (sigwait(awaited, &number) != 0)
            continue;
        if (number == SIGHUP)
            server_reload(server);
    }
    log_event(LOG_INFO, "stopping", "signal", number == SIGTERM ? "SIGTERM" : "SIGINT",
              (char *)NULL);
}

/* The exit code of a start that failed. ST_INVALID means a database of a newer schema,
 * or TLS files that cannot be used. */
static int exit_code(enum status status)
{
    if (status == ST_INVALID)
        return EX_CONFIG;
    return status == ST_CORRUPT ? EX_DATAERR : EX_TEMPFAIL;
}

static int serve(const struct config *config)
{
    sigset_t awaited;
    struct daemon_state context;
    struct server *server = NULL;
    struct MHD_Daemon *metrics = NULL;
    struct admin_socket *door = NULL;
    struct error error = {0};
    block_signals(&awaited);
    enum status status = daemon_lifecycle_open(&context, config, &server_hooks, &error);
    if (status == ST_OK && !config_is_local(config) && !access_keys_any(context.keys)) {
        log_event(
            LOG_ERROR, "not_started", "detail",
            "there are no keys, so nothing but loopback is listened on: epsilond key "
            "create",
            (char *)NULL);
        daemon_lifecycle_close(&context);
        return EX_USAGE;
    }
    if (status == ST_OK)
        status = metrics_listener_open(&metrics, &context, &error);
    if (status == ST_OK) /* before requests: a daemon that listens takes commands */
        status = admin_socket_open(&door, &context, &error);
    if (status == ST_OK)
        status = server_open(&server, &context, &error);
    if (status != ST_OK) {
        log_event(LOG_ERROR, "not_started", "detail", error.text, (char *)NULL);
        metrics_listener_close(metrics);
        admin_socket_close(door);
        daemon_lifecycle_close(&context);
        return exit_code(status);
    }
    daemon_lifecycle_start(&context);
    systemd_notify_tell(context.systemd_notify, "READY=1");
    wait_for_end(&awaited, server);
    systemd_notify_tell(context.systemd_notify, "STOPPING=1");
    daemon_lifecycle_drain(&context);
    metrics_listener_close(metrics);
    admin_socket_close(door);
    server_close(server);
    daemon_lifecycle_close(&context);
    log_event(LOG_INFO, "stopped", (char *)NULL);
    return EX_OK;
}

/* Makes malloc map large blocks one by one, so that they go back to the system when
 * they are freed. By default glibc raises this bound to the largest block freed so far,
 * and keeps smaller blocks: request and reply bodies of some MiB would stay. */
static void return_large_blocks(void)
{
    enum { MAPPED_FROM = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM); /* no effect with another allocator */
}

/* The commands that the first word may name. Without a command the daemon serves. */
static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage; /* printed for --help; NULL: config_help */
} commands[] = {
    {"verify", verify_command, NULL},
    {"regrant", regrant_command, regrant_usage},
    {"backup", backup_command, backup_usage},
    {"restore", restore_command, restore_usage},
    {"ping", ping_command, NULL},
    {"key", key_command, key_admin_usage},
    {"migrate", migrate_command, migrate_usage},
    {"seal", seal_command, seal_usage},
    {"rank", rank_command, rank_usage},
    {"--demo", demo_command, demo_usage},
};

/* Runs the command with the arguments from its name on, or prints its usage. */
static int run_command(const struct command *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            fputs(command->usage != NULL ? command->usage : config_help(), stdout);
            return EX_OK;
        }
    return command->run(argc, argv);
}

int main(int argc, char **argv)
{
    struct config config;
    enum config_outcome outcome;
    struct error error = {0};
    if (argc > 1)
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (strcmp(argv[1], commands[i].name) == 0)
                return run_command(&commands[i], argc - 1, argv + 1);
    enum status status = config_read(&config, &outcome, argc, argv, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond: %s\n", error.text);
        return status == ST_IO ? EX_CONFIG : EX_USAGE;
    }
    if (outcome == CONFIG_HELP) {
        fputs(config_help(), stdout);
        return EX_OK;
    }
    if (outcome == CONFIG_VERSION) {
        printf("epsilond %s", EPSILOND_VERSION);
        if (tick_clock_ms() != 1000)
            printf(", only for tests: ticks of %d ms", tick_clock_ms());
        puts("");
        return EX_OK;
    }
    blas_kernel_select(argv);
    return_large_blocks();
    close_off();
    log_level_set(config.log_level);
    return serve(&config);
}
