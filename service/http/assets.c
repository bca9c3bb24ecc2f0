#include "service/http/assets.h"

#include <string.h>

#include "service/ui_files.h" /* made by service/ui/embed */

/* Defines symbol and symbol_end around the bytes of the file, and a zero byte after
 * them. */
#define EMBED(symbol, path)                                                            \
    __asm__(".section .rodata\n"                                                       \
            ".global " #symbol "\n"                                                    \
            ".type " #symbol ", @object\n" #symbol ":\n"                               \
            ".incbin \"" path "\"\n"                                                   \
            ".global " #symbol "_end\n" #symbol "_end:\n"                              \
            ".byte 0\n"                                                                \
            ".previous\n");

#define X(number, name, type, path)                                                    \
    EMBED(asset_ui_##number, path)                                                     \
    EMBED(asset_ui_packed_##number, path ".gz")                                        \
    extern const char asset_ui_##number[], asset_ui_##number##_end[];                  \
    extern const char asset_ui_packed_##number[], asset_ui_packed_##number##_end[];
UI_FILE_LIST(X)
#undef X

static const struct asset assets[] = {
#define X(number, name, type, path)                                                    \
    {name,                                                                             \
     type,                                                                             \
     asset_ui_##number,                                                                \
     asset_ui_##number##_end,                                                          \
     asset_ui_packed_##number,                                                         \
     asset_ui_packed_##number##_end},
    UI_FILE_LIST(X)
#undef X
};

const struct asset *asset_find(const char *name)
{
    for (size_t i = 0; i < sizeof assets / sizeof *assets; i++)
        if (strcmp(assets[i].name, name) == 0)
            return &assets[i];
    return NULL;
}

const char *asset_version(void)
{
    return UI_VERSION;
}
