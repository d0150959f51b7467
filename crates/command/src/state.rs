//! What a shell remembers while it runs a text: its functions, its directory, the files it wrote.

use std::rc::Rc;

use crate::hash::HashMap;

use crate::effect::{DESTROY, Does};
use crate::path;
use crate::walk::Walk;

/// The functions that are defined at a point of the text. Definitions only ever come and go at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    names: Vec<String>,
    /// How often each name is among them.
    count: HashMap<String, usize>,
    /// Those whose body is being read.
    open: Vec<String>,
}

impl Functions {
    /// How many there are, for [`Functions::back_to`].
    pub(crate) fn mark(&self) -> usize {
        self.names.len()
    }

    /// Forgets all that were defined since.
    pub(crate) fn back_to(&mut self, mark: usize) {
        while self.names.len() > mark
            && let Some(name) = self.names.pop()
        {
            self.forget_one(&name);
        }
    }

    pub(crate) fn define(&mut self, name: &str) {
        self.names.push(name.to_owned());
        *self.count.entry(name.to_owned()).or_default() += 1;
    }

    /// `unset`: the name may be a program's again.
    pub(crate) fn unset(&mut self, name: &str) {
        self.count.remove(name);
    }

    fn forget_one(&mut self, name: &str) {
        if let Some(count) = self.count.get_mut(name) {
            *count -= 1;
            if *count == 0 {
                self.count.remove(name);
            }
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.count.contains_key(name)
    }

    pub(crate) fn enter(&mut self, name: &str) {
        self.open.push(name.to_owned());
    }

    pub(crate) fn leave(&mut self) {
        self.open.pop();
    }

    /// Whether a call of the name is a call of a function inside of itself.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|open| open == name)
    }
}

/// No kernel takes a longer path.
const LONGEST_PATH_BYTES: usize = 4096;

/// Where a text is: the directory that its `cd`s lead to, as far as they say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// From where the text began; empty while it is still there.
    path: String,
    /// All the others it may be in, for each `cd` on the way may have failed.
    possible: Rc<Vec<String>>,
}

/// Of more directories than this nobody keeps account: where a text is then is not known.
const MOST_DIRECTORIES: usize = 16;
/// A directory only known at run time.
const ANYWHERE: &str = "$";

impl Directory {
    pub(crate) fn enter(&mut self, to: &str) {
        let to = if to.is_empty() { "~" } else { to };
        if is_rooted(to) || self.path.is_empty() {
            to.clone_into(&mut self.path);
        } else if self.path.len() + to.len() < LONGEST_PATH_BYTES {
            self.path = format!("{}/{to}", self.path);
        }
        // Otherwise there is no such directory, and nobody goes there.
        self.follow(to);
    }

    /// Adds where a `cd` leads to from everywhere that the text may be.
    fn follow(&mut self, to: &str) {
        let from_here = |here: &str| match here {
            "" => to.to_owned(),
            here => format!("{here}/{to}"),
        };
        let added: Vec<String> = if to == "-" && !self.possible.is_empty() {
            // Back to one that is listed.
            Vec::new()
        } else if to == "-" {
            vec![ANYWHERE.to_owned()]
        } else if is_rooted(to) {
            vec![to.to_owned()]
        } else {
            self.possible().map(from_here).collect()
        };
        let possible = Rc::make_mut(&mut self.possible);
        for directory in added {
            if !possible.contains(&directory) {
                possible.push(directory);
            }
        }
        if possible.len() > MOST_DIRECTORIES {
            *possible = vec![ANYWHERE.to_owned()];
        }
    }

    /// Every directory that the text may be in, from where it began; empty for that one.
    pub(crate) fn possible(&self) -> impl Iterator<Item = &str> {
        std::iter::once("").chain(self.possible.iter().map(String::as_str))
    }

    /// How much there is to look through for each path.
    pub(crate) fn bytes(&self) -> usize {
        self.path.len()
    }

    /// A path as it is from here. Nothing if it is the same as it was.
    pub(crate) fn resolve(&self, text: &str) -> Option<String> {
        (!self.path.is_empty() && !is_rooted(text) && !text.contains("://"))
            .then(|| format!("{}/{}", self.path, text.trim_start_matches("./")))
    }
}

fn is_rooted(text: &str) -> bool {
    text.starts_with(['/', '~', '$'])
}

/// Texts of files: what the line itself wrote, and what the caller says is in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    texts: HashMap<String, String>,
    /// A search looked for files that are secrets, or a loop goes over them: they may be opened later.
    pub(crate) secrets_found: bool,
    /// The names of secrets were printed: what takes them from its input may open them.
    pub(crate) secrets_listed: bool,
}

impl Files {
    pub(crate) fn write(&mut self, name: &str, text: &str, appends: bool) {
        let entry = self.texts.entry(path::normal(name)).or_default();
        if !appends {
            entry.clear();
        }
        entry.push_str(text);
        entry.push('\n');
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(&path::normal(name)).map(String::as_str)
    }
}

/// Paths, seen from where the text has gone.
impl Walk {
    /// Whether a path is a secret, here or from where the text has gone.
    pub(crate) fn is_secret(&self, text: &str) -> bool {
        path::is_secret(text)
            || self.directory.resolve(text).is_some_and(|text| path::is_secret(&text))
    }

    /// Why writing to a path is worse than an ordinary change, here or from where the text has gone.
    pub(crate) fn danger_of_writing(&self, text: &str) -> Option<Does> {
        path::danger_of_writing(text).or_else(|| {
            self.directory.resolve(text).and_then(|text| path::danger_of_writing(&text))
        })
    }

    /// Why removing a file or changing it in place is worse than an ordinary change. Files of a project
    /// are in its repository; those in the folders of a home are nowhere else.
    pub(crate) fn danger_of_losing(&self, text: &str) -> Option<Does> {
        let personal = || {
            path::is_personal(text)
                || self.directory.resolve(text).is_some_and(|text| path::is_personal(&text))
        };
        self.danger_of_writing(text).or_else(|| personal().then_some(LOSES_PERSONAL))
    }

    /// Whether a path is all of a system, a home or a project.
    pub(crate) fn is_everything(&self, text: &str) -> bool {
        path::is_everything(text)
            || self.directory.resolve(text).is_some_and(|text| path::is_everything(&text))
    }
}

/// A file of which nobody has another copy.
const LOSES_PERSONAL: Does =
    Does { phrase: "removes or changes a personal file that has no other copy", ..DESTROY };
