"""A real Chromium that shows the page, and what tests do with it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

WAIT_SECONDS = 120
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LAPTOP, PHONE = (1280, 900), (390, 844)


def missing_browser() -> str | None:
    """Why there is no browser to test with; None if there is one."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: apt-get install chromium chromium-driver)"
    return None


class Browser:
    """The page in a browser, by what people see: links, buttons and labels."""

    def __init__(self, driver: webdriver.Chrome, url: str, downloads: Path) -> None:
        self.driver = driver
        self.url = url
        self.downloads = downloads

    def open(self, path: str) -> None:
        """A view by its address, as "/jobs", from a fresh page."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}/#{path}")

    def sign_in(self, key: str) -> None:
        self.open("/jobs")
        self.type("API key", key)
        self.click("Sign in")
        self.see("h1", "Jobs")

    def find(self, css: str, text: str = "") -> WebElement | None:
        """The first element that is shown and holds the text."""
        for element in self.driver.find_elements(By.CSS_SELECTOR, css):
            if element.is_displayed() and text in element.text:
                return element
        return None

    def see(self, css: str, text: str = "", seconds: float = WAIT_SECONDS) -> WebElement:
        """Wait until such an element is shown."""
        return self._wait(lambda: self.find(css, text), f"no {css} with {text!r}", seconds)

    def see_many(self, css: str, n: int) -> None:
        """Wait until there are so many such elements: they come one after the other."""

        def count() -> int:
            return len(self.driver.find_elements(By.CSS_SELECTOR, css))

        self._wait(lambda: count() == n, f"not {n} {css}")

    def click(self, text: str) -> None:
        """A button, link or summary by its text."""

        def press() -> bool:
            for element in self.driver.find_elements(By.CSS_SELECTOR, "button, a, summary"):
                if element.is_displayed() and element.text.splitlines()[:1] == [text]:
                    element.click()
                    return True
            return False

        self._wait(press, f"nothing to click on with {text!r}")

    def _wait(self, found: Callable[[], Any], message: str, seconds: float = WAIT_SECONDS) -> Any:
        """Ask again until there is an answer; what was replaced meanwhile is looked for anew."""
        wait = WebDriverWait(
            self.driver, seconds, 0.2, ignored_exceptions=[StaleElementReferenceException]
        )
        return wait.until(lambda _: found(), message)

    def field(self, label: str) -> WebElement:
        """The control of a label."""
        found = self.see("label", label)
        return self.driver.find_element(By.ID, found.get_attribute("for") or "")

    def type(self, label: str, text: str) -> None:
        control = self.field(label)
        if control.get_attribute("type") != "file":
            control.clear()
        control.send_keys(text)

    def click_label(self, text: str) -> None:
        """A radio button or check box by its label."""
        self.see("label", text).click()

    def choose(self, label: str, text: str) -> None:
        """An option of a list."""
        Select(self.field(label)).select_by_visible_text(text)

    def press_tab(self) -> None:
        ActionChains(self.driver).send_keys(Keys.TAB).perform()

    def press_enter(self) -> None:
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()

    def column(self, number: int) -> list[str]:
        """The cells of a column of the table of features, from 1."""
        css = f"[aria-label='Table: Features'] tbody tr > :nth-child({number})"
        return [e.text for e in self.driver.find_elements(By.CSS_SELECTOR, css)]

    def see_column(self, number: int, is_wanted: Callable[[list[str]], bool]) -> None:
        """Wait until the cells of a column are as wanted: their head changes before they do."""
        self._wait(lambda: is_wanted(self.column(number)), f"column {number} is not as wanted")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def errors(self) -> list[str]:
        """What the browser complained of: scripts, blocked content, failed requests."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def accessibility_problems(self) -> list[str]:
        """What axe finds wrong, in one line each."""
        self.run(files("axe_core_python").joinpath("axe.min.js").read_text())
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run().then(done)"
        )
        return [
            f"{v['id']} ({v['impact']}): {v['help']}: {v['nodes'][0]['html'][:200]}"
            for v in found["violations"]
        ]


@contextmanager
def opened(url: str, size: tuple[int, int] = LAPTOP, dark: bool = False) -> Iterator[Browser]:
    """A fresh browser with its own profile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        downloads = Path(folder) / "downloads"
        downloads.mkdir()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (
            *FLAGS,
            f"--user-data-dir={folder}/profile",
            f"--window-size={size[0]},{size[1]}",
        ):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options, service)
        try:
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {
                    "width": size[0],
                    "height": size[1],
                    "deviceScaleFactor": 1,
                    "mobile": size[0] < 600,
                },
            )
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {
                    "features": [
                        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
                    ]
                },
            )
            yield Browser(driver, url, downloads)
        finally:
            driver.quit()
