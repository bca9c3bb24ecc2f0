#include "service/config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/limits.h"

enum { LINE_SIZE = 8192, WORKERS_MAX = 256, PORT_MAX = 65535 };

struct option {
    const char *name;
    enum status (*set)(struct config *config, const char *text, struct error *error);
};

static enum status count(uint64_t *value, const char *text, uint64_t low, uint64_t high,
                         struct error *error)
{
    char *end = NULL;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || read < low ||
        read > high)
        return error_set(error, ST_INVALID,
                         "\"%s\" is not a whole number in [%llu, %llu]", text,
                         (unsigned long long)low, (unsigned long long)high);
    *value = read;
    return ST_OK;
}

static enum status small_count(unsigned *value, const char *text, unsigned low,
                               unsigned high, struct error *error)
{
    uint64_t read = 0;
    enum status status = count(&read, text, low, high, error);
    if (status == ST_OK)
        *value = (unsigned)read;
    return status;
}

/* Copies a path that has room for spare bytes behind it, for names made of it. */
static enum status copy_path(char to[CONFIG_PATH_SIZE], size_t spare, const char *text,
                             struct error *error)
{
    if (text[0] == '\0' || strlen(text) >= CONFIG_PATH_SIZE - spare)
        return error_set(error, ST_INVALID, "not a usable path");
    snprintf(to, CONFIG_PATH_SIZE, "%s", text);
    return ST_OK;
}

static enum status set_data_dir(struct config *config, const char *text,
                                struct error *error)
{
    return copy_path(config->data_dir, 128, text, error);
}

static enum status set_head_file(struct config *config, const char *text,
                                 struct error *error)
{
    return copy_path(config->head_file, 16, text, error);
}

static enum status set_tls_certificate(struct config *config, const char *text,
                                       struct error *error)
{
    return copy_path(config->tls_certificate, 1, text, error);
}

static enum status set_tls_key(struct config *config, const char *text,
                               struct error *error)
{
    return copy_path(config->tls_key, 1, text, error);
}

static enum status set_outbound_allow(struct config *config, const char *text,
                                      struct error *error)
{
    return host_address_list_parse(&config->outbound_allow, text, error);
}

static enum status set_outbound_ca(struct config *config, const char *text,
                                   struct error *error)
{
    if (text[0] == '\0' || strlen(text) >= sizeof config->outbound_ca)
        return error_set(error, ST_INVALID, "not a usable path");
    if (access(text, R_OK) != 0)
        return error_set(error, ST_INVALID, "%s: %s", text, strerror(errno));
    snprintf(config->outbound_ca, sizeof config->outbound_ca, "%s", text);
    return ST_OK;
}

static bool is_address(const char *address)
{
    uint8_t unused[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, address, unused) == 1 ||
           inet_pton(AF_INET6, address, unused) == 1;
}

static bool is_loopback(const char *address)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, address, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static enum status set_socket_path(struct config *config, const char *path,
                                   struct error *error)
{
    if (path[0] != '/' || strlen(path) >= sizeof config->socket_path)
        return error_set(error, ST_INVALID,
                         "unix: needs a path that begins with / and has less than %d "
                         "bytes",
                         UNIX_SOCKET_PATH_SIZE);
    snprintf(config->socket_path, sizeof config->socket_path, "%s", path);
    return ST_OK;
}

/* unix:PATH, or ADDR:PORT, the address in brackets where it is IPv6. */
static enum status set_listen(struct config *config, const char *text,
                              struct error *error)
{
    const char *colon = strrchr(text, ':');
    char address[CONFIG_ADDRESS_SIZE];
    uint64_t port = 0;

    if (strncmp(text, "unix:", 5) == 0)
        return set_socket_path(config, text + 5, error);
    if (colon == NULL || (size_t)(colon - text) >= sizeof address)
        return error_set(error, ST_INVALID, "\"%s\" is not ADDR:PORT", text);
    snprintf(address, sizeof address, "%.*s", (int)(colon - text), text);
    size_t length = strlen(address);
    if (length > 2 && address[0] == '[' && address[length - 1] == ']') {
        memmove(address, address + 1, length - 2);
        address[length - 2] = '\0';
    }
    enum status status = count(&port, colon + 1, 0, PORT_MAX, error);
    if (status != ST_OK)
        return status;
    if (!is_address(address))
        return error_set(error, ST_INVALID,
                         "%s is not a numeric address (127.0.0.1:PORT or [::1]:PORT)",
                         address);
    memcpy(config->address, address, sizeof address);
    config->port = (uint16_t)port;
    config->socket_path[0] = '\0';
    return ST_OK;
}

static enum status set_workers(struct config *config, const char *text,
                               struct error *error)
{
    return small_count(&config->workers, text, 1, WORKERS_MAX, error);
}

static enum status set_threads(struct config *config, const char *text,
                               struct error *error)
{
    return small_count(&config->threads, text, 1, WORKERS_MAX, error);
}

