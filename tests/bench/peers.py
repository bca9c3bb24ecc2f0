"""Compares the records per second of PyTorch and Opacus with those of epsilond, for equal models and batches.

  peers.py BENCH_TRAIN

Uses random images of MNIST's shape. Each step draws its records, scales their bytes, runs forward and backward and
updates the parameters: plain sgd; dpsgd with clip norm 1 and noise multiplier 1. PyTorch and Opacus get index batches
of one size, without a loader or a dataset class; epsilond draws Poisson batches. One thread is measured by processor
time, two threads by wall time. Each figure is the best of several rounds.
"""
import csv
import os
import subprocess
import sys
import time
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
RECORDS, CLASSES = 60000, 10
BATCHES = (256, 1024)
ROUND_SECONDS, ROUNDS = 0.4, 4


def mlp(*widths):
    layers = []
    for inputs, outputs in zip((784,) + widths, widths + (CLASSES,)):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Repeat(nn.Module):
    def forward(self, x):
        return x.view(-1, 1, 28, 28).expand(-1, 3, -1, -1)


def cnn():
    return nn.Sequential(
        Repeat(), nn.Conv2d(3, 16, 8, 2, 3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1), nn.Flatten(),
        nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, CLASSES))


MODELS = {"784-10": mlp, "784-128-10": lambda: mlp(128),
          "784-1024-1024-10": lambda: mlp(1024, 1024), "cnn_mnist": cnn}


def plain(model, data, batch):
    return model, torch.optim.SGD(model.parameters(), lr=0.01), nn.CrossEntropyLoss()


def opacus_mode(mode):
    def private(model, data, batch):
        from opacus import PrivacyEngine
        loader = torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(*data), batch_size=batch)
        arguments = {"module": model, "data_loader": loader, "noise_multiplier": 1.0,
                     "optimizer": torch.optim.SGD(model.parameters(), lr=0.01),
                     "max_grad_norm": 1.0, "poisson_sampling": True,
                     "grad_sample_mode": mode}
        if mode == "ghost":
            arguments["criterion"] = nn.CrossEntropyLoss()
        made = PrivacyEngine().make_private(**arguments)
        return made[0], made[1], made[2] if mode == "ghost" else nn.CrossEntropyLoss()
    return private


WAYS = {"torch sgd": plain, "opacus hooks": opacus_mode("hooks"),
        "opacus ghost": opacus_mode("ghost")}


def rate(way, make, data, batch, clock):
    torch.manual_seed(0)
    model, optimizer, criterion = way(make(), data, batch)
    model.train()

    def step():
        rows = torch.randint(RECORDS, (batch,))
        x, y = data[0][rows].float() / 255, data[1][rows]
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()

    for _ in range(3):
        step()
    best = 0.0
    for _ in range(ROUNDS):
        steps, start = 0, clock()
        while clock() - start < ROUND_SECONDS:
            step()
            steps += 1
        best = max(best, steps * batch / (clock() - start))
    return best


def ours(bench):
    """Runs the benchmark of epsilond with the BLAS kernels that the daemon chooses."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        kernel = "SkylakeX" if "avx512vl" in file.read() else "Haswell"
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel,
                   "EPSILOND_TEST_KERNEL": kernel}
    text = subprocess.run([bench, "rates"], check=True, capture_output=True, text=True,
                          env=environment).stdout
    rows = csv.reader(line for line in text.splitlines() if line.count(",") == 4)
    return {(model, int(batch), int(threads)): (float(dp), float(sgd))
            for model, batch, threads, dp, sgd in rows}


def main():
    torch.manual_seed(1)
    data = (torch.randint(256, (RECORDS, 784), dtype=torch.uint8),
            torch.randint(CLASSES, (RECORDS,)))
    rates = ours(sys.argv[1])
    print(f"torch {torch.__version__}, records per second")
    print(f"{'model':17}{'batch':>6}{'t':>3}{'dpsgd':>11}{'sgd':>11}"
          + "".join(f"{name:>14}" for name in WAYS)
          + f"{'dpsgd / opacus':>16}{'dpsgd / torch sgd':>19}")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        clock = time.process_time if threads == 1 else time.perf_counter
        for name, make in MODELS.items():
            for batch in BATCHES:
                theirs = [rate(way, make, data, batch, clock) for way in WAYS.values()]
                dp, sgd = rates[name, batch, threads]
                print(f"{name:17}{batch:6}{threads:3}{dp:11.0f}{sgd:11.0f}"
                      + "".join(f"{value:14.0f}" for value in theirs)
                      + f"{dp / max(theirs[1:]):16.1f}{dp / theirs[0]:19.2f}",
                      flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
