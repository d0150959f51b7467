//! The seccomp filter of a job: which calls are refused, and which ones the supervisor is asked about.
//!
//! Calls are found in a binary tree by number. The kernel runs a new filter once for every number it
//! knows, so the length of the way to an answer is paid at every start.

use std::collections::BTreeMap;

use crate::plan::{Network, Plan, Rung, Tell};
use crate::sys::calls::{self, old};

/// One instruction, as the kernel has it (`struct sock_filter`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    value: u32,
}

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const ERRNO: u32 = 0x0005_0000;

/// Where the number of a call, its processor and its arguments are, in what a filter sees.
const AT_NUMBER: u32 = 0;
const AT_ARCHITECTURE: u32 = 4;
const AT_ARGUMENTS: u32 = 16;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// The supervisor is asked.
    Notify,
    /// It fails.
    Fail(i32),
}

impl Action {
    fn code(self) -> u32 {
        match self {
            Self::Notify => NOTIFY,
            Self::Fail(errno) => ERRNO | (errno.unsigned_abs() & 0xffff),
        }
    }
}

/// When a rule applies. Arguments are counted from 0, and 32 bits of them are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Always,
    /// The argument has one of these bits.
    AnyBit(u32, u32),
    /// The argument is this.
    Is(u32, u32),
    /// The argument is none of these.
    NoneOf(u32, Vec<u32>),
    /// Neither argument is 0, whole as they are.
    BothSet(u32, u32),
    /// One argument is this, and another, by this mask, is not that.
    IsAndNot {
        first: (u32, u32),
        second: (u32, u32, u32),
    },
    /// One argument is this, and another, by this mask, is that.
    IsAndIs {
        first: (u32, u32),
        second: (u32, u32, u32),
    },
    /// The argument is not this, all 64 bits of it.
    NotPointer(u32, u64),
}

fn statement(code: u16, value: u32) -> Instruction {
    Instruction { code, if_true: 0, if_false: 0, value }
}

fn branch(code: u16, value: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, value }
}

/// Where the low half of an argument is; both processors we know are little-endian.
fn low(argument: u32) -> u32 {
    AT_ARGUMENTS + 8 * argument
}

impl Test {
    /// Ends with `action` if the test holds; otherwise falls through behind its last instruction.
    fn assemble(&self, action: Action) -> Vec<Instruction> {
        let end = statement(RETURN, action.code());
        match self {
            Self::Always => vec![end],
            Self::AnyBit(argument, mask) => {
                vec![statement(LOAD, low(*argument)), branch(JUMP_IF_ANY_BIT, *mask, 0, 1), end]
            }
            Self::Is(argument, value) => {
                vec![statement(LOAD, low(*argument)), branch(JUMP_IF_EQUAL, *value, 0, 1), end]
            }
            Self::NoneOf(argument, values) => {
                let mut code = vec![statement(LOAD, low(*argument))];
                for (index, value) in values.iter().enumerate() {
                    let left = u8::try_from(values.len() - index).unwrap_or(u8::MAX);
                    code.push(branch(JUMP_IF_EQUAL, *value, left, 0));
                }
                code.push(end);
                code
            }
            Self::BothSet(first, second) => {
                // Each is set if its low or its high half is; otherwise the whole test is left.
                vec![
                    statement(LOAD, low(*first)),
                    branch(JUMP_IF_EQUAL, 0, 0, 2),
                    statement(LOAD, low(*first) + 4),
                    branch(JUMP_IF_EQUAL, 0, 5, 0),
                    statement(LOAD, low(*second)),
                    branch(JUMP_IF_EQUAL, 0, 0, 2),
                    statement(LOAD, low(*second) + 4),
                    branch(JUMP_IF_EQUAL, 0, 1, 0),
                    end,
                ]
            }
            Self::IsAndNot { first: (argument, value), second: (other, mask, not) } => vec![
                statement(LOAD, low(*argument)),
                branch(JUMP_IF_EQUAL, *value, 0, 4),
                statement(LOAD, low(*other)),
                statement(AND, *mask),
                branch(JUMP_IF_EQUAL, *not, 1, 0),
                end,
            ],
            Self::IsAndIs { first: (argument, value), second: (other, mask, is) } => vec![
                statement(LOAD, low(*argument)),
                branch(JUMP_IF_EQUAL, *value, 0, 4),
                statement(LOAD, low(*other)),
                statement(AND, *mask),
                branch(JUMP_IF_EQUAL, *is, 0, 1),
                end,
            ],
            Self::NotPointer(argument, pointer) => vec![
                statement(LOAD, low(*argument)),
                branch(JUMP_IF_EQUAL, halves(*pointer).0, 0, 2),
                statement(LOAD, low(*argument) + 4),
                branch(JUMP_IF_EQUAL, halves(*pointer).1, 1, 0),
                end,
            ],
        }
    }
}

