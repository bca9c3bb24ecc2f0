#include "service/commands/admin_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/check.h"
#include "service/config/config.h"
#include "service/identity/key_admin.h"
#include "service/process/daemon_state.h"
#include "store/blobs/blob.h"

enum {
    COMMAND_MAX = 8192, /* bytes of all words */
    WORDS_MAX = 64,
    PATIENCE_S = 10, /* for a command that does not send its words */
};

struct admin_socket {
    struct daemon_state *context;
    char path[BLOB_PATH_SIZE];
    int listening;
    int folder; /* the socket's folder */
    pthread_t thread;
};

/* A socket's address has room for 108 bytes, and the path of a data directory may be
 * longer, so the directory is named by its open descriptor. */
static void address_of(struct sockaddr_un *address, int folder)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/door",
             folder);
}

static int open_folder(const char *directory)
{
    return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool send_all(int to, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(to, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Reads to the end. Returns how many bytes came, or -1 on failure or if there are more
 * than size. */
static ssize_t receive_all(int from, char *data, size_t size)
{
    size_t received = 0;
    for (;;) {
        ssize_t got = recv(from, data + received, size - received, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 && received < size)
            return (ssize_t)received;
        if (got <= 0)
            return -1;
        received += (size_t)got;
    }
}

/* --- the daemon's side --- */

static int count_words(const char *data, size_t size, const char *words[WORDS_MAX])
{
    int count = 0;
    for (size_t at = 0; at < size && count < WORDS_MAX; at += strlen(data + at) + 1)
        words[count++] = data + at;
    return count;
}

/* Serves one command. A command may end in a failed write to the store, which ends the
 * process. */
static void serve(struct admin_socket *door, int client)
{
    char data[COMMAND_MAX];
    const char *words[WORDS_MAX];
    char *answer = NULL;
    size_t answer_size = 0;
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ssize_t size = receive_all(client, data, sizeof data);
    if (size <= 0 || data[size - 1] != '\0')
        return;
    FILE *out = open_memstream(&answer, &answer_size);
    CHECK(out != NULL);
    int count = count_words(data, (size_t)size, words);
    char code = (char)key_admin_run(door->context, count, words, out);
    CHECK(fclose(out) == 0);
    if (send_all(client, &code, 1))
        send_all(client, answer, answer_size);
    hash_zero(answer, answer_size);
    free(answer);
}

static void *take_commands(void *argument)
{
    struct admin_socket *door = argument;
    for (;;) {
        int client = accept(door->listening, NULL, NULL);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (client < 0)
            return NULL; /* admin_socket_close has shut it */
        serve(door, client);
        close(client);
        daemon_state_guard(door->context);
    }
}

static bool bind_door(struct admin_socket *door)
{
    struct sockaddr_un address;
    unlink(door->path);
    address_of(&address, door->folder);
    door->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return door->listening >= 0 &&
           bind(door->listening, (const struct sockaddr *)(const void *)&address,
                sizeof address) == 0 &&
           listen(door->listening, 8) == 0;
}

enum status admin_socket_open(struct admin_socket **out, struct daemon_state *context,
                              struct error *error)
{
    struct admin_socket *door = calloc(1, sizeof *door);
    CHECK(door != NULL);
    door->context = context;
    door->listening = -1;
    blob_door_path(context->config->data_dir, door->path);
    door->folder = open_folder(context->config->data_dir);
    if (door->folder < 0 || !bind_door(door)) {
        error_set(error, ST_IO, "%s: %s", door->path, strerror(errno));
        if (door->listening >= 0)
            close(door->listening);
        if (door->folder >= 0)
            close(door->folder);
        free(door);
        return ST_IO;
    }
    CHECK(pthread_create(&door->thread, NULL, take_commands, door) == 0);
    *out = door;
    return ST_OK;
}

void admin_socket_close(struct admin_socket *door)
{
    if (door == NULL)
        return;
    shutdown(door->listening, SHUT_RDWR); /* makes accept return, and the thread end */
    pthread_join(door->thread, NULL);
    unlink(door->path);
    close(door->listening);
    close(door->folder);
    free(door);
}

/* --- the command's side --- */

static int knock(const char *directory)
{
    struct sockaddr_un address;
    int folder = open_folder(directory);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_of(&address, folder);
    bool good = folder >= 0 && server >= 0 &&
                connect(server, (const struct sockaddr *)(const void *)&address,
                        sizeof address) == 0;
    if (folder >= 0)
        close(folder);
    if (!good && server >= 0)
        close(server);
    return good ? server : -1;
}

/* Prints the answer as it arrives, after its first byte. */
static bool print_answer(int server, int *code, FILE *out)
{
    char data[4096];
    unsigned char first = EX_TEMPFAIL;
    bool good = recv(server, &first, 1, MSG_WAITALL) == 1;
    *code = first;
    for (ssize_t got; good && (got = recv(server, data, sizeof data, 0)) > 0;)
        fwrite(data, 1, (size_t)got, out);
    hash_zero(data, sizeof data);
    return good;
}

bool admin_socket_ask(const char *directory, int count, const char *const *words,
                      int *code, FILE *out)
{
    bool good = true;
    int server = knock(directory);
    if (server < 0)
        return false;
    for (int i = 0; i < count && good; i++)
        good = send_all(server, words[i], strlen(words[i]) + 1);
    shutdown(server, SHUT_WR);
    if (!good || !print_answer(server, code, out)) {
        fprintf(out,
                "epsilond key: the daemon gave no answer; see `epsilond key list`\n");
        *code = EX_TEMPFAIL;
    }
    close(server);
    return true;
}
