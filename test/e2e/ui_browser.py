#!/usr/bin/env python3
"""ui_browser.py PART LINK: looks at the page of `kubexx-reloader ui` with headless Chromium, for ui_test.sh.

Parts: state, limits, outage; tokens, for ui_tokens_test.sh; frames, for ui_frames.sh. Environment: KX_KUBECTL; KX_AXE, the file of axe-core, or empty; KUBEXX_UI_PICTURES, a folder for pictures.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE = 30 * int(os.environ.get("KUBEXX_PATIENCE", "1"))
WORK = pathlib.Path(os.environ["KUBECONFIG"]).parent
VIEWS = ["workloads", "workload/Deployment/shop/app-01", "sources", "source/ConfigMap/shop/settings", "policies", "operators"]


def kubectl(*arguments):
    subprocess.run([os.environ["KX_KUBECTL"], *arguments], check=True, stdout=subprocess.DEVNULL, timeout=60)


def new_browser(width=1440, height=900, is_any_certificate_good=False):
    options = webdriver.ChromeOptions()
    options.accept_insecure_certs = is_any_certificate_good
    # In a container there is no other way than without the sandbox, as root.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    resize(browser, width, height)
    return browser


def resize(browser, width, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700})


def await_that(what, condition):
    """Waits until `condition` returns something true, and returns that."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE} s in vain for {what}")
        time.sleep(0.1)


def text(browser, selector="body"):
    return browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)


def await_text(browser, wanted, selector="body"):
    try:
        await_that(f"'{wanted}' in {selector}", lambda: wanted in text(browser, selector))
    except AssertionError as error:
        raise AssertionError(f"{error}; the page says: {text(browser, selector)}") from None


def go(browser, place):
    browser.execute_script("location.hash = '#/' + arguments[0]", place)
    await_that(place, lambda: browser.execute_script("return document.activeElement?.id") == "heading")


def states(browser):
    """The state of each workload in sight, by namespace and name."""
    return dict(browser.execute_script("""
        return [...document.querySelectorAll("table.long tbody tr[aria-rowindex]")].map((row) => [
          row.querySelector("th .line").innerText.split("· ")[1] + "/" + row.querySelector("th a").innerText, row.querySelector(".state").innerText]);
    """))


def press(browser, *keys):
    ActionChains(browser).send_keys(*keys).perform()


def focused(browser):
    return browser.execute_script("const at = document.activeElement; return (at.innerText || at.getAttribute('aria-label') || at.tagName).split('\\n')[0]")


def check_logs(browser, link):
    """No word in the console, and no request to another host."""
    said = [entry for entry in browser.get_log("browser")]
    assert not said, f"the console says: {said}"
    origin = link.split("/enter")[0] + "/"
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            assert url.startswith((origin, "data:")), f"the page asks {url}"


def check_axe(browser, place):
    if not os.environ.get("KX_AXE"):
        return
    if not browser.execute_script("return 'axe' in window"):
        browser.execute_script(pathlib.Path(os.environ["KX_AXE"]).read_text(encoding="utf-8") + "; window.axe = axe;")
    found = browser.execute_async_script("const done = arguments[arguments.length - 1]; axe.run(document).then((r) => done(r.violations), (e) => done([{id: String(e), nodes: []}]));")
    told = [f"{each['id']}: {[node['html'][:160] + ' ' + node.get('failureSummary', '') for node in each['nodes'][:2]]}" for each in found]
    assert not told, f"axe-core finds in {place}: " + "; ".join(told)


def take_picture(browser, name):
    folder = os.environ.get("KUBEXX_UI_PICTURES")
    if folder:
        browser.save_screenshot(f"{folder}/{name}.png")


