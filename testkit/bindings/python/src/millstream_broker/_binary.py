"""Where the binary is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

NAME = "millstream-broker"
VARIABLE = "MILLSTREAM_BROKER"


class BinaryNotFound(FileNotFoundError):
    """The binary is nowhere where it is looked for."""


def find_binary() -> str:
    """The binary's path: what MILLSTREAM_BROKER names, else the one in PATH, else the one beside this package."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK):
            raise BinaryNotFound(f"{VARIABLE} names {named}, which is no program")
        return named
    found = shutil.which(NAME)
    if found:
        return found
    beside = Path(__file__).parent / NAME
    if os.access(beside, os.X_OK):
        return str(beside)
    raise BinaryNotFound(
        f"there is no {NAME}: set {VARIABLE} to its path, or put it into PATH "
        "(cargo install --path testkit --no-default-features --features server,tls)"
    )
