//! Interpreters: `python -c`, `node -e`, `perl -e`, and programs in files.
//!
//! Code on the command line is unknown unless it is trivially safe: every name in it is on a short list
//! of names through which nothing can be reached but input, output and arithmetic.

use crate::effect::{BUILD, INSTALL, LISTEN, READ, RUN, UNKNOWN, WRITE};
use crate::row::Row;
use crate::supposition::Supposition;
use crate::walk::{Input, Walk};
use crate::word::Word;

/// Names a Python one-liner may use, attributes included.
const PYTHON: &str = "import from as for in if else elif not and or is None True False lambda print len range sorted sum min max abs round int float str bool list dict set tuple enumerate zip map filter reversed any all isinstance type repr format ord chr hex bin json sys re math datetime date time collections itertools functools operator statistics string textwrap decimal fractions random uuid hashlib base64 struct platform version version_info executable stdin stdout stderr read readlines readline write load loads dumps dump get items keys values append extend join split strip rstrip lstrip replace startswith endswith lower upper title count index find sort indent sort_keys ensure_ascii separators key reverse end sep default sub search match findall compile group groups sqrt pi floor ceil log exp now today utcnow fromtimestamp strftime strptime isoformat timedelta total_seconds Counter defaultdict most_common OrderedDict deque namedtuple chain product permutations combinations accumulate groupby reduce partial mean median stdev hexdigest sha256 sha1 md5 sha512 encode decode b64encode b64decode uuid4 pack unpack calcsize machine python_version maxsize argv byteorder splitlines zfill ljust rjust center isdigit isalpha isalnum partition rpartition with pass break continue while try except Exception finally raise ValueError KeyError";

/// Names a Node one-liner may use.
const NODE: &str = "const let var if else for of in new return typeof instanceof null undefined true false NaN Infinity console log error table info warn JSON parse stringify Object keys values entries fromEntries assign Array isArray from map filter reduce forEach join slice sort reverse includes indexOf find some every flat flatMap push pop length concat String Number Boolean Math max min floor ceil round abs random sqrt pow PI Date now toISOString getTime getFullYear toString toFixed split trim replace replaceAll match test startsWith endsWith toUpperCase toLowerCase padStart padEnd charCodeAt charAt codePointAt repeat parseInt parseFloat isNaN Set Map has get set add size process version versions arch platform node v8 argv Symbol BigInt RegExp encodeURIComponent decodeURIComponent async await";

/// Calls that delete files, in one language or another.
const DELETES: [&str; 14] = [
    "rmtree",
    "unlink",
    "os.remove",
    "removeSync",
    "Deno.remove",
    "rmSync",
    "rmdirSync",
    "unlinkSync",
    "fs.rm",
    "FileUtils.rm",
    "File.delete",
    "rmtree(",
    "remove_dir_all",
    "delete-file",
];

impl Walk {
    pub(super) fn code(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let python = name.starts_with("py") || name.starts_with("ipy");
        let node = name.starts_with("node");
        // Options of Python that leave its program alone.
        let plain = |word: &&Word| {
            python && matches!(word.text.as_str(), "-u" | "-B" | "-I" | "-s" | "-E" | "-q" | "-S")
        };
        let at = args.iter().take_while(plain).count();
        let Some(first) = args.get(at) else {
            self.interpret_input(name, python);
            return;
        };
        let rest = &args[at + 1..];
        // Options of the others may come after the program, and load another one.
        let operands =
            || rest.iter().skip(1).all(|word| !word.may_be_option && !word.starts_with("-"));
        match first.text.as_str() {
            "-c" if python => self.snippet(name, rest.first(), PYTHON, false),
            "-e" | "-p" | "-pe" | "--eval" | "--print" if node && operands() => {
                self.snippet(name, rest.first(), NODE, true);
            }
            "-m" if python => self.python_module(name, rest),
            "-c" | "--check" if (node || name == "ruby") && one_file(rest) => {
                self.find(READ, name, format!("{name} {}", first.text));
            }
            "-l" if name == "php" && one_file(rest) => self.find(READ, name, "php -l"),
            _ if name == "php" && super::server::is_php_server(args) => {
                self.php_server(name, args);
            }
            "-" => self.interpret_input(name, python),
            "-v" | "-V" | "-version" | "--version" if args.len() == 1 => {
                self.plain(row, name, args);
            }
            _ if !first.literal || crate::judge::is_process(first) => {
                self.foreign(name, format!("{name} {}", first.text));
            }
            _ if rest.iter().any(|word| word.text == "-") => self.interpret_input(name, python),
            _ => {
                self.find(RUN, name, format!("{name} {}", first.text));
                self.quoted_commands(args);
                self.open_to_all(name, rest);
            }
        }
    }

