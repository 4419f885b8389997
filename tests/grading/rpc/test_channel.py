"""What is no frame ends the connection, whatever it is."""

import os
import socket
import struct

import pytest

from autograder.grading.rpc.channel import MOST_HEADER, Channel, Lost
from autograder.grading.rpc.messages import Message

DEEP = b'{"operation":"ok","number":1,"grad_enabled":true,"value":' + b'["s","list",[' * 10**5


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n" * 9,
        b"\0" * 64,
        struct.pack(">4sII", b"judg", 2**31, 0),
        struct.pack(">4sII", b"judg", 4, 2**31) + b"null",
        struct.pack(">4sII", b"judg", 8, 0) + b"nonsense",
        struct.pack(">4sII", b"judg", MOST_HEADER // 2, 0) + b"[" * (MOST_HEADER // 2),
        struct.pack(">4sII", b"judg", MOST_HEADER // 2, 0) + DEEP.ljust(MOST_HEADER // 2, b"["),
        struct.pack(">4sII", b"judg", 100, 0) + b"half",
    ],
    ids=["http", "zeros", "giant header", "giant blob", "no JSON", "deep", "deep value", "half"],
)
def test_what_is_no_frame_ends_the_connection(raw: bytes) -> None:
    """Without waiting for more than a frame may hold."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        try:
            theirs.sendall(raw)
        finally:
            os._exit(0)
    theirs.close()
    with ours, pytest.raises(Lost):
        Channel(ours).receive(Message)
    os.waitpid(child, 0)
