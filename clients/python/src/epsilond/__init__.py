"""epsilond: train models on sensitive data under a privacy budget that cannot be overspent.

    import epsilond
    c = epsilond.Client()                       # EPSILOND_URL, EPSILOND_KEY
    c.datasets["adult"].budget                  # what is spent and what still fits
    c.estimate("adult", epsilon=0.5)            # what a job would cost; free
    job = c.train("adult", "linear", epsilon=0.5, evaluation="adult-public").wait()
    job.model.predict(rows)

The records stay with the service, which adds the noise and does the accounting. This package has no
fit(X, y), and you do not write a training loop: README.md says why.
"""

from . import _types as types
from ._budget import Budget
from ._charges import Block, Charge
from ._client import Client
from ._datasets import Dataset
from ._errors import (
    AlreadyExists,
    BudgetExhausted,
    BudgetHeld,
    Conflict,
    EpsilondError,
    Forbidden,
    ImportFailed,
    InvalidArgument,
    JobFailed,
    ModelFileError,
    NoAnswer,
    NotFound,
    Problem,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    Unsupported,
)
from ._estimate import Estimate
from ._evaluations import Evaluation, EvaluationFailed
from ._holdout import holdout
from ._jobs import Job
from ._model_file import ModelFile, load
from ._models import Model
from ._query import Query
from ._statistics import Statistics, StatisticsFailed, WordsPending
from ._suggest import Suggestion, Unconfirmed
from ._sweeps import Sweep

__version__ = "0.1.0"

__all__ = [
    "AlreadyExists",
    "Block",
    "Budget",
    "BudgetExhausted",
    "BudgetHeld",
    "Charge",
    "Client",
    "Conflict",
    "Dataset",
    "EpsilondError",
    "Estimate",
    "Evaluation",
    "EvaluationFailed",
    "Forbidden",
    "ImportFailed",
    "InvalidArgument",
    "Job",
    "JobFailed",
    "Model",
    "ModelFile",
    "ModelFileError",
    "NoAnswer",
    "NotFound",
    "Problem",
    "Query",
    "Statistics",
    "StatisticsFailed",
    "Suggestion",
    "Sweep",
    "Unavailable",
    "Unconfirmed",
    "UnexpectedAnswer",
    "Unreachable",
    "Unsupported",
    "WordsPending",
    "holdout",
    "load",
    "types",
]
