//! Maven: the phases of the build life cycle, for the project and for each of its modules. The
//! wrapper script of the project is used when there is one.

use crate::{
    detect::{Definition, Found, Scene},
    glob,
    project::Problem,
    task::{Arguments, Kind, Task},
};

pub(super) const RUNNER: Definition = Definition {
    id: "maven",
    label: "Maven",
    programs: &["./mvnw", "mvn"],
    get: "install maven from the system's packages (apt-get install maven)",
    detect,
};

const MANIFEST: &str = "pom.xml";

const PHASES: [(&str, &str); 8] = [
    ("clean", "Remove what was built"),
    ("validate", "Check that the project is complete"),
    ("compile", "Compile the sources"),
    ("test", "Run the unit tests"),
    ("package", "Build the archive"),
    ("verify", "Run the integration checks"),
    ("install", "Put the archive into the local repository"),
    ("deploy", "Publish the archive"),
];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    if !scene.folder.has(MANIFEST) {
        return None;
    }
    let mut found = Found::by(MANIFEST);
    let program = if scene.folder.program("./mvnw").is_some() { "./mvnw" } else { "mvn" };
    let text = found.take(scene.folder.text(MANIFEST));
    found.tasks = phases(program, &[]);
    let Some(text) = text else { return Some(found) };
    match elements(&text, &["project", "modules", "module"]) {
        Ok(modules) => members(scene, &mut found, program, &modules),
        Err((line, message)) => found.problems.push(Problem::new(MANIFEST, Some(line), message)),
    }
    Some(found)
}

fn phases(program: &str, extra: &[&str]) -> Vec<Task> {
    let tasks = PHASES.iter().map(|(phase, doc)| {
        let mut argv = vec![program];
        argv.extend(extra);
        argv.push(phase);
        let task = Task::new(*phase, Kind::Subcommand, &argv).doc(Some(doc));
        task.arguments(Arguments::Verbatim).source(MANIFEST, 1)
    });
    tasks.collect()
}

/// A module is built from the root, so that its siblings are known: `mvn -pl module -am phase`.
fn members(scene: &Scene<'_>, found: &mut Found, program: &str, modules: &[String]) {
    let limits = &scene.options.limits;
    let (directories, problems) =
        glob::packages(scene.folder, limits, MANIFEST, modules, &[MANIFEST]);
    found.problems.extend(problems);
    for directory in directories {
        let tasks = phases(program, &["-pl", &directory, "-am"]).into_iter();
        found.tasks.extend(tasks.map(|task| task.within(&directory, ".")));
    }
}

/// The texts of the elements on this path. A reader of tags only: enough for names, and strict
/// about nesting, so that a broken file has its line.
fn elements(text: &str, path: &[&str]) -> Result<Vec<String>, (usize, String)> {
    let mut stack: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(open) = rest.find('<') {
        line += rest[..open].matches('\n').count();
        rest = &rest[open..];
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<![CDATA[") {
            "]]>"
        } else if rest.starts_with("<?") {
            "?>"
        } else {
            ">"
        };
        let Some(length) = rest.find(end).map(|at| at + end.len()) else {
            return Err((line, String::from("a tag is left open")));
        };
        let tag = &rest[..length];
        let after = &rest[length..];
        let name = tag
            .trim_start_matches(['<', '/'])
            .split([' ', '>', '/', '\n', '\t', '\r'])
            .next()
            .unwrap_or("");
        if let Some(closing) = tag.strip_prefix("</") {
            let closing = closing.trim_end_matches('>').trim();
            if stack.pop() != Some(closing) {
                return Err((line, format!("`</{closing}>` closes nothing")));
            }
        } else if !tag.starts_with("<!") && !tag.starts_with("<?") && !tag.ends_with("/>") {
            stack.push(name);
            if stack == path {
                found.push(after.split('<').next().unwrap_or("").trim().to_owned());
            }
        }
        line += tag.matches('\n').count();
        rest = after;
    }
    match stack.last() {
        Some(open) => Err((line, format!("`<{open}>` is never closed"))),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_read_and_broken_files_have_their_line() {
        let text = "<?xml version=\"1.0\"?>\n<project a='b'>\n<!-- <modules><module>no</module> -->\n<x/>\n\
                    <modules><module> core </module><module>web</module></modules></project>";
        assert_eq!(elements(text, &["project", "modules", "module"]).unwrap(), ["core", "web"]);
        assert_eq!(elements("<a>\n<b>\n</a>", &["a"]).unwrap_err().0, 3);
        assert!(elements("<a", &["a"]).is_err());
        assert!(elements("<a>", &["a"]).is_err());
    }
}
