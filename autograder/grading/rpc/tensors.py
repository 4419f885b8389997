"""Tensors that both sides of the bridge hold: known by one number, looked at before each message, sent as bytes."""

import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from ctypes import string_at

import torch
from torch import Tensor, nn

from autograder.grading.rpc import registry
from autograder.grading.rpc.channel import malformed
from autograder.grading.rpc.messages import TensorContent

SHADOWED = 65_536  # elements up to which a change behind autograd's back (`x.data`) is seen
ALIGNMENT = 16  # of each tensor's bytes in a message
Raw = bytes | memoryview


class _Shared:
    """A tensor as it was when both sides last agreed on it."""

    __slots__ = ("dtype", "place", "reference", "requires_grad", "shadow", "shape", "version", "watched")

    def __init__(self, reference: Callable[[], Tensor | None], tensor: Tensor, watched: bool, raw: Raw | None) -> None:
        self.reference, self.watched = reference, watched
        self.agree(tensor, raw)

    def agree(self, tensor: Tensor, raw: Raw | None = None) -> None:
        """Both sides hold the same from here on; `raw` is what stands in a contiguous tensor, where that is at hand."""
        self.version, self.place = _version(tensor), _place(tensor)
        self.dtype, self.shape, self.requires_grad = tensor.dtype, tensor.shape, tensor.requires_grad
        self.shadow: bytes | Tensor | None = None
        if not self.watched or not self.place or not 0 < tensor.numel() <= SHADOWED:
            return
        if not _is_plain(tensor):
            self.shadow = tensor.detach().clone()
        else:
            self.shadow = raw if type(raw) is bytes else _bytes_of(tensor)

    def is_changed(self, tensor: Tensor) -> bool:
        """The numbers, their type, their shape, where they are or what is trained differ from what both sides knew."""
        try:
            if tensor._version != self.version or tensor.data_ptr() != self.place:
                return True
        except RuntimeError:  # a tensor made in inference mode has no version, a sparse one no place
            if _version(tensor) != self.version or _place(tensor) != self.place:
                return True
        if tensor.shape != self.shape or tensor.dtype is not self.dtype:
            return True
        if tensor.requires_grad is not self.requires_grad and isinstance(tensor, nn.Parameter):
            return True
        if isinstance(self.shadow, bytes):
            return string_at(self.place, len(self.shadow)) != self.shadow
        return self.shadow is not None and not torch.equal(tensor, self.shadow)


def _bytes_of(tensor: Tensor) -> bytes:
    """What stands in a plain tensor, read from memory: PyTorch's own ways cost a lesson's grading five percent."""
    return string_at(tensor.data_ptr(), tensor.nbytes)


