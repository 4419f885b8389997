"""A filter on system calls, for good: what the sandboxed process asks of the kernel that is not its own affair fails.

Files are Landlock's business. This is about processes, sockets, other namespaces, and the older corners of the kernel.
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys
from typing import NamedTuple

from autograder.grading.sandbox.syscalls import LIBC, NEW_NAMESPACE, PR_SET_DUMPABLE, PR_SET_PDEATHSIG, longs, succeed

# linux/sched.h, linux/prctl.h
CLONE_THREAD = 0x00010000
PR_SET_SECCOMP = 22
PR_SET_MM = 35
PR_SCHED_CORE = 62
PR_SET_PTRACER = 0x59616D61

# linux/seccomp.h
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_KILL_PROCESS = 0x80000000
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_DATA_NR = 0  # offsets in struct seccomp_data
SECCOMP_DATA_ARCH = 4
SECCOMP_DATA_ARGS = 16

# linux/bpf_common.h
LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

# linux/audit.h, asm/unistd.h
AUDIT_ARCH_X86_64 = 0xC000003E
AUDIT_ARCH_AARCH64 = 0xC00000B7
X32_SYSCALL_BIT = 0x40000000

# linux/fcntl.h, linux/net.h
F_SETOWN = 8
F_SETSIG = 10
F_SETOWN_EX = 15
F_SETLEASE = 1024
F_NOTIFY = 1026
SOCK_TYPE_MASK = 0xF

# asm/ioctls.h, linux/fs.h, linux/fsverity.h
TIOCSTI = 0x5412
TIOCLINUX = 0x541C
FIOSETOWN = 0x8901
SIOCSPGRP = 0x8902
FS_IOC_SETFLAGS = 0x40086602
FS_IOC_FSSETXATTR = 0x401C5820
FS_IOC_ENABLE_VERITY = 0x40806685

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
# Bringing all file systems to the disk would hold up everybody on the machine.
PRETENDED = "chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 sync:162:81 syncfs:306:267"

BY_ARGUMENTS = """
clone:56:220 clone3:435:435 kill:62:129 tkill:200:130 tgkill:234:131 rt_sigqueueinfo:129:138
rt_tgsigqueueinfo:297:240 prctl:157:167 prlimit64:302:261 setpriority:141:140 sched_setaffinity:203:122
sched_setscheduler:144:119 sched_setparam:142:118 sched_setattr:314:274 ioctl:16:29 fcntl:72:25 socketpair:53:199
sendto:44:206 utimensat:280:88
"""

NEWEST_KNOWN = 462  # mseal, Linux 6.10; a libc takes "no such call" for an answer and does without

ARCHITECTURES = {"x86_64": AUDIT_ARCH_X86_64, "aarch64": AUDIT_ARCH_AARCH64}
PRETEND_SUCCESS = SECCOMP_RET_ERRNO
REFUSE = SECCOMP_RET_ERRNO | errno.EPERM
NO_SUCH_CALL = SECCOMP_RET_ERRNO | errno.ENOSYS

# Dying with the parent, being no dump, filters, the memory layout's names, core scheduling, and who may debug.
PRCTL_REFUSED = (PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_MM, PR_SCHED_CORE, PR_SET_PTRACER)
# Signals on input or output go to whom these name, without kill(); leases hold up whoever opens the file.
FCNTL_REFUSED = (F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY)
# The first two type for others, the next two are F_SETOWN, the last three set a file's attributes.
IOCTL_REFUSED = (
    *(TIOCSTI, TIOCLINUX),
    *(FIOSETOWN, SIOCSPGRP),
    *(FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY),
)

OWN_PID = -1  # stands in a program for the number that is known at the fork only
_SOCK_FILTER = struct.Struct("=HBBI")  # struct sock_filter: code, jt, jf, k
_SOCK_FILTER_K = 4  # the offset of k


class Instruction(NamedTuple):
    """One step of a filter: what to do, an operand, and how many steps to skip where that is so and where it is not."""

    code: int
    operand: int
    if_true: int = 0
    if_false: int = 0


def install() -> None:
    """Put the filter on this process, which has one thread. It cannot be taken off.

    Raises:
        OSError: the kernel has no such filters, or the processor is none of `ARCHITECTURES`.
    """
    if _FILTER is None:
        raise OSError(errno.ENOSYS, "there is no filter for this system and processor")
    code, own_pid_offsets = _FILTER
    program = bytearray(code)
    for offset in own_pid_offsets:
        struct.pack_into("=I", program, offset, os.getpid())
    buffer = (ctypes.c_char * len(program)).from_buffer(program)
    sock_fprog = struct.pack("HxxxxxxQ", len(program) // _SOCK_FILTER.size, ctypes.addressof(buffer))
    succeed(LIBC.prctl(PR_SET_SECCOMP, *longs(SECCOMP_MODE_FILTER, sock_fprog, 0, 0)), "prctl")


def call_numbers(table: str, machine: str = "") -> dict[str, int]:
    """Return the system calls of a table that a machine has (default: this one), with their numbers there."""
    column = list(ARCHITECTURES).index(machine or platform.machine())
    rows = (entry.split(":") for entry in table.split())
    return {name: int(numbers[column]) for name, *numbers in rows if numbers[column] != "-"}


def _build() -> tuple[bytes, list[int]]:
    """Return the filter for this processor, and where in it the process's own id belongs."""
    code = [
        Instruction(LOAD, SECCOMP_DATA_ARCH),
        Instruction(EQUAL, ARCHITECTURES[platform.machine()], 1, 0),
        Instruction(RETURN, SECCOMP_RET_KILL_PROCESS),
        Instruction(LOAD, SECCOMP_DATA_NR),
        Instruction(AT_LEAST, X32_SYSCALL_BIT, 0, 1),  # the x32 way of calling on x86_64; on aarch64 there is nothing
        Instruction(RETURN, SECCOMP_RET_KILL_PROCESS),
        Instruction(AT_LEAST, NEWEST_KNOWN + 1, 0, 1),
        Instruction(RETURN, NO_SUCH_CALL),
    ]
    decisions = _decisions()
    for name, number in call_numbers(BY_ARGUMENTS).items():
        code += [Instruction(EQUAL, number, 0, len(decisions[name])), *decisions[name]]
    for table, answer in ((REFUSED, REFUSE), (PRETENDED, PRETEND_SUCCESS)):
        for number in call_numbers(table).values():
            code += [Instruction(EQUAL, number, 0, 1), Instruction(RETURN, answer)]
    code.append(Instruction(RETURN, SECCOMP_RET_ALLOW))
    program = b"".join(_SOCK_FILTER.pack(step.code, *step[2:], max(step.operand, 0)) for step in code)
    own_pid = [place for place, step in enumerate(code) if step.operand == OWN_PID]
    return program, [_SOCK_FILTER.size * place + _SOCK_FILTER_K for place in own_pid]


