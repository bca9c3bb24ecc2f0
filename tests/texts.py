"""Checks that the commands, options, routes, scopes and roles that the texts name exist in the program.

The texts are README.md, CONTRIBUTING.md, docs/, the manual pages and the completion. The facts are read from the
program's sources, so that nothing needs to be built: commands from service/commands/main.c, options from
service/config/config_option.c and from the commands that have their own, api/http/routes.h, api/http/roles.h.

    texts.py        exit code 1 on a fault

In the pages only code is checked: spans between backquotes and blocks between fences.
"""
import pathlib
import re
import sys

PAGES = ["README.md", "CONTRIBUTING.md", "deploy/README.md", *sorted(str(page) for page in pathlib.Path("docs").glob("*.md"))]
MANUAL = "deploy/epsilond.1"
COMPLETION = "deploy/completion/epsilond.bash"
# Options of other programs that the pages name without the name of their program.
FOREIGN = {"args", "input", "kill-on-bad-exit", "mca", "mpi", "slurm", "ci", "if-missing", "target"}
SPAN = re.compile(r"```.*?```|`[^`\n]+(?:\n[^`\n]+)?`", re.DOTALL)
ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE|HEAD) (/[^\s`'\"|,;)?]*)")


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def commands():
    table = re.search(r"commands\[\] = \{(.*?)\n\};", read("service/commands/main.c"), re.DOTALL)[1]
    return set(re.findall(r'\{"([a-z]+)"', table))


def options():
    table = set(re.findall(r'^    \{"([a-z-]+)", set_', read("service/config/config_option.c"), re.MULTILINE))
    own = {option for path in pathlib.Path("service/commands").glob("*_command.c")
           for option in re.findall(r'"--([a-z-]+)"', read(path))}
    return table | own | {"config", "demo", "help", "version"}


def routes():
    """Returns a list of (method, compiled pattern of its path)."""
    rows = re.findall(r'\.method = "(\w+)",\s*\\?\s*\.path = "([^"]+)"', read("api/http/routes.h"))
    return [(method, pattern(path)) for method, path in rows]


def pattern(path):
    """Compiles a path template to a regular expression; a name in braces matches any text."""
    return re.compile("".join(re.escape(part) if i % 2 == 0 else "[^/:]+"
                              for i, part in enumerate(re.split(r"(\{\w+\})", path))) + "$")


def scopes_and_roles():
    text = read("api/http/roles.h")
    names = re.search(r'/\* ("analyst".*?); "local"', text, re.DOTALL)
    return set(re.findall(r'X\(\w+, +"([a-z]+:[a-z]+)"', text)), set(re.findall(r'"(\w+)"', names[1]))


def faults_of_code(code, known):
    """Yields a fault for each name in a piece of code that the program lacks. Quoted words belong to
    other programs."""
    plain = re.sub(r"'[^']*'", "''", code).replace("\\\n", " ")
    for line in plain.splitlines():
        for call in re.findall(r"(?:^|[\s;&|(`/])epsilond((?: +[^\s|;&)`#]+)*)", line):
            words = call.split()
            if words and re.fullmatch(r"[a-z]{3,}", words[0]) and words[0] not in known["commands"]:
                yield f"no command `epsilond {words[0]}`"
            yield from (f"no option {word}" for word in words if is_unknown_option(word, known))
    for option in re.findall(r"^`(--[a-z][^\s=`]*)", code):
        if is_unknown_option(option, known) and option[2:] not in FOREIGN:
            yield f"no option {option}"
    for method, path in ROUTE.findall(code):
        if path.startswith("/v1") and not is_route(method, path, known):
            yield f"no route {method} {path}"
    for name in re.findall(r"^`([a-z]+:[a-z]+)`$", code):
        if name not in known["scopes"] and name not in known["verbs"]:
            yield f"neither a scope nor a route: {name}"


def is_unknown_option(word, known):
    name = re.match(r"--([a-z][a-z-]*)", word)
    return name is not None and name[1] not in known["options"]


def is_route(method, path, known):
    path = path.rstrip(".").replace("...", "x")
    method = "GET" if method == "HEAD" else method
    return any(method == of and route.match(path) for of, route in known["routes"])


def faults_of_pages(known):
    for page in PAGES:
        text = read(page)
        for span in SPAN.finditer(text):
            line = text.count("\n", 0, span.start()) + 1
            yield from (f"{page}:{line}: {fault}" for fault in faults_of_code(span[0], known))


def differ(place, what, said, there):
    yield from (f"{place}: it does not name the {what} {name}" for name in sorted(there - said))
    yield from (f"{place}: there is no {what} {name}" for name in sorted(said - there))


def faults_of_manual(known):
    text = read(MANUAL).replace("\\-", "-")
    synopsis, rest = text.split(".SH DESCRIPTION")
    described = rest.split(".SH COMMANDS")[1].split(".SH ")[0]
    yield from differ(f"{MANUAL}: SYNOPSIS", "command", set(re.findall(r"^\.B epsilond ([a-z]+)", synopsis, re.MULTILINE)), known["commands"])
    yield from differ(f"{MANUAL}: COMMANDS", "command", set(re.findall(r"^\.TP\n\.B ([a-z]+)$", described, re.MULTILINE)), known["commands"])
    yield from (f"{MANUAL}: no option --{name}" for name in sorted(set(re.findall(r"--([a-z][a-z-]*)", text)) - known["options"]))
    yield from (f"{MANUAL}: it does not name the role {role}" for role in sorted(known["roles"]) if role not in text)


def faults_of_completion(known):
    text = read(COMPLETION)
    offered = re.search(r'words="([a-z ]+) --help', text)[1].split()
    yield from differ(COMPLETION, "command", set(offered), known["commands"])
    yield from (f"{COMPLETION}: no option --{name}" for name in set(re.findall(r"--([a-z][a-z-]*)", text.split("compgen -W", 1)[0])) - known["options"])
    yield from (f"{COMPLETION}: it does not offer the role {role}" for role in sorted(known["roles"]) if role not in text)


def faults_of_help(known):
    help_text = read("service/config/config.c")
    listed = set(re.findall(r'^ +"  --([a-z-]+)', help_text, re.MULTILINE))
    table = set(re.findall(r'^    \{"([a-z-]+)", set_', read("service/config/config_option.c"), re.MULTILINE))
    yield from differ("epsilond --help", "option", listed, table | {"config"})
    yield from differ("epsilond --help", "command", set(re.findall(r'"       epsilond ([a-z]+) ', help_text)), known["commands"])
    said = re.search(r'"roles: ([a-z_, ]+)', read("service/identity/key_admin.c"))[1].split(", ")
    yield from differ("epsilond key --help", "role", set(said), known["roles"])


REACH = {"NONE": "", "OWN": "its own", "PROJECT": "project", "EVERYWHERE": "all"}


def faults_of_roles():
    """Compares the table of docs/access.md with api/http/roles.h, cell by cell."""
    there = {name: [REACH[cell.strip()] for cell in cells.split(",")]
             for name, cells in re.findall(r'X\(\w+, +"([a-z]+:[a-z]+)", +([A-Z, ]+)\)', read("api/http/roles.h"))}
    said = {name: [cell.strip() for cell in cells.split("|")]
            for name, cells in re.findall(r"^\| `([a-z]+:[a-z]+)`[^|]*\|(.*)\|$", read("docs/access.md"), re.MULTILINE)}
    yield from differ("docs/access.md", "scope", set(said), set(there))
    yield from (f"docs/access.md: {name} is {said[name]}, and {there[name]} in the program"
                for name in sorted(said.keys() & there.keys()) if said[name] != there[name])


def main():
    scopes, roles = scopes_and_roles()
    paths = re.findall(r'\.path = "([^"]+)"', read("api/http/routes.h"))
    known = {"commands": commands(), "options": options(), "routes": routes(), "scopes": scopes, "roles": roles,
             "verbs": {f"{path.split('/')[2].split(':')[0]}:{path.rsplit(':', 1)[1]}" for path in paths if ":" in path}}
    if min(len(known[name]) for name in known) < 5:
        sys.exit(f"texts.py reads the wrong places: { {name: len(known[name]) for name in known} }")
    found = [fault for check in (faults_of_pages, faults_of_manual, faults_of_completion, faults_of_help)
             for fault in check(known)] + list(faults_of_roles())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
