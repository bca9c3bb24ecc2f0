"""Checks that every option and variable that a manifest of deploy/ gives to a daemon exists.

The options are those that `epsilond --help` prints. They are read from service/config/config.c, so that nothing needs
to be built. Each option may also be a variable: EPSILOND_ and its name. Other variables that a daemon reads, those of
libpq and of the bucket, must be named by docs/scale.md. Of --name=value in a manifest only the name is checked, unless
--help lists the possible values with bars, as in --migrate on|off: then the value is checked too.

    options.py        checks deploy/compose.yaml, deploy/kubernetes and deploy/epsilond.conf; exit code 1 on a fault
"""
import pathlib
import re
import sys

import yaml

HELP = re.compile(r'^ +"  --([a-z0-9-]+)(?: ([^ "]+))?', re.MULTILINE)
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
BESIDE = {"EPSILOND_BLOBS_KEY"}  # not an option, because all users of a host can read command lines
OTHERS = re.compile(r"(?:AWS|PG)[A-Z0-9_]+")


def known():
    """Returns {option: its possible values, or None}."""
    options = {}
    for name, value in HELP.findall(pathlib.Path("service/config/config.c").read_text()):
        choices = value.split("|") if re.fullmatch(r"[a-z]+(\|[a-z]+)+", value) else None
        options[name] = choices if name not in options else None
    return options


def strings(node, keys=()):
    """Yields (keys above it, text) of each text in a document."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from strings(value, keys + (str(key),))
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, keys)
    elif node is not None:
        yield keys, str(node)


def given(document):
    """Yields (option or None, variable or None, value) for each setting in a document."""
    for keys, text in strings(document):
        under = keys[-1] if keys else ""
        if under in ("args", "command", "exec") and text.startswith("--"):
            name, _, value = text[2:].partition("=")
            yield name, None, value
        elif "environment" in keys[:-1] and VARIABLE.fullmatch(under):
            yield None, under, text
        elif under == "name" and "env" in keys[:-1]:
            yield None, text, ""
        elif under == "literals":
            name, _, value = text.partition("=")
            yield None, name, value


def fault(options, documented, option, variable, value):
    if variable is not None and variable.startswith("EPSILOND_") and variable not in BESIDE:
        option = variable[len("EPSILOND_"):].lower().replace("_", "-")
    if option is None:
        # Variables of other programs, such as a database's image, are not checked.
        if OTHERS.fullmatch(variable) and variable not in documented:
            return f"docs/scale.md names no variable {variable}"
        return None
    if option not in options:
        return f"no option --{option}"
    choices = options[option]
    if choices and value and not value.startswith("$") and value not in choices:
        return f"--{option} is none of {', '.join(choices)}: {value}"
    return None


def main():
    options = known()
    documented = set(VARIABLE.findall(pathlib.Path("docs/scale.md").read_text()))
    deploy = pathlib.Path("deploy")
    found = count = 0
    for path in [*deploy.glob("*.yaml"), *sorted(deploy.glob("kubernetes/**/*.yaml"))]:
        for document in yaml.safe_load_all(path.read_text()):
            for option, variable, value in given(document):
                wrong = fault(options, documented, option, variable, value)
                count += 1
                found += wrong is not None
                if wrong:
                    print(f"{path}: {wrong}")
    for name in re.findall(r"^#? ?([a-z-]+) = ", (deploy / "epsilond.conf").read_text(), re.MULTILINE):
        count += 1
        if name not in options:
            found += 1
            print(f"{deploy / 'epsilond.conf'}: no option --{name}")
    if len(options) < 20 or count < 5:
        sys.exit(f"options.py: {len(options)} options and {count} uses were found: it reads the wrong places")
    sys.exit(1 if found else 0)


main()
