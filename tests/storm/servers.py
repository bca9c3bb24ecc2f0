"""The processes of the storm: a real PostgreSQL server, a small S3 server, and the daemons. Each of them
ends when this process ends, for any reason."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "blobs"))
import s3_server  # noqa: E402

NOBODY = 65534  # PostgreSQL refuses to run as root, so root starts it as this user
BUCKET, ACCESS, SECRET = "eps-files", "AKIDEXAMPLE", "secret/of+the=storm"
SOCKET = ".s.PGSQL.5432"
SET_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG
START_S, STOP_S = 60, 30


def dies_with_parent(number):
    """For Popen's preexec_fn. The signal is sent when the thread ends that started the process, so the main
    thread starts all processes."""
    library = ctypes.CDLL(None)
    return lambda: library.prctl(SET_DEATH_SIGNAL, number)


def wait_until(holds, seconds, what):
    latest = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > latest:
            raise RuntimeError(f"{what}: nothing after {seconds} s")
        time.sleep(0.05)


class Postgres:
    def __init__(self, programs):
        self.programs = programs
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="epsilond-storm-db.", dir=memory)
        self.user = {}
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.data, self.socket = os.path.join(self.folder, "data"), os.path.join(self.folder, SOCKET)
        self._call("initdb", "-D", self.data, "-U", "epsilond", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.process = None
        self.start()
        self._call("createdb", "-h", self.folder, "-U", "epsilond", "eps")

    def _call(self, program, *words):
        result = subprocess.run([os.path.join(self.programs, program), *words], cwd=self.folder, **self.user,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{program}: {result.stdout}")
        return result.stdout

    def answers(self):
        ready = subprocess.run([os.path.join(self.programs, "pg_isready"), "-q", "-h", self.folder], check=False)
        return ready.returncode == 0

    def start(self):
        """Retries, because children of a killed server may hold its memory for a moment."""
        def is_up():
            if self.process is None or self.process.poll() is not None:
                with open(os.path.join(self.folder, "log"), "a") as log:
                    self.process = subprocess.Popen(
                        [os.path.join(self.programs, "postgres"), "-D", self.data, "-k", self.folder, "-c",
                         "listen_addresses=", "-c", "max_connections=90", "-c", "shared_buffers=16MB",
                         "-c", "dynamic_shared_memory_type=mmap"], cwd=self.folder, stdout=log, stderr=log,
                        preexec_fn=dies_with_parent(signal.SIGQUIT), **self.user)
                time.sleep(0.2)
            return self.answers()
        wait_until(is_up, START_S, "the database")

    def kill(self):
        """Ends at once, as in a crash: nothing is flushed, and connections break."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(STOP_S)

    def ask(self, sql):
        """Returns rows of values as text."""
        text = self._call("psql", "-X", "-q", "-A", "-t", "-F", "\x1f", "-R", "\x1e", "-v", "ON_ERROR_STOP=1",
                          "-h", self.folder, "-U", "epsilond", "-d", "eps", "-c", sql)
        return [row.split("\x1f") for row in text.rstrip("\n").split("\x1e") if row]

    def copy(self, name):
        """Copies the data folder; the server must be down."""
        shutil.rmtree(self.data + name, ignore_errors=True)
        subprocess.run(["cp", "-a", self.data, self.data + name], check=True)

    def put_back(self, name):
        shutil.rmtree(self.data)
        os.rename(self.data + name, self.data)

    def end(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)


class Bucket:
    """Runs in this process; it checks every signature."""

    def __init__(self):
        self.server = s3_server.start(BUCKET, ACCESS, SECRET)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def fail(self, kind, method, count):
        self.server.faults.set({"kind": kind, "method": method, "count": str(count)})

    def heal(self):
        self.server.faults.set({"kind": "error", "method": "GET", "count": "0"})

    def end(self):
        self.server.shutdown()


class Daemon:
    """epsilond in one role, restarted in the same directory; each start has its own log."""

    def __init__(self, binary, name, role, folder, logs):
        self.binary, self.name, self.role, self.logs = binary, name, role, logs
        self.data = os.path.join(folder, name)
        self.process, self.starts, self.port = None, 0, None
        self.killed_by = None  # the signal by which the storm ended it

    def open_links(self, links, random, postgres, bucket):
        self.database = links.open(postgres.socket, random)
        self.files = links.open(("127.0.0.1", bucket.port), random)
        self.front = links.open(None, random)
        self.front.daemon = self.name

    def environment(self, blobs_key):
        self.variables = dict(
            os.environ, AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{self.files.port}", AWS_REGION="us-east-1",
            AWS_ACCESS_KEY_ID=ACCESS, AWS_SECRET_ACCESS_KEY=SECRET, EPSILOND_BLOBS=f"s3://{BUCKET}/storm",
            EPSILOND_BLOBS_KEY=blobs_key, EPSILOND_SINGLE_SERVER="on",
            EPSILOND_STORE=f"postgresql://epsilond@127.0.0.1:{self.database.port}/eps?sslmode=disable")

    def start(self):
        self.starts += 1
        self.killed_by, self.port, self.since = None, None, time.monotonic()
        self.front.lead_to(None)
        with open(self.log(), "w") as log:
            self.process = subprocess.Popen(
                [self.binary, "--data-dir", self.data, "--listen", "127.0.0.1:0", "--role", self.role, "--workers", "3",
                 "--threads", "1", "--drain-timeout", "5", "--reveal-delay", "0.1"],
                stderr=log, stdout=log, env=self.variables, preexec_fn=dies_with_parent(signal.SIGKILL))

    def log(self):
        return os.path.join(self.logs, f"{self.name}.{self.starts}.log")

    def events(self):
        """Returns the events of this start; skips an incomplete line."""
        with open(self.log()) as lines:
            return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")]

    def listens(self):
        """Returns whether it has logged its port; from then on its front leads there."""
        if self.port is None:
            for event in self.events():
                if event["event"] == "listening":
                    self.port = int(event["port"])
                    self.front.lead_to(("127.0.0.1", self.port))
        return self.port is not None

    def signal(self, number):
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.killed_by = number
        self.process.send_signal(number)

    def run(self, *words):
        return subprocess.run([self.binary, *words, "--data-dir", self.data], env=self.variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
