"""Surnames of 18 languages, from the lists by locale in Faker of PyPI (its license is MIT). A surname that
several languages have is in each of them. Uses only the standard library."""

import ast
import hashlib
import zipfile

LOCALES = ("it_IT", "es_ES", "nl_NL", "de_AT", "hr_HR", "sv_SE", "en_US", "fr_FR", "et_EE", "cs_CZ", "fi_FI",
           "hu_HU", "pt_BR", "ro_RO", "da_DK", "no_NO", "tr_TR", "sl_SI")
LISTS = ("last_names", "last_names_male", "last_names_female", "unisex_last_names")


def _texts(node):
    """All texts below a node, in their order: names that are in a list, or are keys with a frequency."""
    found = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return [part.value for part in sorted(found, key=lambda part: (part.lineno, part.col_offset))]


def _of(source):
    names = []
    for node in ast.walk(ast.parse(source)):
        targets = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
        if set(targets) & set(LISTS):
            names += _texts(node.value)
    return sorted(set(names))


def surnames(wheel):
    """Returns (name, language) of the training part and of the test: a fifth, by the name's hash."""
    parts = [], []
    with zipfile.ZipFile(wheel) as archive:
        for locale in LOCALES:
            source = archive.read(f"faker/providers/person/{locale}/__init__.py").decode()
            for name in _of(source):
                digest = hashlib.sha256(name.encode()).digest()
                parts[digest[0] % 5 == 0].append((name, locale[:2], digest))
    return [[(name, language) for name, language, _ in sorted(part, key=lambda row: (row[2], row[1]))]
            for part in parts]
