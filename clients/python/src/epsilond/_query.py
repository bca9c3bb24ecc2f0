"""Rows of a PostgreSQL server, which the service reads itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import _types


@dataclass(frozen=True)
class Query:
    """A query of a PostgreSQL server, in place of a file of ``register``: the service runs it and imports its
    rows, which do not pass through this machine.

        client.datasets.register(
            "visits",
            Query("SELECT age, work, income FROM visits", host="db.example.com", database="clinic",
                  user="reader", password=getpass()),
            columns=[...], epsilon=4, delta=1e-5)

    It is one SELECT, and its columns have the declared names in the declared order. The user should be a role
    of its own that may read these tables and do nothing else. sslmode="disable" is for a server on the
    service's own host. After ``seconds`` the query is cancelled.
    """

    query: str = field(repr=False)
    host: str
    database: str
    user: str
    password: str = field(repr=False)
    port: int = 5432
    sslmode: str = "verify-full"
    seconds: int = 600

    def _body(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in _types.PostgresqlQuery.__annotations__}