/// The low and the high half.
fn halves(value: u64) -> (u32, u32) {
    let part = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0);
    (part(value), part(value >> 32))
}

/// The rules, by the number of the call. For one call the first rule that applies decides.
#[derive(Default)]
struct Rules(BTreeMap<u32, Vec<(Test, Action)>>);

impl Rules {
    fn add(&mut self, number: i64, test: Test, action: Action) {
        // A call that this processor does not have.
        if let Ok(number) = u32::try_from(number) {
            self.0.entry(number).or_default().push((test, action));
        }
    }

    fn all(&mut self, numbers: &[i64], action: Action) {
        for number in numbers {
            self.add(*number, Test::Always, action);
        }
    }

    fn assemble(self) -> Vec<Instruction> {
        let mut code = vec![
            statement(LOAD, AT_ARCHITECTURE),
            branch(JUMP_IF_EQUAL, calls::ARCHITECTURE, 1, 0),
            statement(RETURN, Action::Fail(libc::ENOSYS).code()),
            statement(LOAD, AT_NUMBER),
            branch(JUMP_IF_AT_LEAST, calls::FOREIGN_NUMBERS, 0, 1),
            statement(RETURN, Action::Fail(libc::ENOSYS).code()),
        ];
        let leaves: Vec<(u32, Vec<Instruction>)> = self
            .0
            .into_iter()
            .map(|(number, rules)| {
                let mut body: Vec<Instruction> =
                    rules.iter().flat_map(|(test, action)| test.assemble(*action)).collect();
                if !matches!(rules.last(), Some((Test::Always, _))) {
                    body.push(statement(RETURN, ALLOW));
                }
                (number, body)
            })
            .collect();
        code.extend(tree(&leaves));
        code
    }
}

/// A binary search for the number that is loaded.
fn tree(leaves: &[(u32, Vec<Instruction>)]) -> Vec<Instruction> {
    let mut code = Vec::new();
    if leaves.len() <= 2 {
        for (number, body) in leaves {
            code.push(branch(JUMP_IF_EQUAL, *number, 0, u8::try_from(body.len()).unwrap_or(0)));
            code.extend_from_slice(body);
        }
        code.push(statement(RETURN, ALLOW));
        return code;
    }
    let (left, right) = leaves.split_at(leaves.len() / 2);
    let border = right.first().map_or(0, |(number, _)| *number);
    let (left, right) = (tree(left), tree(right));
    if let Ok(length) = u8::try_from(left.len()) {
        code.push(branch(JUMP_IF_AT_LEAST, border, length, 0));
    } else {
        // Too far for a conditional jump.
        code.push(branch(JUMP_IF_AT_LEAST, border, 0, 1));
        code.push(statement(JUMP, u32::try_from(left.len()).unwrap_or(0)));
    }
    code.extend(left);
    code.extend(right);
    code
}

/// `open` flags with which something may be written.
pub(crate) const WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC).cast_unsigned();

const NEW_NAMESPACES: u32 = 0x7E02_0000;
/// For `unshare` alone; `clone` has signal numbers where this bit is.
const NEW_TIME_NAMESPACE: u32 = 0x80;
const UNIX: u32 = libc::AF_UNIX.cast_unsigned();
const INET: u32 = libc::AF_INET.cast_unsigned();
const INET6: u32 = libc::AF_INET6.cast_unsigned();
const NETLINK: u32 = libc::AF_NETLINK.cast_unsigned();
const TYPE_MASK: u32 = 0xf;
const ANY_BIT_OF_ALL: u32 = u32::MAX;
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541C;
const FS_IOC_SETFLAGS: u32 = 0x4008_6602;
const FS_IOC_FSSETXATTR: u32 = 0x401c_5820;

