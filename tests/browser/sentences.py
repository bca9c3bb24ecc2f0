"""A table with a column of texts, from the file to a prediction, all in the browser: its vocabulary is sent from the form, an
encoder is chosen and priced, and the model answers a text. guide.py calls it."""

import os

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "film", "was", "good", "bad", ",", *(f"scene{i}" for i in range(40)))
SIZES = {"blocks": "1", "width": "16", "heads": "2", "intermediate": "32", "positions": "16", "separator": "3"}


def write_files(folder):
    reviews, vocabulary = os.path.join(folder, "reviews.csv"), os.path.join(folder, "vocab.txt")
    with open(reviews, "w", encoding="ascii") as file:
        file.write("id,review,verdict\n")
        for i in range(600):
            word = ("bad", "good")[i % 2]
            file.write(f'r{i},"The film was {word}, scene{i % 40} {word}{i % 7 * "!"}{i}",{word}\n')
    with open(vocabulary, "w", encoding="ascii") as file:
        file.write("\n".join(WORDS) + "\n")
    return reviews, vocabulary


def press(browser, label):
    browser.click(f"button[aria-label={label!r}]")


def register(check, daemon, browser, folder):
    reviews, vocabulary = write_files(folder)
    browser.go("/ui/register")
    browser.attach("input[type=file]", reviews)
    browser.await_text("many different texts")
    browser.choose("[aria-label='Kind of id']", "hashed")
    press(browser, "Make it a text: review")
    check(browser.run("document.getElementById('left-out').innerText").endswith("id"), "a text is the only column that is used, and the page says so")
    browser.await_text("1 column still needs a number of tokens; 1 column still needs a file of the tokenizer")
    browser.type("[id='/columns/1/length']", "12")
    browser.attach("[id='/columns/1/tokenizer/vocabulary']", reviews)
    browser.await_text("It is there")
    browser.click("[id='/columns/1/lower']")
    press(browser, "Use these words: verdict")
    browser.click("input[value=private]")
    browser.type("[id='/privacy/epsilon']", "8")
    browser.click("#state")
    browser.click("#register")
    browser.await_text("no line is [UNK]")
    browser.expect_faults("400")
    browser.attach("[id='/columns/1/tokenizer/vocabulary']", vocabulary)
    browser.await_that("document.getElementById('/columns/1/tokenizer/vocabulary').files[0].name == 'vocab.txt' && document.querySelector('main').innerText.includes('It is there')", "the other file")
    browser.click("#register")
    browser.await_that("location.pathname == '/ui/datasets/reviews'", "the page of the new dataset")
    dataset = daemon.get("/v1/datasets/reviews")
    text = dataset["columns"][1]
    check((text["kind"], text["length"], text["tokenizer"]["tokens"], text["tokenizer"]["lower"]) == ("text", 12, len(WORDS), True), f"what was declared: {text}")
    check(dataset["state"] == "READY" and dataset["columns"][0] == {"name": "id", "kind": "ignored"}, "the texts are imported")


def train(walk, check, daemon, browser):
    browser.go("/ui/train?dataset=reviews")
    browser.await_that("document.getElementById('/model/preset')?.value == 'bert'", "an encoder, for texts")
    check(browser.run("document.getElementById('/model/vocabulary').value") == str(len(WORDS)), "as many tokens as the tokenizer has")
    for name, value in SIZES.items():
        browser.type(f"[id='/model/{name}']", value)
    browser.choose("[id='/model/take']", "mean")
    browser.type("[id='/batch_size']", "200")
    browser.type("[id='/epochs']", "20")
    browser.await_that("!document.querySelector('main .button.accent').disabled", "the price")
    browser.expect_faults("400")  # of estimates between two of these fields
    walk.look_at("train-texts", again=True)
    job, _ = daemon.run_job({"dataset": "reviews", "algorithm": {"name": "dpsgd"}, "batch_size": 200, "epochs": 2, "privacy": {"epsilon": 1}, "model": {
        "preset": "bert", "vocabulary": len(WORDS), "take": "mean", **{name: int(value) for name, value in SIZES.items()}}})
    browser.go(f"/ui/jobs/{job['id']}")
    browser.await_text("Ask the model about records")
    browser.run("[...document.querySelectorAll('summary')].find((e) => e.innerText == 'Ask the model about records').click()")
    browser.await_text("A text on each line: its review")
    browser.type("#records", "The film was good, very good")
    browser.click_text("Predict")
    browser.await_that("document.querySelector('[aria-label=Predictions] tbody')?.innerText.includes('very good')", "the prediction of a text")


def walk(walk, check, daemon, browser, folder):
    register(check, daemon, browser, folder)
    train(walk, check, daemon, browser)
