//! pnpm: the scripts of `package.json`, claimed by `pnpm-lock.yaml`; packages come from `pnpm-workspace.yaml`.

use crate::{
    detect::{Definition, Found, Scene},
    javascript,
};

pub(super) const RUNNER: Definition = Definition {
    id: "pnpm",
    label: "pnpm",
    programs: &["pnpm"],
    get: "npm install --global pnpm",
    detect,
};

fn detect(scene: &Scene<'_>) -> Option<Found> {
    javascript::detect(scene, "pnpm")
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn packages_come_from_the_workspace_file_and_the_field_claims_without_a_lock() {
        let runner = read(
            "pnpm",
            &[
                ("package.json", r#"{"packageManager": "pnpm@9.0.0+sha512.x"}"#),
                ("pnpm-workspace.yaml", "packages: ['libs/*', '!libs/old']\n"),
                ("libs/a/package.json", r#"{"name": "a", "scripts": {"t": "x"}}"#),
                ("libs/old/package.json", r#"{"name": "old", "scripts": {"t": "x"}}"#),
            ],
        );
        assert_eq!(runner.tasks.len(), 1);
        assert_eq!(
            (runner.tasks[0].name.as_str(), runner.tasks[0].directory.as_str()),
            ("a/t", "libs/a")
        );
    }
}
