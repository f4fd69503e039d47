"""Where the binary is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Optional

NAME = "millstream-broker"
VARIABLE = "MILLSTREAM_BROKER"


class BinaryNotFound(FileNotFoundError):
    """The binary is nowhere where it is looked for."""


def find_binary(binary: Optional[str] = None) -> str:
    """The binary's path: the one given, else what MILLSTREAM_BROKER names, else the one in PATH, else the one beside this package."""
    if binary:
        return _program(binary, "binary")
    named = os.environ.get(VARIABLE)
    if named:
        return _program(named, VARIABLE)
    found = shutil.which(NAME)
    if found:
        return found
    beside = Path(__file__).parent / NAME
    if os.access(beside, os.X_OK):
        return str(beside)
    raise BinaryNotFound(
        f"there is no {NAME}: set {VARIABLE} to its path, or put it into PATH "
        "(cargo install --locked --path testkit --no-default-features --features server,tls)"
    )


def _program(path: str, named_by: str) -> str:
    found = shutil.which(path)
    if not found:
        raise BinaryNotFound(f"{named_by} names {path}, which is no program")
    return found