def _version(tensor: Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # a tensor made in inference mode has none
        return -1


def _place(tensor: Tensor) -> int:
    """Where a tensor's numbers are in memory; 0 where they are not in this process's."""
    return tensor.data_ptr() if tensor.is_cpu and tensor.layout is torch.strided else 0


def _is_plain(tensor: Tensor) -> bool:
    """The numbers stand in memory one after the other, as they are."""
    return tensor.is_contiguous() and not tensor.is_neg() and not tensor.is_conj()


class SharedTensors:
    """The tensors that are on both sides.

    Args:
        unused: takes the numbers of those that are gone, for the other side.
        keep: hold them until the other side has no use for them; else they may go.
    """

    def __init__(self, unused: list[int], *, keep: bool) -> None:
        self._unused, self._keep = unused, keep
        self._shared: dict[int, _Shared] = {}
        self._numbers: dict[int, int] = {}  # by the tensor's id
        self._waiting: list[Tensor | None] = []

    def clear(self) -> None:
        """Know none any more."""
        self._shared.clear()  # those that watch for a tensor's end, too, so that none has to be told of
        self._numbers.clear()

    def hold(self) -> bool:
        """Let none go while the other side can still speak of it; False when they are held already."""
        if self._waiting:
            return False
        self._waiting = [shared.reference() for shared in self._shared.values()] or [None]
        return True

    def release(self) -> None:
        """Let those go again that nobody else holds."""
        self._waiting = []

    def add(self, tensor: Tensor, number: int, raw: Raw | None = None) -> None:
        """From now on both sides know `tensor`, in which `raw` stands, as `number`."""
        if self._keep:
            self._shared[number] = _Shared(lambda: tensor, tensor, True, raw)
        else:  # checks write into no parameter behind autograd's back
            reference = weakref.ref(tensor, self._going(id(tensor), number))
            self._shared[number] = _Shared(reference, tensor, not isinstance(tensor, nn.Parameter), raw)
        if self._waiting:
            self._waiting.append(tensor)
        self._numbers[id(tensor)] = number

    def _going(self, key: int, number: int) -> Callable[[object], None]:
        """What to do when a tensor goes, which the other side may then let go of, too."""

        def gone(_: object) -> None:
            if self._numbers.get(key) == number:
                del self._numbers[key]
            if self._shared.pop(number, None) is not None:
                self._unused.append(number)

        return gone

    def drop(self, number: int) -> None:
        """The other side has no use for this tensor any more."""
        shared = self._shared.pop(number, None)
        tensor = shared.reference() if shared is not None else None
        if tensor is not None and self._numbers.get(id(tensor)) == number:
            del self._numbers[id(tensor)]

    def number(self, tensor: Tensor) -> int | None:
        """How both sides know this tensor; None when only this one does."""
        number = self._numbers.get(id(tensor))
        return number if number is not None and self.find(number) is tensor else None

    def find(self, number: object) -> Tensor | None:
        """The tensor that both sides know as `number`; None when there is none."""
        shared = self._shared.get(number) if type(number) is int else None
        return shared.reference() if shared is not None else None

    def get(self, number: object) -> Tensor:
        """The tensor that both sides know as `number`.

        Raises:
            Lost: there is none.
        """
        tensor = self.find(number)
        if tensor is None:
            raise malformed("an unknown tensor")
        return tensor

    def agree(self, number: int, tensor: Tensor, raw: Raw | None = None) -> None:
        """Both sides hold the same numbers from here on."""
        self._shared[number].agree(tensor, raw)

    def changed(self) -> Iterator[tuple[int, Tensor]]:
        """Each that is not as both sides knew it, by its number."""
        for number, shared in list(self._shared.items()):
            tensor = shared.reference()
            if tensor is not None and shared.is_changed(tensor):
                yield number, tensor


def describe(number: int, tensor: Tensor, *, strides: bool) -> tuple[TensorContent, Raw] | None:
    """A tensor as `number`, and its bytes; None for a kind that stays here.

    Args:
        strides: say where the numbers stand in memory, too, which matters to `view`.
    """
    is_parameter, shape = isinstance(tensor, nn.Parameter), list(tensor.shape)
    is_usual = type(tensor) in (Tensor, nn.Parameter) and tensor.dtype in registry.DTYPE_NAMES
    if is_usual and tensor.numel() <= SHADOWED and _place(tensor) and _is_plain(tensor):
        dtype = registry.DTYPE_NAMES[tensor.dtype]
        return TensorContent(number, dtype, shape, None, tensor.requires_grad, is_parameter, False), _bytes_of(tensor)
    plain = tensor.detach()
    if type(plain) is not Tensor:
        plain = plain.as_subclass(Tensor)
    if plain.layout != torch.strided:
        plain = plain.to_dense()
    if plain.dtype not in registry.DTYPE_NAMES or plain.device.type not in ("cpu", "meta"):
        return None
    dtype, is_meta = registry.DTYPE_NAMES[plain.dtype], plain.device.type == "meta"
    content = TensorContent(number, dtype, shape, None, tensor.requires_grad, is_parameter, is_meta)
    if is_meta or not plain.numel():
        return content, b""
    plain = plain.resolve_conj().resolve_neg()
    if not plain.is_contiguous():
        span = _span(plain.shape, plain.stride())
        if strides and span <= 2 * plain.numel():
            content.strides = list(plain.stride())
            plain = plain.as_strided((span,), (1,), plain.storage_offset())
        else:
            plain = plain.contiguous()
    if content.strides is None:  # reshape would keep a strange stride of a dimension of size 1
        plain = plain.as_strided((plain.numel(),), (1,), plain.storage_offset())
    return content, plain.view(torch.uint8).numpy().data


def _span(shape: Sequence[int], strides: Sequence[int]) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def have_same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are alike to the last bit, be they not a number."""
    if (one.shape, one.dtype, one.device) != (other.shape, other.dtype, other.device):
        return False
    one, other = (tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in (one, other))
    return torch.equal(one, other)


class Blob:
    """The bytes of a message, from which its tensors are taken one after the other.

    Args:
        strides: whether they may come with strides.
    """

    def __init__(self, data: bytearray, *, strides: bool) -> None:
        self._data, self._view, self._strides, self._offset = data, memoryview(data), strides, 0

    def take(self, content: TensorContent) -> tuple[Tensor, bytes | None]:
        """A tensor that has been described, and its bytes where it is small.

        Raises:
            Lost: there is no such tensor.
        """
        dtype, shape, strides = registry.DTYPES.get(content.dtype), content.shape, content.strides
        if dtype is None:
            raise malformed("no tensor")
        count = math.prod(shape)
        if content.is_meta or not count:
            return torch.empty(shape, dtype=dtype, device="meta" if content.is_meta else None), None
        if strides is not None:
            if not self._strides:
                raise malformed("strides")
            count = _span(shape, strides)
        begin, size = self._offset, count * dtype.itemsize
        if begin + size > len(self._data):
            raise malformed("too few bytes")
        self._offset += size + -size % ALIGNMENT
        flat = torch.frombuffer(self._data, dtype=dtype, count=count, offset=begin)
        if dtype is torch.bool:
            flat = flat.view(torch.uint8) != 0
        if strides is not None:
            return flat.as_strided(shape, strides), None
        raw = bytes(self._view[begin : begin + size]) if count <= SHADOWED and dtype is not torch.bool else None
        return flat.view(shape) if len(shape) != 1 else flat, raw
