"""A real Chromium, driven through its DevTools protocol over two pipes: no driver, no port.

Messages are JSON ended by a zero byte; Chromium reads them from file 3 and answers on file 4.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAME = shutil.which("chromium") or shutil.which("chromium-browser")
WHY_SKIPPED = "there is no Chromium on this machine: apt-get install chromium fonts-noto-cjk"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--use-angle=swiftshader",  # WebGL2 by the processor
    "--enable-unsafe-swiftshader",
    "--remote-debugging-pipe",
]
PATIENCE = 60.0  # seconds


class Browser:
    """The process, and the messages to and from it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        assert NAME is not None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [NAME, *FLAGS, *flags, f"--user-data-dir={folder}", "about:blank"]
        # The shell puts the pipes where Chromium looks for them.
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        home = {"HOME": str(folder), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}
        self.process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *command],
            pass_fds=(theirs_in, theirs_out),
            env={**os.environ, **home},  # it leaves things there that are of no profile
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._last, self._rest = 0, b""
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """Send a command and wait for what it gives."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                break
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            chunk = os.read(self._in, 1 << 20) if ready else b""
            if not chunk:
                raise TimeoutError("Chromium does not answer")
            self._rest += chunk
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def close(self) -> None:
        """End the process that this value began."""
        try:
            self.ask("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        os.close(self._out)

    @contextmanager
    def page(
        self,
        address: str,
        *,
        width: int = 1200,
        height: int = 800,
        dark: bool = False,
        ratio: int = 1,
        before: str = "",
        language: str = "en-US",
    ) -> Iterator["Page"]:
        """An address in a new tab, which is closed in the end; a script may run before its own."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events.clear()
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.ask(f"{domain}.enable")
        page.resize(width, height, ratio)
        page.prefer("dark" if dark else "light")
        agent = self.ask("Browser.getVersion")["userAgent"]
        page.ask("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)
        if before:
            page.ask("Page.addScriptToEvaluateOnNewDocument", source=before)
        page.ask("Page.navigate", url=address)
        try:
            yield page
        finally:
            self.ask("Target.closeTarget", targetId=target)


class Page:
    """A tab: what a person sees of it and does to it."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def ask(self, method: str, **parameters: Any) -> Any:
        """A command to this tab."""
        return self._browser.ask(method, self._session, **parameters)

    def resize(self, width: int, height: int, ratio: int = 1) -> None:
        """The size of the window."""
        size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme: str) -> None:
        """Light or dark, as the system would say."""
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def value(self, expression: str) -> Any:
        """What JavaScript evaluates to, promises waited for."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(json.dumps(answer["exceptionDetails"], indent=1))
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}; {self.problems()}")
            time.sleep(0.02)

    def ready(self) -> "Page":
        """Until the points are drawn."""
        self.wait("document.documentElement?.dataset.ready === ''")
        self.settle()
        return self

    def settle(self) -> None:
        """Until what was asked for is drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def texts(self, selector: str) -> list[str]:
        """The texts of some elements."""
        found: list[str] = self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)"
        )
        return found

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A pointer event: mouseMoved, mousePressed, mouseReleased or mouseWheel."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Press and let go."""
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)

    def drag(self, path: list[tuple[float, float]]) -> None:
        """Press at the first place, move through all, let go at the last."""
        self.mouse("mouseMoved", *path[0])
        self.mouse("mousePressed", *path[0], button="left", buttons=1, clickCount=1)
        for place in path[1:]:
            self.mouse("mouseMoved", *place, button="left", buttons=1)
        self.mouse("mouseReleased", *path[-1], button="left", clickCount=1)

    def key(self, name: str, *, shift: bool = False) -> None:
        """A key pressed and let go."""
        more = {"modifiers": 8 if shift else 0}
        text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
        codes = {
            "Enter": 13,
            "Tab": 9,
            "Escape": 27,
            "ArrowDown": 40,
            "ArrowUp": 38,
            "ArrowLeft": 37,
            "ArrowRight": 39,
            " ": 32,
        }
        code = {"windowsVirtualKeyCode": codes[name], "code": name} if name in codes else {}
        down = {"type": "keyDown", "key": name, **more, **code}
        self.ask("Input.dispatchKeyEvent", **(down | {"text": text} if text else down))
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=name, **more, **code)

    def type(self, text: str) -> None:
        """Text as an input method hands it over."""
        self.ask("Input.insertText", text=text)

    def screenshot(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """The addresses that were asked for, the page's own among them."""
        self.settle()
        return [
            event["params"]["request"]["url"]
            for event in self._browser.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def problems(self) -> list[str]:
        """What the console complains of."""
        said = []
        for event in self._browser.events:
            if event["method"] == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                said.append(details.get("exception", {}).get("description", details["text"]))
            elif (
                event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"
            ):
                said.append(event["params"]["entry"]["text"])
        return said
