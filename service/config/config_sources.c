/* Reads the configuration file, the environment and the flags, and sets the
 * defaults. */
#include "service/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/limits.h"
#include "service/config/config_option.h"

enum { LINE_SIZE = 8192 };

static void config_defaults(struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    *config = (struct config){
        .address = "127.0.0.1",
        .port = 8080,
        .workers = cores > 1 ? (unsigned)cores / 2 : 1,
        .queue_length_max = LIMIT_QUEUE_LENGTH,
        .upload_size_max = LIMIT_UPLOAD_SIZE,
        .unpacked_size_max = LIMIT_UNPACKED_SIZE,
        .job_memory_max = (uint64_t)pages * (uint64_t)page / 2,
        .ranks_max = 16,
        .ranks_network =
            UINT64_C(1100000000), /* 10 Gbit/s, of which a small part is lost */
        .cache_size = LIMIT_CACHE_SIZE,
        .drain_timeout_s = LIMIT_DRAIN_TIMEOUT_S,
        .reveal_delay_ms = LIMIT_REVEAL_DELAY_MS,
        .metrics_datasets_max = LIMIT_METRICS_DATASETS,
        .ui = true,
        .audit_ip = true,
        .approvals = true,
        .log_level = LOG_INFO,
    };
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static enum status read_line(struct config *config, const char *path, unsigned number,
                             char *line, struct error *error)
{
    char source[256];
    char *name = trim(line), *equals = strchr(name, '=');
    if (*name == '\0' || *name == '#')
        return ST_OK;
    if (equals == NULL)
        return error_set(error, ST_IO, "%s: line %u: not `name = value`", path, number);
    *equals = '\0';
    name = trim(name);
    const struct config_option *option = config_option_find(name, strlen(name));
    if (option == NULL)
        return error_set(error, ST_IO, "%s: line %u: unknown option \"%.64s\"", path,
                         number, name);
    snprintf(source, sizeof source, "%s: line %u: %s", path, number, option->name);
    if (config_option_set(config, option, source, trim(equals + 1), error) != ST_OK) {
        error->status = ST_IO;
        return ST_IO;
    }
    return ST_OK;
}

static enum status read_file(struct config *config, const char *path,
                             struct error *error)
{
    char line[LINE_SIZE];
    enum status status = ST_OK;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    for (unsigned number = 1; status == ST_OK && fgets(line, sizeof line, file);
         number++)
        status = read_line(config, path, number, line, error);
    fclose(file);
    return status;
}

static enum status read_environment(struct config *config, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < config_option_count && status == ST_OK; i++) {
        const struct config_option *option = &config_options[i];
        char name[64] = "EPSILOND_";
        size_t length = strlen(name);
        for (const char *c = option->name; *c != '\0'; c++)
            name[length++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
        name[length] = '\0';
        const char *text = getenv(name);
        if (text != NULL)
            status = config_option_set(config, option, name, text, error);
    }
    return status;
}

/* Calls visit(name, value) for each --name value and --name=value. */
static enum status
walk_arguments(int argc, char **argv,
               enum status (*visit)(struct config *, const char *name, size_t length,
                                    const char *value, struct error *),
               struct config *config, struct error *error)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strncmp(name, "--", 2) != 0)
            return error_set(error, ST_INVALID, "unexpected argument \"%s\"", name);
        name += 2;
        size_t length = strcspn(name, "=");
        const char *value = name[length] == '=' ? name + length + 1 : argv[++i];
        if (value == NULL)
            return error_set(error, ST_INVALID, "--%s needs a value", name);
        enum status status = visit(config, name, length, value, error);
        if (status != ST_OK)
            return status;
    }
    return ST_OK;
}

static bool is_config(const char *name, size_t length)
{
    return length == strlen("config") && memcmp(name, "config", length) == 0;
}

static enum status visit_config(struct config *config, const char *name, size_t length,
                                const char *value, struct error *error)
{
    return is_config(name, length) ? read_file(config, value, error) : ST_OK;
}

static enum status visit_option(struct config *config, const char *name, size_t length,
                                const char *value, struct error *error)
{
    char source[80];
    const struct config_option *option = config_option_find(name, length);
    if (is_config(name, length))
        return ST_OK;
    if (option == NULL)
        return error_set(error, ST_INVALID, "unknown option --%.*s (see --help)",
                         (int)length, name);
    snprintf(source, sizeof source, "--%s", option->name);
    return config_option_set(config, option, source, value, error);
}

/* If the ledger is on a server, its head is always stored here too, at a default path
 * if none is given: a server that was set back cannot detect that by itself. */
static void derive(struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (config->threads == 0)
        config->threads =
            cores > (long)config->workers ? (unsigned)cores / config->workers : 1;
    if (config->store[0] != '\0' && config->head_file[0] == '\0')
        snprintf(config->head_file, sizeof config->head_file, "%.*s/epsilond.head",
                 CONFIG_PATH_SIZE - 32, config->data_dir);
}

enum status config_read(struct config *config, enum config_outcome *outcome, int argc,
                        char **argv, struct error *error)
{
    *outcome = CONFIG_RUN;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            *outcome = CONFIG_HELP;
        if (strcmp(argv[i], "--version") == 0)
            *outcome = CONFIG_VERSION;
    }
    config_defaults(config);
    if (*outcome != CONFIG_RUN)
        return ST_OK;
    enum status status = walk_arguments(argc, argv, visit_config, config, error);
    if (status == ST_OK)
        status = read_environment(config, error);
    if (status == ST_OK)
        status = walk_arguments(argc, argv, visit_option, config, error);
    if (status != ST_OK)
        return status;
    if (config->data_dir[0] == '\0')
        return error_set(error, ST_INVALID, "--data-dir is required");
    if (config->store[0] == '\0' && (config->single_server || config->migrate))
        return error_set(error, ST_INVALID,
                         "--single-server and --migrate go with --store");
    if (daemon_role_shares(config->role) &&
        (config->store[0] == '\0' || config->blobs[0] == '\0'))
        return error_set(error, ST_INVALID,
                         "--role goes with --store and --blobs: daemons that do one "
                         "service share the database and the files");
    if (config->blobs[0] == '\0' && config->blobs_key_file[0] != '\0')
        return error_set(error, ST_INVALID, "--blobs-key-file goes with --blobs");
    if ((config->tls_certificate[0] == '\0') != (config->tls_key[0] == '\0'))
        return error_set(error, ST_INVALID,
                         "--tls-cert and --tls-key go together: a certificate and its "
                         "key");
    if ((config->trust_proxy.family == AF_UNSPEC) != (config->groups[0] == '\0'))
        return error_set(error, ST_INVALID,
                         "--trust-proxy and --groups go together: who is believed, and "
                         "what the groups that it names may do");
    if (!config_is_local(config) && config->tls_certificate[0] == '\0' &&
        !config->behind_proxy)
        return error_set(error, ST_INVALID,
                         "%s is no loopback address: keys would travel readable. Give "
                         "--tls-cert and --tls-key, or --behind-proxy on where a proxy "
                         "with TLS stands in front",
                         config->address);
    derive(config);
    return ST_OK;
}
