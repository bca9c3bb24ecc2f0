/*
 * accept.h - chooses the route's type that suits a request's Accept header best (RFC
 * 9110, 12.5.1). The most specific range that matches a type gives its weight. If
 * several types have the largest weight, the one that the route names first is chosen.
 *
 * Parameters of a range other than q are ignored. Text that cannot be read as a range
 * matches nothing. An Accept-Encoding header is read in the same way, with codings
 * instead of types.
 */
#ifndef API_HTTP_ACCEPT_H
#define API_HTTP_ACCEPT_H

/* Returns the index, from 0, of the best among types, which are separated by blanks,
 * the preferred one first; -1 if none of them is accepted. If accept is NULL there
 * was no such header, and any type is accepted. Any type is also accepted if there
 * are no types. */
int accept_choose(const char *types, const char *accept);

#endif
