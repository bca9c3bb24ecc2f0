"""Turns a data directory with one ended job into one with many, by writing rows only: for each job its row, its model,
its mark and its two ledger entries, chained as docs/ledger.md says. Writes no model files; a start reads none."""

import hashlib
import json
import os
import sqlite3
import struct

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(number):
    return "01M836F000" + "".join(LETTERS[number >> 5 * i & 31] for i in reversed(range(16)))


def number(value):
    return struct.pack("<Q", value)


class Chain:
    def __init__(self, database):
        self.database = database
        self.seq, self.head = database.execute("SELECT seq,hash FROM ledger ORDER BY seq DESC LIMIT 1").fetchone()

    def append(self, row, job, meta):
        """Writes a copy of row for that job; returns its number."""
        self.seq += 1
        _, dataset, epoch, _, kind, curve, released, _, actor, time_ms, _, _ = row
        digest = hashlib.sha256(b"v1" + self.head)
        for part in (number(self.seq), dataset.encode(), number(epoch), job.encode(), kind.encode(), curve,
                     released or b"", meta.encode(), actor.encode(), number(time_ms)):
            digest.update(number(len(part)) + part)
        values = (self.seq, dataset, epoch, job, kind, curve, released, meta, actor, time_ms, self.head,
                  digest.digest())
        self.database.execute("INSERT INTO ledger VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", values)
        self.head = digest.digest()
        return self.seq


def copy(database, table, row, **changes):
    names = [column[1] for column in database.execute(f"PRAGMA table_info({table})")]
    values = [changes.get(name, value) for name, value in zip(names, row)]
    database.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(values))})", values)


def multiply(path, count, kept=None):
    """Adds count copies of the newest job in the database at path, which is private and SUCCEEDED. If kept is given,
    only that number of them have rows; the others look like deleted jobs: they have only ledger entries and a mark."""
    database = sqlite3.connect(path, isolation_level=None)
    newest = "ORDER BY rowid DESC LIMIT 1"
    job = database.execute(f"SELECT * FROM job {newest}").fetchone()
    model = database.execute(f"SELECT * FROM model {newest}").fetchone()
    reserve, commit = (database.execute(f"SELECT * FROM ledger WHERE kind=? {newest}", (kind,)).fetchone()
                       for kind in ("RESERVE", "COMMIT"))
    names = [column[1] for column in database.execute("PRAGMA table_info(job)")]
    detail, card = json.loads(job[names.index("detail")]), model[5]
    database.execute("BEGIN")
    chain = Chain(database)
    for k in range(1, count + 1):
        job_id, model_id = "job_" + ulid(k), "mdl_" + ulid(k)
        seq = chain.append(reserve, job_id, reserve[7])
        meta = {**json.loads(commit[7]), "reserve": seq}
        chain.append(commit, job_id, json.dumps(meta, separators=(",", ":")))
        database.execute("INSERT INTO mark VALUES(?,?)", (job_id, detail["authorised_steps"]))
        if kept is not None and k > kept:
            continue
        detail.update(ledger_seq=seq, model=model_id, model_drawn=model_id)
        copy(database, "job", job, number=job[0] + k, id=job_id, detail=json.dumps(detail, separators=(",", ":")))
        copy(database, "model", model, number=model[0] + k, id=model_id, job=job_id,
             card=card.replace(model[1], model_id).replace(model[2], job_id))
    database.execute("COMMIT")
    database.close()


def add_files(directory):
    """Gives each model of the database in the directory a file: a copy of the only one that exists."""
    models = os.path.join(directory, "models")
    made = os.path.join(models, os.listdir(models)[0])
    database = sqlite3.connect(os.path.join(directory, "epsilond.db"))
    for (model,) in database.execute("SELECT id FROM model").fetchall():
        path = os.path.join(models, model + ".safetensors")
        if path != made:
            os.link(made, path)
    database.close()
