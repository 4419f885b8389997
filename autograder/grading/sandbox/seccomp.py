"""A filter on system calls, for good: what the sandboxed process asks of the kernel that is not its own affair fails.

Files are Landlock's business. This is about processes, sockets, other namespaces, and the older corners of the kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

from autograder.grading.sandbox.syscalls import LIBC, longs, succeed

# Each system call with its number on x86_64 and on aarch64.
REFUSED = """
socket:41:198 connect:42:203 bind:49:200 listen:50:201 accept:43:202 accept4:288:242

fork:57:- vfork:58:- execve:59:221 execveat:322:281

ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 kcmp:312:272 pidfd_open:434:434
pidfd_getfd:438:438 pidfd_send_signal:424:424 process_madvise:440:440 process_mrelease:448:448 move_pages:279:239
migrate_pages:256:238 ioprio_set:251:30 perf_event_open:298:241

memfd_create:319:279 memfd_secret:447:447 shmget:29:194 shmat:30:196 shmctl:31:195 shmdt:67:197 msgget:68:186
msgsnd:69:189 msgrcv:70:188 msgctl:71:187 semget:64:190 semop:65:193 semctl:66:191 semtimedop:220:192
mq_open:240:180 mq_unlink:241:181 mq_notify:244:184 add_key:248:217 request_key:249:218 keyctl:250:219
io_setup:206:0

io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 bpf:321:280 seccomp:317:277
userfaultfd:323:282 personality:135:92 modify_ldt:154:- uselib:134:-

mount:165:40 umount2:166:39 move_mount:429:429 open_tree:428:428 fsopen:430:430 fsconfig:431:431 fsmount:432:432
fspick:433:433 mount_setattr:442:442 pivot_root:155:41 chroot:161:51 unshare:272:97 setns:308:268 swapon:167:224
swapoff:168:225 quotactl:179:60 quotactl_fd:443:443 acct:163:89 name_to_handle_at:303:264 open_by_handle_at:304:265
fanotify_init:300:262 fanotify_mark:301:263 inotify_init:253:- inotify_init1:294:26 inotify_add_watch:254:27

reboot:169:142 kexec_load:246:104 kexec_file_load:320:294 init_module:175:105 finit_module:313:273
delete_module:176:106 settimeofday:164:170 clock_settime:227:112 adjtimex:159:171 clock_adjtime:305:266 ioperm:173:-
iopl:172:- syslog:103:116 sethostname:170:161 setdomainname:171:162 vhangup:153:58 lookup_dcookie:212:18
nfsservctl:180:42

setuid:105:146 setgid:106:144 setreuid:113:145 setregid:114:143 setresuid:117:147 setresgid:119:149 setfsuid:122:151
setfsgid:123:152 setgroups:116:159

