//! npm: the scripts of `package.json`, used when no other lock file or field claims the folder.

use crate::{
    detect::{Definition, Found, Scene},
    javascript,
};

pub(super) const RUNNER: Definition = Definition {
    id: "npm",
    label: "npm",
    programs: &["npm"],
    get: "comes with Node.js (https://nodejs.org)",
    detect,
};

fn detect(scene: &Scene<'_>) -> Option<Found> {
    javascript::detect(scene, "npm")
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn npm_owns_a_folder_that_nobody_else_claims() {
        let manifest = ("package.json", "{\n\"scripts\": {\"pretest\": \"a\",\n\"test\": \"b\"}}");
        for files in [vec![manifest], vec![manifest, ("package-lock.json", "")]] {
            let task = read("npm", &files).task("test").cloned().unwrap();
            assert_eq!(task.command(), "npm run test");
            assert_eq!(
                (task.source.unwrap().line, task.depends),
                (3, vec![String::from("pretest")])
            );
        }
    }
}
