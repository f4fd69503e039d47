"""Reads frames by kio, which is nobody's of ours, and writes them again.

Each line of the input: an API key, a version, `request` or `response`, and a frame without its size in hex, with tabs between.
Prints a line for each frame that cannot be read or is written differently; if there is none, `ok` with the number of frames that were
read, and the APIs and versions that kio does not have.
"""

import io
import sys

from kio.index import UnknownEntity, load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer


def again(api: int, version: int, direction: str, frame: bytes) -> bytes:
    schema = load_request_schema(api, version) if direction == "request" else load_response_schema(api, version)
    out, at = io.BytesIO(), 0
    for part in (schema.__header_schema__, schema):
        message, size = entity_reader(part)(frame, at)
        at += size
        entity_writer(part)(out, message)
    if at != len(frame):
        raise ValueError(f"{len(frame) - at} bytes are left")
    return out.getvalue()


read, wrong, unknown = 0, 0, set()
for line in sys.stdin:
    api, version, direction, text = line.rstrip("\n").split("\t")
    frame = bytes.fromhex(text)
    try:
        written = again(int(api), int(version), direction, frame)
        problem = None if written == frame else f"is written as {written.hex()}"
        read += 1
    except UnknownEntity:
        unknown.add(f"{api} v{version}")
        continue
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        wrong += 1
        print(f"API {api} v{version} {direction} {text}: {problem}")
if not wrong:
    print(f"ok {read}, without", ", ".join(sorted(unknown)))
sys.exit(1 if wrong else 0)