def part_state(link):
    browser = new_browser(height=1700)  # all rows are in sight at first
    try:
        browser.set_script_timeout(PATIENCE)
        browser.get(link)
        await_that("the page", lambda: browser.current_url.endswith("/"))
        await_text(browser, "Live", ".status")
        await_that("current workloads", lambda: list(states(browser).values()).count("Current") >= 12)
        assert "token" not in browser.execute_script("return document.cookie + location.href"), "the cookie or the token is in sight"

        # Only what is in sight is in the document, so that thousands cost no more.
        assert browser.execute_script("return document.documentElement.scrollHeight <= innerHeight"), "the table does not scroll by itself"

        # A change arrives without a word from the person.
        kubectl("-n", "shop", "patch", "configmap", "settings", "-p", '{"data":{"A":"2"}}')
        await_that("the first wave", lambda: sorted(name for name, state in states(browser).items() if state == "Rolling" and name.startswith("shop/")) == ["shop/app-01", "shop/app-02", "shop/app-03"])
        await_that("those that wait", lambda: states(browser).get("shop/app-12") == "Waiting")
        assert "wave 2 of 2 waits for Deployment/shop/app-0" in text(browser, ".region"), text(browser, ".region")
        kubectl("-n", "payments", "patch", "configmap", "settings", "-p", '{"data":{"A":"3"}}')
        await_that("the window", lambda: states(browser).get("payments/app-01") == "Waiting")
        kubectl("-n", "shop", "delete", "deployment", "app-11")
        await_that("the deletion", lambda: "shop/app-11" not in states(browser))

        # A page that nobody sees gives its connection back, and has what it has missed as soon as somebody does.
        seen = "Object.defineProperty(document, 'hidden', {get: () => arguments[0], configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"
        browser.execute_script(seen.replace("arguments[0]", "true"))
        kubectl("-n", "payments", "delete", "deployment", "app-12")
        browser.execute_script(seen.replace("arguments[0]", "false"))
        await_that("what was missed", lambda: "payments/app-12" not in states(browser))

        # The keyboard.
        browser.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
        press(browser, Keys.TAB)
        assert focused(browser) == "Skip to the content", focused(browser)
        press(browser, Keys.ENTER, Keys.TAB)
        assert browser.execute_script("return document.activeElement.type") == "search", focused(browser)
        press(browser, "shop app-02")
        await_that("the search", lambda: list(states(browser)) == ["shop/app-02"])
        press(browser, *[Keys.BACKSPACE] * len("shop app-02"))
        await_that("all of them", lambda: len(states(browser)) > 10)
        for _ in range(20):
            press(browser, Keys.TAB)
            if browser.execute_script("return document.activeElement.className") == "region":
                break
        resize(browser, 1440, 600)
        await_that("a part of the rows", lambda: len(states(browser)) < 20)
        press(browser, Keys.ARROW_DOWN)
        await_that("the first row", lambda: focused(browser) == "app-01")
        press(browser, Keys.END)
        await_that("the last row", lambda: focused(browser) == "app-12")
        press(browser, Keys.ARROW_UP)
        await_that("the row before", lambda: focused(browser) == "app-10")
        press(browser, Keys.ENTER)
        await_that("its heading", lambda: browser.execute_script("return document.activeElement.id") == "heading" and focused(browser) == "app-10")

        # One workload. Its namesake in another namespace waits for something else.
        await_text(browser, "wave 2 of 2", "main")
        await_text(browser, "The operator says: ReloadPolicy shop/careful", "main")
        assert "payments/nights" not in text(browser, "main"), text(browser, "main")
        go(browser, "workload/Deployment/shop/app-01")
        await_text(browser, "A changed", "main")
        go(browser, "source/ConfigMap/shop/settings")
        await_text(browser, "11 workloads use it", "main")
        await_text(browser, "app-03", "main section:last-of-type")
        go(browser, "policies")
        await_text(browser, "Waves for ConfigMap settings", "main")
        await_text(browser, "3 rolling", ".waves")
        await_text(browser, "8 waiting", ".waves")
        await_text(browser, "Closed for the next 24 hours", "main")
        go(browser, "workload/Deployment/shop/no-such")
        await_text(browser, "does not exist", "main")
        # The browser itself reports the 404 that this is.
        browser.get_log("browser")

        for place in VIEWS:
            go(browser, place)
            await_that(place, lambda: len(text(browser, "main")) > 40)
            for width, height in ((1440, 900), (390, 844)):
                resize(browser, width, height)
                await_that("the width", lambda: browser.execute_script("return innerWidth") == width)
                wide = browser.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, f"{place} is {wide} wide on {width}"
                check_axe(browser, f"{place} at {width}")
                take_picture(browser, f"{place.replace('/', '-')}-{width}")
            resize(browser, 1440, 900)
        assert "hunter2" not in browser.page_source
        # Also not in what was sent: the page keeps all of it.
        check_logs(browser, link)
    finally:
        browser.quit()


def part_limits(link):
    """What a page that has been broken into could do."""
    browser = new_browser()
    try:
        browser.get(link)
        await_text(browser, "Live", ".status")
        check_logs(browser, link)
        browser.execute_script("""
          window.violations = [];
          addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
          for (const make of [
            () => { const script = document.createElement("script"); script.textContent = "window.broken = true"; document.body.append(script); },
            () => { document.body.setAttribute("onclick", "window.broken = true"); document.body.click(); },
            () => { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); },
            () => { const image = new Image(); image.src = "http://127.0.0.1:1/x.png"; document.body.append(image); },
            () => { const frame = document.createElement("iframe"); frame.src = "/"; document.body.append(frame); },
          ]) { try { make(); } catch { /* that is what should happen */ } }
          fetch("http://127.0.0.1:1/").catch(() => {});
        """)
        await_that("the refusals", lambda: {"connect-src", "img-src", "frame-src"} <= set(browser.execute_script("return violations")))
        assert any(each.startswith(("script-src", "require-trusted-types")) for each in browser.execute_script("return violations")), browser.execute_script("return violations")
        assert not browser.execute_script("return window.broken"), "code that is not the page's ran"
    finally:
        browser.quit()


