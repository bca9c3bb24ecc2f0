#include "tests/e2e/front_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/expect.h"

enum {
    START_TIMEOUT_MS = 20000,
    ATTEMPTS = 5, /* a port found free may be taken before nginx binds it */
};

static const char site[] = "deploy/nginx/epsilond.conf";

static const char *binary(void)
{
    static const char *const paths[] = {"/usr/sbin/nginx", "/usr/bin/nginx",
                                        "/usr/local/sbin/nginx"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    return NULL;
}

static struct sockaddr_in loopback(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static unsigned free_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static bool answers(unsigned port)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return connected;
}

/* A line of the site as the test runs it. */
static void write_line(FILE *file, const char *line, const struct front *front,
                       const struct daemon *daemon)
{
    const char *upstream = strstr(line, "http://127.0.0.1:8080");
    if (strstr(line, " ssl_") != NULL || strstr(line, " auth_") != NULL)
        return;
    if (strstr(line, "listen 443 ssl") != NULL)
        fprintf(file, "listen 127.0.0.1:%u%s;\n", front->port,
                strstr(line, "default_server") != NULL ? " default_server" : "");
    else if (upstream != NULL)
        fprintf(file, "proxy_pass http://127.0.0.1:%u;\n", daemon->port);
    else if (strstr(line, "server_name") != NULL)
        fprintf(file, "server_name 127.0.0.1 localhost;\n");
    else
        fputs(line, file);
}

static void write_configuration(const struct front *front, const struct daemon *daemon)
{
    static const char *const kinds[] = {"client_body", "proxy", "fastcgi", "uwsgi",
                                        "scgi"};
    char path[96], line[256];
    snprintf(path, sizeof path, "%s/nginx.conf", front->directory);
    FILE *file = fopen(path, "w"), *from = fopen(site, "r");
    if (file == NULL || from == NULL)
        fail_msg("%s or %s: %s", path, site, strerror(errno));
    fprintf(file,
            "daemon off; master_process off; pid %s/pid; events {}\n"
            "http { access_log off;\n",
            front->directory);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(file, "%s_temp_path %s/%s;\n", kinds[i], front->directory, kinds[i]);
    while (fgets(line, sizeof line, from) != NULL)
        write_line(file, line, front, daemon);
    fprintf(file, "}\n");
    fclose(from);
    assert_int_equal(fclose(file), 0);
}

static pid_t spawn(const struct front *front)
{
    char configuration[96], log[96];
    snprintf(configuration, sizeof configuration, "%s/nginx.conf", front->directory);
    snprintf(log, sizeof log, "%s/log", front->directory);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(126);
        execl(binary(), "nginx", "-p", front->directory, "-e", log, "-c", configuration,
              (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

/* False where it has ended: its port was taken, or its configuration is wrong. */
static bool wait_until_it_answers(const struct front *front)
{
    for (int waited = 0; waited < START_TIMEOUT_MS; waited += 10) {
        if (waitpid(front->pid, NULL, WNOHANG) != 0)
            return false;
        if (answers(front->port))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("nginx does not answer");
    return false;
}

bool front_start(struct front *front, const struct daemon *daemon)
{
    if (binary() == NULL) {
        print_message("SKIPPED, proves nothing: there is no nginx (nginx-light)\n");
        return false;
    }
    *front = (struct front){.directory = "/tmp/epsilond-front.XXXXXX"};
    assert_non_null(mkdtemp(front->directory));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        front->port = free_port();
        write_configuration(front, daemon);
        front->pid = spawn(front);
        if (wait_until_it_answers(front))
            return true;
    }
    fail_msg("nginx does not start: see %s/log", front->directory);
    return false;
}

void front_stop(struct front *front)
{
    char command[96];
    kill(front->pid, SIGKILL);
    waitpid(front->pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf '%s'", front->directory);
    assert_int_equal(system(command), 0);
}
