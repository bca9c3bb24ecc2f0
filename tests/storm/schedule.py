"""The faults and their times. They are drawn from the seed before the storm begins."""

import heapq
import signal
import time

LEASE_S = 30  # other daemons count a daemon as dead after this time without a sign of life (docs/scale.md)
RECENT_S = 90  # how long an act may have effects: daemons wait at most 60 s for a server that is down
LAST_S = 2  # between the failure that ends a daemon and its end
BUSY_S = 30  # how long a failed request to the bucket is retried
GAP_S = (1.5, 5)
LONG_S = (LEASE_S + 6, LEASE_S + 20)  # a silence that other daemons notice
AT_BUCKET = ("error", "delay", "cut", "truncate", "flip", "slow")


class Act:
    """One row of the schedule: which fault, at which second, of which daemon, for how long."""

    def __init__(self, kind, at, who, seconds, detail):
        self.kind, self.at, self.who, self.seconds, self.detail = kind, at, who, seconds, detail

    def __str__(self):
        return f"{self.kind} {self.who or ''} for {self.seconds:.1f} s {self.detail}".strip()


# kind: weight, affected processes, seconds from and to
KINDS = {
    "kill": (6, "daemons", (0, 5)),           # SIGKILL; restarted after these seconds
    "stop": (4, "daemons", (0.5, 10)),        # SIGSTOP, SIGCONT
    "long stop": (1, "daemons", LONG_S),      # it is fenced, and ends when it wakes
    "end": (2, "daemons", (0, 3)),            # SIGTERM: it drains and ends with 0
    "database cut": (4, "daemons", (0, 8)),
    "database hole": (2, "daemons", (1, 15)),
    "database long hole": (1, "daemons", LONG_S),
    "database slow": (2, "daemons", (3, 15)),
    "database swallow": (3, "daemons", (2, 10)),
    "front cut": (2, "api", (0, 5)),
    "front slow": (2, "api", (3, 15)),
    "front swallow": (5, "api", (3, 15)),
    "files cut": (2, "daemons", (0, 10)),
    "files hole": (1, "daemons", (1, 10)),
    "files slow": (2, "daemons", (3, 15)),
    "bucket": (4, "", (1, 10)),               # its answers are wrong, for all daemons
    "server": (2, "", (0, 6)),                # PostgreSQL is killed; restarted after these seconds
}


def draw(random, minutes, daemons, only=""):
    """Draws a schedule of this many minutes for daemons, which are pairs of name and role. With `only`,
    uses only kinds whose names contain this word."""
    kinds = [kind for kind in KINDS if only in kind]
    names = {"daemons": [name for name, _ in daemons], "api": [name for name, role in daemons if role == "api"]}
    acts, at, busy = [], 5.0, {}
    while at < minutes * 60:
        kind = random.choices(kinds, [KINDS[kind][0] for kind in kinds])[0]
        _, whom, span = KINDS[kind]
        who = random.choice(names[whom]) if whom else None
        seconds = random.uniform(*span)
        detail = (f"{random.choice(AT_BUCKET)} {random.choice(['GET', 'PUT'])}" if kind == "bucket" else "")
        if busy.get(who, 0) <= at:
            acts.append(Act(kind, at, who, seconds, detail))
            busy[who] = at + seconds + 3
        at += random.uniform(*GAP_S)
    return acts


class Storm:
    """Executes the acts. `start_later` of a daemon is the time when others must start it again."""

    def __init__(self, daemons, postgres, bucket, say):
        self.daemons, self.postgres, self.bucket, self.say = daemons, postgres, bucket, say
        self.ends = []  # (when, number, function to call)
        self.disturbed = []  # (kind, who, from, until)
        self.done = {}
        self.ended = []  # (who, when) of daemons that have ended by themselves

    def begin(self, act):
        now = time.monotonic()
        daemon = self.daemons.get(act.who)
        if act.kind in ("kill", "end", "stop", "long stop") and (daemon.process is None or daemon.process.poll() is not None):
            self.say(f"not done, it is down: {act}")
            return
        self.say(f"act: {act}")
        self.done[act.kind] = self.done.get(act.kind, 0) + 1
        self.disturbed.append((act.kind, act.who, now, now + act.seconds))
        place, _, weather = act.kind.rpartition(" ")
        if act.kind in ("kill", "end"):
            daemon.start_after = act.seconds
            daemon.signal(signal.SIGKILL if act.kind == "kill" else signal.SIGTERM)
        elif act.kind.endswith("stop"):
            daemon.signal(signal.SIGSTOP)
            self.later(act, lambda process=daemon.process: process.poll() is None and process.send_signal(signal.SIGCONT))
        elif act.kind == "bucket":
            kind, method = act.detail.split()
            self.bucket.fail(kind, method, 1000)
            self.later(act, self.bucket.heal)
        elif act.kind == "server":
            self.postgres.kill()
            self.later(act, self.postgres.start)
        else:
            link = getattr(daemon, place.split()[0])
            link.set(weather, delay=0.05, share=0.1 if place == "database" else 0.4)
            self.later(act, lambda: link.set("clear"))

    def later(self, act, what):
        heapq.heappush(self.ends, (time.monotonic() + act.seconds, len(self.disturbed), what))

    def turn(self):
        """Ends the acts that have lasted long enough."""
        while self.ends and self.ends[0][0] <= time.monotonic():
            heapq.heappop(self.ends)[2]()

    def calm(self):
        while self.ends:
            heapq.heappop(self.ends)[2]()

    def excuses(self, daemon, when):
        """Returns whether a daemon may have answered 500 at that time: the bucket or the link to it had failed,
        and it was retrying, or it had given up its database and was about to end."""
        return any(kind.startswith(("bucket", "files")) and begun <= when <= until + BUSY_S
                   for kind, _, begun, until in self.disturbed) or \
            any(name == daemon and when <= ended <= when + LAST_S for name, ended in self.ended)

    def recent(self, who, since):
        """Returns the kinds of acts since then that may have affected the daemon, with their lengths."""
        return [(kind, until - begun) for kind, whom, begun, until in self.disturbed
                if whom in (None, who) and until >= since - RECENT_S]
