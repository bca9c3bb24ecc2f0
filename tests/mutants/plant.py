"""Plants each listed bug in a copy of the tree and prints which test catches it.

    plant.py [WORD ...]
    plant.py --check

Reads the lists in this folder (README.md describes their form). With words, plants only bugs whose
names contain one of them. --check plants none and checks that all of them can be planted.
JOBS is the number of mutants at once (default: two per processor, because a daemon mostly waits for
ticks). With MINUTES no mutant is begun later than this after the first one. The commit's hash chooses the first one, and
the others follow in the order of the lists, cyclically, so that over time each one is planted.
Exits with 0 if a test failed in every copy, and with 1 if a bug survived, if none was planted, or
if a record of the lists is wrong.
"""

import concurrent.futures
import fcntl
import glob
import os
import queue
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLACE = os.path.join(ROOT, "build", "mutants")
RELEASE = os.path.join("build", "release")
PROGRAMS = ["epsilond", "epsilond-rank"]
FIELDS = ("mutant", "category", "file", "tests", "harm")
MAY = ("needs",)
BUILD_SECONDS = 1800
FAILED = b"[  FAILED  ]"  # how cmocka prints that a test failed
CLEAN_UP_SECONDS = 20
# The limit of a test that has not been timed; the limit of others is 20 times their time plus a minute.
TEST_SECONDS = 600


class Wrong(Exception):
    """A record of the lists is wrong, or the tree without any bug fails."""


# --- the lists ---


class Mutant:
    def __init__(self, where):
        self.where, self.fields, self.hunks = where, {}, []

    def __getattr__(self, name):
        return self.fields[name]

    def add(self, line):
        sign, text = line[0], line[2:]
        if sign == "-" and (not self.hunks or self.hunks[-1]["+"]):
            self.hunks.append({"-": [], "+": []})
        if not self.hunks or line[1:2] not in ("", " "):
            raise Wrong(f"{self.where}: {line!r} is not a line to take out or to put in")
        self.hunks[-1][sign].append(text)

    def tests_named(self):
        return self.fields["tests"].split()

    def check(self):
        missing = [field for field in FIELDS if not self.fields.get(field)]
        if missing:
            raise Wrong(f"{self.where}: no {', '.join(missing)}")
        for test in self.tests_named():
            if not os.path.exists(os.path.join(ROOT, "tests", test + ".c")):
                raise Wrong(f"{self.mutant}: there is no test {test}")
        self.planted(ROOT)

    def lacks(self, processor):
        """Returns the instruction sets that the file needs and the processor lacks."""
        return [flag for flag in self.fields.get("needs", "").split() if flag not in processor]

    def planted(self, tree):
        """Returns the text of the file in tree with the bug in it."""
        path = os.path.join(tree, self.file)
        if not os.path.exists(path):
            raise Wrong(f"{self.mutant}: there is no {self.file}")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not self.hunks:
            raise Wrong(f"{self.mutant}: no line to take out")
        for hunk in self.hunks:
            old, new = "\n".join(hunk["-"]), "\n".join(hunk["+"])
            times = text.count(old)
            if times != 1:
                raise Wrong(f"{self.mutant}: what it takes out of {self.file} stands there "
                            f"{times} times, not once")
            if old == new or not hunk["+"]:
                raise Wrong(f"{self.mutant}: it changes nothing; an empty + line takes out")
            text = text.replace(old, new)
        return text


def read_list(path):
    mutants, mutant, field = [], None, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("#"):
                continue
            if not line:
                mutant = None
                continue
            if mutant is None:
                mutant = Mutant(f"{os.path.basename(path)}:{number}")
                mutants.append(mutant)
            if line[0] in "-+":
                mutant.add(line)
            elif line[0] == " " and field is not None:
                mutant.fields[field] += " " + line.strip()
            else:
                field, _, value = line.partition(" ")
                if field not in FIELDS + MAY or field in mutant.fields:
                    raise Wrong(f"{path}:{number}: {field!r} is no field, or is there twice")
                mutant.fields[field] = value.strip()
    return mutants