    /// A program on the command line.
    fn snippet(&mut self, name: &str, code: Option<&Word>, allowed: &str, node: bool) {
        let Some(code) = code else {
            self.find(RUN, name, name);
            return;
        };
        let safe = code.exact().is_some_and(|text| is_trivial(text, allowed, node));
        if safe {
            if !node {
                self.suppose_of_directory(Supposition::PythonHasNoModules);
            }
            self.find(READ, name, format!("{name} with a trivial program"));
            return;
        }
        if code.literal {
            self.find(RUN, name, format!("{name} with a program on the command line"));
        } else {
            self.foreign(name, format!("{name} with a program only known at run time"));
        }
        self.quoted_commands(std::slice::from_ref(code));
    }

    /// Strings in code may be commands: `os.system("rm -rf x")`.
    fn quoted_commands(&mut self, words: &[Word]) {
        for word in words {
            crate::scan::dangers(self, word.likely());
            if DELETES.iter().any(|call| word.likely().contains(call)) {
                self.find(crate::effect::DESTROY, "code", "a program that deletes files");
            }
        }
    }

    /// What a text would do that is typed into an interpreter or a database.
    pub(crate) fn typed(&mut self, text: &str) {
        self.quoted_commands(&[Word::literal(text)]);
        // A statement ends in a semicolon; words that only look like one do not.
        for statement in text.split_inclusive(';').filter(|part| part.ends_with(';')) {
            let does = super::sql::statement(statement.trim_end_matches(';'));
            if does.risk == crate::risk::Risk::Dangerous {
                self.find(does, "typed", statement.trim().to_owned());
            }
        }
    }

    /// The interpreter reads its program from standard input.
    fn interpret_input(&mut self, name: &str, python: bool) {
        self.runs_input = true;
        match self.take_input() {
            Input::Text(text) if python && is_trivial(&text, PYTHON, false) => {
                self.find(READ, name, format!("{name} with a trivial program"));
            }
            Input::Text(text) | Input::Likely(text) => {
                self.find(RUN, name, format!("{name} with a program from its input"));
                self.quoted_commands(&[Word::literal(text)]);
            }
            _ => self.foreign(name, format!("… | {name}")),
        }
    }

    fn python_module(&mut self, name: &str, args: &[Word]) {
        let module = args.first().map_or("", |word| word.likely());
        self.suppose_of_directory(Supposition::PythonHasNoModules);
        let does = match module {
            "json.tool" => {
                self.json_tool(name, &args[1..]);
                return;
            }
            "this" | "platform" | "calendar" | "tokenize" | "ast" | "tabnanny" => READ,
            "site" | "sysconfig" if args.len() == 1 => READ,
            "http.server" => {
                self.http_server(name, &args[1..]);
                return;
            }
            "SimpleHTTPServer" | "smtpd" | "pydoc" => LISTEN,
            "pip" | "flask" | "uvicorn" | "gunicorn" | "streamlit" => {
                if let Some(row) = crate::table::find(module) {
                    self.by_row(row, module, &args[1..]);
                }
                return;
            }
            "venv" | "virtualenv" | "ensurepip" | "zipapp" => WRITE,
            "pytest" | "unittest" | "doctest" | "mypy" | "ruff" | "black" | "build"
            | "coverage" | "flake8" | "pylint" | "isort" | "compileall" | "py_compile" | "tox" => {
                BUILD
            }
            "twine" => crate::effect::RELEASE,
            "poetry" => INSTALL,
            "" => UNKNOWN,
            _ => RUN,
        };
        self.find(does, name, format!("{name} -m {module}"));
    }

    /// `json.tool [FILE [OUTFILE]]`.
    fn json_tool(&mut self, name: &str, args: &[Word]) {
        let what = format!("{name} -m json.tool");
        let is_value = |at: usize| at > 0 && args[at - 1].text == "--indent";
        let operands: Vec<&Word> = (0..args.len())
            .filter(|at| !args[*at].starts_with("-") && !is_value(*at))
            .map(|at| &args[at])
            .collect();
        if operands.len() > 1 || args.iter().any(|word| word.may_split) {
            self.writes(name, what, operands.get(1).copied());
        } else {
            self.find(READ, name, what);
        }
        for word in operands.iter().take(1) {
            self.path_target(READ, name, word);
        }
    }
}

/// Whether the arguments are one file and nothing else.
fn one_file(args: &[Word]) -> bool {
    matches!(args, [file] if !file.may_be_option && !file.may_split && !file.starts_with("-"))
}

/// Objects of JavaScript through which everything else can be reached, and what is harmless of them.
const GUARDED: [(&str, &[&str]); 2] = [
    ("process", &[".version", ".versions.", ".arch", ".platform", ".argv"]),
    ("console", &[".log(", ".error(", ".table(", ".info(", ".warn("]),
];

