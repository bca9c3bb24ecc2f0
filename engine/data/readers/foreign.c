#include "engine/data/readers/foreign.h"

#include <stdio.h>
#include <string.h>

#include "engine/data/readers/reader_registry.h"

#define UNPACK ": unpack it; plain and gzip files are read"
#define EXPORT ": export it in the declared format"
#define RECODE ": save it as UTF-8"

enum { WIDE_SIZE = 16 }; /* bytes by which UTF-16 is recognised */

struct kind {
    const char *bytes, *name;
    unsigned char size;
};

/* The first bytes are from PKWARE's APPNOTE, the xz and zstd formats, bzip2's and 7z's
 * sources, and Parquet's and HDF5's specifications. */
static const struct kind kinds[] = {
    {"PK\x03\x04", "the file is a zip archive, as .xlsx and .npz are" UNPACK, 4},
    {"PK\x05\x06", "the file is an empty zip archive" UNPACK, 4},
    {"\xfd"
     "7zXZ\0",
     "the file is packed with xz" UNPACK, 6},
    {"\x28\xb5\x2f\xfd", "the file is packed with zstd" UNPACK, 4},
    {"7z\xbc\xaf\x27\x1c", "the file is a 7z archive" UNPACK, 6},
    {"\x1f\x8b", "the file is packed with gzip twice: unpack it once", 2},
    {"PAR1\x15",
     "the file is in Parquet's format: export it as CSV, or register it with the "
     "Python "
     "client, which converts it",
     5},
    {"\x89HDF\r\n\x1a\n", "the file is in HDF5's format" EXPORT, 8},
};

/* Byte order marks. Longer marks come first, because the mark of UTF-32 begins with
 * that of UTF-16. */
static const struct kind marks[] = {
    {"\xff\xfe\0\0", "the file is text in UTF-32" RECODE, 4},
    {"\xff\xfe", "the file is text in UTF-16" RECODE, 2},
    {"\xfe\xff", "the file is text in UTF-16" RECODE, 2},
};

static bool begins(const struct kind *kind, const char *bytes, size_t size)
{
    return size >= kind->size && memcmp(bytes, kind->bytes, kind->size) == 0;
}

/* Returns whether a file begins like a bzip2 file: "BZh", the size of a block, and
 * pi. */
static bool is_bzip2(const char *bytes, size_t size)
{
    return size >= 10 && memcmp(bytes, "BZh", 3) == 0 &&
           memcmp(bytes + 4, "1AY&SY", 6) == 0;
}

static const char *find(const struct kind *among, size_t count, const char *bytes,
                        size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (begins(&among[i], bytes, size))
            return among[i].name;
    return NULL;
}

/* Returns whether the text is UTF-16 without a byte order mark: for Latin letters,
 * digits and punctuation every other byte is 0. */
static bool is_wide(const char *bytes, size_t size)
{
    bool even = size >= 4, odd = even;
    for (size_t i = 0; i + 1 < size && i < WIDE_SIZE; i += 2) {
        even = even && bytes[i] == 0 && bytes[i + 1] != 0;
        odd = odd && bytes[i] != 0 && bytes[i + 1] == 0;
    }
    return even || odd;
}

/* Returns the format whose files begin with these bytes, or NULL. */
static const struct reader *find_format(const char *bytes, size_t size)
{
    for (size_t i = 0; readers[i] != NULL; i++) {
        const char *magic = readers[i]->magic;
        if (magic != NULL && size >= strlen(magic) &&
            memcmp(bytes, magic, strlen(magic)) == 0)
            return readers[i];
    }
    return NULL;
}

static const char *find_kind(const struct reader *reader, const char *bytes,
                             size_t size)
{
    const char *name = find(kinds, sizeof kinds / sizeof *kinds, bytes, size);
    bool is_text = reader == NULL || reader->is_text;
    if (name == NULL && is_bzip2(bytes, size))
        name = "the file is packed with bzip2" UNPACK;
    if (name == NULL && is_text)
        name = find(marks, sizeof marks / sizeof *marks, bytes, size);
    if (name == NULL && is_text && is_wide(bytes, size))
        name = "the file is text in UTF-16" RECODE;
    return name;
}

bool foreign_name(char *text, size_t size, const struct reader *reader,
                  const void *bytes, size_t byte_count)
{
    const struct reader *format = find_format(bytes, byte_count);
    const char *kind = find_kind(reader, bytes, byte_count);
    if (kind != NULL)
        snprintf(text, size, "%s", kind);
    else if (format != NULL && reader == NULL)
        snprintf(text, size, "the file is in %s's format, and should be text",
                 format->name);
    else if (format != NULL && format != reader)
        snprintf(text, size, "the file is in %s's format: declare the dataset as %s",
                 format->name, format->name);
    else
        return false;
    return true;
}