/// The filter for a plan. `program` is where the path of the command lies in memory: the call with
/// exactly that pointer is the one that starts the job, while nobody is there yet to answer for it.
pub(crate) fn build(plan: &Plan, tell: Tell, rung: Rung, program: u64) -> Vec<Instruction> {
    let mut rules = Rules::default();
    refuse(&mut rules);
    refuse_sockets(&mut rules, plan, rung);
    if rung != Rung::Namespaces {
        // Where other processes of the user can be seen, they must not be slowed or bounded.
        rules.add(calls::SYS_setpriority, Test::BothSet(1, 1), Action::Fail(libc::EPERM));
        rules.add(calls::SYS_prlimit64, Test::BothSet(0, 2), Action::Fail(libc::EPERM));
        rules.add(calls::SYS_ioprio_set, Test::BothSet(1, 1), Action::Fail(libc::EPERM));
    }
    if rung == Rung::Landlock {
        // Nothing tells a segment or a queue of the job from one of the user's.
        let shared = [
            calls::SYS_shmget,
            calls::SYS_shmat,
            calls::SYS_shmctl,
            calls::SYS_semget,
            calls::SYS_semop,
            calls::SYS_msgget,
            calls::SYS_msgsnd,
            calls::SYS_msgrcv,
            calls::SYS_mq_open,
            calls::SYS_mq_unlink,
        ];
        rules.all(&shared, Action::Fail(libc::EACCES));
    }
    ask_about_files(&mut rules, tell);
    rules.all(&[calls::SYS_connect, calls::SYS_bind], Action::Notify);
    rules.add(calls::SYS_sendto, Test::BothSet(4, 4), Action::Notify);
    if plan.execute.is_some() {
        rules.add(calls::SYS_execve, Test::NotPointer(0, program), Action::Notify);
        rules.add(calls::SYS_execveat, Test::Always, Action::Notify);
    }
    rules.assemble()
}

/// What no command needs, and what would lead out.
fn refuse(rules: &mut Rules) {
    // As if this kernel did not have them: programs then do without.
    let absent = [
        calls::SYS_io_uring_setup,
        calls::SYS_io_uring_enter,
        calls::SYS_io_uring_register,
        // Its flags are in memory, where no filter sees them.
        calls::SYS_clone3,
        calls::SYS_FILE_SETATTR,
    ];
    rules.all(&absent, Action::Fail(libc::ENOSYS));
    let forbidden = [
        calls::SYS_keyctl,
        calls::SYS_add_key,
        calls::SYS_request_key,
        calls::SYS_bpf,
        calls::SYS_perf_event_open,
        calls::SYS_userfaultfd,
        calls::SYS_mount,
        calls::SYS_umount2,
        calls::SYS_pivot_root,
        calls::SYS_setns,
        calls::SYS_open_by_handle_at,
        calls::SYS_kexec_load,
        calls::SYS_kexec_file_load,
        calls::SYS_init_module,
        calls::SYS_finit_module,
        calls::SYS_delete_module,
        calls::SYS_reboot,
        calls::SYS_swapon,
        calls::SYS_swapoff,
        calls::SYS_acct,
        calls::SYS_quotactl,
        calls::SYS_open_tree,
        calls::SYS_OPEN_TREE_ATTR,
        calls::SYS_move_mount,
        calls::SYS_fsopen,
        calls::SYS_fsconfig,
        calls::SYS_fsmount,
        calls::SYS_fspick,
        calls::SYS_mount_setattr,
        calls::SYS_fanotify_init,
        old::IOPL,
        old::IOPERM,
        calls::SYS_settimeofday,
        calls::SYS_clock_settime,
        calls::SYS_syslog,
    ];
    rules.all(&forbidden, Action::Fail(libc::EPERM));
    let eperm = Action::Fail(libc::EPERM);
    rules.add(calls::SYS_clone, Test::AnyBit(0, NEW_NAMESPACES), eperm);
    rules.add(calls::SYS_unshare, Test::AnyBit(0, NEW_NAMESPACES | NEW_TIME_NAMESPACE), eperm);
    for request in [TIOCSTI, TIOCLINUX, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR] {
        rules.add(calls::SYS_ioctl, Test::Is(1, request), eperm);
    }
}

