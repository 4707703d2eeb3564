"""The protocol's own inspector, another SDK in another language, lists and calls the tools."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.test_mcp_process import SCOPE, Place

pytestmark = pytest.mark.long
INSPECTOR = "@modelcontextprotocol/inspector"


class Inspector:
    """Runs the inspector's command line, which npx fetches if it is not there yet."""

    def __init__(self, place: Path) -> None:
        npx = shutil.which("npx")
        if npx is None:
            pytest.skip("needs npx, from node")
        env = Place(place).env
        names = (*SCOPE, "NSSTORE_STORE", "NSSTORE_TRUST_HOME", "NSSTORE_CACHE_HOME")
        passed = [word for name in names for word in ("-e", f"{name}={env[name]}")]
        self.command = [npx, "--yes", INSPECTOR, "--cli", *passed, sys.executable, "-m", "nsstore", "mcp"]

    def __call__(self, method: str, *args: str) -> dict[str, Any]:
        """What it prints of one request."""
        command = [*self.command, "--method", method, *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def call(self, tool: str, **given: str) -> dict[str, Any]:
        """What it prints of one call."""
        words = [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]
        return self("tools/call", "--tool-name", tool, *words)


def test_the_inspector_takes_every_answer(tmp_path: Path) -> None:
    """It lists the tools, holds results against their schemas, and shows a refusal as one."""
    inspector = Inspector(tmp_path)
    assert len(inspector("tools/list")["tools"]) == 10
    kept = inspector.call("remember", text="The train leaves on Thursdays.")["structuredContent"]
    (hit,) = inspector.call("search", query="train")["structuredContent"]["memory"]
    assert hit["record_id"] == kept["record_id"]
    assert inspector.call("evidence", topic="train")["structuredContent"]["memory"]
    assert inspector.call("list")["structuredContent"]["total"] == 1
    assert inspector.call("get", record_id=kept["record_id"])["structuredContent"]["text"].endswith(
        "Thursdays."
    )
    refused = inspector.call("search", query="train", tenant_id="evil")
    assert refused["isError"] is True
    assert "bound by the host" in refused["content"][0]["text"]
