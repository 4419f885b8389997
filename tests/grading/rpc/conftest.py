"""Another process, and the way to it."""

import os
import socket
from collections.abc import Iterator

import pytest
from support.far_side import THERE

from autograder.grading.rpc.channel import Channel
from autograder.grading.rpc.peer import Peer


@pytest.fixture
def there() -> Iterator[dict[str, object]]:
    """The names of another process, as mirrors."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            ours.close()
            far = Peer(Channel(theirs), judge=False)
            far.operations["names"] = lambda *names: tuple(THERE[name] for name in names)
            far.operations["held"] = lambda: (len(far.state.owned), len(far.state.modules))
            while True:
                far.answer_next()
        finally:
            os._exit(0)
    theirs.close()
    peer = Peer(Channel(ours), judge=True)
    yield {"peer": peer, **dict(zip(THERE, peer.request("names", *THERE), strict=True))}
    peer.channel.close()
    os.waitpid(child, 0)