/// Sockets that would go past the proxy or past the notification of `connect`.
fn refuse_sockets(rules: &mut Rules, plan: &Plan, rung: Rung) {
    let fast_open = libc::MSG_FASTOPEN.cast_unsigned();
    let unsupported = Action::Fail(libc::EOPNOTSUPP);
    for (number, flags) in
        [(calls::SYS_sendto, 3), (calls::SYS_sendmsg, 2), (calls::SYS_sendmmsg, 3)]
    {
        rules.add(number, Test::AnyBit(flags, fast_open), unsupported);
    }
    let refused = Action::Fail(libc::EACCES);
    let families = vec![UNIX, INET, INET6, NETLINK];
    rules.add(calls::SYS_socket, Test::NoneOf(0, families), Action::Fail(libc::EAFNOSUPPORT));
    // A datagram names its receiver with every message: nobody would be asked.
    let datagram = (1, TYPE_MASK, libc::SOCK_DGRAM.cast_unsigned());
    for number in [calls::SYS_socket, calls::SYS_socketpair] {
        rules.add(number, Test::IsAndIs { first: (0, UNIX), second: datagram }, refused);
    }
    // Of the kernel's own sockets only the one that lists interfaces and routes.
    let route = (2, ANY_BIT_OF_ALL, libc::NETLINK_ROUTE.cast_unsigned());
    rules.add(calls::SYS_socket, Test::IsAndNot { first: (0, NETLINK), second: route }, refused);
    if rung == Rung::Landlock && plan.network != Network::On {
        // Landlock knows TCP alone, and by its plain protocol numbers.
        let stream = (1, TYPE_MASK, libc::SOCK_STREAM.cast_unsigned());
        for family in [INET, INET6] {
            rules.add(
                calls::SYS_socket,
                Test::IsAndNot { first: (0, family), second: stream },
                refused,
            );
            // Protocol 0 and 6 are TCP; no other number has only these bits.
            let protocol = (2, !libc::IPPROTO_TCP.cast_unsigned(), 0);
            rules.add(
                calls::SYS_socket,
                Test::IsAndNot { first: (0, family), second: protocol },
                refused,
            );
        }
    }
}

/// Whatever may change a file, and with [`Tell::Everything`] whatever opens one.
fn ask_about_files(rules: &mut Rules, tell: Tell) {
    match tell {
        Tell::Writes => {
            rules.add(calls::SYS_openat, Test::AnyBit(2, WRITING), Action::Notify);
            rules.add(old::OPEN, Test::AnyBit(1, WRITING), Action::Notify);
        }
        Tell::Everything => rules.all(&[calls::SYS_openat, old::OPEN], Action::Notify),
    }
    let writing = [
        // Its flags are in memory.
        calls::SYS_openat2,
        old::CREAT,
        old::UNLINK,
        calls::SYS_unlinkat,
        old::RMDIR,
        old::MKDIR,
        calls::SYS_mkdirat,
        old::RENAME,
        calls::SYS_renameat,
        calls::SYS_renameat2,
        old::LINK,
        calls::SYS_linkat,
        old::SYMLINK,
        calls::SYS_symlinkat,
        old::MKNOD,
        calls::SYS_mknodat,
        calls::SYS_truncate,
        old::CHMOD,
        calls::SYS_fchmod,
        calls::SYS_fchmodat,
        calls::SYS_FCHMODAT2,
        old::CHOWN,
        old::LCHOWN,
        calls::SYS_fchown,
        calls::SYS_fchownat,
        old::UTIME,
        old::UTIMES,
        old::FUTIMESAT,
        calls::SYS_utimensat,
        calls::SYS_setxattr,
        calls::SYS_lsetxattr,
        calls::SYS_fsetxattr,
        calls::SYS_SETXATTRAT,
        calls::SYS_removexattr,
        calls::SYS_lremovexattr,
        calls::SYS_fremovexattr,
        calls::SYS_REMOVEXATTRAT,
    ];
    rules.all(&writing, Action::Notify);
}

#[cfg(test)]
mod tests;
