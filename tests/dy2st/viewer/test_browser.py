"""The script of the page, in a browser: skipped where there is none."""

import re
import shutil
import subprocess

import pytest

from tests.dy2st.viewer.programs import after, converted

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
NET, PROGRAM = converted()


def shown(page, tmp_path, hash="", script=""):
    """The page as the browser has it, when its script and another one have run."""
    file = tmp_path / "page.html"
    file.write_text(str(page).replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'user'}",
    ]
    run = [BROWSER, *options, "--virtual-time-budget=1000", "--dump-dom", f"{file.as_uri()}{hash}"]
    return subprocess.run(run, capture_output=True, text=True, timeout=120).stdout


def rows(text):
    return re.findall(r'class="box"[^>]*>([^<]*)<', re.split('id="details"', text)[0])


def test_a_page_draws_rows_and_edges(tmp_path):
    text = shown(PROGRAM.view(), tmp_path)
    assert rows(text)[:3] == ["inputs", "blocks", "0"] and "if true" in rows(text)
    assert text.count("<path") > 20


def test_a_search_opens_what_holds_it_and_shows_it(tmp_path):
    text = shown(PROGRAM.view(), tmp_path, "#blocks.1.conv%20float32", "changeLevel(0)")
    found = re.search('id="found"[^>]*>([^<]*)<', text)[1]
    assert found == "1 of 3"
    assert re.search(r'id="details".*<h2[^>]*>conv</h2>', text)


def test_levels_open_and_close(tmp_path):
    text = shown(PROGRAM.view(), tmp_path, script="changeLevel(0)")
    assert rows(text) == ["inputs", "blocks", "full", "while", "head", "return"]


def test_a_comparison_shows_only_changes_on_request(tmp_path):
    changed = after(NET, PROGRAM, "SimplifyInference")
    script = 'byId("changes").firstChild.checked = true; changeLevel(9)'
    text = shown(PROGRAM.view(changed), tmp_path, script=script)
    assert 'class="row operator removed"' in text and "while" not in rows(text)


def test_memory_and_values_are_drawn(tmp_path):
    script = 'look("memory"); document.title = boxes.length; look("values")'
    text = shown(PROGRAM.view(), tmp_path, script=script)
    assert int(re.search("<title>([0-9]+)</title>", text)[1]) > 3
    assert "<td>head.1.weight</td>" in text
