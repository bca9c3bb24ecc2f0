#include "service/commands/ping_command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "service/config/config.h"

enum { NOT_READY = 1, TIMEOUT_S = 5, ANSWER_SIZE = 256, ARGUMENTS_MAX = 64 };

static const char question[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n"
                               "Connection: close\r\n\r\n";

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
};

/* Sets the address at which the daemon listens, and returns its size. */
static socklen_t address_of(union address *address, const struct config *config)
{
    *address = (union address){0};
    if (config->socket_path[0] != '\0') {
        address->path.sun_family = AF_UNIX;
        snprintf(address->path.sun_path, sizeof address->path.sun_path, "%s",
                 config->socket_path);
        return sizeof address->path;
    }
    if (inet_pton(AF_INET, config->address, &address->four.sin_addr) == 1) {
        address->four.sin_family = AF_INET;
        address->four.sin_port = htons(config->port);
        return sizeof address->four;
    }
    inet_pton(AF_INET6, config->address, &address->six.sin6_addr);
    address->six.sin6_family = AF_INET6;
    address->six.sin6_port = htons(config->port);
    return sizeof address->six;
}

/* Returns a connected socket, or -1. */
static int connect_to(const struct config *config)
{
    union address address;
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    socklen_t size = address_of(&address, config);
    int connection = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return -1;
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(connection, &address.any, size) == 0)
        return connection;
    close(connection);
    return -1;
}

/* Sends the question on a plain connection, and reads the beginning of the answer. */
static bool ask_plainly(int connection, char answer[ANSWER_SIZE])
{
    size_t size = 0;
    ssize_t got = write(connection, question, sizeof question - 1);
    while (got > 0 && size < ANSWER_SIZE - 1) {
        got = read(connection, answer + size, ANSWER_SIZE - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    answer[size] = '\0';
    return size > 0;
}

static bool exchange(gnutls_session_t session, char answer[ANSWER_SIZE])
{
    int result;
    do
        result = gnutls_handshake(session);
    while (result < 0 && !gnutls_error_is_fatal(result));
    if (result < 0 || gnutls_record_send(session, question, sizeof question - 1) < 0)
        return false;
    ssize_t got = gnutls_record_recv(session, answer, ANSWER_SIZE - 1);
    answer[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The same over TLS. */
static bool ask_secretly(int connection, char answer[ANSWER_SIZE])
{
    gnutls_session_t session;
    gnutls_certificate_credentials_t nobody;
    if (gnutls_init(&session, GNUTLS_CLIENT) < 0)
        return false;
    bool answered = false;
    if (gnutls_certificate_allocate_credentials(&nobody) >= 0) {
        gnutls_set_default_priority(session);
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nobody);
        gnutls_transport_set_int(session, connection);
        answered = exchange(session, answer);
    }
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(nobody);
    return answered;
}

static int ping(const struct config *config)
{
    char answer[ANSWER_SIZE] = "";
    int connection = connect_to(config);
    if (connection < 0) {
        fprintf(stderr, "epsilond ping: nobody answers: %s\n", strerror(errno));
        return NOT_READY;
    }
    bool answered = config->tls_certificate[0] != '\0'
                        ? ask_secretly(connection, answer)
                        : ask_plainly(connection, answer);
    close(connection);
    if (answered && strncmp(answer, "HTTP/1.1 200 ", 13) == 0)
        return EX_OK;
    answer[strcspn(answer, "\r\n")] = '\0';
    fprintf(stderr, "epsilond ping: not ready: %s\n",
            answered ? answer : "no answer that can be read");
    return NOT_READY;
}

int ping_command(int argc, char **argv)
{
    struct config config;
    enum config_outcome outcome;
    struct error error = {0};
    /* ping needs no data directory, but the configuration requires one. */
    char option[] = "--data-dir", nowhere[] = ".";
    char *arguments[ARGUMENTS_MAX + 1] = {argv[0], option, nowhere};
    if (argc + 2 > ARGUMENTS_MAX) {
        fprintf(stderr, "epsilond ping: too many arguments\n");
        return EX_USAGE;
    }
    for (int i = 1; i < argc; i++)
        arguments[i + 2] = argv[i];
    if (config_read(&config, &outcome, argc + 2, arguments, &error) != ST_OK) {
        fprintf(stderr, "epsilond ping: %s\n", error.text);
        return EX_USAGE;
    }
    if (outcome != CONFIG_RUN) {
        fputs(config_help(), stdout);
        return EX_OK;
    }
    return ping(&config);
}
