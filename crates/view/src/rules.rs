//! What errors look like, as data.
//!
//! A rule is a pattern for one line, without what stands before its message and without its
//! indentation. The first rule that matches names the line, so the special stand before the
//! general. Each rule names words of which a matching line has at least one; lines without any of
//! them are not looked at further.

/// What a finding is worth beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// Says what went wrong.
    Cause,
    /// Uses the words of errors, in no form that is known.
    General,
    /// Says that something went wrong before.
    Consequence,
    /// Says that all went well.
    Success,
}

/// How far an error goes on after the line that gives it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Just the line.
    Line,
    /// The indented lines after it, and the line that ends them.
    Indented,
    /// Up to the next empty line.
    Paragraph,
}

pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) worth: Worth,
    pub(crate) block: Block,
    /// A matching line has one of these, whatever their case.
    pub(crate) words: &'static [&'static str],
    pub(crate) pattern: &'static str,
}

const fn rule(
    id: &'static str,
    worth: Worth,
    block: Block,
    words: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule { id, worth, block, words, pattern }
}

use Block::{Indented, Line, Paragraph};
use Worth::{Cause, Consequence, General, Success};

/// The table. The first rule that matches names the line.
pub(crate) const RULES: &[Rule] = &[
    // Says only that something failed before.
    rule(
        "failed-before",
        Consequence,
        Line,
        &["error", "fail", "exit", "stop", "err!"],
        r"^error: (?:could not compile|aborting due to|test failed|doctest failed|build failed|\d+ targets? failed|recipe .* failed|script .* exited|command failed|process didn't exit|job failed|failed to push some refs)|^collect2: error: ld returned|^(?:npm|pnpm|yarn) (?:ERR!|error) (?:code|errno|path|command|Exit|Lifecycle|A complete log|This is probably)|^\S*ninja: build stopped|^Execution halted|^exit status \d+$|exit(?:ed)? (?:with )?(?:code|status):? [1-9]\d*\b|^Process completed with exit code|^ELIFECYCLE|^subprocess\.CalledProcessError",
    ),
    rule(
        "make",
        Consequence,
        Line,
        &[": *** "],
        r"^(?:g|b|d|mingw32-)?make(?:\[\d+\])?: \*\*\* ",
    ),
    rule(
        "test-counts",
        Consequence,
        Line,
        &["fail", "error"],
        r"^(?:Tests?|Test Suites|Suites|Specs|Ran|Total|Result|Results|Summary|FAILED|Found|Failures|Totals?)\b.*\b[1-9]\d* (?:failed|failures?|failing|errors?)\b|\b\d+ (?:tests? )?(?:passed|passing|pass|ok|succeeded|successful|examples|assertions|tests|skipped|runs|warnings?)\b.*\b[1-9]\d* (?:tests? )?(?:failed|failures?|failing|fail|errors?)\b|\b[1-9]\d* (?:tests? )?(?:failed|failures?|failing|errors?)\b.*\b\d+ (?:tests? )?(?:passed|passing|pass|ok|warnings?|total|skipped|succeeded)\b|^[1-9]\d* (?:failing|(?:tests? )?failed|failures?|errors?)\b(?: (?:generated|found|in |\(|total)|\.?$)|\b(?:failures?|errors?|failed)\s?[=:]\s?[1-9]\d*\b.*\b(?:tests?|passed|errors?|failures?|skipped)\b|^FAILED \(",
    ),
    rule(
        "build-failed",
        Consequence,
        Line,
        &["fail"],
        r"(?i)^(?:\W*\w+\W+){0,3}(?:build|compilation|command|job|tests?|step|task|pipeline|stage|check|run|suite|lint|typecheck) failed\b|^failure: build |^> Task \S+ FAILED|^The following tests FAILED|^test result: FAILED|^FAIL$|^FAIL\t",
    ),
    // Compilers.
    rule("rustc", Cause, Paragraph, &["error"], r"^error(?:\[E\d{4}\])?: "),
    rule(
        "gcc",
        Cause,
        Indented,
        &[
            "error", "fehler", "erreur", "错误", "錯誤", "エラー", "ошибка", "errore", "erro:",
            "오류", "fel:", "fout:", "chyba:", "błąd", "virhe",
        ],
        r"^(?:[A-Za-z]:)?[^\s:][^:]*:\d+(?::\d+)?(?:-\d+)?: (?i:(?:fatal |internal compiler |syntax |(?:schwerwiegender|interner Compiler-) ?)?(?:error|fehler)|erreur(?: fatale| interne)?|致命错误|错误|嚴重錯誤|錯誤|致命的エラー|エラー|фатальная ошибка|ошибка|errore(?: fatale)?|error fatal|erro(?: fatal)?|치명적인 오류|오류|fel|fout|chyba|błąd|virhe)(?: \[[^\]]*\])?(?:\s|\xc2\xa0|\xe2\x80\xaf)?(?::|：)",
    ),
    rule("tsc", Cause, Indented, &["error ts"], r"(?:\(\d+,\d+\):|:\d+:\d+ -) error TS\d+: "),
    rule(
        "msbuild",
        Cause,
        Line,
        &["error"],
        r"\(\d+(?:,\d+){0,3}\): (?:fatal )?error [A-Z]{1,6}\d+: |^\S+ : (?:fatal )?error [A-Z]{1,6}\d+: ",
    ),
    rule("paren", Cause, Indented, &["error"], r"^[^\s(]+\(\d+(?:, ?\d+)?\):? (?:fatal )?(?i:error)\b"),
    rule("go", Cause, Indented, &[".go:"], r"^(?:vet: )?[\w./@-]+\.go:\d+:\d+: "),
    rule("go-test", Cause, Indented, &["_test.go:"], r"^\w+_test\.go:\d+: "),
    rule("protoc", Cause, Line, &[".proto"], r"^[\w./-]+\.proto:(?:\d+:\d+:)? (?:[^w]|w[^a])"),
    rule("latex", Cause, Paragraph, &["! ", ".tex:"], r"^! \S|^\./?[\w./-]+\.tex:\d+: "),
    rule(
        "kotlin",
        Cause,
        Indented,
        &["e: ", "what went wrong"],
        r"^e: (?:file:|/|\S+\.kts?:)|^\* What went wrong:",
    ),
    rule("ocaml", Cause, Indented, &["error"], r"^Error: .*|^Error \(alert "),
    rule(
        "linker",
        Cause,
        Line,
        &[
            "undefined", "ld:", "ld.", "cannot find -l", "nicht definierter", "indéfinie",
            "未定义的引用", "未定義", "定義されていない", "sin definir", "неопредел", "multiple definition",
            "duplicate symbol",
        ],
        r"undefined reference to|undefined symbols?\b|\bld(?:\.\w+)?: (?:error|cannot find)|multiple definition of|duplicate symbol|nicht definierter Verweis auf|référence indéfinie vers|未定义的引用|未定義參考|定義されていない参照|referencia a .* sin definir|неопредел(?:е|ё)нная ссылка",
    ),
    rule(
        "located",
        Cause,
        Indented,
        &[
            "error", "undefined", "undeclared", "cannot", "can't", "unexpected", "unknown", "missing", "invalid",
            "expected", "no such", "not found", "unterminated", "unresolved", "ambiguous", "duplicate",
            "redefin", "attempt to", "not defined", "mismatch", "illegal", "not declared",
        ],
        r#"^(?:[\w+-]+: )?(?:File ")?[\w./@+\\-]*\.\w{1,10}"?(?::|, line |\()\d+(?:[:,.]\d+|, \d+)?\)?(?:-\d+)?[:,]? (?i:[\w '"`-]{0,30}\b(?:error\b|undefined|undeclared|cannot|can't|unexpected|unknown|missing|invalid|expected|no such|not found|unterminated|unresolved|ambiguous|duplicate|redefin|attempt to|mismatch|illegal|not declared|not defined|is not defined))"#,
    ),
    // Crashes and exceptions.
    rule("traceback", Cause, Indented, &["traceback"], r"^(?:\S+\s)?Traceback \(most recent call last\):"),
    rule("rust-panic", Cause, Paragraph, &["panicked at"], r"^(?:\S+ )?thread '.*' (?:\(\d+\) )?panicked at "),
    rule("go-panic", Cause, Paragraph, &["panic: ", "fatal error: "], r"^(?:panic|fatal error): "),
    rule(
        "sanitizer",
        Cause,
        Paragraph,
        &["sanitizer", "runtime error: ", "data race"],
        r"(?:ERROR|WARNING): \w+Sanitizer|: runtime error: |WARNING: DATA RACE|^SUMMARY: \w+Sanitizer",
    ),
    rule(
        "valgrind",
        Cause,
        Paragraph,
        &["=="],
        r"^==\d+== (?:Invalid |Conditional jump|Use of uninit|Process terminating|Mismatched free|Syscall param|Source and destination overlap|Possible data race|\s*definitely lost: [1-9]|Jump to the invalid)",
    ),
    rule(
        "cpp-terminate",
        Cause,
        Line,
        &["terminate called", "what():", "terminating"],
        r"^terminate called |^what\(\): |^libc\+\+abi: terminating",
    ),
    rule(
        "exception",
        Cause,
        Indented,
        &["error", "exception", "panic", "fault", "interrupt", "exit", "failure"],
        r"^(?:Uncaught |Unhandled |Error: |PHP )?(?:[\w$]+(?:\.|::|\\))*[A-Z]\w*(?:Error|Exception|Panic|Fault|Failure)\b(?::|\s\[|\s?\(|$)",
    ),
    rule(
        "java",
        Cause,
        Indented,
        &["exception in", "caused by", "suppressed:", "[cause]", "outofmemory"],
        r"^Exception in |^Caused by: |^Suppressed: |^\[cause\]: |OutOfMemoryError",
    ),
    rule(
        "node",
        Cause,
        Indented,
        &["uncaught", "unhandled", "heap out of memory"],
        r"^(?:Uncaught |Unhandled|UnhandledPromiseRejection|\(node:\d+\) Unhandled)|heap out of memory",
    ),
    rule(
        "ruby",
        Cause,
        Indented,
        &["error)", "exception)", ".rb:", "errno"],
        r"^\S+:\d+:in [`'].*: |\((?:\w+::)*[A-Z]\w*(?:Error|Exception|Errno::\w+)\)$",
    ),
    rule(
        "perl",
        Cause,
        Line,
        &[" line "],
        r"^\S.* at \S+ line \d+(?:, <\w*> (?:line|chunk) \d+)?\.?$|^syntax error at \S+ line \d+|^Can't locate \S+ in @INC",
    ),
    rule("lua", Cause, Indented, &["lua"], r"^lua(?:jit)?[\d.]*: |^\[C\]: in "),
    rule("r", Cause, Indented, &["error in ", "error:"], r"^Error in .|^Error: .* : "),
    rule(
        "php",
        Cause,
        Indented,
        &["fatal error", "parse error"],
        r"^(?:PHP )?(?:Fatal|Parse|Recoverable fatal) error: ",
    ),
    rule(
        "crash",
        Cause,
        Line,
        &[
            "segmentation", "core dumped", "bus error", "out of memory", "stack overflow", "killed", "aborted",
            "oom", "cannot allocate", "sigsegv", "sigabrt", "sigkill", "sigbus", "speicherzugriffsfehler",
            "段错误", "セグメンテーション", "сегментирования", "segmento", "speicherabzug", "illegal instruction",
            "floating point exception", "getötet", "processus arrêté", "已杀死", "已放弃",
        ],
        r"(?i)\bsegmentation (?:fault|violation)\b|\bcore dumped\b|\bbus error\b|\bout of memory\b|\bstack overflow\b|(?:^|: )killed\b|(?:^|: )aborted\b(?: \(core dumped\)|$)|\boom-?kill|\bcannot allocate memory\b|\bSIG(?:SEGV|ABRT|KILL|BUS|ILL|FPE)\b|\billegal instruction\b|\bfloating point exception\b|Speicherzugriffsfehler|Speicherabzug geschrieben|Erreur de segmentation|段错误|セグメンテーション違反|Ошибка сегментирования|Violación de segmento|Errore di segmentazione|已杀死|已放弃",
    ),
    rule(
        "assertion",
        Cause,
        Line,
        &["assert", "zusicherung"],
        r"(?i)\bassertion\b.*\bfailed\b|\bassert(?:ion)? (?:failed|violation|failure)\b|^assertion (?:with|error)|: Assertion `|Zusicherung .* nicht erfüllt",
    ),
    // Test runners.
    rule("pytest-failure", Cause, Line, &["e  "], r"^E {2,}\S"),
    rule(
        "pytest-section",
        Cause,
        Paragraph,
        &["= failures =", "= errors =", "____ "],
        r"^(?:=+ (?:FAILURES|ERRORS) =+|_{4,} .* _{4,}$)",
    ),
    rule(
        "tap",
        Cause,
        Indented,
        &["not ok ", "bail out!"],
        r"^not ok \d*|^Bail out!",
    ),
    rule(
        "gtest",
        Cause,
        Paragraph,
        &[": failure", "[  failed  ]"],
        r":\d+: Failure$|^\[  FAILED  \] |^\S+\(\d+\): error: ",
    ),
    rule(
        "ctest",
        Cause,
        Line,
        &["***"],
        r"^\d+/\d+ Test +#\d+: .*\*\*\*|\*\*\*(?:Failed|Timeout|Exception|Not Run)",
    ),
    rule(
        "go-json",
        Cause,
        Line,
        &["\"action\":\"fail\"", "\"output\":"],
        r#""Action":"fail".*"Test":|"Test":.*"Action":"fail"|"Output":"\s*(?:\w+_test\.go:\d+: |panic: |--- FAIL: |FAIL\b|fatal error: )"#,
    ),
    rule(
        "test-failed",
        Cause,
        Line,
        &["fail", "error"],
        r"^test .* \.\.\. FAILED|^--- FAIL: |\bFAILED\b|^FAIL(?:\s|:)|^\(fail\) |^(?:FAIL|ERROR): \w+|^(?:Failure/Error|Failed example|Error Message):|^Failed \S+ \[|\[FAIL\]|^\d+\) (?:Failure|Error):",
    ),
    rule("test-cross", Cause, Indented, &["✕", "✗", "×", "✖", "✘", "❌"], r"^(?:✕|✗|×|✖|✘|❌)\s"),
    rule("jest-failure", Cause, Indented, &["●"], r"^● .+"),
    rule("numbered-failure", Cause, Indented, &[") "], r"^[1-9]\d{0,2}\) [A-Za-z\[`'#]"),
    // Linters.
    rule(
        "lint-error",
        Cause,
        Line,
        &["error"],
        r"^\d+:\d+\s+(?:error|✖)\s+\S|^\S+:\d+:\d+ - error: |\(error\)|^In \S+ line \d+:$|^Warning, treated as error",
    ),
    rule(
        "lint-code",
        Cause,
        Indented,
        &[": f", ": e", "f6", "f7", "f8", "e9", "sc1", "sc2", "sc3", "sc4", "invalid-syntax", "syntaxerror"],
        r"^\S+:\d+:\d+: (?:F[678]\d\d|E9\d\d|E\d{4}|F\d{4}|SyntaxError)\b|^(?:F[678]\d\d|E9\d\d|invalid-syntax)\b|^(?:\^-- )?SC\d{4} \(error\)",
    ),
    // Logs of programs, by their levels.
    rule("klog", Cause, Line, &["e0", "e1", "f0", "f1"], r"^[EF]\d{4} \d\d:\d\d:\d\d\.\d+ "),
    rule("pino", Cause, Line, &["\"level\":"], r#""level":(?:50|60)\b"#),
    rule(
        "level",
        Cause,
        Line,
        &["error", "fatal", "critical", "severe", "emerg", "panic", "alert"],
        r"(?:^|[\s\[|(<])(?:ERROR|FATAL|CRITICAL|SEVERE|EMERG|PANIC|ALERT)(?:[\s\]:|)>]|$)",
    ),
    rule(
        "level-bracket",
        Cause,
        Line,
        &["[error]", "[crit]", "[alert]", "[emerg]", "[fatal]", "<error>", "<err>", "<crit>", "error |"],
        r"(?:^|\s)[\[<](?:error|crit|critical|alert|emerg|fatal|err)[\]>](?:\s|:|$)|^(?:error|fatal) +\| ",
    ),
    rule(
        "level-field",
        Cause,
        Line,
        &["level", "severity", "lvl"],
        r#"(?i)(?:^|[\s{,"'\[])(?:level|severity|lvl|levelname)["']?\s*[:=]\s*["']?(?:error|fatal|critical|panic|emerg|alert|err)\b"#,
    ),
    // Programs of every day.
    rule("npm", Cause, Line, &["err!", "err_", "npm error"], r"^(?:npm|pnpm|yarn) (?:ERR!|error) |^\s?ERR_\w+ |\bERR_PNPM_"),
    rule("cmake", Cause, Paragraph, &["cmake error"], r"^CMake Error"),
    rule(
        "buildkit",
        Cause,
        Line,
        &["error", "failed running", "successfully"],
        r"^ERROR: failed to |executor failed running|did not complete successfully",
    ),
    rule(
        "git",
        Cause,
        Line,
        &["conflict", "rejected", "merge failed", "declined", "would be overwritten"],
        r"^CONFLICT \(|! \[(?:remote )?rejected\]|^Automatic merge failed|hook declined|would be overwritten by",
    ),
    rule("curl", Cause, Line, &["curl: ("], r"^curl: \(\d+\) "),
    rule(
        "sql",
        Cause,
        Line,
        &["error near line", "error: near", "error: in prepare", "error:  ", "error: no such", "error: stepping", "error ", "fatal:  "],
        r"^(?:Parse|Runtime) error near line \d+|^(?:Error|Parse error|Runtime error): (?:near|in prepare|no such|stepping)|(?:ERROR|FATAL|PANIC):  |^ERROR \d{4} \(\w+\)",
    ),
    rule(
        "archive",
        Cause,
        Line,
        &["bad crc", "signature not found", "cannot find zipfile", "tar: ", "gzip: ", "crc error", "unexpected end of file", "xz: "],
        r"bad CRC |signature not found|cannot find zipfile|^(?:tar|gzip|bzip2|xz|zstd|unzip|7z)\S*: .*(?i:error|cannot|unexpected|not in gzip|corrupt|invalid|exiting|not recognized)|(?i)crc error|unexpected end of (?:file|archive)",
    ),
    rule(
        "dpkg",
        Cause,
        Line,
        &["e: ", "dpkg: ", "errors were encountered", "unmet dependencies"],
        r"^E: \S|^dpkg(?:-\w+)?: (?:error|dependency problems|unrecoverable)|^Errors were encountered|unmet dependencies",
    ),
    rule("apk", Cause, Line, &["unable to", "required by", "breaks:"], r"^ERROR: unable to|\(no such package\)"),
    rule("terraform", Cause, Paragraph, &["error: "], r"^(?:│|\|) Error: "),
    rule(
        "shell",
        Cause,
        Line,
        &[
            "not found", "no such file", "permission denied", "connection refused", "cannot find",
            "not permitted", "already in use", "no space left", "nicht gefunden", "introuvable",
            "no encontrad", "未找到命令", "見つかりません", "не найдена", "non trovato", "não encontrado",
            "oder verzeichnis", "ou dossier", "no existe el", "没有那个文件", "ファイルやディレクトリ",
            "нет такого файла", "non esistente", "inexistente", "keine berechtigung", "non accordée",
            "permiso denegado", "权限不够", "許可がありません", "отказано в доступе", "read-only file system",
            "not a directory", "is a directory", "text file busy", "exec format", "bad interpreter",
            "timed out", "name resolution", "could not resolve", "unbound variable", "nie znaleziono",
            "拒绝", "bulunamadı",
        ],
        r"(?i): (?:command )?not found$|no such file or directory|permission denied|connection (?:refused|timed out|reset)|cannot find (?:module|package)|operation (?:not permitted|timed out)|address already in use|no space left on device|read-only file system|: (?:not a|is a) directory|text file busy|exec format error|bad interpreter|name resolution|could not resolve|unbound variable|(?:Kommando|Befehl) nicht gefunden|commande introuvable|(?:orden|comando) no encontrad[oa]|未找到命令|コマンドが見つかりません|команда не найдена|comando non trovato|comando não encontrado|nie znaleziono polecenia|Datei oder Verzeichnis nicht gefunden|Aucun fichier ou dossier|No existe el (?:fichero|archivo) o el directorio|没有那个文件或目录|そのようなファイルやディレクトリはありません|Нет такого файла или каталога|File o directory non esistente|Arquivo ou diretório inexistente|Keine Berechtigung|Permission non accordée|Permiso denegado|权限不够|拒绝连接|許可がありません|Отказано в доступе",
    ),
    rule(
        "ended-badly",
        Cause,
        Line,
        &["exit_group(", "+++ ", "status=", "crashloop", "imagepull", "back-off"],
        r"exit_group\([1-9]\d*\)|\+\+\+ (?:exited with [1-9]|killed by)|status=[1-9]\d*/\w+|CrashLoopBackOff|ImagePullBackOff",
    ),
    // General words.
    rule(
        "generic",
        General,
        Line,
        &["fatal", "error", "critical", "err!", "fehler", "erreur", "错误", "エラー", "ошибка", "erro", "오류"],
        r"(?i)^(?:\[?[\w./@+-]+\]?[:\s]+){0,3}(?:fatal|(?:[\w-]+ )?error|critical|err!|(?:\w+)?fehler|erreur|错误|錯誤|エラー|ошибка|errore|erro|오류)(?:\[[^\]]*\]|\([^)]*\))?(?:\s|\xc2\xa0)?(?::|：)\s*\S",
    ),
    rule(
        "generic-failed",
        General,
        Line,
        &["fail", "could not", "unable to", "cannot", "can't", "couldn't", "refused", "rejected", "aborted", "denied"],
        r"(?i)^(?:\[?[\w./@+-]+\]?[:\s]+){0,3}(?:failed to |failed: |failure: |could not |couldn't |unable to |cannot |can't )\w|\b(?:has |have |was |were |is |are )?(?:failed|aborted|rejected|refused|denied)(?:$|[:;,.] )",
    ),
    // The summaries of runs that went well.
    rule(
        "success",
        Success,
        Line,
        &[
            "passed", "passing", "success", "finished", "built in", "done in", "added ", "ran ", "0 failures",
            "no issues", "no errors", "ok (", "tests passed", "complete", "up to date", "0 vulnerabilities",
            "pass", "0 errors", "up-to-date", "removed ", "changed ",
        ],
        r"^test result: ok\.|^Finished (?:`\w+` profile|\w+ \[)|^(?:=+ )?\d+ passed\b.* in [\d.]+s|^(?:Tests|Test Suites|Test Files|Specs):?\s+.*\d+ passed|^[1-9]\d* passing\b|^(?:\[INFO\] )?BUILD SUCCESS|^100% tests passed|^\[  PASSED  \] \d+ test|^OK \(\d+ tests?|^Ran \d+ tests? |^Successfully (?:installed|built|tagged|uninstalled)|^(?:added|removed|changed|up to date)\b.* (?:packages?|in [\d.]+m?s)|^Done in [\d.]+ ?m?s|(?i)\bcompiled successfully\b|^✓ built in|^webpack [\d.]+ compiled|^(?i:build (?:succeeded|complete|finished))|^All checks passed|^Success: no issues|^All (?:specs |\d+ )?tests (?:passed|successful)|^All tests successful|^Result: PASS|^\d+ examples?, 0 failures|^\d+ (?:runs|tests), .* 0 failures, 0 errors|^# pass\s+[1-9]|^Passed!  - |^\d+ (?:scenarios?|features?|steps?) passed\b|^\[100%\] Built target|^Setting up \S+ \(\S+\) \.\.\.$",
    ),
    rule(
        "generic-error",
        General,
        Line,
        &["error"],
        r"(?i)(?:^|[\s\[(|>-])(?:an |the |unexpected |internal |unknown |unhandled )?error(?:\]|\)|s? (?:in|at|while|when|during|occurred|reading|writing|loading|parsing|from|on|near|with|code|for|opening|executing|running)\b)",
    ),
];

/// Phrases that use the words and mean the opposite.
pub(crate) const INNOCENT: &str = r"(?i)\b(?:0|no|zero|without|any)\s+(?:\w+\s+)?(?:errors?|failures?|failed|failing)\b|\b(?:errors?|failures?|failed|failing)\s*[:=]\s*0\b|\b(?:errors?|failures?)\s*[:=]\s*(?:none|null|nil|false|\[\]|\x22\x22)|\berrors?(?:_count)?\x22\s*:\s*(?:0|null|false|\[\])|-W(?:no-)?error\b|--\w*-?errors?\b|on[-_]error\b";

/// Lines that say of a test that it passed, was left out or has begun, whatever its name is.
pub(crate) const PASSING: &str = r"^(?:✓|√|✔|☑|✅)\s|^ok\s+\d|^ok\s+\S+\s+[\d.]+m?s|^(?:PASS|PASSED|pass|\(pass\)|SKIP|SKIPPED)\b|^--- (?:PASS|SKIP): |^=== (?:RUN|PAUSE|CONT|NAME)\s|^\[\s+(?:OK|RUN|SKIPPED)\s+\] |\.\.\.\s*(?:ok|OK|skipped\b.*|ignored.*|pass(?:ed)?)$|\s(?:PASSED|Passed|XFAIL|XPASS|SKIPPED|ok|OK)\s*(?:\(.*\)|\[\s*\d+%\]|[\d.]+ ?m?s(?:ec)?)?$|^not ok .*# (?:TODO|SKIP)|^\d+/\d+ Test +#\d+: .* Passed\b|^(?:Passed|Skipped) \S|: OK$";

/// Words that make a line that is new in its surroundings worth more.
pub(crate) const ALARMING: &str = r"(?i)\b(?:cannot|can't|couldn't|could not|unable|not allowed|required|missing|invalid|unknown|unexpected|unsupported|no such|does(?: not|n't) exist|already exists|not (?:defined|found|declared|valid|match|supported|recogni[sz]ed|available)|mismatch|corrupt\w*|refus\w+|den(?:y|ied)|violat\w+|abort\w*|expired?|fail\w*|error\w*|wrong|bad|fatal|panic\w*|crash\w*|kill\w*|exceed\w*|too (?:big|large|long|many|small|few)|timed? ?out|undefined|undeclared|unresolved|conflict\w*|reject\w*|lost|broken|exception|leak\w*|overflow|stop(?:ped|ping)|giving up|unreachable|forbidden|unauthori[sz]ed|mis-?spelled|incorrect|illegal|malformed|truncated|deadlock)\b";
