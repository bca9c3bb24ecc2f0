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
    START_TIMEOUT_MS = 120000,
    ATTEMPTS = 5, /* a port found free may be taken before nginx binds it */
};

static const char *const programs[][4] = {
    [FRONT_NGINX] = {"/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"},
    [FRONT_CADDY] = {"/usr/bin/caddy", "/usr/local/bin/caddy"},
};
static const char *const names[] = {[FRONT_NGINX] = "nginx", [FRONT_CADDY] = "caddy"};
static const char *const sites[] = {
    [FRONT_NGINX] = "deploy/nginx/epsilond.conf",
    [FRONT_CADDY] = "deploy/caddy/Caddyfile",
};

static const char *binary(enum front_kind kind)
{
    for (size_t i = 0; programs[kind][i] != NULL; i++)
        if (access(programs[kind][i], X_OK) == 0)
            return programs[kind][i];
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

/* Writes text with the first occurrence of `from` replaced. */
static void write_replaced(FILE *file, const char *text, const char *from,
                           const char *to)
{
    const char *at = strstr(text, from);
    if (at != NULL)
        fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    else
        fputs(text, file);
}

/* Writes a line of nginx's site as the test needs it. */
static void write_nginx_line(FILE *file, const char *line, const struct front *front,
                             const struct daemon *daemon)
{
    if (strstr(line, " ssl_") != NULL)
        return;
    if (strstr(line, "listen 443 ssl") != NULL)
        fprintf(file, "listen 127.0.0.1:%u%s;\n", front->port,
                strstr(line, "default_server") != NULL ? " default_server" : "");
    else if (strstr(line, "http://127.0.0.1:8080") != NULL)
        fprintf(file, "proxy_pass http://127.0.0.1:%u;\n", daemon->port);
    else if (strstr(line, "server_name") != NULL)
        fprintf(file, "server_name 127.0.0.1 localhost;\n");
    else
        fputs(line, file);
}

static void write_caddy_line(FILE *file, const char *line, const struct front *front,
                             const struct daemon *daemon)
{
    char origin[64], upstream[64];
    snprintf(origin, sizeof origin, "http://127.0.0.1:%u", front->port);
    snprintf(upstream, sizeof upstream, "127.0.0.1:%u", daemon->port);
    if (strstr(line, "127.0.0.1:8080") != NULL)
        write_replaced(file, line, "127.0.0.1:8080", upstream);
    else
        write_replaced(file, line, "epsilond.example", origin);
}

static void write_prologue(FILE *file, const struct front *front)
{
    static const char *const kinds[] = {"client_body", "proxy", "fastcgi", "uwsgi",
                                        "scgi"};
    if (front->kind == FRONT_CADDY) {
        fprintf(file, "{\nadmin off\nauto_https off\nstorage file_system %s\n}\n",
                front->directory);
        return;
    }
    fprintf(file,
            "daemon off; master_process off; pid %s/pid; events {}\n"
            "http { access_log off;\n",
            front->directory);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(file, "%s_temp_path %s/%s;\n", kinds[i], front->directory, kinds[i]);
}

static void write_configuration(const struct front *front, const struct daemon *daemon)
{
    char path[96], line[256];
    snprintf(path, sizeof path, "%s/configuration", front->directory);
    FILE *file = fopen(path, "w"), *from = fopen(sites[front->kind], "r");
    if (file == NULL || from == NULL)
        fail_msg("%s or %s: %s", path, sites[front->kind], strerror(errno));
    write_prologue(file, front);
    while (fgets(line, sizeof line, from) != NULL)
        if (front->kind == FRONT_NGINX)
            write_nginx_line(file, line, front, daemon);
        else
            write_caddy_line(file, line, front, daemon);
    if (front->kind == FRONT_NGINX)
        fprintf(file, "}\n");
    fclose(from);
    assert_int_equal(fclose(file), 0);
}

static pid_t spawn(const struct front *front)
{
    char configuration[96], log[96];
    const char *program = binary(front->kind);
    snprintf(configuration, sizeof configuration, "%s/configuration", front->directory);
    snprintf(log, sizeof log, "%s/log", front->directory);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(126);
        if (front->kind == FRONT_NGINX)
            execl(program, "nginx", "-p", front->directory, "-e", log, "-c",
                  configuration, (char *)NULL);
        int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(out, STDERR_FILENO);
        setenv("HOME", front->directory, 1);
        execl(program, "caddy", "run", "--adapter", "caddyfile", "--config",
              configuration, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

/* Returns false if the program has ended: its port was taken, or its configuration is
 * wrong. */
static bool wait_until_it_answers(const struct front *front)
{
    for (int waited = 0; waited < START_TIMEOUT_MS; waited += 10) {
        if (waitpid(front->pid, NULL, WNOHANG) != 0)
            return false;
        if (answers(front->port))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("%s does not answer", names[front->kind]);
    return false;
}

bool front_start(struct front *front, enum front_kind kind, const struct daemon *daemon)
{
    if (binary(kind) == NULL) {
        skip_part("there is no %s", names[kind]);
        return false;
    }
    *front = (struct front){.kind = kind, .directory = "/tmp/epsilond-front.XXXXXX"};
    assert_non_null(mkdtemp(front->directory));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        front->port = free_port();
        write_configuration(front, daemon);
        front->pid = spawn(front);
        if (wait_until_it_answers(front))
            return true;
    }
    fail_msg("%s does not start: see %s/log", names[kind], front->directory);
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
