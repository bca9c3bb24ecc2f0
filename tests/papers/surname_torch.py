"""DP-SGD of the char-LSTM in PyTorch: reads a task as JSON, prints the accuracies of its runs. Norms of records are
those of their whole gradients: a weight's gradient is b^T a over the positions, so its square is the sum of
(a a^T) (b b^T); a token that repeats is one row of the table. The first batch of a run is compared with the
gradients that PyTorch itself forms for a few records."""

import json
import sys

import torch
from torch import nn

WIDTH, HIDDEN = 64, 128


class Network(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(256, WIDTH))
        self.lstms = nn.ModuleList([nn.LSTM(WIDTH, HIDDEN), nn.LSTM(HIDDEN, HIDDEN)])
        self.head = nn.Linear(HIDDEN, classes)
        for into, parts in ((WIDTH, ["table", "lstms.0.weight_ih", "lstms.0.bias_ih"]), (HIDDEN, ["lstms.1", "hh", "head"])):
            for name, parameter in self.named_parameters():
                if any(part in name for part in parts):
                    nn.init.uniform_(parameter, -into ** -0.5, into ** -0.5)

    def forward(self, ids):
        """Returns the outputs, and (parameters, a, b's place) of every weight for the gradients of records."""
        own = (ids >= 0).float().unsqueeze(2)
        x = (self.table[ids.clamp(min=0)] * own).detach().requires_grad_() * 1.0
        x.retain_grad()
        parts = [("table", ids, x)]
        for lstm in self.lstms:
            z = nn.functional.linear(x, lstm.weight_ih_l0)
            h = c = x.new_zeros(len(x), HIDDEN)
            before, gates, states = [], [], []
            for t in range(x.shape[1]):
                gate = (z[:, t] + nn.functional.linear(h, lstm.weight_hh_l0) + lstm.bias_ih_l0 + lstm.bias_hh_l0)
                gate.retain_grad()
                before.append(h)
                gates.append(gate)
                i, f, g, o = gate.chunk(4, 1)
                c = (torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)) * own[:, t]
                h = torch.sigmoid(o) * torch.tanh(c) * own[:, t]
                states.append(h)
            parts += [(lstm.weight_ih_l0, x, gates), (lstm.bias_ih_l0, None, gates),
                      (lstm.weight_hh_l0, torch.stack(before, 1), gates), (lstm.bias_hh_l0, None, gates)]
            x = torch.stack(states, 1)
        last = (ids >= 0).sum(1) - 1
        taken = x[torch.arange(len(x)), last]
        out = self.head(taken)
        out.retain_grad()
        return out, parts + [(self.head.weight, taken.unsqueeze(1), [out]), (self.head.bias, None, [out])]


def gradients_of(b):
    return b.grad if torch.is_tensor(b) else torch.stack([part.grad for part in b], 1)


def squares(parts):
    """The square of each record's gradient."""
    total = 0
    for parameter, a, b in parts:
        b = gradients_of(b)
        pairs = b @ b.transpose(1, 2)
        if torch.is_tensor(parameter) and a is None:
            total = total + pairs.sum((1, 2))
        elif torch.is_tensor(parameter):
            total = total + (pairs * (a @ a.transpose(1, 2))).sum((1, 2))
        else:
            total = total + (pairs * (a.unsqueeze(1) == a.unsqueeze(2)) * (a >= 0).unsqueeze(1)).sum((1, 2))
    return total.detach()


def clipped_sums(network, parts, weights):
    """Sets the gradient of each parameter to the sum of the records' clipped gradients."""
    for parameter, a, b in parts:
        b = gradients_of(b) * weights.reshape(-1, 1, 1)
        if not torch.is_tensor(parameter):
            own = a >= 0
            network.table.grad = torch.zeros_like(network.table).index_add_(0, a[own], b[own])
        elif a is None:
            parameter.grad = b.sum((0, 1))
        else:
            parameter.grad = b.flatten(0, 1).T @ a.detach().flatten(0, 1)


def check(network, ids, labels, norms):
    """Compares the norms of a few records with those of gradients of their own."""
    for k in range(3):
        loss = nn.functional.cross_entropy(plain(network, ids[k:k + 1]), labels[k:k + 1])
        grads = torch.autograd.grad(loss, list(network.parameters()))
        norm = sum(float((grad ** 2).sum()) for grad in grads) ** 0.5
        assert abs(norm - float(norms[k])) <= 1e-4 * norm, (norm, float(norms[k]))


def plain(network, ids):
    """The same outputs by PyTorch's own layers, for one record."""
    x = network.table[ids[:, :int((ids >= 0).sum())]].transpose(0, 1)
    for lstm in network.lstms:
        x, _ = lstm(x)
    return network.head(x[-1])


def train(task, train_part, seed):
    torch.manual_seed(seed)
    ids, labels = train_part
    network = Network(len(task["languages"]))
    optimizer = torch.optim.Adam(network.parameters(), lr=task["rate"])
    for step in range(task["steps"]):
        drawn = torch.rand(len(ids)) < task["batch"] / len(ids)
        out, parts = network(ids[drawn])
        nn.functional.cross_entropy(out, labels[drawn], reduction="sum").backward()
        norms = squares(parts).sqrt()
        if step == 0:
            check(network, ids[drawn], labels[drawn], norms)
        clipped_sums(network, parts, (task["clip"] / norms).clamp(max=1))
        for parameter in network.parameters():
            noise = torch.randn_like(parameter) * task["clip"] * task["noise_multiplier"]
            parameter.grad = (parameter.grad + noise) / task["batch"]
        optimizer.step()
    return network


def tensors(task, part):
    rows = [list(name.encode())[:task["length"]] for name, _ in part]
    ids = torch.tensor([row + [-1] * (task["length"] - len(row)) for row in rows])
    return ids, torch.tensor([task["languages"].index(language) for _, language in part])


def main():
    task = json.load(sys.stdin)
    torch.set_num_threads(1)
    train_part, (ids, labels) = tensors(task, task["train"]), tensors(task, task["test"])
    accuracies = []
    for seed in range(task["runs"]):
        network = train(task, train_part, seed)
        right = network(ids)[0].argmax(1) == labels
        accuracies.append(100 * float(right.float().mean()))
    print(json.dumps(accuracies))


if __name__ == "__main__":
    main()
