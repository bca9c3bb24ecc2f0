/*
 * ssh_fixture.h - two hosts for ranks on this machine: an sshd on loopback with its own
 * port, host key and user key, which ssh reaches under two host names that only this
 * fixture defines. mpirun takes them for two machines. sshd and ssh get the settings of
 * deploy/kubernetes/ranks, or of another folder, except for the port, the paths and the
 * user. Include it after tests/expect.h; the test runs in the root of the repository.
 */
#ifndef TESTS_SSH_FIXTURE_H
#define TESTS_SSH_FIXTURE_H

#include <arpa/inet.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SSH_HOSTS = 2, SSH_TRIES = 20, SSH_WAIT_MS = 50 };

struct ssh_hosts {
    char folder[32]; /* holds the keys, the settings and sshd's log */
    pid_t server;
};

/* Open MPI does not run under a sanitizer. */
static inline bool ssh_can_start(bool sanitized)
{
    return !sanitized && system("mpirun --version >/dev/null 2>&1 && "
                                "[ -x /usr/sbin/sshd ] && command -v ssh ssh-keygen "
                                ">/dev/null") == 0;
}

__attribute__((format(printf, 1, 2))) static inline void ssh_shell(const char *format,
                                                                   ...)
{
    char command[2048];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(command, sizeof command, format, values);
    va_end(values);
    assert_true(length > 0 && (size_t)length < sizeof command);
    assert_int_equal(system(command), 0);
}

/* Returns a port that was free a moment ago. */
static inline unsigned ssh_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int file = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(file, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(file, (struct sockaddr *)&address, &size), 0);
    close(file);
    return ntohs(address.sin_port);
}

static inline void ssh_settings(const struct ssh_hosts *hosts, unsigned port)
{
    const char *from = "deploy/kubernetes/ranks", *to = hosts->folder;
    ssh_shell(
        "sed -e 's|/ssh/|%s/|' -e 's/^Port .*/Port %u\\nListenAddress 127.0.0.1/' "
        "%s/sshd_config >%s/sshd_config",
        to, port, from, to);
    ssh_shell("sed -e 's#/ssh/\\|/tmp/#%s/#' "
              "-e 's/Port .*/Port %u\\n    HostName 127.0.0.1/' "
              "-e \"s/User .*/User $(id -un)/\" %s/ssh_config >%s/ssh_config",
              to, port, from, to);
}

/* Starts sshd and returns true once it listens; false if it ended, because another
 * process had taken the port. */
static inline bool ssh_serve(struct ssh_hosts *hosts)
{
    char settings[64], log[64];
    snprintf(settings, sizeof settings, "%s/sshd_config", hosts->folder);
    snprintf(log, sizeof log, "%s/log", hosts->folder);
    hosts->server = fork();
    if (hosts->server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-E", log, "-f", settings,
              (char *)NULL);
        _exit(127);
    }
    while (waitpid(hosts->server, NULL, WNOHANG) == 0) {
        char command[128];
        snprintf(command, sizeof command, "grep -q 'Server listening' %s 2>/dev/null",
                 log);
        if (system(command) == 0)
            return true;
        nanosleep(&(struct timespec){0, SSH_WAIT_MS * 1000000L}, NULL);
    }
    return false;
}

/* sshd requires the folder /run/sshd if root runs it; Debian's service creates that
 * folder too. */
static inline void ssh_hosts_begin(struct ssh_hosts *hosts)
{
    *hosts = (struct ssh_hosts){.folder = "/tmp/epsilond-ssh.XXXXXX"};
    assert_non_null(mkdtemp(hosts->folder));
    if (getuid() == 0)
        mkdir("/run/sshd", 0755);
    ssh_shell("cd %s && ssh-keygen -q -t ed25519 -N '' -f host && "
              "ssh-keygen -q -t ed25519 -N '' -f user && cp user.pub authorized && "
              "(printf 'epsilond-ranks ' && cat host.pub) >known_hosts && "
              "printf 'rank-a slots=1\\nrank-b slots=1\\n' >hosts",
              hosts->folder);
    for (int k = 0; k < SSH_TRIES; k++) {
        ssh_settings(hosts, ssh_port());
        if (ssh_serve(hosts))
            return;
    }
    fail_msg("sshd does not listen");
}

static inline void ssh_hosts_end(struct ssh_hosts *hosts)
{
    kill(hosts->server, SIGTERM);
    waitpid(hosts->server, NULL, 0);
    ssh_shell("rm -r %s", hosts->folder);
}

/* text = an mpirun command for this number of processes, at most one on each host, as
 * deploy/kubernetes/ranks/daemon.yaml has it, but over loopback and for any user. The
 * caller appends the program. */
static inline void ssh_mpirun(const struct ssh_hosts *hosts, const char *processes,
                              char *text, size_t size)
{
    int length =
        snprintf(text, size,
                 "mpirun --allow-run-as-root -n %s --hostfile %s/hosts --map-by node "
                 "--bind-to none --mca plm_rsh_args -F%s/ssh_config "
                 "--mca plm_rsh_no_tree_spawn 1 --mca btl self,tcp "
                 "--mca oob_tcp_if_include lo --mca btl_tcp_if_include lo "
                 "--mca mpi_yield_when_idle 1",
                 processes, hosts->folder, hosts->folder);
    assert_true(length > 0 && (size_t)length < size);
}

#endif
