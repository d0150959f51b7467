//! What is in the directory a command would run in, as far as a verdict depends on it.
//!
//! Reading a command is pure: the reading lists what it supposes of the directory and which files it would
//! run as scripts. This module checks both on disk. A check can only raise the risk.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use umbo_command::{Given, Reading, Risk, Shell, Supposed, Supposition, Tool, read_given};

/// More of a file than this is not read.
const LONGEST_FILE_BYTES: u64 = 128 * 1024;
/// The modules of Python's standard library, of all versions in use: they import one another, so that any
/// of them may be taken instead.
const STANDARD_MODULES: &str = "__future__ _abc _aix_support _android_support _apple_support _ast _ast_unparse _asyncio _bisect _blake2 \
     _bootlocale _bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr \
     _codecs_tw _collections _collections_abc _colorize _compat_pickle _compression _contextvars _crypt _csv \
     _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib \
     _frozen_importlib_external _functools _gdbm _hashlib _heapq _hmac _imp _interpchannels _interpqueues \
     _interpreters _io _ios_support _json _locale _lsprof _lzma _markupbase _md5 _msi _multibytecodec \
     _multiprocessing _opcode _opcode_metadata _operator _osx_support _overlapped _pickle _posixshmem \
     _posixsubprocess _py_abc _py_warnings _pydatetime _pydecimal _pyio _pylong _pyrepl _queue _random \
     _remote_debugging _scproxy _sha1 _sha256 _sha3 _sha512 _signal _sitebuiltins _socket _sqlite3 _sre _ssl _stat \
     _statistics _string _strptime _struct _suggestions _symtable _sysconfig _thread _threading_local _tkinter \
     _tokenize _tracemalloc _types _typing _uuid _warnings _weakref _weakrefset _winapi _zoneinfo _zstd abc aifc \
     annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii \
     binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys \
     compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses \
     dataclasses datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings ensurepip enum \
     errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt \
     getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib \
     inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap \
     marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path \
     numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform \
     plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue \
     quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex \
     shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse \
     ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny \
     tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token tokenize tomllib trace \
     traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings \
     wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// More scripts than this are not read.
const MOST_SCRIPTS: usize = 16;

/// Reads a command for a directory: as [`read_given`], and with a look at what the directory has.
///
/// `home` is the user's, whose own settings count as looked at.
pub fn read_in(
    command: &str,
    shell: Shell,
    given: Given<'_>,
    cwd: &Path,
    home: Option<&Path>,
) -> Reading {
    let mut reading = read_given(command, shell, given);
    if !reading.scripts.is_empty() && reading.risk < Risk::Dangerous {
        let files = scripts(&reading.scripts, cwd);
        if !files.is_empty() {
            let files: Vec<(String, String)> = given.files.iter().cloned().chain(files).collect();
            reading = read_given(command, shell, Given { files: &files, ..given });
        }
    }
    if reading.risk == Risk::ReadOnly {
        let found = reading.supposes.iter().find_map(|it| broken_supposition(it, cwd, home));
        if let Some(reason) = found {
            reading.distrust(&reason);
        }
    }
    reading
}

/// The texts of those of the files that are scripts of a shell.
fn scripts(names: &[String], cwd: &Path) -> Vec<(String, String)> {
    let plain = names.iter().take(MOST_SCRIPTS).filter(|name| !name.contains(['$', '`', '*']));
    plain.filter_map(|name| Some((name.clone(), shell_script(&cwd.join(name))?))).collect()
}

fn shell_script(path: &Path) -> Option<String> {
    let text = text_of(path)?;
    let first = text.lines().next().unwrap_or_default();
    let interpreter = first.strip_prefix("#!").and_then(|rest| {
        let words: Vec<&str> = rest.split_whitespace().collect();
        words
            .iter()
            .rev()
            .find(|word| !word.starts_with('-'))
            .map(|word| base_name(word).to_owned())
    });
    let is_shell = interpreter.is_none_or(|name| Shell::named(&name).is_some());
    is_shell.then_some(text)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// All of the text of a plain file, if that is not too long: what is only in part in sight says nothing.
/// Opening anything else, a FIFO for example, could block.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(LONGEST_FILE_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LONGEST_FILE_BYTES).then_some(text)
}

