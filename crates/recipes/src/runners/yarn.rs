//! Yarn: the scripts of `package.json`, claimed by `yarn.lock`; classic and modern Yarn read the same scripts.

use crate::{
    detect::{Definition, Found, Scene},
    javascript,
};

pub(super) const RUNNER: Definition = Definition {
    id: "yarn",
    label: "Yarn",
    programs: &["yarn"],
    get: "npm install --global yarn",
    detect,
};

fn detect(scene: &Scene<'_>) -> Option<Found> {
    javascript::detect(scene, "yarn")
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn the_long_form_of_workspaces_is_read() {
        let manifest = r#"{"workspaces": {"packages": ["a"], "nohoist": ["**"]}}"#;
        let files = [
            ("package.json", manifest),
            ("yarn.lock", ""),
            ("a/package.json", r#"{"scripts": {"t": "x"}}"#),
        ];
        assert_eq!(read("yarn", &files).tasks[0].name, "a/t");
    }
}
