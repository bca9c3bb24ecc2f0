/*
 * s3_fixture.h - a small S3 server on loopback (tests/blobs/s3_server.py). It checks
 * every signature, and on request it fails or gives false answers
 * (tests/blobs/faults.py). It dies with the test program. Include it after expect.h;
 * define _GNU_SOURCE before any header.
 */
#ifndef TESTS_S3_FIXTURE_H
#define TESTS_S3_FIXTURE_H

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define S3_BUCKET "eps-files"
#define S3_KEY    "AKIDEXAMPLE"
#define S3_SESSION                                                                     \
    "ASIAEXAMPLE" /* the same key for a session, which is sent with its token */
#define S3_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

struct s3_process {
    pid_t pid;
    int input;
    char endpoint[64];
    char text[1 << 16]; /* the last answer of s3_ask */
    size_t size;
};

static inline void s3_start(struct s3_process *s3)
{
    int input[2], output[2];
    char line[16] = "";
    *s3 = (struct s3_process){0};
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    s3->pid = fork();
    assert_true(s3->pid >= 0);
    if (s3->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        execl("/usr/bin/python3", "/usr/bin/python3", "-B", "tests/blobs/s3_server.py",
              S3_BUCKET, S3_KEY, S3_SECRET, (char *)NULL);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    s3->input = input[1];
    FILE *said = fdopen(output[0], "r");
    assert_non_null(said);
    assert_non_null(fgets(line, sizeof line, said));
    fclose(said);
    line[strcspn(line, "\n")] = '\0';
    snprintf(s3->endpoint, sizeof s3->endpoint, "http://127.0.0.1:%s", line);
}

static inline void s3_stop(struct s3_process *s3)
{
    int status;
    close(s3->input);
    assert_int_equal(waitpid(s3->pid, &status, 0), s3->pid);
}

static inline size_t s3_take(char *data, size_t one, size_t size, void *context)
{
    struct s3_process *s3 = context;
    (void)one;
    assert_true(size < sizeof s3->text - s3->size);
    memcpy(s3->text + s3->size, data, size);
    s3->size += size;
    s3->text[s3->size] = '\0';
    return size;
}

/* Sends "/~objects", "/~log" or "/~faults?.." to the server itself and returns its
 * answer. */
static inline const char *s3_ask(struct s3_process *s3, const char *path)
{
    char url[256];
    long status = 0;
    CURL *handle = curl_easy_init();
    assert_non_null(handle);
    snprintf(url, sizeof url, "%s%s", s3->endpoint, path);
    s3->size = 0;
    s3->text[0] = '\0';
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, s3_take);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, s3);
    assert_int_equal(curl_easy_perform(handle), CURLE_OK);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    assert_int_equal(status, 200);
    curl_easy_cleanup(handle);
    return s3->text;
}

#endif
