//! Commands to try, from a seed.

use umbo_command::proof;

/// A generator of numbers that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
        Self(seed.unwrap_or(7_u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Dice that fall the same for a row on every machine, whatever else is installed there.
    fn of_row(name: &str) -> Self {
        Self(Self::new().0 ^ digest(name) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (most as u64)).unwrap()
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn some(&mut self, list: &[&str], most: usize, between: &str) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.of(list)).collect::<Vec<_>>().join(between)
    }
}

/// A number that is the same for a text on every machine.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |number: u64, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A word for a shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

const SED: &[&str] = &[
    "p",
    "d",
    "w out",
    "W out",
    "s/a/b/",
    "s/a/b/w out",
    "s/a/touch x/e",
    "s/a/b/gp",
    "s,a,b,",
    "e touch x",
    "b",
    "ba",
    "b ",
    ":a",
    "t ",
    "T",
    ";",
    ";",
    ";",
    "\n",
    "\n",
    "}",
    "{",
    "1",
    "$",
    "/a/",
    "/[/]/",
    "/a/I",
    "\\,a,",
    "[",
    "]",
    "\\",
    "a text",
    "a\\",
    "i\\\n",
    "c x",
    "r in",
    "R in",
    "y/a/b/",
    "y/;/w/",
    "#",
    "n",
    "N",
    "!",
    ",",
    "0~2",
    "+1",
    "q",
    "q1",
    "l",
    "l 5",
    "=",
    "z",
    "F",
    "h",
    "G",
    "x",
    " ",
    "s/[/]/b/",
    "s/[^/]/b/",
    "s/\\n/;w out/",
    "1!",
    "$!",
    "D",
    "P",
    "v",
];

pub(crate) fn sed(count: usize) -> Vec<String> {
    let mut dice = Dice::new();
    let options = [
        "",
        "-n ",
        "-E ",
        "-s ",
        "-z ",
        "-u ",
        "--posix ",
        "-n -e p -e ",
        "--expression=p -e ",
        "-l 5 ",
        "--debug ",
    ];
    (0..count)
        .map(|_| format!("sed {}{} in", dice.of(&options), quote(&dice.some(SED, 7, ""))))
        .collect()
}

const AWK: &[&str] = &[
    "{",
    "}",
    "print",
    "printf",
    " ",
    " ",
    "\"x\"",
    "> \"out\"",
    ">> \"out\"",
    "| \"touch x\"",
    "/a/",
    "/\"/",
    "/[/]/",
    "/=/",
    "$1",
    "$0",
    "(",
    ")",
    ";",
    "\n",
    "getline",
    "<",
    ">",
    "system(\"touch x\")",
    "#",
    "\\\n",
    "+",
    "++",
    ",",
    "?",
    ":",
    "BEGIN",
    "END",
    "if(",
    "close(\"x\")",
    "~",
    "!",
    "a[1]",
    " in ",
    "/=",
    "0",
    "||",
    "&&",
    "1/2",
    "NR",
    "x",
    "=",
    "==",
    "> \"/dev/stderr\"",
    "printf \"%s\",",
    "print $1",
    "{print}",
    "else",
    "for(;;)",
    "next",
    "exit",
    "-",
    "*",
    "%",
    "|&",
];

pub(crate) fn awk(count: usize) -> Vec<String> {
    let mut dice = Dice::new();
    let options = ["", "", "-F, ", "-v x=1 ", "-F '\"' "];
    (0..count)
        .map(|_| format!("awk {}{} in", dice.of(&options), quote(&dice.some(AWK, 8, ""))))
        .collect()
}