/// Why a supposition does not hold in its directory, if it does not.
fn broken_supposition(supposed: &Supposed, cwd: &Path, home: Option<&Path>) -> Option<String> {
    let cwd = match place(&supposed.directory, cwd, home) {
        Place::At(place) => place,
        Place::Nowhere => return None,
        Place::Unknown => {
            return Some(format!("what {} has is only known at run time", supposed.directory));
        }
    };
    let cwd = cwd.as_path();
    match supposed.what {
        Supposition::GitHasNoHelpers => crate::repository::helper(cwd),
        Supposition::CargoHasNoConfig => cargo_setting(cwd, home),
        Supposition::PythonHasNoModules => python_module(cwd),
        Supposition::ProjectBringsNo(tool) => brought_tool(tool, cwd),
    }
}

/// Where a directory is that a text names.
enum Place {
    At(PathBuf),
    /// There is none, so that nobody goes there.
    Nowhere,
    Unknown,
}

fn place(directory: &str, cwd: &Path, home: Option<&Path>) -> Place {
    if directory.contains(['$', '`', '*', '?', '[', '{']) {
        return Place::Unknown;
    }
    let named = match (directory.strip_prefix('~'), home) {
        (None, _) => cwd.join(directory),
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        (Some(_), _) => return Place::Unknown,
    };
    // Behind a link `..` is one directory to a shell and another to the kernel.
    match (named.canonicalize(), without_steps_back(&named).canonicalize()) {
        (Ok(real), Ok(said)) if real == said => Place::At(real),
        (Err(_), Err(_)) => Place::Nowhere,
        _ => Place::Unknown,
    }
}

/// A path as a shell goes it: each `..` takes back the name before it.
fn without_steps_back(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A setting for cargo that names a program.
fn cargo_setting(cwd: &Path, home: Option<&Path>) -> Option<String> {
    const RUNS: [&str; 10] = [
        "rustc",
        "rustdoc",
        "wrapper",
        "runner",
        "linker",
        "credential",
        "env",
        // What is written by the numbers of its letters.
        "\\",
        "include",
        "paths",
    ];
    let above = cwd.ancestors().filter(|above| Some(*above) != home);
    let mut files = above
        .flat_map(|above| ["config.toml", "config"].map(|name| above.join(".cargo").join(name)));
    files.find_map(|file| {
        let Some(text) = text_of(&file) else {
            return file.exists().then(|| format!("{} cannot be read", file.display()));
        };
        let told = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let runs =
            told.flat_map(|line| RUNS.iter().filter(move |word| line.contains(**word))).next()?;
        Some(format!("{} has a setting ({runs}) that cargo may run", file.display()))
    })
}

/// A file of the project, here or above, that says which program runs in the place of a tool.
fn brought_tool(tool: Tool, cwd: &Path) -> Option<String> {
    // A file, and what it must say.
    let files: &[(&str, &str)] = match tool {
        Tool::Rust => &[("rust-toolchain.toml", "path"), ("rust-toolchain", "path")],
        Tool::Yarn => {
            &[(".yarnrc.yml", "yarnPath"), (".yarnrc.yml", "plugins"), (".yarnrc", "yarn-path")]
        }
        Tool::Maven => {
            &[(".mvn/jvm.config", ""), (".mvn/maven.config", ""), (".mvn/extensions.xml", "")]
        }
        Tool::Bazel => &[("tools/bazel", "")],
        Tool::Terraform => &[(".terraform/providers", ""), (".terraform/plugins", "")],
    };
    cwd.ancestors().find_map(|above| {
        let says = |(name, word): &&(&str, &str)| {
            let file = above.join(name);
            file.exists()
                && (word.is_empty()
                    || text_of(&file).is_none_or(|it| it.contains(word) || it.contains('\\')))
        };
        let (name, _) = files.iter().find(says)?;
        Some(format!("{} says what runs in the place of the program", above.join(name).display()))
    })
}

/// A module beside the command that Python would import instead of one of its own.
fn python_module(cwd: &Path) -> Option<String> {
    fs::read_dir(cwd).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let module = name.split('.').next()?;
        let is_module = STANDARD_MODULES.split(' ').any(|one| one == module)
            && (is_python(&name) || has_python_inside(&entry.path()));
        is_module.then(|| format!("a module {module} lies beside it, which Python would import"))
    })
}

/// Whether Python imports a file of this name: source, compiled, or a library.
fn is_python(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("py" | "pyc" | "so"))
}

fn has_python_inside(directory: &Path) -> bool {
    let mut names =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.file_name());
    names.any(|name| name.to_str().is_some_and(|it| it.starts_with("__init__.") && is_python(it)))
}
