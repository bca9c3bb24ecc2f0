"""Headless Chromium, controlled through the pipe of its DevTools protocol, with the actions of a
person: go to a page, read, click, type. Standard library only.

Records faults in all pages: messages on the console, refusals of the content security policy,
requests to anything but the daemon."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 180  # a loaded machine takes a minute for a quarter of a job, which is when its progress is shown


class Chromium:
    """Use in a `with` statement. origin: the only origin that pages may talk to."""

    def __init__(self, binary, origin):
        self.binary, self.origin = binary, origin
        self.numbers, self.buffer, self.events = itertools.count(1), b"", []
        self.faults, self.requests = [], []
        self.session = None

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="epsilond-chromium.")
        to_it, self.write_end = os.pipe()
        self.read_end, from_it = os.pipe()
        keep = (to_it, from_it)
        shell = f"exec 3<&{to_it} 4>&{from_it}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "chromium", self.binary, "--headless=new", "--remote-debugging-pipe",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=keep, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for descriptor in keep:
            os.close(descriptor)
        self.tab()
        return self

    def tab(self):
        """Opens a tab in its own window and continues in it; returns the argument for `use`."""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=(
            "addEventListener('securitypolicyviolation', (e) => console.error('CSP: '"
            " + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample));"))
        return self.session

    def use(self, tab):
        self.session = tab

    def close_tab(self):
        """Closes the current tab; call `use` with another tab next."""
        self.call("Page.close")

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (subprocess.TimeoutExpired, RuntimeError, OSError):
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    # --- the protocol: JSON followed by a NUL, in both directions ---

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._notice(answer)

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise RuntimeError("Chromium does not answer")
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _notice(self, event):
        method, parameters = event.get("method", ""), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.faults.append(" ".join(str(item.get("value", item.get("description")))
                                        for item in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.faults.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Audits.issueAdded" and "ContentSecurityPolicy" in parameters["issue"]["code"]:
            self.faults.append(json.dumps(parameters["issue"]["details"]))
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            self.requests.append(url)
            if not url.startswith((self.origin + "/", "blob:", "about:")):
                self.faults.append(f"a request to {url}")

    def expect_faults(self, part):
        """Removes faults that contain part: those that the test itself caused."""
        self.faults = [fault for fault in self.faults if part not in fault]

    # --- the actions of a person ---

    def run(self, script):
        """Returns the value of an expression, or of its promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def await_that(self, script, what=None):
        """Waits until the expression is true in the page."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self.run(f"Boolean({script})"):
                return
            time.sleep(0.05)
        text = self.run("document.querySelector('main').innerText")
        raise RuntimeError(f"this never came: {what or script}\nthe page says:\n{text}\nfaults: {self.faults}")

    def go(self, path):
        self.call("Page.navigate", url=self.origin + path)
        self.await_that("document.readyState == 'complete' && document.querySelector('main')?.children.length", path)

    def await_text(self, text):
        self.await_that(f"document.querySelector('main').innerText.includes({json.dumps(text)})", f"the text {text}")

    def click(self, selector):
        at = json.dumps(selector)
        self.await_that(f"document.querySelector({at}) && !document.querySelector({at}).disabled", f"{selector}, to click")
        self.run(f"document.querySelector({at}).click()")

    def click_text(self, text):
        find = f"[...document.querySelectorAll('a, button')].find((e) => e.innerText.trim() == {json.dumps(text)} && !e.disabled)"
        self.await_that(find, f"a button {text}")
        self.run(f"{find}.click()")

    def type(self, selector, text):
        """Types into a field, as keys do: replaces its text."""
        at = json.dumps(selector)
        self.await_that(f"document.querySelector({at})", selector)
        self.run(f"document.querySelector({at}).focus(), document.querySelector({at}).select()")
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        self.await_that(f"document.querySelector({json.dumps(selector)})", selector)
        self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def attach(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name, forced="none"):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}, {"name": "forced-colors", "value": forced},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])

    def shoot(self, path, height_max=16384):
        """Returns the page as a PNG, from its top."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height_max), "scale": 1}
        picture = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
