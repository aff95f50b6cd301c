# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Do the programs of the documentation run, and print what the pages say?

The Python of a page runs as one program, snippet by snippet. A block of the language `text` after a snippet is what
the snippet prints. `127.0.0.1:7420`, the address of a server in the pages, is that of a server of the test.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import os
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from conftest import ROOT, missing

ADDRESS = "127.0.0.1:7420"
PAGES = {"README": ROOT / "client" / "python" / "README.md", "python": ROOT / "docs" / "python.md"}
# What a snippet needs beside numpy, by what it says.
NEEDS = {
    "grpc": r"\b(carom|aio)\.Client\(|\bclient\.",
    "dask": r"\bdask\b|\bdistributed\b",
    "distributed": r"\bdistributed\b",
    "pyarrow": r"\bout=\"",
    "gymnasium": r"\bgymnasium\b|\bcarom\.gym\b",
    "shapely": r"\bshapely\b",
    "pandas": r"\bpandas\b",
    "polars": r"\bpolars\b",
}


@dataclass(frozen=True)
class Snippet:
    """A program of a page, or a part of one."""

    page: str
    line: int
    code: str
    prints: str | None  # what the page says; None: nothing

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def snippets_of(page: str) -> list[Snippet]:
    """The blocks of Python of a page, each with the block of text that follows."""
    blocks: list[tuple[str, int, str]] = []
    language, begin, body = "", 0, list[str]()
    for number, line in enumerate(PAGES[page].read_text().splitlines(), 1):
        fence = re.fullmatch(r"```(\w*)", line)
        if fence is None:
            body.append(line)
        elif begin:
            blocks.append((language, begin, "\n".join(body) + "\n"))
            begin = 0
        else:
            language, begin, body = fence[1], number, []
    assert begin == 0, f"{page}:{begin} has no end"
    blocks.append(("", 0, ""))
    return [
        Snippet(page, block[1], block[2], after[2] if after[0] == "text" else None)
        for block, after in itertools.pairwise(blocks)
        if block[0] == "python"
    ]


SNIPPETS = [snippet for page in PAGES for snippet in snippets_of(page)]


class Runs:
    """The pages as far as they have run, each in a namespace of its own."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._spaces: dict[str, dict[str, Any]] = {page: {"__name__": "__main__"} for page in PAGES}
        self._printed: dict[Snippet, str] = {}
        self._failed: dict[str, Snippet] = {}

    def run(self, snippet: Snippet) -> str:
        """Runs a snippet after those before it on its page, and returns what it prints."""
        for other in SNIPPETS:
            if other.page == snippet.page and other not in self._printed:
                if snippet.page in self._failed:
                    pytest.fail(f"{self._failed[snippet.page]} has failed, above on the page")
                self._printed[other] = self._one(other)
            if other == snippet:
                break
        return self._printed[snippet]

    def _one(self, snippet: Snippet) -> str:
        for name, pattern in NEEDS.items():
            if re.search(pattern, snippet.code) and importlib.util.find_spec(name) is None:
                missing(f"{snippet} needs {name}, which is not installed")
        code = "\n" * snippet.line + snippet.code.replace(ADDRESS, self._address)
        output = io.StringIO()
        self._failed[snippet.page] = snippet
        with contextlib.redirect_stdout(output):
            exec(compile(code, str(PAGES[snippet.page]), "exec"), self._spaces[snippet.page])
        del self._failed[snippet.page]
        return output.getvalue().replace(self._address, ADDRESS)


@pytest.fixture(scope="module")
def runs(caromd: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Runs snippets in a folder of their own."""
    before = pathlib.Path.cwd()
    os.chdir(tmp_path_factory.mktemp("documents"))
    yield Runs(caromd)
    os.chdir(before)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=str)
def test_a_snippet_prints_what_the_page_says(snippet: Snippet, runs: Runs) -> None:
    assert runs.run(snippet) == (snippet.prints or ""), snippet


def test_the_pages_show_programs() -> None:
    readme, page = (snippets_of(name) for name in PAGES)
    assert len(readme[0].code.splitlines()) == 5, "the first program of the README has five lines"
    assert readme[0].prints
    assert len(page) >= 15
    assert sum(snippet.prints is not None for snippet in page) >= 12


def test_links_lead_somewhere() -> None:
    for page in PAGES.values():
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