utime:132:- utimes:235:- futimesat:261:-
chown:92:- lchown:94:- fchown:93:55 fchownat:260:54 setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7
removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16 truncate:76:45
"""

# Modes and times are Landlock's blind spot, and links such as /proc/self/exe lead out of read-only mounts. So changing
# them does nothing, but reports success, for `shutil.copy`. `Path.touch` must fail to, or it would make no file.
PRETENDED = "chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452"

WEIGHED = """
clone:56:220 clone3:435:435 kill:62:129 tkill:200:130 tgkill:234:131 rt_sigqueueinfo:129:138
rt_tgsigqueueinfo:297:240 prctl:157:167 prlimit64:302:261 setpriority:141:140 sched_setaffinity:203:122
sched_setscheduler:144:119 sched_setparam:142:118 sched_setattr:314:274 ioctl:16:29 fcntl:72:25 socketpair:53:199
sendto:44:206 utimensat:280:88
"""

NEWEST_KNOWN = 462  # mseal, Linux 6.10; a libc takes "no such call" for an answer and does without

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, PRETEND = 0x7FFF0000, 0x80000000, 0x00050000
REFUSE, NO_SUCH_CALL = PRETEND | errno.EPERM, PRETEND | errno.ENOSYS
LOAD, AND, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
SET_FILTER = 22
OWN_PID = -1  # stands for the number that is known at the fork only

CLONE_THREAD, CLONE_NEW_NAMESPACE = 0x00010000, 0x7E020000
AF_UNIX, SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE_MASK = 1, 1, 5, 0xF
# Dying with the parent, being no dump, filters, the memory layout's names, core scheduling, and who may debug.
PRCTL_REFUSED = (1, 4, 22, 35, 62, 0x59616D61)
# Signals on input or output go to whom these name, without kill(); leases hold up whoever opens the file.
FCNTL_REFUSED = (8, 10, 15, 1024, 1026)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
# TIOCSTI and TIOCLINUX type for others; FIOSETOWN and SIOCSPGRP are F_SETOWN; the last three set a file's attributes.
IOCTL_REFUSED = (0x5412, 0x541C, 0x8901, 0x8902, 0x40086602, 0x401C5820, 0x40806685)

Instruction = tuple[int, int, int, int]


def install() -> None:
    """Put the filter on this process, which has one thread. It cannot be taken off.

    Raises:
        OSError: the kernel has no such filters, or the processor is none of `ARCHITECTURES`.
    """
    if not _PROGRAM:
        raise OSError(errno.ENOSYS, "there is no filter for this system and processor")
    template, places = _PROGRAM
    program = bytearray(template)
    for place in places:
        struct.pack_into("=I", program, place, os.getpid())
    code = (ctypes.c_char * len(program)).from_buffer(program)
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    succeed(LIBC.prctl(SET_FILTER, *longs(2, header, 0, 0)), "prctl")


def numbers(table: str, machine: str = "") -> dict[str, int]:
    """Return the system calls of a table that a machine has (default: this one), with their numbers there."""
    column = list(ARCHITECTURES).index(machine or platform.machine())
    rows = (entry.split(":") for entry in table.split())
    return {name: int(own[column]) for name, *own in rows if own[column] != "-"}


def _program() -> tuple[bytes, tuple[int, ...]]:
    """Return the filter, and where in it the process's own id belongs."""
    code: list[Instruction] = [
        (LOAD, 0, 0, 4),
        (IF_EQUAL, 1, 0, ARCHITECTURES[platform.machine()]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, 0),
        (IF_AT_LEAST, 0, 1, 0x40000000),  # the x32 way of calling on x86_64; on aarch64 there is nothing
        (RETURN, 0, 0, KILL),
        (IF_AT_LEAST, 0, 1, NEWEST_KNOWN + 1),
        (RETURN, 0, 0, NO_SUCH_CALL),
    ]
    bodies = _bodies()
    for name, number in numbers(WEIGHED).items():
        code += [(IF_EQUAL, 0, len(bodies[name]), number), *bodies[name]]
    for table, answer in ((REFUSED, REFUSE), (PRETENDED, PRETEND)):
        for number in numbers(table).values():
            code += [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    code.append((RETURN, 0, 0, ALLOW))
    packed = b"".join(struct.pack("=HBBI", op, yes, no, max(value, 0)) for op, yes, no, value in code)
    return packed, tuple(8 * place + 4 for place, each in enumerate(code) if each[3] == OWN_PID)


def _bodies() -> dict[str, list[Instruction]]:
    """What decides about each system call whose arguments matter; every way through one returns."""
    refuse, allow = (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)
    to_itself = _when(0, (OWN_PID,), ALLOW, REFUSE)
    of_itself = _when(0, (0, OWN_PID), ALLOW, REFUSE)
    return {
        "clone": [
            _argument(0),
            (IF_ANY_BIT, 1, 0, CLONE_THREAD),
            refuse,
            (IF_ANY_BIT, 0, 1, CLONE_NEW_NAMESPACE),
            refuse,
            allow,
        ],
        "clone3": [(RETURN, 0, 0, NO_SUCH_CALL)],  # its flags lie in memory; glibc then takes clone
        **dict.fromkeys(("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), to_itself),
        **dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setscheduler"), of_itself),
        **dict.fromkeys(("sched_setparam", "sched_setattr"), of_itself),
        "setpriority": [_argument(0), (IF_EQUAL, 1, 0, 0), refuse, *_when(1, (0, OWN_PID), ALLOW, REFUSE)],
        "prctl": _when(0, PRCTL_REFUSED, REFUSE, ALLOW),
        "ioctl": _when(1, IOCTL_REFUSED, REFUSE, ALLOW),
        "fcntl": _when(1, FCNTL_REFUSED, REFUSE, ALLOW),
        # Connected kinds only: a datagram socket sends to any name.
        "socketpair": [
            _argument(0),
            (IF_EQUAL, 1, 0, AF_UNIX),
            refuse,
            _argument(1),
            (AND, 0, 0, SOCK_TYPE_MASK),
            *_when(1, (SOCK_STREAM, SOCK_SEQPACKET), ALLOW, REFUSE)[1:],
        ],
        "sendto": [_argument(4), (IF_EQUAL, 1, 0, 0), refuse, *_when(4, (0,), ALLOW, REFUSE, high_half=True)],
        "utimensat": _when(2, (0,), REFUSE, PRETEND),
    }


def _argument(index: int, *, high_half: bool = False) -> Instruction:
    return LOAD, 0, 0, 16 + 8 * index + 4 * high_half


def _when(
    index: int, values: tuple[int, ...], then: int, otherwise: int, *, high_half: bool = False
) -> list[Instruction]:
    """Return `then` where the argument is one of the values, `otherwise` where it is not."""
    tests = [(IF_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_argument(index, high_half=high_half), *tests, (RETURN, 0, 0, otherwise), (RETURN, 0, 0, then)]


_PROGRAM = None
if sys.platform == "linux" and platform.machine() in ARCHITECTURES and sys.maxsize > 2**32:
    _PROGRAM = _program()
