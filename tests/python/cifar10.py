"""CIFAR-10 of SHARED: converts its archives of images to the usual binary batches, once, in build/."""

import os
import subprocess
import sys

SCHEMA = {"format": "cifar10", "task": "classification", "classes": 10}
FOLDER = os.path.join("build", "cifar10")
PATH = os.path.join("data", "cifar10", "make-binary")
PARTS = ([f"data_batch_{k}.bin" for k in range(1, 6)], ["test_batch.bin"])


def are_made(shared):
    """Creates the batches if they do not exist. Returns False without Pillow (Debian: python3-pil)."""
    if os.path.exists(os.path.join(FOLDER, "test_batch.bin")):
        return True
    script = os.path.join(shared, PATH)
    return subprocess.run([sys.executable, script, FOLDER], capture_output=True,
                          check=False).returncode == 0


def files(is_test):
    content = b""
    for name in PARTS[is_test]:
        with open(os.path.join(FOLDER, name), "rb") as file:
            content += file.read()
    return {"data": content}
