//! Making, watching and leaving processes.
#![expect(unsafe_code, reason = "clone3, execve, signal masks and signalfd have no safe wrapper")]

use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use rustix::process::Pid;

/// The two sides of a fork.
pub(crate) enum Fork {
    /// In the new process.
    Child,
    /// In the old one, with the new one's pid.
    Parent(Pid),
}

/// Forks this process, the child being *born* in `cgroup` where one is given: moving it there
/// later could wait for an RCU grace period, and would leave a moment in which it could escape.
///
/// The caller must be single-threaded: the child goes on in a copy of this memory.
pub(crate) fn fork(cgroup: Option<BorrowedFd<'_>>) -> io::Result<Fork> {
    // SAFETY: all-zero is a valid `clone_args`.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
    if let Some(fd) = cgroup {
        args.flags = CLONE_INTO_CGROUP;
        args.cgroup = u64::from(fd.as_raw_fd().unsigned_abs());
    }
    // SAFETY: without CLONE_VM this is fork(2): the child has its own copy of memory and stack.
    let mut result = unsafe {
        libc::syscall(libc::SYS_clone3, &raw mut args, std::mem::size_of::<libc::clone_args>())
    };
    if result == -1 && is_missing(&io::Error::last_os_error()) && cgroup.is_none() {
        // SAFETY: as above.
        result = unsafe { libc::syscall(libc::SYS_clone, args.exit_signal, 0, 0, 0, 0) };
    }
    match result {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .map(Fork::Parent)
            .ok_or_else(|| io::Error::other("the kernel answered with an impossible pid")),
    }
}

/// Whether a call does not exist here: a sandbox may say so of `clone3`, whose flags no filter sees.
fn is_missing(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOSYS)
}

/// `CLONE_INTO_CGROUP` of `linux/sched.h`; the libc constant overflows its own type.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Where a child stands that shares our memory until it has become another program.
pub(crate) struct ChildStack(Box<[MaybeUninit<u128>]>);

impl ChildStack {
    /// Enough for a few calls.
    pub(crate) fn new() -> Self {
        Self::of(64 << 10)
    }

    pub(crate) fn of(bytes: usize) -> Self {
        // Pages that are never touched are never made; `u128` aligns them as calls want it.
        Self(Box::new_uninit_slice(bytes / size_of::<u128>()))
    }
}

/// Makes a child that runs `work` until it becomes another program or ends, while this process
/// stands still. Where the processor is known the child shares our memory meanwhile, which saves
/// the copying that makes a fork slow; elsewhere it has a copy.
///
/// `work` must only make system calls, but in another fork, which has memory of its own. It returns the exit code
/// should it return at all.
pub(crate) fn spawn(
    cgroup: Option<BorrowedFd<'_>>,
    stack: &mut ChildStack,
    work: &mut dyn FnMut() -> c_int,
) -> io::Result<Pid> {
    // SAFETY: all-zero is a valid `clone_args`.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
    args.flags = u64::from(libc::CLONE_VFORK.unsigned_abs());
    if let Some(fd) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = u64::from(fd.as_raw_fd().unsigned_abs());
    }
    clone_child(&mut args, stack, work)
}

/// As [`spawn`], but the new process is a child of this one's parent, who is told of its end as of
/// this one's.
pub(crate) fn spawn_sibling(
    stack: &mut ChildStack,
    work: &mut dyn FnMut() -> c_int,
) -> io::Result<Pid> {
    // SAFETY: all-zero is a valid `clone_args`.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = u64::from((libc::CLONE_VFORK | libc::CLONE_PARENT).unsigned_abs());
    clone_child(&mut args, stack, work)
}

fn clone_child(
    args: &mut libc::clone_args,
    stack: &mut ChildStack,
    work: &mut dyn FnMut() -> c_int,
) -> io::Result<Pid> {
    match clone_and_run(args, stack, work) {
        pid if pid > 0 => i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("the kernel answered with an impossible pid")),
        error => Err(io::Error::from_raw_os_error(i32::try_from(-error).unwrap_or(libc::EINVAL))),
    }
}

