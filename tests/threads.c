/*
 * Every unit test of the release build is linked with this file (make/tests.mk). The
 * first thread that the program's own objects start makes a file PROGRAM.threads, from
 * which the thread sanitizer's build knows which programs it needs to run. Threads
 * inside other libraries do not count: the sanitizer cannot see into them.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef void *thread_begins(void *);

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          thread_begins *begins, void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          thread_begins *begins, void *context);

static void record(void)
{
    char program[PATH_MAX] = "", path[PATH_MAX + 16];
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return;
    snprintf(path, sizeof path, "%s.threads", program);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
}

static pthread_once_t recorded = PTHREAD_ONCE_INIT;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          thread_begins *begins, void *context)
{
    pthread_once(&recorded, record);
    return __real_pthread_create(thread, attributes, begins, context);
}