const FIND: &[&str] = &[
    "-name in",
    "-name '*'",
    "-type f",
    "-type d",
    "-print",
    "-print0",
    "-ls",
    "-delete",
    "-exec echo {} \\;",
    "-exec cat {} +",
    "-exec touch x \\;",
    "-exec echo + x \\;",
    "-execdir ls {} \\;",
    "-ok touch x \\;",
    "-fprint out",
    "-fprintf out x",
    "-fls out",
    "-o",
    "-a",
    "!",
    "-not",
    "\\(",
    "\\)",
    "-maxdepth 1",
    "-mindepth 1",
    "-newer in",
    "-newermt 2020-01-01",
    "-size +1k",
    "-empty",
    "-prune",
    "-quit",
    "-printf '%p\\n'",
    "-regex '.*'",
    "-path './*'",
    "-perm 644",
    "-user root",
    "-mtime -1",
    "-depth",
    "-xdev",
    "-links 1",
    "-true",
    ",",
];

pub(crate) fn find(count: usize) -> Vec<String> {
    let mut dice = Dice::new();
    let roots = ["", ".", "dir", ". dir", "-L .", "-O2 .", "-H dir"];
    (0..count).map(|_| format!("find {} {}", dice.of(&roots), dice.some(FIND, 4, " "))).collect()
}

const DATE: &[&str] = &[
    "+%F",
    "-u",
    "-R",
    "-I",
    "-Iseconds",
    "-d now",
    "-d '2020-01-01'",
    "-d@0",
    "--date=now",
    "-r in",
    "-f in",
    "-s now",
    "--set=now",
    "-us now",
    "01010101",
    "2020",
    "'+%s'",
    "--rfc-3339=date",
    "--utc",
    "-j",
    "-v+1d",
    "--",
    "-ud now",
    "--se=now",
    "--debug",
    "-n",
];

pub(crate) fn date(count: usize) -> Vec<String> {
    let mut dice = Dice::new();
    (0..count).map(|_| format!("date {}", dice.some(DATE, 3, " "))).collect()
}

const TEST: &[&str] = &[
    "-f in",
    "-d dir",
    "-z x",
    "-n ''",
    "a = b",
    "a -eq 1",
    "1 -lt 2",
    "-v 'a[$(touch x)]'",
    "-v x",
    "! -e in",
    "in -nt in.txt",
    "-a",
    "-o",
    "'a[$(touch x)]' -eq 1",
    "\\( -f in \\)",
    "-t 1",
    "-R x",
    "a != b",
    "-x in.sh",
];
const DOUBLE: &[&str] = &[
    "-f in",
    "a == b",
    "a = b*",
    "1 -eq 1",
    "'a[$(touch x)]' -eq 1",
    "x -eq 1",
    "a =~ b",
    "-v x",
    "-v 'a[$(touch x)]'",
    "! -d dir",
    "a < b",
    "$x -gt 1",
    "-n \"$x\"",
    "\"$(echo 1)\" -eq 1",
];

pub(crate) fn test(count: usize) -> Vec<String> {
    let mut dice = Dice::new();
    let mut commands = Vec::new();
    for _ in 0..count {
        commands.push(match dice.below(4) {
            0 => format!("test {}", dice.some(TEST, 3, " ")),
            1 => format!("[ {} ]", dice.some(TEST, 3, " ")),
            2 => format!("[[ {} ]]", dice.some(DOUBLE, 3, " && ")),
            _ => format!(
                "x='a[$(touch x)]'; [[ {} ]]; (( 1 + {} ))",
                dice.of(DOUBLE),
                dice.of(&["1", "x", "a[0]", "y = 2"])
            ),
        });
    }
    commands
}

