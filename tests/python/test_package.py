"""The package: its version, its types, its page."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import inspect
import os
import re
import subprocess
import sys

from conftest import ROOT

import diacut

USER = """
import numpy as np
import diacut

result = diacut.segment(np.zeros((8, 8), np.uint8), regions=2)
reveal_type(result.labels)
reveal_type(result.hierarchy)
reveal_type(diacut.Segmenter(device="cpu").device.name)
reveal_type(diacut.evaluate(result.labels, result.labels).f)
diacut.segment(np.zeros((8, 8)), region=2)
diacut.Segmenter(regions="many")
"""


def mypy(*arguments: object) -> str:
    settings = ["--config-file", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "mypy", *settings, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_version():
    assert diacut.__version__ == importlib.metadata.version("diacut")
    project = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(diacut VERSION {diacut.__version__} " in project


def test_the_package_is_typed(tmp_path):
    assert importlib.resources.files("diacut").joinpath("py.typed").is_file()
    assert "Success" in mypy("-p", "diacut", "--cache-dir", tmp_path)


def test_what_a_type_checker_tells_a_user(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    told = mypy("--cache-dir", tmp_path / "cache", tmp_path / "user.py")
    revealed = re.findall(r'Revealed type is "([^"]*)"', told)
    assert len(revealed) == 4
    assert "int32" in revealed[0] or "signedinteger" in revealed[0]
    assert "Hierarchy" in revealed[1] and "None" in revealed[1]
    assert "str" in revealed[2] and "float" in revealed[3]
    assert 'Unexpected keyword argument "region"' in told
    assert '"regions"' in told and "str" in told
    assert "Found 2 errors" in told


def test_every_public_name_is_documented():
    for name in diacut.__all__:
        item = getattr(diacut, name)
        if name in ("__version__", "ImageLike"):
            continue
        assert inspect.getdoc(item), name
        if inspect.isclass(item):
            for member, value in vars(item).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_the_examples_of_the_page_run(tmp_path, photograph, monkeypatch, capsys):
    """The blocks of Python in docs/python.md, one after the other."""
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photo.jpg").write_bytes(photograph.read_bytes())
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "regions" in capsys.readouterr().out