def _decisions() -> dict[str, list[Instruction]]:
    """What decides about each system call whose arguments matter; every way through one returns."""
    refuse, allow = Instruction(RETURN, REFUSE), Instruction(RETURN, SECCOMP_RET_ALLOW)
    signals_itself = _decide(0, (OWN_PID,), SECCOMP_RET_ALLOW, REFUSE)
    changes_itself = _decide(0, (0, OWN_PID), SECCOMP_RET_ALLOW, REFUSE)
    return {
        "clone": [
            _load_argument(0),
            Instruction(ANY_BIT, CLONE_THREAD, 1, 0),
            refuse,
            Instruction(ANY_BIT, NEW_NAMESPACE, 0, 1),
            refuse,
            allow,
        ],
        "clone3": [Instruction(RETURN, NO_SUCH_CALL)],  # its flags lie in memory; glibc then takes clone
        **dict.fromkeys(("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), signals_itself),
        **dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setscheduler"), changes_itself),
        **dict.fromkeys(("sched_setparam", "sched_setattr"), changes_itself),
        "setpriority": [*_only(0, os.PRIO_PROCESS), *_decide(1, (0, OWN_PID), SECCOMP_RET_ALLOW, REFUSE)],
        "prctl": _decide(0, PRCTL_REFUSED, REFUSE, SECCOMP_RET_ALLOW),
        "ioctl": _decide(1, IOCTL_REFUSED, REFUSE, SECCOMP_RET_ALLOW),
        "fcntl": _decide(1, FCNTL_REFUSED, REFUSE, SECCOMP_RET_ALLOW),
        # Connected kinds only: a datagram socket sends to any name.
        "socketpair": [
            *_only(0, socket.AF_UNIX),
            _load_argument(1),
            Instruction(AND, SOCK_TYPE_MASK),
            *_decide(1, (socket.SOCK_STREAM, socket.SOCK_SEQPACKET), SECCOMP_RET_ALLOW, REFUSE)[1:],
        ],
        # No address: both halves of the pointer are 0.
        "sendto": [*_only(4, 0), *_decide(4, (0,), SECCOMP_RET_ALLOW, REFUSE, high_half=True)],
        "utimensat": _decide(2, (0,), REFUSE, PRETEND_SUCCESS),  # without times it is `touch`
    }


def _only(index: int, value: int) -> list[Instruction]:
    """Refuse the call where the argument is not this one, and go on where it is."""
    return [_load_argument(index), Instruction(EQUAL, value, 1, 0), Instruction(RETURN, REFUSE)]


def _decide(
    index: int, values: tuple[int, ...], answer: int, otherwise: int, *, high_half: bool = False
) -> list[Instruction]:
    """Return `answer` where the argument is one of the values, `otherwise` where it is not."""
    tests = [Instruction(EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [
        _load_argument(index, high_half=high_half),
        *tests,
        Instruction(RETURN, otherwise),
        Instruction(RETURN, answer),
    ]


def _load_argument(index: int, *, high_half: bool = False) -> Instruction:
    return Instruction(LOAD, SECCOMP_DATA_ARGS + 8 * index + 4 * high_half)


_SUPPORTED = sys.platform == "linux" and platform.machine() in ARCHITECTURES and sys.maxsize > 2**32
_FILTER = _build() if _SUPPORTED else None