const SQL: &[&str] = &[
    "select",
    "*",
    "from t",
    "1",
    ",",
    "a",
    "where a > 1",
    "drop table t",
    "delete from t",
    "insert into t values (3, 4)",
    "update t set a = 1",
    ";",
    ";",
    "/* x */",
    "/**/",
    "-- x\n",
    "--x\n",
    "'it''s'",
    "';'",
    "\"a\"",
    "count(*)",
    "writefile('out', 'x')",
    "load_extension('x')",
    "pragma user_version",
    "pragma user_version = 3",
    "pragma table_info(t)",
    "pragma journal_mode(wal)",
    "pragma journal_mode",
    "with x as (select 1) select * from x",
    "union all select 2",
    "order by a",
    "explain",
    "vacuum",
    "attach 'out' as o",
    "create table u (a)",
    "replace(a, 'x', 'y')",
    "values (1)",
    "limit 1",
    "\n.shell touch x\n",
    "readfile('in')",
    "edit('x')",
    "group by a",
    "json_extract('{}', '$.a')",
    "begin",
    "commit",
    "#",
    "into outfile 'x'",
];

pub(crate) fn sqlite(count: usize) -> Vec<String> {
    let mut dice = Dice::new();
    let options = ["", "-header -csv ", "-json ", "-readonly ", "-cmd .tables ", "-separator , "];
    let mut commands: Vec<String> = (0..count)
        .map(|_| format!("sqlite3 {}in.db {}", dice.of(&options), quote(&dice.some(SQL, 4, " "))))
        .collect();
    let mut dice = Dice::new();
    commands.extend((0..count).map(|_| {
        format!("sqlite3 in.db {}", quote(&format!("select {}", dice.some(SQL, 3, " "))))
    }));
    commands
}

/// Programs that others start for a part of their work. What these do is traced as well.
pub(crate) const HELPERS: &[&str] = &[
    "jq",
    "ls",
    "less",
    "diff",
    "gzip",
    "tail",
    "zstd",
    "xz",
    "bzip2",
    "lz4",
    // Interpreters of what is a script, and what scripts are made of.
    "sh",
    "dash",
    "env",
    "perl",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "python",
    "pyenv",
    "pyenv-exec",
    "dbus-send",
    "conmon",
    "rpmkeys",
    "gst-plugin-scanner",
    "mktemp",
    "perldoc",
    "traceroute.db",
    "xprop",
    "node",
    "ruby",
    "awk",
    "basename",
    "cat",
    "cut",
    "date",
    "dirname",
    "expr",
    "getopt",
    "grep",
    "head",
    "hostname",
    "id",
    "locale",
    "mawk",
    "readlink",
    "realpath",
    "rev",
    "sed",
    "seq",
    "sort",
    "stty",
    "tput",
    "tr",
    "true",
    "tty",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xargs",
    "lsmod",
    "dpkg",
    "dpkg-query",
    "apt-get",
    "apt-cache",
    "getconf",
    "echo",
    "file",
    "gettext",
    "ip",
    "kpsewhich",
    "ldconfig",
    "lsb_release",
    "lsusb",
    "mono",
    "mountpoint",
    "pacman-conf",
    "rcs",
    "ssh-add",
    "ps",
    "find",
    // The parts of manuals, of archives and of pagers.
    "apropos",
    "whatis",
    "man",
    "manpath",
    "preconv",
    "tbl",
    "groff",
    "nroff",
    "troff",
    "grotty",
    "col",
    "iconv",
    "more",
    "dd",
    "cmp",
    "zdiff",
    "zgrep",
    "unzip",
    "pwd",
    // The tools of go.
    "doc",
    "dist",
    // What shows the parts of the machine.
    "lspci",
    "lsblk",
    "lscpu",
    "df",
    "free",
    "uptime",
    "modinfo",
    "udevadm",
    "xrandr",
    "dmidecode",
    "apt-config",
    "dpkg-deb",
];

/// What an option may be given.
const VALUES: &[&str] =
    &["1", "in", "out", "in.txt", "json", "a", "dir", "never", "%s", "now", ","];
/// What a program may be given.
const OPERANDS: &[&str] = &["in", "in.txt", "in.json", "in.csv", "dir", "a", "in in.txt", ""];

/// One of so many commands of a row is tried unless all are asked for.
const ONE_OF: u64 = 30;

