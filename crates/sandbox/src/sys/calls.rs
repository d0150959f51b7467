//! The system calls a filter speaks of, by number.
//!
//! Processors differ in which calls they have: the old forms without a directory exist on some only.

/// What the kernel calls this processor, as a filter sees it.
#[cfg(target_arch = "x86_64")]
pub(crate) const ARCHITECTURE: u32 = 0xC000_003E;
/// What the kernel calls this processor, as a filter sees it.
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCHITECTURE: u32 = 0xC000_00B7;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("umbo-sandbox knows the system calls of x86_64 and aarch64 only");

/// Numbers from here on are those of another interface of x86 (x32).
pub(crate) const FOREIGN_NUMBERS: u32 = 0x4000_0000;

pub(crate) use libc::{
    SYS_acct, SYS_add_key, SYS_bind, SYS_bpf, SYS_clock_settime, SYS_clone, SYS_clone3,
    SYS_connect, SYS_delete_module, SYS_execve, SYS_execveat, SYS_fanotify_init, SYS_fchmod,
    SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_finit_module, SYS_fremovexattr, SYS_fsconfig,
    SYS_fsetxattr, SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_init_module, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_io_uring_setup, SYS_ioctl, SYS_ioprio_set, SYS_kexec_file_load,
    SYS_kexec_load, SYS_keyctl, SYS_linkat, SYS_lremovexattr, SYS_lsetxattr, SYS_mkdirat,
    SYS_mknodat, SYS_mount, SYS_mount_setattr, SYS_move_mount, SYS_mq_open, SYS_mq_unlink,
    SYS_msgget, SYS_msgrcv, SYS_msgsnd, SYS_open_by_handle_at, SYS_open_tree, SYS_openat,
    SYS_openat2, SYS_perf_event_open, SYS_pivot_root, SYS_prlimit64, SYS_quotactl, SYS_reboot,
    SYS_removexattr, SYS_renameat, SYS_renameat2, SYS_request_key, SYS_semget, SYS_semop,
    SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_setns, SYS_setpriority, SYS_settimeofday,
    SYS_setxattr, SYS_shmat, SYS_shmctl, SYS_shmget, SYS_socket, SYS_socketpair, SYS_swapoff,
    SYS_swapon, SYS_symlinkat, SYS_syslog, SYS_truncate, SYS_umount2, SYS_unlinkat, SYS_unshare,
    SYS_userfaultfd, SYS_utimensat,
};

/// `fchmodat2`, which has flags; Linux 6.6.
pub(crate) const SYS_FCHMODAT2: i64 = 452;
/// `setxattrat`; Linux 6.13.
pub(crate) const SYS_SETXATTRAT: i64 = 463;
/// `removexattrat`; Linux 6.13.
pub(crate) const SYS_REMOVEXATTRAT: i64 = 466;
/// `open_tree_attr`; Linux 6.15.
pub(crate) const SYS_OPEN_TREE_ATTR: i64 = 467;
/// `file_setattr`; Linux 6.17.
pub(crate) const SYS_FILE_SETATTR: i64 = 469;

/// The old forms, which take no directory.
#[cfg(target_arch = "x86_64")]
pub(crate) mod old {
    pub(crate) use libc::{
        SYS_chmod as CHMOD, SYS_chown as CHOWN, SYS_creat as CREAT, SYS_futimesat as FUTIMESAT,
        SYS_ioperm as IOPERM, SYS_iopl as IOPL, SYS_lchown as LCHOWN, SYS_link as LINK,
        SYS_mkdir as MKDIR, SYS_mknod as MKNOD, SYS_open as OPEN, SYS_rename as RENAME,
        SYS_rmdir as RMDIR, SYS_symlink as SYMLINK, SYS_unlink as UNLINK, SYS_utime as UTIME,
        SYS_utimes as UTIMES,
    };
}

/// The old forms, none of which this processor has: numbers that no call has.
#[cfg(target_arch = "aarch64")]
pub(crate) mod old {
    pub(crate) const CHMOD: i64 = -1;
    pub(crate) const CHOWN: i64 = -2;
    pub(crate) const CREAT: i64 = -3;
    pub(crate) const FUTIMESAT: i64 = -4;
    pub(crate) const IOPERM: i64 = -5;
    pub(crate) const IOPL: i64 = -6;
    pub(crate) const LCHOWN: i64 = -7;
    pub(crate) const LINK: i64 = -8;
    pub(crate) const MKDIR: i64 = -9;
    pub(crate) const MKNOD: i64 = -10;
    pub(crate) const OPEN: i64 = -11;
    pub(crate) const RENAME: i64 = -12;
    pub(crate) const RMDIR: i64 = -13;
    pub(crate) const SYMLINK: i64 = -14;
    pub(crate) const UNLINK: i64 = -15;
    pub(crate) const UTIME: i64 = -16;
    pub(crate) const UTIMES: i64 = -17;
}
