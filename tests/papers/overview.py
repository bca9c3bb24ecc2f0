"""The first table of RESULTS.md: each table and figure of the five papers, and whether its result was found here.

    overview.py --check    exit code 1 if RESULTS.md does not begin with this table, or a row names no section there

A verdict is one of VERDICTS. Write it from the section that the row names, and read it again if the section changes.
"""

import os
import re
import sys

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "RESULTS.md")
VERDICTS = ("found", "not found", "out of reach", "not run")

VALUE, DICE, DIFF, ADP, DC, TABLES, NAMES = (
    "Value clipping (Fang et al., ICLR 2023)", "DiceSGD (Zhang et al., ICLR 2024)", "DIFF2 (Murata and Suzuki, ICML 2023)",
    "ADP-SGD (Wu et al., 2021)", "DC-SGD (Wei et al.)", "DC-SGD, Tables II to V, with quantile clipping",
    "Surnames by a char-LSTM (Wei et al., Table VIII)")
EPSILON = "Epsilon of the papers' settings"

# Paper, table or figure, what it shows, verdict, section of RESULTS.md or "", and a reason.
ROWS = (
    ("Value clipping", "Figure 1", "how many gradients are clipped, by epoch", "out of reach", "",
     "curves lost; the API shows neither this share nor accuracy on private records"),
    ("", "Figures 2, 3", "value clipping loses about 2 points on MNIST, about 4 with two layers", "found", VALUE,
     "C = 20 with two layers loses a point more than theirs"),
    ("", "Figures 2, 3", "the same on VGG16's features of CIFAR-10", "out of reach", "", "the weights are not named"),
    ("", "Figure 4", "synthetic regression", "out of reach", "", "rate, C and noise of the labels are not said"),
    ("", "Figure 5", "the loss is larger at a small epsilon", "found", VALUE, "ours grows faster"),
    ("", "Table 2", "seconds of an epoch", "out of reach", "", "numbers lost"),
    ("DiceSGD", "the example of three records", "feedback removes the bias of clipping", "found", DICE,
     "at 13 to 870 times the noise"),
    ("", "Table 2", "DiceSGD is 2 to 7 points ahead of DP-SGD", "not found", DICE,
     "on MNIST it loses 1 to 8; the paper's ViT has no weights here"),
    ("", "Theorem 3.7", "its noise is (2, 1e-5)-private", "not found", EPSILON, "an attack shows at least 18.4"),
    ("", "Table 3, Figures 2 to 5", "GPT-2 on E2E, and ablations on ViT", "out of reach", "",
     "no weights and texts here; the figures have no numbers"),
    ("DIFF2", "Figure 1 (a) to (c)", "California: a smaller gradient norm than DP-GD's", "found", DIFF, "two- to sevenfold"),
    ("", "Figure 1 (a) to (c)", "California: a smaller loss", "not found", DIFF, "a tie within 4 %"),
    ("", "Figure 1 (d) to (i)", "Gas Turbine, BlogFeedback", "out of reach", "",
     "in no package of Debian (`apt-cache search`), nor in one that may be fetched"),
    ("", "Figure 2", "the same at epsilon 5", "not run", "", "California could be"),
    ("", "Figure 3", "Cover Type, KDDCup99", "out of reach", "", "no such data here"),
    ("ADP-SGD", "Tables 2, 5", "ADP gains up to 22 points (its own accounts)", "not found", ADP,
     "at equal epsilon -.8 to +1.5, on smaller networks"),
    ("", "Tables 1, 4, Figure 3", "another schedule; accuracy by step", "out of reach", "",
     "the network and its weights of CIFAR-100 are not described"),
    ("", "Table 3", "AdaGrad-Norm: ADP gains .3 to 1.3", "not found", ADP, "a gain of .2 to .6 at epsilon .2, none at 2"),
    ("", "Theorem 4.1", "the same epsilon as constant noise", "not found", EPSILON, "2.2 times as dear at the paper's 1.23"),
    ("", "Figure 4", "falling rates help DP-SGD", "not run", "", "batch and clip norm are not said"),
    ("DC-SGD", "Table I", "a search of one run, in place of 10 to 90", "out of reach", "",
     "no machine is named; a step of `dcsgd_e` takes 1.01 times `dpsgd`'s ([bench](../bench/README.md))"),
    ("", "Table II, MNIST", "choices paid for by random stopping: DC-SGD-E is ahead", "found", TABLES,
     "epsilon 2, at the noise of the paper's price, which is not offered here"),
    ("", "Table III, MNIST", "choices paid for: DC-SGD-E is level with DP-SGD", "found", TABLES, "epsilon 2"),
    ("", "Table IV, MNIST", "all methods within 1.5 points, DC-SGD-E behind", "found", TABLES,
     "about a point below the paper; the column \"Andrew\" is `quantile_clip`"),
    ("", "Table V, MNIST", "the same with momentum", "not found", TABLES, "three rates were too few"),
    ("", "Table VIII, MNIST", "automatic clipping is a point ahead", "not found", DC, "level with DP-SGD"),
    ("", "Table VIII, NAMES", "DC-SGD is a point ahead", "out of reach", NAMES, "the data is in no package; another task is there"),
    ("", "Tables II to V, VIII", "CIFAR-10, SVHN, QNLI", "out of reach", "",
     "ResNets take days on two cores; no SVHN, QNLI and weights of BERT here"),
    ("", "Figures 2, 3", "both rules find the right clip norm of synthetic norms", "found", "",
     "tests: [ACCEPTANCE.md](ACCEPTANCE.md), DC-SGD 14"),
    ("", "Figures 5, 9", "the share of DC-SGD-P matters", "found", DC, ".5 is five points behind .9"),
    ("", "Figures 4, 6, 7, 10, 11", "error by clip norm; bins; noise of the histogram", "not run", "", ""),
    ("", "Figures 1, 8", "CIFAR-10 and ResNet-18: rate by clip norm; norms fall", "out of reach", "", "days on two cores"),
)

INTRODUCTION = """Each table and figure of the five papers that has a result, and the theorems that price them:
{counts}. Tables of rates, grids and data have no result
(value clipping 1; DiceSGD 1; DIFF2 1, 2; ADP 6; DC-SGD VI, VII), nor have figures of schedules and code (ADP 1, 2, 5 to
8).
"""


def anchor(title):
    """Returns the name that a heading has as a target of links."""
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def counts():
    found = [row[3] for row in ROWS]
    return ", ".join(f"{found.count(verdict)} {verdict}" for verdict in VERDICTS)


def text():
    lines = [INTRODUCTION.format(counts=counts()), "| paper | table, figure | what it shows | here | |", "|---|---|---|---|---|"]
    for paper, place, shows, verdict, section, reason in ROWS:
        shown = f"[{verdict}](#{anchor(section)})" if section else verdict
        lines.append(f"| {paper} | {place} | {shows} | {shown} | {reason} |")
    return "\n".join(lines) + "\n\n"


def faults():
    with open(RESULTS, encoding="utf-8") as file:
        results = file.read()
    titles = set(re.findall(r"^## (.*)$", results, re.MULTILINE))
    for paper, place, _, verdict, section, _ in ROWS:
        if verdict not in VERDICTS:
            yield f"overview.py: {paper} {place}: no verdict {verdict!r}"
        if section and section not in titles:
            yield f"overview.py: {paper} {place}: RESULTS.md has no section {section!r}"
    if text() not in results.split("\n## ", 1)[0] + "\n":
        yield "RESULTS.md does not begin with the table of tests/papers/overview.py: run make papers"


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