def read_lists(words):
    mutants, faults = [], []
    for path in sorted(glob.glob(os.path.join(HERE, "*.list"))):
        mutants += read_list(path)
    for mutant in mutants:
        try:
            mutant.check()
            if [other.mutant for other in mutants].count(mutant.mutant) > 1:
                raise Wrong(f"{mutant.mutant}: the name is taken")
        except Wrong as fault:
            faults.append(str(fault))
    if faults:
        raise Wrong("\n".join(faults))
    for word in words:
        if not any(word in mutant.mutant for mutant in mutants):
            raise Wrong(f"no name holds {word}")
    return [mutant for mutant in mutants
            if not words or any(word in mutant.mutant for word in words)]


def processor_flags():
    """Returns the processor's instruction sets by the kernel's names; empty if unknown."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return set(found.group(1).split()) if found else set()


def part_by_processor(mutants, processor):
    """Returns (the mutants that can run here, those in code that the processor cannot run)."""
    return ([mutant for mutant in mutants if not mutant.lacks(processor)],
            [mutant for mutant in mutants if mutant.lacks(processor)])


# --- children: each runs in its own process group, which is ended with it ---

groups, groups_lock = set(), threading.Lock()


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_all():
    with groups_lock:
        for pid in groups:
            end_group(pid)


def run(command, tree, seconds):
    """Returns (exit code or None after a timeout, output, seconds taken)."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MODE", "ONLY", "WERROR")}
    environment["SHARED"] = os.path.join(PLACE, "nothing-shared")  # not every machine has real data
    environment["EPSILOND"] = os.path.join(RELEASE, "epsilond")
    start = time.monotonic()
    with groups_lock:
        child = subprocess.Popen(command, cwd=tree, env=environment, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        groups.add(child.pid)
    output, ended = read_output(child.stdout, start + seconds)
    if not ended:
        end_group(child.pid)
    code = child.wait()
    with groups_lock:
        end_group(child.pid)
        groups.discard(child.pid)
    child.stdout.close()
    if not ended:
        code = 1 if FAILED in output else None
    return code, output.decode(errors="replace"), time.monotonic() - start


def read_output(stream, deadline):
    """Returns (output, whether it ended by itself). After a test has failed, the rest of the output does
    not matter: the program only gets time to clean up."""
    output = b""
    while select.select([stream], [], [], max(0, deadline - time.monotonic()))[0]:
        piece = os.read(stream.fileno(), 65536)
        if not piece:
            return output, True
        if FAILED not in output and FAILED in output + piece:
            deadline = min(deadline, time.monotonic() + CLEAN_UP_SECONDS)
        output += piece
    return output, False


def program(test):
    return os.path.join(RELEASE, "tests", test)


def make(tree, targets):
    command = ["make", "--no-print-directory"] + targets
    return run(command, tree, BUILD_SECONDS)[:2]


def build(tree, tests):
    """Returns None, or the reason why the tests cannot be built."""
    daemon = PROGRAMS if any(map(needs_daemon, tests)) else []
    code, output = make(tree, [os.path.join(RELEASE, name) for name in daemon] + [program(test) for test in tests])
    return None if code == 0 else output


def needs_daemon(test):
    return test.startswith("e2e/")


# --- the copy without a bug ---


def layers_below():
    """Returns {layer: the layers that its tests link}, according to make/layers.mk."""
    show = "layers-below: ; @$(foreach layer,$(LAYERS),echo $(layer) $(call archived,$(layer));)"
    code, output = make(ROOT, ["-s", f"--eval={show}", "layers-below"])
    if code != 0:
        raise Wrong(output)
    return {line.split()[0]: line.split()[1:] for line in output.splitlines()}


class Base:
    """A built copy of the tree in which the named tests pass."""

    def __init__(self):
        self.tree = os.path.join(PLACE, "base")
        self.below = layers_below()
        self.seconds = {}
        self.copy()

    def copy(self):
        shutil.rmtree(PLACE, ignore_errors=True)
        shutil.copytree(ROOT, self.tree, symlinks=True,
                        ignore=shutil.ignore_patterns("build", ".git"))
        built = os.path.join(ROOT, RELEASE)
        if os.path.exists(built):
            shutil.copytree(built, os.path.join(self.tree, RELEASE), ignore=self.not_objects)

    def make(self, mutants, pool):
        """Builds and times those tests of the mutants that are not built yet."""
        tests = {test for mutant in mutants for test in mutant.tests_named()}
        tests = sorted(tests - self.seconds.keys())
        output = build(self.tree, tests) if tests else None
        if output is not None:
            raise Wrong(f"the tree does not build:\n{output}")
        list(pool.map(self.time, tests))

    @staticmethod
    def not_objects(folder, names):
        return [name for name in names if not name.endswith((".o", ".a", ".d", *PROGRAMS))
                and not os.path.isdir(os.path.join(folder, name))]

    def time(self, test):
        """Times the test. A test that fails without any bug catches nothing."""
        code, output, seconds = run([program(test)], self.tree, TEST_SECONDS)
        if code != 0:
            raise Wrong(f"{test} fails without a bug:\n{output[-4000:]}")
        self.seconds[test] = seconds

    def limit(self, test):
        return 60 + 20 * self.seconds[test] if test in self.seconds else TEST_SECONDS

    def tests_of(self, file):
        """Returns all unit tests that link the object of the file, those of the nearest layer first."""
        home = max((layer for layer in self.below if file.startswith(layer + "/")), key=len)
        layers = [home] + [layer for layer, below in self.below.items()
                           if home in below and layer != home]
        tests = os.path.join(ROOT, "tests")
        return [os.path.relpath(path, tests)[:-2] for layer in layers
                for path in sorted(glob.glob(os.path.join(tests, layer, "test_*.c")))]


# --- one mutant ---


def failed_test(output):
    """Returns the failed test as cmocka names it; if the program died, the test that was running."""
    failed = re.search(r"\[  FAILED  \] (\w+)", output)
    begun = re.findall(r"\[ RUN +\] (\w+)", output)
    return failed.group(1) if failed else begun[-1] if begun else "?"


class Verdict:
    def __init__(self, mutant, killed, told):
        self.mutant, self.killed, self.told = mutant, killed, told
        self.afar, self.seconds = False, 0


def first_to_fail(base, mutant, tree, tests):
    for test in tests:
        code, output, _ = run([program(test)], tree, base.limit(test))
        if code is None:
            return Verdict(mutant, True, f"{test}: {failed_test(output)} (its time was up)")
        if code != 0:
            return Verdict(mutant, True, f"{test}: {failed_test(output)}"
                           + (f" (signal {-code})" if code < 0 else ""))
    return None


class Tree:
    """A copy of the base in which one bug after another is planted. Restores the files that a bug has
    changed, which is cheaper than a new copy of some 3,000 files."""

    def __init__(self, base, path):
        self.base, self.path = base.tree, path
        shutil.copytree(self.base, path, symlinks=True)

    @staticmethod
    def files(tree):
        """Returns {path in the tree: its modification time and size}."""
        found = {}
        for folder, _, names in os.walk(tree):
            for name in names:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                found[os.path.relpath(path, tree)] = status.st_mtime_ns, status.st_size
        return found

    def plant(self, mutant):
        with open(os.path.join(self.path, mutant.file), "w", encoding="utf-8") as file:
            file.write(mutant.planted(self.base))

    def heal(self):
        wanted, found = self.files(self.base), self.files(self.path)
        for name in found.keys() - wanted.keys():
            os.remove(os.path.join(self.path, name))
        for name, status in wanted.items():
            if found.get(name) != status:
                path = os.path.join(self.path, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)  # a later round builds more tests
                shutil.copy2(os.path.join(self.base, name), path)


def judge(base, mutant, tree):
    near = mutant.tests_named()
    far = [test for test in base.tests_of(mutant.file) if test not in near]
    for tests in near, far:
        output = build(tree, tests)
        if output is not None:
            return Verdict(mutant, False, f"DOES NOT BUILD\n{output[-4000:]}")
        verdict = first_to_fail(base, mutant, tree, tests)
        if verdict is not None:
            verdict.afar = tests is far
            return verdict
    return Verdict(mutant, False, "SURVIVED")


def plant(base, mutant, trees):
    start = time.monotonic()
    tree = trees.get()
    try:
        tree.plant(mutant)
        verdict = judge(base, mutant, tree.path)
        tree.heal()
    finally:
        trees.put(tree)  # without it, another thread would wait for this tree for ever
    verdict.seconds = time.monotonic() - start
    return verdict


def show(verdict):
    mutant = verdict.mutant
    afar = " (killed from afar)" if verdict.afar else ""
    print(f"{mutant.category:12} {mutant.mutant:38} {verdict.told}{afar}, "
          f"{verdict.seconds:.0f} s", flush=True)
    if not verdict.killed:
        print(f"    {mutant.where}: {mutant.harm}", flush=True)


def turn(mutants):
    """Returns the same mutants, rotated to begin with the one that the commit's hash chooses."""
    code, output, _ = run(["sh", "-c", "git rev-parse HEAD"], ROOT, CLEAN_UP_SECONDS)
    first = int(output, 16) % len(mutants) if code == 0 else 0
    return mutants[first:] + mutants[:first]


class Limit:
    """The time in which mutants are begun. It does not include that of building the first round's tests,
    which on a busy machine would leave none."""

    def __init__(self, minutes):
        self.seconds, self.end = 60 * float(minutes) if minutes else None, None

    def begin(self):
        if self.seconds is not None and self.end is None:
            self.end = time.monotonic() + self.seconds

    def is_up(self):
        return self.end is not None and time.monotonic() >= self.end


def rounds(mutants, jobs, limit):
    """Yields the mutants of a round, which share what is built for it, until the time is up."""
    size = max(1, len(mutants)) if limit.seconds is None else 6 * jobs
    for first in range(0, len(mutants), size):
        if not limit.is_up():
            yield mutants[first:first + size]


def plant_in_time(base, mutant, trees, limit):
    """Returns its verdict, or None if it would begin after the end."""
    return None if limit.is_up() else plant(base, mutant, trees)


def plant_rounds(mutants, jobs, limit, pool):
    base, trees, verdicts = Base(), queue.SimpleQueue(), []
    for some in rounds(mutants, jobs, limit):
        base.make(some, pool)
        limit.begin()
        while trees.qsize() < jobs:
            trees.put(Tree(base, os.path.join(PLACE, f"tree{trees.qsize()}")))
        for verdict in pool.map(lambda mutant: plant_in_time(base, mutant, trees, limit), some):
            if verdict is not None:
                show(verdict)
                verdicts.append(verdict)
    return verdicts


def plant_all(mutants, jobs, limit):
    start, processor = time.monotonic(), processor_flags()
    here, elsewhere = part_by_processor(mutants, processor)
    for mutant in elsewhere:
        print(f"{mutant.category:12} {mutant.mutant:38} not run here: the processor lacks "
              f"{' '.join(mutant.lacks(processor))}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            verdicts = plant_rounds(here, jobs, limit, pool)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise
    shutil.rmtree(PLACE, ignore_errors=True)
    killed = sum(verdict.killed for verdict in verdicts)
    afar = sum(verdict.afar for verdict in verdicts)
    print(f"{len(verdicts)} of {len(mutants)} mutants: {killed} killed, {afar} of them from "
          f"afar; {len(verdicts) - killed} not; {len(elsewhere)} in code that no test can run "
          f"here; {time.monotonic() - start:.0f} s")
    return killed == len(verdicts) > 0


def alone():
    """Takes the folder's lock. Two runs would use the same folder, so the second one exits at once."""
    os.makedirs(os.path.dirname(PLACE), exist_ok=True)
    lock = open(PLACE + ".lock", "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Wrong("another run is under way") from None
    return lock


def stop(number, frame):
    raise KeyboardInterrupt


def main(words):
    signal.signal(signal.SIGTERM, stop)
    jobs = int(os.environ.get("JOBS") or 2 * len(os.sched_getaffinity(0)))
    minutes = os.environ.get("MINUTES")
    try:
        if words == ["--check"]:
            read_lists([])
            return 0
        mutants = read_lists(words)
        with alone():
            return 0 if plant_all(turn(mutants) if minutes else mutants, jobs, Limit(minutes)) else 1
    except Wrong as fault:
        print(f"mutants: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
