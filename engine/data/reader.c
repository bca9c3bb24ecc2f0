#include "engine/data/reader.h"

size_t reader_file_count(const struct reader *reader)
{
    size_t count = 0;
    while (count < READER_FILES_MAX && reader->files[count] != NULL)
        count++;
    return count;
}

bool reader_takes_classes(const struct reader *reader, uint32_t classes)
{
    if (reader->class_counts[0].count == 0)
        return true;
    for (size_t i = 0; i < READER_CLASS_COUNTS_MAX; i++)
        if (classes != 0 && reader->class_counts[i].count == classes)
            return true;
    return false;
}