/// Whether code can only compute and print: every name in it is allowed, or is one letter long.
fn is_trivial(code: &str, allowed: &str, node: bool) -> bool {
    let mut chars = code.chars().peekable();
    let mut before = '\n';
    let mut importing = false;
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => continue,
            '\'' | '"' if !skip_string(&mut chars, c) => return false,
            // `{'constructor': f} = g` takes any property out of an object.
            '\'' | '"' if node && "{,".contains(before) && next_is(&chars, ":") => return false,
            '`' | '\\' | '#' | '@' => return false,
            '/' if node => return false,
            // `object[key]` reaches any property of a JavaScript object.
            '[' if node && !"(,=[:".contains(before) && !is_index(chars.clone()) => return false,
            ';' | '\n' => importing = false,
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let mut name = String::from(c);
                while let Some(next) =
                    chars.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | '$'))
                {
                    name.push(next);
                }
                importing |= matches!(name.as_str(), "import" | "from");
                let rest = || chars.clone().collect::<String>();
                let guarded = GUARDED.iter().find(|(guarded, _)| node && *guarded == name);
                if guarded.is_some_and(|(_, safe)| !safe.iter().any(|one| rest().starts_with(one)))
                {
                    return false;
                }
                // `f"…"` holds code; `r"…"` and `b"…"` do not.
                if chars.peek().is_some_and(|next| matches!(next, '\'' | '"')) && name.len() <= 2 {
                    if !matches!(name.as_str(), "r" | "b" | "rb" | "br" | "in" | "or" | "if" | "is")
                    {
                        return false;
                    }
                } else {
                    // One letter is a variable, but not where it would be a module or an attribute.
                    let variable = name.len() == 1 && before != '.' && !importing;
                    // The function `compile` makes code of text; that of `re` does not.
                    let makes_code = name == "compile" && before != '.';
                    let known = allowed.split_whitespace().any(|one| one == name);
                    if makes_code || !(variable || known) {
                        return false;
                    }
                }
            }
            _ => {}
        }
        before = c;
    }
    true
}

/// Whether the next thing that is no blank begins so.
fn next_is(chars: &std::iter::Peekable<std::str::Chars<'_>>, text: &str) -> bool {
    let rest: String = chars.clone().collect();
    rest.trim_start().starts_with(text)
}

/// Whether a number and nothing else comes before the closing bracket.
fn is_index(chars: impl Iterator<Item = char>) -> bool {
    let mut digits = 0;
    for c in chars {
        match c {
            '0'..='9' => digits += 1,
            ']' => return digits > 0,
            _ => return false,
        }
    }
    false
}

/// Moves past a string; false when it is not closed on its line.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> bool {
    // Three quotes begin a text that ends elsewhere.
    if next_is_both(chars, quote) {
        return false;
    }
    loop {
        match chars.next() {
            None | Some('\n') => return false,
            Some('\\') => {
                chars.next();
            }
            Some(end) if end == quote => return true,
            Some(_) => {}
        }
    }
}

fn next_is_both(chars: &std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> bool {
    chars.clone().take(2).filter(|next| *next == quote).count() == 2
}

#[cfg(test)]
mod tests {
    use super::{NODE, PYTHON, is_trivial};

    #[test]
    fn programs_that_only_compute_are_trivial() {
        for code in [
            "print(1+1)",
            "import sys; print(sys.version)",
            "import json,sys; d=json.load(sys.stdin); print(d['name'])",
            "import json,sys\nfor x in json.load(sys.stdin): print(x['id'])",
        ] {
            assert!(is_trivial(code, PYTHON, false), "{code}");
        }
        assert!(is_trivial("console.log(process.version)", NODE, true));
    }

    #[test]
    fn programs_that_can_reach_the_world_are_not() {
        for code in [
            "import os; os.remove('x')",
            "open('x','w')",
            "__import__('os')",
            "eval('1')",
            "exec('x')",
            "import subprocess",
            "print(f\"{open('x')}\")",
            "getattr(sys,'modules')",
            "sys.modules['os']",
            "().__class__",
            "import shutil",
            "import json; json.codecs.open('x','w')",
            "print(open('/etc/passwd').read())",
            "import json.decoder as x; x.scanner",
            "import a",
            "from a import b",
            "type(lambda:0)(compile('import os','x','exec'),{})()",
            "''' ' ''';__import__(\"os\");''' ' '''",
        ] {
            assert!(!is_trivial(code, PYTHON, false), "{code}");
        }
        for code in [
            "require('fs').rmSync('x')",
            "process.exit()",
            "process['binding']",
            "k='constructor';f=console.log[k]",
            "console.log.constructor('x')()",
            "import('fs')",
            "console.log[0?'':'constructor']('x')()",
            "let {'constructor':f}=Math.max;f('x')()",
            "let { 'constructor' : f } = Math.max",
            "Object.entries(process).find(e=>e[0]=='kill')[1](1,9)",
            "p=process",
            "c=console",
        ] {
            assert!(!is_trivial(code, NODE, true), "{code}");
        }
    }
}
