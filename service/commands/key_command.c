#include "service/commands/key_command.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/log.h"
#include "service/commands/admin_socket.h"
#include "service/config/config.h"
#include "service/identity/key_admin.h"
#include "service/process/daemon_state.h"
#include "service/server/daemon_lifecycle.h"

enum { WORDS_MAX = 32 };

struct command {
    const char *words[WORDS_MAX]; /* of key_admin.h */
    int count;
    struct config config;
};

static bool is_own(const char *word)
{
    static const char *const own[] = {"--owner", "--project", "--role", "--expires",
                                      "--scopes"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(word, own[i]) == 0)
            return true;
    return false;
}

/* Separates the command's own words from the configuration's, which begin with other
 * options. */
static enum status read_arguments(struct command *command, int argc, char **argv,
                                  struct error *error)
{
    enum config_outcome outcome;
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        bool has_value = strncmp(argv[i], "--", 2) == 0 && strchr(argv[i], '=') == NULL;
        bool own = is_own(argv[i]) || strncmp(argv[i], "--", 2) != 0;
        for (int last = has_value && i + 1 < argc ? i + 1 : i; i <= last; i++) {
            if (own && command->count == WORDS_MAX)
                return error_set(error, ST_INVALID, "too many words");
            if (own)
                command->words[command->count++] = argv[i];
            else
                argv[kept++] = argv[i];
        }
        i--;
    }
    return config_read(&command->config, &outcome, kept, argv, error);
}

int key_command(int argc, char **argv)
{
    struct command command = {0};
    struct daemon_state context = {0};
    const struct daemon_lifecycle_hooks none = {0};
    struct error error = {0};
    int code = EX_OK;
    enum status status = read_arguments(&command, argc, argv, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond key: %s\n%s", error.text, key_admin_usage);
        return EX_USAGE;
    }
    if (admin_socket_ask(command.config.data_dir, command.count, command.words, &code,
                         stdout))
        return code;
    log_level_set(LOG_WARNING);
    status = daemon_lifecycle_open(&context, &command.config, &none, &error);
    if (status == ST_OK)
        code = key_admin_run(&context, command.count, command.words, stdout);
    daemon_lifecycle_close(&context);
    if (status == ST_OK)
        return code;
    fprintf(stderr, "epsilond key: %s\n", error.text);
    return status == ST_CORRUPT ? EX_DATAERR : EX_TEMPFAIL;
}
