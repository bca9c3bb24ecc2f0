"""CIFAR-10 of SHARED: its archives of images as the usual binary batches, made once in build/."""

import os
import subprocess
import sys

SCHEMA = {"format": "cifar10", "task": "classification", "classes": 10}
FOLDER = os.path.join("build", "cifar10")
PATH = os.path.join("data", "cifar10", "make-binary")
PARTS = ([f"data_batch_{k}.bin" for k in range(1, 6)], ["test_batch.bin"])


def are_made(shared):
    """Makes the batches if need be. False where Pillow (Debian: python3-pil) is not there."""
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