#[cfg(target_arch = "x86_64")]
fn clone_and_run(
    args: &mut libc::clone_args,
    stack: &mut ChildStack,
    work: &mut dyn FnMut() -> c_int,
) -> i64 {
    /// The child's first and last function.
    extern "C" fn child(work: *mut &mut dyn FnMut() -> c_int) -> ! {
        // SAFETY: the parent stands still, with `work` on its stack, until this child is gone.
        let code = unsafe { (*work)() };
        exit_now(code)
    }
    args.flags |= u64::from(libc::CLONE_VM.unsigned_abs());
    args.stack = stack.0.as_mut_ptr() as u64;
    args.stack_size = std::mem::size_of_val(&stack.0[..]) as u64;
    let size = std::mem::size_of::<libc::clone_args>() as u64;
    let mut work = work;
    // SAFETY: the child runs on `stack`, which nobody else uses, and never returns from `child`;
    // the parent is suspended by CLONE_VFORK until the child has left this memory.
    let mut run = |number: i64, first: u64, second: u64| unsafe {
        let result: i64;
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") number => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") 0_u64,
            in("r10") 0_u64,
            in("r8") 0_u64,
            in("r12") &raw mut work,
            in("r13") child as extern "C" fn(*mut &mut dyn FnMut() -> c_int) -> !,
            lateout("rcx") _,
            lateout("r11") _,
        );
        result
    };
    let result = run(libc::SYS_clone3, std::ptr::from_mut(args) as u64, size);
    if result != -i64::from(libc::ENOSYS) || args.flags & CLONE_INTO_CGROUP != 0 {
        return result;
    }
    run(libc::SYS_clone, args.flags | args.exit_signal, args.stack + args.stack_size)
}

#[cfg(not(target_arch = "x86_64"))]
fn clone_and_run(
    args: &mut libc::clone_args,
    _stack: &mut ChildStack,
    work: &mut dyn FnMut() -> c_int,
) -> i64 {
    // SAFETY: without CLONE_VM the child has its own copy of memory and stack.
    let result = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            std::ptr::from_mut(args),
            std::mem::size_of::<libc::clone_args>(),
        )
    };
    match result {
        0 => exit_now(work()),
        -1 => -i64::from(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
        pid => i64::from(pid),
    }
}

/// A number that this process and a child of it both see.
pub(crate) struct SharedNumber(*mut std::sync::atomic::AtomicU64);

impl SharedNumber {
    pub(crate) fn new() -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: an anonymous mapping at an address of the kernel's choice; it starts as zero,
        // which is a valid number, and is never unmapped.
        let page = unsafe { libc::mmap(ptr::null_mut(), 4096, protection, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(page.cast()))
    }

    pub(crate) fn set(&self, value: u64) {
        // SAFETY: the mapping lives as long as the process.
        unsafe { (*self.0).store(value, std::sync::atomic::Ordering::SeqCst) };
    }

    pub(crate) fn get(&self) -> u64 {
        // SAFETY: the mapping lives as long as the process.
        unsafe { (*self.0).load(std::sync::atomic::Ordering::SeqCst) }
    }
}

/// Who takes the exit status of this process's children.
pub(crate) enum Reaping {
    /// The kernel does, at once.
    ByKernel,
    /// This process does, by waiting for them.
    Own,
}

/// Chooses who takes the exit status of this process's children.
pub(crate) fn set_reaping(by: &Reaping) {
    let disposition = match by {
        Reaping::ByKernel => libc::SIG_IGN,
        Reaping::Own => libc::SIG_DFL,
    };
    // SAFETY: both dispositions are valid for SIGCHLD.
    unsafe { libc::signal(libc::SIGCHLD, disposition) };
}

/// Gives back the memory of program code that will not run for a while; it is read again, from
/// the page cache, when it does.
pub(crate) fn rest() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some("r-xp")) = (fields.next(), fields.next()) else { continue };
        let is_file = fields.nth(3).is_some_and(|name| name.starts_with('/'));
        let (Some((start, end)), true) = (range.split_once('-'), is_file) else { continue };
        let parse = |text| usize::from_str_radix(text, 16);
        if let (Ok(start), Ok(end)) = (parse(start), parse(end)) {
            // SAFETY: these are read-only mappings of files, whose pages come back from the file.
            unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_DONTNEED) };
        }
    }
}

/// Gives back what the heap has free, where the allocator can be told to.
#[cfg(target_env = "gnu")]
pub(crate) fn trim_heap() {
    // SAFETY: it may be called at any time, from any thread.
    unsafe { libc::malloc_trim(0) };
}

/// Here it cannot.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn trim_heap() {}

/// A NUL-terminated array of C strings, as `execve` wants it.
pub(crate) struct CStrings {
    pointers: Vec<*const c_char>,
    /// The strings, each with its NUL, where `pointers` points to.
    block: Vec<u8>,
}

impl CStrings {
    /// Of strings that lie one behind the other, each with its NUL.
    pub(crate) fn new(block: Vec<u8>) -> Self {
        // Looked for by hand: what finds it quicker asks the processor first what it can do, which takes longer.
        let ended = block.split_inclusive(|byte| *byte == 0).filter(|text| text.ends_with(&[0]));
        let mut pointers: Vec<*const c_char> = ended.map(|text| text.as_ptr().cast()).collect();
        pointers.push(ptr::null());
        Self { pointers, block }
    }

