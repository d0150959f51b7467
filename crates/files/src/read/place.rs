//! Where a path leads: a file, a part of one, or something inside it.

use crate::guard::AccessKind;
use crate::paths::Located;
use crate::select::{self, Selector};
use crate::{Call, Error, Session};

/// A file, and what of it is meant.
pub(super) struct Place {
    pub(super) located: Located,
    pub(super) selector: Selector,
    /// What comes behind the name of an archive or a database.
    pub(super) inner: Option<Inner>,
}

pub(super) enum Inner {
    #[cfg(feature = "archives")]
    Member(String),
    #[cfg(feature = "databases")]
    Query(String),
}

impl Place {
    /// A file may be called as if its name had a selector: the name as it is comes first. A database
    /// has its own use for what looks like one, an archive's member may have one.
    pub(super) fn find(session: &Session, path: &str, call: &Call) -> Result<Self, Error> {
        match session.locate(path, AccessKind::Read) {
            Ok(located) => return Ok(Self { located, selector: Selector::default(), inner: None }),
            // What is inside an archive may look like a way out of the project.
            Err(Error::NotFound { .. } | Error::Denied { .. }) => {}
            Err(error) => return Err(error),
        }
        #[cfg(feature = "databases")]
        if let Some((located, query)) =
            container(session, path, &[':', '?'], super::database::is_database_name)?
        {
            let inner = Some(Inner::Query(query));
            return Ok(Self { located, selector: Selector::default(), inner });
        }
        let (path, selector) = select::split(path)?;
        #[cfg(feature = "archives")]
        if let Some((located, member)) =
            container(session, path, &[':'], super::archive::is_archive)?
        {
            let inner = Some(Inner::Member(member[1..].to_owned()));
            return Ok(Self { located, selector, inner });
        }
        let located = session.locate_or_suffix(path, AccessKind::Read, call)?;
        Ok(Self { located, selector, inner: None })
    }
}

/// The file before a separator whose name is of a kind, and the rest with the separator.
#[cfg(any(feature = "archives", feature = "databases"))]
fn container(
    session: &Session,
    path: &str,
    separators: &[char],
    is_kind: fn(&str) -> bool,
) -> Result<Option<(Located, String)>, Error> {
    for (at, _) in path.match_indices(separators) {
        let (name, rest) = path.split_at(at);
        if !is_kind(name) {
            continue;
        }
        match session.locate(name, AccessKind::Read) {
            Ok(located) if !located.is_directory() => return Ok(Some((located, rest.to_owned()))),
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