static enum status set_queue(struct config *config, const char *text,
                             struct error *error)
{
    return count(&config->queue_length_max, text, 1, LIMIT_QUEUE_LENGTH * 1000, error);
}

static enum status set_upload(struct config *config, const char *text,
                              struct error *error)
{
    return count(&config->upload_size_max, text, 1, UINT64_C(1) << 50, error);
}

static enum status set_unpacked(struct config *config, const char *text,
                                struct error *error)
{
    return count(&config->unpacked_size_max, text, 1, UINT64_C(1) << 50, error);
}

static enum status set_memory(struct config *config, const char *text,
                              struct error *error)
{
    return count(&config->job_memory_max, text, 1, UINT64_C(1) << 50, error);
}

static enum status set_drain(struct config *config, const char *text,
                             struct error *error)
{
    return small_count(&config->drain_timeout_s, text, 0, 86400, error);
}

/* Takes what --listen takes of addresses, and loopback alone. */
static enum status set_metrics_listen(struct config *config, const char *text,
                                      struct error *error)
{
    struct config read = {0};
    enum status status = set_listen(&read, text, error);
    if (status != ST_OK)
        return status;
    if (!is_loopback(read.address))
        return error_set(error, ST_INVALID,
                         "\"%s\" is not a loopback address and a port; elsewhere "
                         "/metrics is asked for with a key",
                         text);
    memcpy(config->metrics_address, read.address, sizeof config->metrics_address);
    config->metrics_port = read.port;
    return ST_OK;
}

static enum status set_metrics_datasets(struct config *config, const char *text,
                                        struct error *error)
{
    uint64_t read = 0;
    enum status status = count(&read, text, 0, LIMIT_METRICS_DATASETS * 1000, error);
    if (status == ST_OK)
        config->metrics_datasets_max = (size_t)read;
    return status;
}

static enum status on_or_off(bool *on, const char *text, struct error *error)
{
    *on = strcmp(text, "on") == 0;
    if (!*on && strcmp(text, "off") != 0)
        return error_set(error, ST_INVALID, "one of on, off");
    return ST_OK;
}

static enum status set_trust_proxy(struct config *config, const char *text,
                                   struct error *error)
{
    return proxy_trust_parse(&config->trust_proxy, text, error);
}

static enum status set_groups(struct config *config, const char *text,
                              struct error *error)
{
    return copy_path(config->groups, 1, text, error);
}

static enum status set_ui(struct config *config, const char *text, struct error *error)
{
    return on_or_off(&config->ui, text, error);
}

static enum status set_approvals(struct config *config, const char *text,
                                 struct error *error)
{
    return on_or_off(&config->approvals, text, error);
}

static enum status set_audit_ip(struct config *config, const char *text,
                                struct error *error)
{
    return on_or_off(&config->audit_ip, text, error);
}

static enum status set_behind_proxy(struct config *config, const char *text,
                                    struct error *error)
{
    return on_or_off(&config->behind_proxy, text, error);
}

static enum status set_log_level(struct config *config, const char *text,
                                 struct error *error)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            config->log_level = (enum log_level)i;
            return ST_OK;
        }
    }
    return error_set(error, ST_INVALID, "one of debug, info, warning, error");
}

static const struct option options[] = {
    {"data-dir", set_data_dir},
    {"listen", set_listen},
    {"workers", set_workers},
    {"threads", set_threads},
    {"queue-length-max", set_queue},
    {"upload-size-max", set_upload},
    {"unpacked-size-max", set_unpacked},
    {"job-memory-max", set_memory},
    {"drain-timeout", set_drain},
    {"log-level", set_log_level},
    {"head-file", set_head_file},
    {"metrics-listen", set_metrics_listen},
    {"metrics-datasets-max", set_metrics_datasets},
    {"ui", set_ui},
    {"behind-proxy", set_behind_proxy},
    {"trust-proxy", set_trust_proxy},
    {"groups", set_groups},
    {"tls-cert", set_tls_certificate},
    {"tls-key", set_tls_key},
    {"audit-ip", set_audit_ip},
    {"outbound-allow", set_outbound_allow},
    {"outbound-ca", set_outbound_ca},
    {"approvals", set_approvals},
};

enum { OPTION_COUNT = sizeof options / sizeof *options };

static const struct option *option_find(const char *name, size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == length &&
            memcmp(options[i].name, name, length) == 0)
            return &options[i];
    return NULL;
}