/// Programs that take a second each, or have hundreds of rows, and how few of their commands are tried then.
const SLOW: &str = "git npm pnpm yarn node pip pip3 pip3.11 pip3.12 pip3.13 python python3 gem ruby go cargo rustup rustc java jar jdeps jps jstack jstat jinfo javap jmod jimage jhsdb jarsigner jmap apt apt-get apt-cache apt-mark apt-file aptitude dnf zypper diffoscope tshark borg podman docker kubectl gcloud gsutil bq aws az terraform tofu helm gh man info inxi tlmgr systemctl journalctl top htop cloc perl pygmentize zgrep zegrep zfgrep bzgrep xzgrep";
const ONE_OF_SLOW: u64 = 210;

/// For each row that only reads and whose program is on this machine: each of its options once, and
/// some together. Which are tried depends on each command alone, so that what was proven on a machine with
/// more programs holds on one with fewer.
pub(crate) fn rows(all: bool, asks_others: bool) -> Vec<String> {
    let mut commands = all_rows(asks_others);
    commands.retain(|command| {
        let program = command.split(' ').next().unwrap_or_default();
        let slow = SLOW.split(' ').any(|one| one == program);
        all || digest(command).is_multiple_of(if slow { ONE_OF_SLOW } else { ONE_OF })
    });
    commands
}

fn all_rows(asks_others: bool) -> Vec<String> {
    let mut commands = Vec::new();
    for row in proof::read_only_rows().into_iter().filter(|row| row.asks_others == asks_others) {
        if !is_installed(&row.program) || is_left_out(&row.name) || is_not_asked_for(&row.program) {
            continue;
        }
        let mut dice = Dice::of_row(&row.name);
        let name = match &row.needs {
            Some(option) => format!("{} {}", row.name, given(option, &mut dice)),
            None => row.name.clone(),
        };
        let options = &row.options;
        commands.push(format!("{name} {}", dice.of(OPERANDS)));
        for option in options {
            commands.push(format!("{name} {} {}", given(option, &mut dice), dice.of(OPERANDS)));
        }
        if options.len() > 1 {
            let pair: Vec<String> = (0..2)
                .map(|_| {
                    let at = dice.below(options.len());
                    given(&options[at], &mut dice)
                })
                .collect();
            commands.push(format!("{name} {} {}", pair.join(" "), dice.of(OPERANDS)));
        }
    }
    commands
}

fn given(option: &(String, bool), dice: &mut Dice) -> String {
    match option {
        (name, true) if name.starts_with("--") => format!("{name}={}", dice.of(VALUES)),
        (name, true) => format!("{name} {}", dice.of(VALUES)),
        (name, false) => name.clone(),
    }
}

fn is_installed(program: &str) -> bool {
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"]
        .iter()
        .any(|place| std::path::Path::new(place).join(program).exists())
}

/// Whether only some programs are asked for, and this is none of them.
fn is_not_asked_for(program: &str) -> bool {
    std::env::var("UMBO_DIFFERENTIAL_PROGRAMS")
        .is_ok_and(|names| !names.split(',').any(|name| name == program))
}

/// Programs that ask a name server what an address is called, or for newer versions of themselves, and no more.
pub(crate) fn asks_for_names(program: &str) -> bool {
    matches!(
        program,
        "ss" | "netstat"
            | "arp"
            | "route"
            | "who"
            | "w"
            | "last"
            | "pinky"
            | "getent"
            | "terraform"
            | "npm"
    )
}

/// Rows that cannot be proven so: said here by name, with the reason.
fn is_left_out(name: &str) -> bool {
    let program = name.split(' ').next().unwrap_or_default();
    matches!(
        program,
        // Builtins of the shell.
        "cd" | "pushd" | "test" | "["
            // Never end.
            | "yes" | "sleep" | "watch"
            // Send a signal to a part of their own.
            | "dig" | "host" | "nslookup" | "rsync"
            // Opens a device for its questions.
            | "aconnect"
    )
}
