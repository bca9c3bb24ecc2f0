#include "service/assets.h"

__asm__(".section .rodata\n"
        ".global asset_openapi\n"
        ".type asset_openapi, @object\n"
        "asset_openapi:\n"
        ".incbin \"openapi.yaml\"\n"
        ".global asset_openapi_end\n"
        "asset_openapi_end:\n"
        ".byte 0\n"
        ".previous\n");
