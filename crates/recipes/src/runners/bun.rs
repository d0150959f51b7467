//! Bun: the scripts of `package.json`, claimed by `bun.lock` or `bun.lockb`.

use crate::{
    detect::{Definition, Found, Scene},
    javascript,
};

pub(super) const RUNNER: Definition = Definition {
    id: "bun",
    label: "Bun",
    programs: &["bun"],
    get: "npm install --global bun",
    detect,
};

fn detect(scene: &Scene<'_>) -> Option<Found> {
    javascript::detect(scene, "bun")
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn either_lock_file_claims_the_folder() {
        for lock in ["bun.lock", "bun.lockb"] {
            let files =
                [("package.json", r#"{"scripts": {"t": "x"}}"#), ("yarn.lock", ""), (lock, "")];
            let runner = read("bun", &files);
            assert_eq!(runner.tasks[0].command(), "bun run t");
            assert_eq!(runner.evidence, ["package.json", lock]);
        }
    }
}
