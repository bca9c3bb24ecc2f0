"""Runs the notebooks with a new daemon, from top to bottom as a reader would.

    EPSILOND=path python3 run_notebooks.py FOLDER      writes the notebooks with output to FOLDER

Needs nbclient and ipykernel. If a cell raises an exception, ends with exit code 1.
"""

from __future__ import annotations

import os
import pathlib
import sys

import nbclient
import nbformat

CLIENT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CLIENT.parents[1] / "tests" / "python"))
from daemon import Daemon  # noqa: E402


def main(folder: str) -> int:
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted((CLIENT / "notebooks").glob("*.ipynb")):
        with Daemon(os.environ["EPSILOND"]) as daemon:
            os.environ["EPSILOND_URL"] = daemon.base
            notebook = nbformat.read(path, as_version=4)
            try:
                nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3",
                                        resources={"metadata": {"path": path.parent}}).execute()
            except nbclient.exceptions.CellExecutionError as error:
                print(f"{path.name}: {error}")
                return 1
            finally:
                nbformat.write(notebook, target / path.name)
        print(f"  {path.name}: {len(notebook.cells)} cells, with their output in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