def part_outage(link):
    browser = new_browser()
    try:
        browser.get(link)
        await_text(browser, "Live", ".status")
        await_that("the workloads", lambda: states(browser).get("shop/app-01"))
        (WORK / "sees-state").touch()
        await_text(browser, "The API server does not answer since", ".status")
        assert states(browser).get("shop/app-01"), "the page forgets what was so"
        (WORK / "sees-outage").touch()
        await_text(browser, "Live", ".status")
        # And it follows again: the pause that the test sets now comes to the settings that are open, though no state changes.
        go(browser, "workload/Deployment/shop/app-01")
        await_text(browser, "Settings", "main")
        assert "annotation reloader.kubexx.io/paused" not in text(browser, "main")
        (WORK / "sees-settings").touch()
        await_text(browser, "annotation reloader.kubexx.io/paused", "main")
    finally:
        browser.quit()


def sign_in(browser, token):
    await_that("the field", lambda: browser.execute_script("return document.activeElement?.id") == "token")
    browser.execute_script("document.getElementById('token').value = ''")
    press(browser, token, Keys.ENTER)


def part_tokens(link):
    """Signs in and out with tokens; the page's certificate is not known to the browser."""
    browser = new_browser(is_any_certificate_good=True)
    try:
        browser.get(link)
        check_axe(browser, "the way in")
        sign_in(browser, "wrong")
        await_text(browser, "The API server does not accept this token", "#said")
        sign_in(browser, "paul-token")
        await_text(browser, "/kubexx-reloader/page", "#said")
        take_picture(browser, "sign-in-refused")
        resize(browser, 360, 800)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), "the way in is wider than a phone"
        take_picture(browser, "sign-in-phone")
        resize(browser, 1280, 900)
        sign_in(browser, "  vera- token ")
        await_text(browser, "Live", ".status")
        await_that("the workload", lambda: states(browser).get("default/web"))
        assert browser.execute_script("return document.cookie") == "", "a script can read the cookie"
        take_picture(browser, "signed-in")
        # Who follows a link of another page is in: the browser sends no cookie with it, and the way in finds that out.
        browser.get(f"data:text/html,<a id=a href='{link}'>the page</a>")
        browser.find_element(By.ID, "a").click()
        await_text(browser, "Live", ".status")
        browser.execute_script("document.querySelector('.sign-out').click()")
        await_that("the way in", lambda: text(browser, "#send") == "Sign in")
        browser.get(link + "#/policies")
        await_that("the way in", lambda: text(browser, "#send") == "Sign in")
        sign_in(browser, "vera-token")
        await_that("the view of the address", lambda: text(browser, "#heading") == "Policies")
    finally:
        browser.quit()


def part_frames(link):
    """Scrolls the table while the cluster changes, and counts frames."""
    workloads, rate, seconds, least = (int(os.environ.get(f"KUBEXX_UI_{name}", default)) for name, default in (("WORKLOADS", 2000), ("CHANGES", 50), ("SECONDS", 15), ("FRAMES", 30)))
    browser = new_browser()
    try:
        browser.get(link)
        await_text(browser, "Live", ".status")
        await_that("all workloads", lambda: f"All {workloads}" in text(browser, ".filters"))
        browser.execute_script("""
          window.frames_at = [];
          let down = 1;
          const region = document.querySelector(".region");
          const draw = (at) => {
            frames_at.push(at);
            region.scrollTop += 24 * down;
            if (region.scrollTop + region.clientHeight >= region.scrollHeight - 1 || region.scrollTop === 0) down = region.scrollTop === 0 ? 1 : -1;
            requestAnimationFrame(draw);
          };
          requestAnimationFrame(draw);
          window.changes = 0;
          new MutationObserver((found) => { changes += found.length; }).observe(region, {subtree: true, childList: true, characterData: true, attributes: true});
        """)
        changes = pathlib.Path(__file__).with_name("ui_changes.py")
        subprocess.run(["/usr/bin/python3", str(changes), "change", str(workloads), str(rate), str(seconds)], check=True, timeout=seconds * 4 + 60)
        at = browser.execute_script("return frames_at")
        counts = {}
        for each in at:
            counts[int((each - at[0]) / 1000)] = counts.get(int((each - at[0]) / 1000), 0) + 1
        whole = [count for second, count in sorted(counts.items()) if second < max(counts)]
        longest = max(after - before for before, after in zip(at, at[1:]))
        print(f"{workloads} workloads, {rate} changes a second: {min(whole)} to {max(whole)} frames a second, the longest frame {longest:.0f} ms, {browser.execute_script('return changes')} changes of the table")
        assert len(whole) >= seconds - 2 and min(whole) >= least, f"frames in each second: {whole}"
    finally:
        browser.quit()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    {"state": part_state, "limits": part_limits, "outage": part_outage, "tokens": part_tokens, "frames": part_frames}[sys.argv[1]](sys.argv[2])