    /// Puts a variable `NAME=VALUE` in the place of the one with that name, or behind all others.
    pub(crate) fn set(&mut self, name: &[u8], variable: &CStr) {
        let is_other =
            |known: &&[u8]| known.strip_prefix(name).is_none_or(|rest| !rest.starts_with(b"="));
        let others = self.block.split_inclusive(|byte| *byte == 0).filter(is_other);
        let mut block: Vec<u8> = others.flatten().copied().collect();
        block.extend_from_slice(variable.to_bytes_with_nul());
        *self = Self::new(block);
    }

    /// All of them, each with its NUL: what `/proc/PID/cmdline` shows of a program started so.
    pub(crate) fn joined(&self) -> &[u8] {
        &self.block
    }
}

/// Becomes another program. Returns only the error.
pub(crate) fn execve(program: &CStr, argv: &CStrings, env: &CStrings) -> io::Error {
    // SAFETY: the strings live in the two `CStrings` and both arrays end with a null pointer.
    unsafe { libc::execve(program.as_ptr(), argv.pointers.as_ptr(), env.pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// Whether this process has no thread but the one that asks. `false` where the kernel does not say.
pub(crate) fn is_single_threaded() -> bool {
    // Beside itself and its parent, the directory has a link for each thread.
    rustix::fs::stat("/proc/self/task").is_ok_and(|task| task.st_nlink == 3)
}

/// Where the kernel finds what it shows of a process: `struct prctl_mm_map` of `linux/prctl.h`.
#[repr(C)]
struct MemoryMap {
    start_code: u64,
    end_code: u64,
    start_data: u64,
    end_data: u64,
    start_brk: u64,
    brk: u64,
    start_stack: u64,
    arg_start: u64,
    arg_end: u64,
    env_start: u64,
    env_end: u64,
    auxv: *const u64,
    auxv_size: u32,
    exe_fd: u32,
}

const PR_SET_MM_MAP: c_int = 14;

/// Has the kernel show these words, and no variables, as what this process was started with: in a copy of
/// another one neither is its own. Fails where the kernel cannot.
pub(crate) fn show_as(words: &CStrings) -> io::Result<()> {
    let unknown = || io::Error::other("the kernel does not say where this process is");
    let stat = super::procfs::text("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or_else(unknown)?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    // Numbered as in proc(5), where the name is the second.
    let field = |number: usize| -> io::Result<u64> {
        fields.get(number - 3).and_then(|field| field.parse().ok()).ok_or_else(unknown)
    };
    let shown: &'static [u8] = words.joined().to_vec().leak();
    let arguments = shown.as_ptr_range();
    let map = MemoryMap {
        start_code: field(26)?,
        end_code: field(27)?,
        start_data: field(45)?,
        end_data: field(46)?,
        start_brk: field(47)?,
        // SAFETY: asking for no more memory tells where it ends.
        brk: unsafe { libc::sbrk(0) } as u64,
        start_stack: field(28)?,
        arg_start: arguments.start as u64,
        arg_end: arguments.end as u64,
        env_start: arguments.end as u64,
        env_end: arguments.end as u64,
        auxv: ptr::null(),
        auxv_size: 0,
        exe_fd: u32::MAX,
    };
    let size = std::mem::size_of::<MemoryMap>();
    // SAFETY: the kernel reads a map of the size it is told; what it then shows is never freed.
    if unsafe { libc::prctl(libc::PR_SET_MM, PR_SET_MM_MAP, &raw const map, size, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Ends this process now, without running destructors or flushing anything it shares.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Makes `fd` descriptor number `target`, kept open over exec.
pub(crate) fn place_fd(fd: BorrowedFd<'_>, target: RawFd) -> io::Result<()> {
    let raw = fd.as_raw_fd();
    if raw == target {
        // dup2 onto itself would keep the close-on-exec flag.
        // SAFETY: the descriptor is open.
        if unsafe { libc::fcntl(raw, libc::F_SETFD, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        return Ok(());
    }
    // SAFETY: the descriptor is open; `target` is 0, 1 or 2, which this process gives away.
    if unsafe { libc::dup2(raw, target) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Closes every descriptor from 3 up: what a caller forgot to mark close-on-exec is not ours.
pub(crate) fn close_inherited() {
    // SAFETY: called first thing in a fresh process, before it owns any descriptor above 2.
    unsafe { libc::close_range(3, u32::MAX, 0) };
}

/// In a copy of another process: puts `caller` in the place of standard input, and nothing in the place of
/// both outputs.
pub(crate) fn take_place(caller: OwnedFd) -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    place_fd(caller.as_fd(), 0)?;
    drop(caller);
    place_fd(null.as_fd(), 1)?;
    place_fd(null.as_fd(), 2)
}

/// Takes ownership of descriptor 0, over which a supervisor talks to whoever started it.
pub(crate) fn take_stdin() -> OwnedFd {
    // SAFETY: a fresh supervisor owns its descriptor 0 and takes it exactly once.
    unsafe { OwnedFd::from_raw_fd(0) }
}

/// The signals a supervisor reads from a descriptor instead of being interrupted by them.
const WATCHED: [c_int; 4] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// Holds back the watched signals, also from what is forked from now on: a keeper does not die of them.
pub(crate) fn hold_signals() -> io::Result<()> {
    let set = watched();
    // SAFETY: the set is initialised and lives through the call.
    if unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A descriptor that is readable when one of the watched signals came, which are held back.
pub(crate) fn signal_fd() -> io::Result<OwnedFd> {
    let (set, flags) = (watched(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
    // SAFETY: the set is initialised and lives through the call; the descriptor is new.
    unsafe {
        match libc::signalfd(-1, &raw const set, flags) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

fn watched() -> libc::sigset_t {
    // SAFETY: `set` is initialised by sigemptyset before use.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in WATCHED {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

/// Takes the signals that wait in a [`signal_fd`]. One waits once, however often it came.
pub(crate) fn next_signals(fd: BorrowedFd<'_>) -> impl Iterator<Item = c_int> + use<> {
    const MOST: usize = WATCHED.len();
    // SAFETY: all-zero is a valid `signalfd_siginfo`, and the read is given the exact size of the array.
    let (infos, read) = unsafe {
        let mut infos: [libc::signalfd_siginfo; MOST] = std::mem::zeroed();
        let read = libc::read(fd.as_raw_fd(), infos.as_mut_ptr().cast(), size_of_val(&infos));
        (infos, read)
    };
    let count = usize::try_from(read).unwrap_or(0) / size_of::<libc::signalfd_siginfo>();
    infos.into_iter().take(count).filter_map(|info| c_int::try_from(info.ssi_signo).ok())
}

/// Forgets what whoever started this process had its signals ignored or handled as, so that no
/// command inherits it. A closed pipe alone stays an error instead of a death.
pub(crate) fn forget_signals() {
    // SAFETY: these dispositions are valid for every signal number tried.
    unsafe {
        for signal in 1..=31 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// Gives a child the signal state of a fresh login: nothing blocked, nothing ignored.
pub(crate) fn reset_signals() {
    // SAFETY: default dispositions and an empty mask are valid.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
    }
}

/// Waits for a child that ends, or has.
pub(crate) fn bury(child: Pid) {
    use rustix::process::{WaitOptions, waitpid};
    while matches!(waitpid(Some(child), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
}

/// Processor time and peak memory of processes that ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProcessUsage {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) peak_bytes: u64,
}

impl ProcessUsage {
    /// Adds what others used.
    pub(crate) fn add(&mut self, other: &Self) {
        self.user_us += other.user_us;
        self.system_us += other.system_us;
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
    }

    fn of(usage: &libc::rusage) -> Self {
        let micros = |time: libc::timeval| {
            u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000
                + u64::try_from(time.tv_usec).unwrap_or(0)
        };
        Self {
            user_us: micros(usage.ru_utime),
            system_us: micros(usage.ru_stime),
            peak_bytes: peak_bytes(usage),
        }
    }
}

/// A child that ended.
pub(crate) struct Dead {
    pub(crate) pid: Pid,
    /// Its exit code, if no signal killed it.
    pub(crate) code: c_int,
    pub(crate) signal: Option<c_int>,
    pub(crate) core: bool,
    /// What it and those that it waited for have used.
    pub(crate) usage: ProcessUsage,
}

/// Takes the exit status of a child that ended; `None` if none did, and an error if there is none.
pub(crate) fn reap() -> io::Result<Option<Dead>> {
    let mut status = 0;
    // SAFETY: all-zero is a valid `rusage`; the call only writes into it and into `status`.
    let (result, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage), usage)
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(result).map(|pid| Dead {
        pid,
        code: libc::WEXITSTATUS(status),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        core: libc::WIFSIGNALED(status) && libc::WCOREDUMP(status),
        usage: ProcessUsage::of(&usage),
    }))
}

/// The largest resident size that this process has had.
pub(crate) fn own_peak() -> u64 {
    peak_bytes(&usage(libc::RUSAGE_SELF))
}

fn peak_bytes(usage: &libc::rusage) -> u64 {
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024
}

fn usage(whose: c_int) -> libc::rusage {
    // SAFETY: all-zero is a valid `rusage` and the call only writes into it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whose, &raw mut usage);
        usage
    }
}
