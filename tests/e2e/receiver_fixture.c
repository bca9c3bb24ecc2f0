#define _GNU_SOURCE /* pipe2 */
#include "tests/e2e/receiver_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/expect.h"

static const char openssl[] =
    "cd %s && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca "
    "-addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem && "
    "openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem "
    "-out request.pem && printf 'subjectAltName=DNS:localhost' > names && "
    "openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial "
    "-days 2 -extfile names -out certificate.pem";

static void make_certificate(struct receiver *receiver)
{
    char command[1024];
    snprintf(receiver->folder, sizeof receiver->folder, "/tmp/epsilond-tls.XXXXXX");
    assert_non_null(mkdtemp(receiver->folder));
    snprintf(receiver->ca_file, sizeof receiver->ca_file, "%s/ca.pem",
             receiver->folder);
    snprintf(command, sizeof command, "(");
    snprintf(command + 1, sizeof command - 1, openssl, receiver->folder);
    strcat(command, ") >/dev/null 2>&1");
    assert_int_equal(system(command), 0);
}

static void start(struct receiver *receiver)
{
    int input[2], output[2];
    char certificate[96], key[96], line[16] = "";
    snprintf(certificate, sizeof certificate, "%s/certificate.pem", receiver->folder);
    snprintf(key, sizeof key, "%s/key.pem", receiver->folder);
    bool tls = receiver->folder[0] != '\0';
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    receiver->pid = fork();
    assert_true(receiver->pid >= 0);
    if (receiver->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        close(input[1]);
        close(output[0]);
        execl("/usr/bin/python3", "/usr/bin/python3", "tests/e2e/receiver.py",
              tls ? certificate : NULL, key, NULL);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    receiver->input = input[1];
    FILE *said = fdopen(output[0], "r");
    assert_non_null(said);
    assert_non_null(fgets(line, sizeof line, said));
    fclose(said);
    line[strcspn(line, "\n")] = '\0';
    snprintf(receiver->url, sizeof receiver->url, "%s:%s",
             tls ? "https://localhost" : "http://127.0.0.1", line);
    receiver->place.certificate = tls ? receiver->ca_file : NULL;
    snprintf(receiver->place.base, sizeof receiver->place.base, "%s", receiver->url);
    client_init(&receiver->client, &receiver->place);
}

void receiver_open(struct receiver *receiver)
{
    *receiver = (struct receiver){0};
    start(receiver);
}

void receiver_open_tls(struct receiver *receiver)
{
    *receiver = (struct receiver){0};
    make_certificate(receiver);
    start(receiver);
}

void receiver_close(struct receiver *receiver)
{
    client_fini(&receiver->client);
    close(receiver->input);
    assert_int_equal(waitpid(receiver->pid, NULL, 0), receiver->pid);
    if (receiver->folder[0] == '\0')
        return;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", receiver->folder);
    assert_int_equal(system(command), 0);
}

const struct reply *receiver_await(struct receiver *receiver, size_t count)
{
    enum { ATTEMPTS = 9000 }; /* three minutes: only for a hang */
    const struct reply *log = NULL;
    for (int i = 0; i < ATTEMPTS; i++) {
        log = client_get(&receiver->client, "/log");
        assert_status(log, 200);
        if (json_array_size(log->json) >= count)
            return log;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("received %zu of %zu: %s", json_array_size(log->json), count, log->body);
    return log;
}
