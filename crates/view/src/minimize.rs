//! The noise of known tools, folded: progress and passing tests become a count.
//!
//! Off unless asked for. A rule is data: a pattern for one line, and the group it belongs to. A
//! run of lines of one group is folded except for its last line, which says what the tool was
//! doing when something else began. Lines that look like errors are never folded.

use std::sync::LazyLock;

use regex::bytes::RegexSet;

use crate::detect;
use crate::reader::Unit;

/// Fewer lines than this are not worth a notice.
const SHORTEST_RUN: usize = 4;

struct Rule {
    group: &'static str,
    pattern: &'static str,
}

const fn rule(group: &'static str, pattern: &'static str) -> Rule {
    Rule { group, pattern }
}

const RULES: &[Rule] = &[
    rule(
        "cargo progress",
        r"^(?: Downloading|  Downloaded|   Compiling|    Checking|     Locking|      Adding|    Updating|   Unpacking|       Fresh|       Dirty| Documenting|    Blocking|    Removing|   Upgrading) \S",
    ),
    rule("passing cargo tests", r"^test .* \.\.\. ok$"),
    rule("npm requests", r"^npm (?:http|timing|sill|verb|info) "),
    rule("npm deprecations", r"^npm (?:warn|WARN) deprecated "),
    rule("pnpm progress", r"^Progress: resolved \d|^\++$| *WARN  deprecated "),
    rule(
        "pip downloads",
        r"^\s*(?:Collecting|Downloading|Using cached|Obtaining|Processing|Requirement already satisfied:|Preparing metadata|Building wheel|Created wheel|Stored in directory:|Installing build dependencies|Getting requirements) ?|^\s+(?:━|╸|╺|─|-)+.* eta ",
    ),
    rule(
        "passing pytest tests",
        r"^\S+::.* (?:PASSED|XFAIL|SKIPPED.*)\s*(?:\[\s*\d+%\])?$|^\S+\.py [.sx]+\s*(?:\[\s*\d+%\])?$",
    ),
    rule("passing tests", r"^\s*(?:✓|√|✔)\s|^PASS "),
    rule(
        "passing go tests",
        r"^=== (?:RUN|PAUSE|CONT|NAME)\s|^\s*--- (?:PASS|SKIP): |^ok\s+\S+\s|^\?\s+\S+\s+\[no test files\]",
    ),
    rule(
        "make commands",
        r"^(?:\S*/)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|ranlib|ld|strip|install|libtool)\s|^\s+(?:CC|CXX|LD|AR|AS|GEN|HOSTCC|HOSTLD|LINK|CCLD|CXXLD|INSTALL|MKDIR|DESCEND|UPD|CHK)\s+\S|^make(?:\[\d+\])?: (?:Entering|Leaving) directory|^\[\s*\d+%\] (?:Building|Linking|Built|Generating|Consolidate|Scanning)|^\[\d+/\d+\] ",
    ),
    rule(
        "docker build steps",
        r"^#\d+ (?:sha256:|extracting |transferring |resolve |DONE |CACHED|pulling |naming |writing |exporting |\d+\.\d+ (?:Get:|Hit:|Fetched|Reading|Selecting|Preparing|Unpacking|Setting up|Processing|Collecting|Downloading|\(|fetch |added \d))",
    ),
    rule(
        "git progress",
        r"^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Writing|Resolving|Unpacking|Updating|Filtering) \w+: ",
    ),
];

static PATTERNS: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| detect::table(RULES.iter().map(|rule| rule.pattern)));

/// The group of noise that a sanitised line belongs to, if it does.
pub fn noise_group(line: &str) -> Option<&'static str> {
    let matched = PATTERNS.as_ref()?.matches(line.as_bytes());
    let group = RULES[matched.iter().next()?].group;
    if detect::error_rule(line).is_some() { None } else { Some(group) }
}

/// Folds a stream of units. It works in both directions: the units may come last first.
#[derive(Debug)]
pub(crate) struct Folder {
    backwards: bool,
    run: Vec<Unit>,
    group: Option<&'static str>,
}

impl Folder {
    pub(crate) fn new(backwards: bool) -> Self {
        Self { backwards, run: Vec::new(), group: None }
    }

    /// Takes the next unit, and gives those that are settled.
    pub(crate) fn push(&mut self, unit: Unit) -> Vec<Unit> {
        let group = if unit.clamped == 0 { noise_group(&unit.text) } else { None };
        let mut ready = Vec::new();
        if group != self.group || group.is_none() {
            ready = self.finish();
            self.group = group;
        }
        if group.is_some() {
            self.join(unit);
        } else {
            ready.push(unit);
        }
        ready
    }

    /// Keeps a run short in memory: only the ends of a long one matter.
    fn join(&mut self, unit: Unit) {
        if self.run.len() > 2 * SHORTEST_RUN {
            // The line that stays visible is the last of the text.
            let newest = self.run.len() - 1;
            let into = usize::from(self.backwards);
            let from = if self.backwards { newest } else { 1 };
            let other = self.run.remove(from);
            absorb(&mut self.run[into], &other);
        }
        self.run.push(unit);
    }

    /// Ends the current run.
    pub(crate) fn finish(&mut self) -> Vec<Unit> {
        let run = std::mem::take(&mut self.run);
        let Some(group) = self.group.take() else { return run };
        let lines: u64 = run.iter().map(|unit| unit.lines).sum();
        if run.len() < SHORTEST_RUN || lines < SHORTEST_RUN as u64 {
            return run;
        }
        let mut units = run;
        let last = if self.backwards { units.remove(0) } else { units.pop().unwrap_or_default() };
        let mut folded = Unit { folded: Some(group), ..Unit::default() };
        folded.range = units[0].range.clone();
        for unit in &units {
            absorb(&mut folded, unit);
        }
        if self.backwards { vec![last, folded] } else { vec![folded, last] }
    }
}

/// Adds what `other` stands for to `unit`.
fn absorb(unit: &mut Unit, other: &Unit) {
    unit.range.start = unit.range.start.min(other.range.start);
    unit.range.end = unit.range.end.max(other.range.end);
    unit.lines += other.lines;
    unit.changes.add(other.changes);
}
