#include "service/config/config_option.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/limits.h"
#include "service/outbound/s3.h"

enum { WORKERS_MAX = 256, PORT_MAX = 65535 };

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

/* Copies a path and checks that `spare` more bytes fit after it, for names derived from
 * it. */
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

/* The URL is checked when the daemon connects. */
static enum status set_store(struct config *config, const char *text,
                             struct error *error)
{
    if (text[0] == '\0' || strlen(text) >= sizeof config->store)
        return error_set(error, ST_INVALID, "not a usable URL");
    snprintf(config->store, sizeof config->store, "%s", text);
    return ST_OK;
}

static enum status set_blobs(struct config *config, const char *text,
                             struct error *error)
{
    struct s3_location unused;
    enum status status = s3_location_parse(&unused, text, error);
    if (status == ST_OK)
        snprintf(config->blobs, sizeof config->blobs, "%s", text);
    return status;
}

static enum status set_blobs_key_file(struct config *config, const char *text,
                                      struct error *error)
{
    return copy_path(config->blobs_key_file, 1, text, error);
}

static enum status set_cache_size(struct config *config, const char *text,
                                  struct error *error)
{
    return count(&config->cache_size, text, 1, UINT64_C(1) << 50, error);
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

/* Reads unix:PATH or ADDR:PORT; an IPv6 address is in brackets. */
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

/* The command must contain {ranks}: without it, it would start another number of
 * ranks. */
static enum status set_ranks_launcher(struct config *config, const char *text,
                                      struct error *error)
{
    if (strstr(text, "{ranks}") == NULL)
        return error_set(error, ST_INVALID,
                         "a command with {ranks} in the place of their number");
    return copy_path(config->ranks_launcher, 1, text, error);
}

static enum status set_ranks_max(struct config *config, const char *text,
                                 struct error *error)
{
    return small_count(&config->ranks_max, text, 1, LIMIT_RANKS, error);
}

static enum status set_ranks_network(struct config *config, const char *text,
                                     struct error *error)
{
    return count(&config->ranks_network, text, 1000000, UINT64_C(1) << 40, error);
}

static enum status set_drain(struct config *config, const char *text,
                             struct error *error)
{
    return small_count(&config->drain_timeout_s, text, 0, 86400, error);
}

/* Reads seconds, with decimals. Zero is refused: without a delay the end of a job shows
 * how long private work took. */
static enum status set_reveal_delay(struct config *config, const char *text,
                                    struct error *error)
{
    enum { MS_PER_S = 1000 };
    static const double low_s = 0.01, high_s = 600;
    char *end = NULL;
    double read = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' ||
        !(read >= low_s && read <= high_s))
        return error_set(error, ST_INVALID,
                         "\"%s\" is not a number of seconds in [%g, %g]", text, low_s,
                         high_s);
    config->reveal_delay_ms = (unsigned)(read * MS_PER_S);
    return ST_OK;
}

/* Reads an address like --listen, but accepts only loopback. */
static enum status set_metrics_listen(struct config *config, const char *text,
                                      struct error *error)
{
    struct config read = {0};
    enum status status = set_listen(&read, text, error);
    if (status != ST_OK)
        return status;
    if (!config_is_loopback(read.address))
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

static enum status set_single_server(struct config *config, const char *text,
                                     struct error *error)
{
    return on_or_off(&config->single_server, text, error);
}

static enum status set_role(struct config *config, const char *text,
                            struct error *error)
{
    enum daemon_role role;
    if (!daemon_role_parse(&role, text))
        return error_set(error, ST_INVALID, "one of api, worker, api,worker");
    config->role = role;
    return ST_OK;
}

static enum status set_migrate(struct config *config, const char *text,
                               struct error *error)
{
    return on_or_off(&config->migrate, text, error);
}

static enum status set_check_objects(struct config *config, const char *text,
                                     struct error *error)
{
    return on_or_off(&config->check_objects, text, error);
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

const struct config_option config_options[] = {
    {"data-dir", set_data_dir},
    {"listen", set_listen},
    {"workers", set_workers},
    {"threads", set_threads},
    {"queue-length-max", set_queue},
    {"upload-size-max", set_upload},
    {"unpacked-size-max", set_unpacked},
    {"job-memory-max", set_memory},
    {"ranks-launcher", set_ranks_launcher},
    {"ranks-max", set_ranks_max},
    {"ranks-network", set_ranks_network},
    {"drain-timeout", set_drain},
    {"reveal-delay", set_reveal_delay},
    {"log-level", set_log_level},
    {"head-file", set_head_file},
    {"store", set_store},
    {"single-server", set_single_server},
    {"role", set_role},
    {"migrate", set_migrate},
    {"blobs", set_blobs},
    {"blobs-key-file", set_blobs_key_file},
    {"cache-size", set_cache_size},
    {"check-objects", set_check_objects},
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

const size_t config_option_count = sizeof config_options / sizeof *config_options;

const struct config_option *config_option_find(const char *name, size_t length)
{
    for (size_t i = 0; i < config_option_count; i++)
        if (strlen(config_options[i].name) == length &&
            memcmp(config_options[i].name, name, length) == 0)
            return &config_options[i];
    return NULL;
}

enum status config_option_set(struct config *config, const struct config_option *option,
                              const char *source, const char *text, struct error *error)
{
    struct error inner = {0};
    enum status status = option->set(config, text, &inner);
    if (status == ST_OK)
        return ST_OK;
    return error_set(error, status, "%s: %s", source, inner.text);
}