static enum status option_set(struct config *config, const struct option *option,
                              const char *source, const char *text, struct error *error)
{
    struct error inner = {0};
    enum status status = option->set(config, text, &inner);
    if (status == ST_OK)
        return ST_OK;
    return error_set(error, status, "%s: %s", source, inner.text);
}

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
        .drain_timeout_s = LIMIT_DRAIN_TIMEOUT_S,
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
    char source[64];
    char *name = trim(line), *equals = strchr(name, '=');
    if (*name == '\0' || *name == '#')
        return ST_OK;
    if (equals == NULL)
        return error_set(error, ST_IO, "%s: line %u: not `name = value`", path, number);
    *equals = '\0';
    name = trim(name);
    const struct option *option = option_find(name, strlen(name));
    if (option == NULL)
        return error_set(error, ST_IO, "%s: line %u: unknown option", path, number);
    snprintf(source, sizeof source, "line %u", number);
    if (option_set(config, option, source, trim(equals + 1), error) != ST_OK) {
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
    for (size_t i = 0; i < OPTION_COUNT && status == ST_OK; i++) {
        char name[64] = "EPSILOND_";
        size_t length = strlen(name);
        for (const char *c = options[i].name; *c != '\0'; c++)
            name[length++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
        name[length] = '\0';
        const char *text = getenv(name);
        if (text != NULL)
            status = option_set(config, &options[i], name, text, error);
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
    const struct option *option = option_find(name, length);
    if (is_config(name, length))
        return ST_OK;
    if (option == NULL)
        return error_set(error, ST_INVALID, "unknown option --%.*s (see --help)",
                         (int)length, name);
    snprintf(source, sizeof source, "--%s", option->name);
    return option_set(config, option, source, value, error);
}

static void derive(struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (config->threads == 0)
        config->threads =
            cores > (long)config->workers ? (unsigned)cores / config->workers : 1;
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

bool config_is_local(const struct config *config)
{
    return config->socket_path[0] != '\0' || is_loopback(config->address);
}

const char *config_help(void)
{
    return "usage: epsilond --data-dir DIR [--listen ADDR:PORT] [options]\n"
           "       epsilond verify --data-dir DIR\n"
           "       epsilond backup FOLDER --data-dir DIR\n"
           "       epsilond restore BACKUP --data-dir DIR [--head-file PATH]\n"
           "       epsilond ping [--listen ADDR:PORT]\n"
           "       epsilond key create|list|revoke ... --data-dir DIR\n"
           "       epsilond regrant ID --epsilon E --delta D [--order A] --data-dir "
           "DIR\n"
           "\n"
           "  --data-dir DIR             where everything is kept (required)\n"
           "  --listen ADDR:PORT         port 0 takes a free one [127.0.0.1:8080];\n"
           "                             other than loopback needs a key (epsilond "
           "key\n"
           "                             create) and TLS, here or in a proxy\n"
           "  --listen unix:PATH         a socket in the file system, mode 0660\n"
           "  --tls-cert FILE            PEM: speak HTTPS; read again on SIGHUP\n"
           "  --tls-key FILE             its key, which others must not read\n"
           "  --behind-proxy on|off      a proxy with TLS stands in front [off]\n"
           "  --trust-proxy unix|NET     from where X-Forwarded-User, -Email, -Groups "
           "are\n"
           "                             believed: the socket, or 10.1.0.0/16\n"
           "  --groups FILE              JSON: the role and project of each group; "
           "read\n"
           "                             again on SIGHUP\n"
           "  --workers N                jobs that train at once [half the cores]\n"
           "  --threads N                threads of each job [cores / workers]\n"
           "  --queue-length-max N       jobs that may wait [1000]\n"
           "  --upload-size-max BYTES    of one uploaded file [16 GiB]\n"
           "  --unpacked-size-max BYTES  of one file after gzip [64 GiB]\n"
           "  --job-memory-max BYTES     of one job [half of RAM]\n"
           "  --drain-timeout SECONDS    for running jobs after SIGTERM [120]\n"
           "  --head-file PATH           the ledger's head, kept on another disk too\n"
           "  --metrics-listen ADDR:PORT /metrics for a scraper here, without a key\n"
           "  --metrics-datasets-max N   budgets in /metrics, least left first [1000]\n"
           "  --outbound-allow ADDRESSES addresses or blocks, with commas, that "
           "webhooks "
           "and\n"
           "                             fetches may reach beside public ones [none]\n"
           "  --outbound-ca FILE         authorities for these, in PEM [the system's]\n"
           "  --ui on|off                the dashboard, for a browser, at /ui/ [on]\n"
           "  --approvals on|off         grants wait for a second person, where there "
           "are keys [on]\n"
           "  --audit-ip on|off          addresses of clients in the audit trail [on]\n"
           "  --log-level LEVEL          debug, info, warning, error [info]\n"
           "  --config FILE              lines of `name = value`\n"
           "\n"
           "Each option may also stand in the environment: EPSILOND_DATA_DIR.\n"
           "A flag wins over the environment, that over the file.\n"
           "Exit: 0 stopped, 64 usage, 65 the ledger does not verify, 75 I/O error or "
           "the\n"
           "directory is in use, 78 configuration file.\n";
}
