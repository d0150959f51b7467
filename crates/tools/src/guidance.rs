//! What a dialect adds to the system prompt of an agent.

/// A section of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guidance {
    /// Its heading.
    pub title: &'static str,
    /// What it says.
    pub text: String,
}

impl std::fmt::Display for Guidance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "## {}\n{}", self.title, self.text)
    }
}

impl Guidance {
    /// A section with a heading.
    pub fn new(title: &'static str, text: impl Into<String>) -> Self {
        Self { title, text: text.into() }
    }
}
