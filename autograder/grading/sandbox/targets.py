"""What there is to reach from a sandbox that does not hold: files, sockets, and the process that made them."""

import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Targets:
    """What there is to reach: files beside the folder, sockets that listen, and the process that forked this one."""

    place: Path
    parent: int
    tcp_port: int
    udp_port: int
    address: int  # of eight bytes in the parent's memory

    @property
    def secret(self) -> Path:
        """A file that everybody on the system may read, and that is nobody's business in the sandbox."""
        return self.place / "another" / "secret.txt"

    @property
    def library(self) -> Path:
        """A file that may be read in the sandbox."""
        return self.place / "library.py"

    @property
    def listening(self) -> dict[str, str]:
        """The names of two Unix sockets, one of them outside the file system."""
        abstract = {"abstract": f"\0autograder-{self.parent}"} if sys.platform == "linux" else {}
        return {"named": str(self.place / "socket"), **abstract}


@contextmanager
def make_targets(place: Path) -> Iterator[Targets]:
    """Set up everything that the attempts try to reach."""
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        word = ctypes.create_string_buffer(b"memory", 8)
        targets = Targets(place, os.getpid(), tcp.getsockname()[1], udp.getsockname()[1], ctypes.addressof(word))
        for name in targets.listening.values():
            listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            listener.bind(name)
        targets.secret.parent.mkdir()
        targets.secret.write_text("secret")
        targets.library.write_text("import this")
        yield targets
