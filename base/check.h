/* check.h - assertions about our own bugs. They are always enabled, print a message and
 * abort. Never use them to validate input. */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#define CHECK(condition)                                                               \
    ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

void check_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn));

#endif
