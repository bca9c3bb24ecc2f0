"""Databases for benchmarks: a PostgreSQL server, with its data in memory if possible. The server ends when the
program that started it ends."""

import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.geteuid() == 0
NOBODY = 65534
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
CONNECTIONS = 100


class Postgres:
    """A server. If this process is root, it runs as nobody, because PostgreSQL refuses to run as root."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="epsilond-bench-pg.", dir=MEMORY)
        self.data = os.path.join(self.folder, "data")
        self.databases = 0
        if ROOT:
            os.chown(self.folder, NOBODY, NOBODY)
        self._run("initdb", "-D", self.data, "-U", "epsilond", "-A", "trust", "-E", "UTF8", "--locale=C",
                  "--no-sync")
        settings = f"-k '{self.folder}' -c listen_addresses='' -c max_connections={CONNECTIONS}"
        atexit.register(self.stop)
        self._run("pg_ctl", "-D", self.data, "-s", "-w", "-l", os.path.join(self.folder, "log"), "-o", settings,
                  "start")

    @staticmethod
    def programs():
        """Returns the folder of the newest PostgreSQL programs, or None."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda name: int(name.split("/")[4]))
        return found[-1] if found else None

    @classmethod
    def there(cls, what):
        if cls.programs() is None:
            print(f"{what}: on PostgreSQL: SKIPPED, there is no server of it here", flush=True)
            return False
        return True

    def _run(self, program, *arguments):
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if ROOT else {}
        said = subprocess.run([os.path.join(self.programs(), program), *arguments], cwd="/", text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **nobody)
        if said.returncode != 0:
            sys.exit(f"{program}: {said.stderr}")

    def database(self):
        """Creates a database and returns its URL."""
        self.databases += 1
        name = f"bench{self.databases}"
        self._run("createdb", "-h", self.folder, "-U", "epsilond", name)
        return f"postgresql://epsilond@/{name}?host={self.folder}"

    def stop(self):
        atexit.unregister(self.stop)
        self._run("pg_ctl", "-D", self.data, "-s", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)
