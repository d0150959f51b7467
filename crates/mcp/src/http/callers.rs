//! Who calls over HTTP: one for each session, and one for each name that comes without a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use umbo_server::{Presence, Visit};
use umbo_tools::{Owner, Toolset};

use crate::caller::Caller;

/// More names than this are not remembered.
const MOST_NAMES: usize = 256;

/// Makes the tools of a caller.
pub(crate) type Make = dyn Fn(Owner) -> Result<Toolset, String> + Send + Sync;

pub(crate) struct Callers {
    make: Box<Make>,
    /// The name of who gives none.
    name: Option<String>,
    /// How long a caller without a session may be silent before its foreground ends.
    idle_timeout: Duration,
    shared: Mutex<HashMap<Option<String>, Shared>>,
}

#[derive(Clone)]
struct Shared {
    caller: Arc<Caller>,
    presence: Arc<Presence>,
}

impl Callers {
    pub(crate) fn new(make: Box<Make>, name: Option<String>, idle_timeout: Duration) -> Arc<Self> {
        Arc::new(Self { make, name, idle_timeout, shared: Mutex::default() })
    }

    /// A caller of its own.
    pub(crate) fn fresh(&self, name: Option<&str>) -> Result<Arc<Caller>, String> {
        let name = name.map(str::to_owned).or_else(|| self.name.clone());
        (self.make)(name.map_or(Owner::Fresh, Owner::Named)).map(Caller::new)
    }

    /// The caller of this name, the same each time.
    pub(crate) fn shared(self: &Arc<Self>, name: Option<&str>) -> Result<Arc<Caller>, String> {
        Ok(self.known(name)?.caller)
    }

    /// Is there, under this name, until the result is dropped.
    pub(crate) fn visit(self: &Arc<Self>, name: Option<&str>) -> Result<Visit, String> {
        Ok(self.known(name)?.presence.visit())
    }

    /// Everybody is gone. Blocks.
    pub(crate) fn end(&self) {
        let all: Vec<Shared> = self.shared_callers().drain().map(|(_, shared)| shared).collect();
        end_all(all.into_iter().map(|shared| shared.caller));
    }

    fn known(self: &Arc<Self>, name: Option<&str>) -> Result<Shared, String> {
        let key = name.map(str::to_owned);
        if let Some(shared) = self.shared_callers().get(&key) {
            return Ok(shared.clone());
        }
        let made = Shared { caller: self.fresh(name)?, presence: Presence::new() };
        let mut callers = self.shared_callers();
        if callers.len() >= MOST_NAMES && !callers.contains_key(&key) {
            return Err(format!("{MOST_NAMES} callers are known by name; use one of their names"));
        }
        // Of two that come at the same moment, one made it for both.
        let shared = callers.entry(key.clone()).or_insert_with(|| {
            tokio::spawn(expire(Arc::clone(self), key, made.clone()));
            made
        });
        Ok(shared.clone())
    }

    fn shared_callers(&self) -> MutexGuard<'_, HashMap<Option<String>, Shared>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends callers, all at once.
pub(crate) fn end_all(callers: impl Iterator<Item = Arc<Caller>>) {
    thread::scope(|scope| {
        for caller in callers {
            scope.spawn(move || caller.end());
        }
    });
}

/// Ends the foreground of a caller whenever it has been silent for long. One with a name is
/// forgotten, for it can come back; one without keeps its jobs.
async fn expire(callers: Arc<Callers>, key: Option<String>, shared: Shared) {
    let has_name = key.is_some() || callers.name.is_some();
    loop {
        let visits = shared.presence.gone_for(callers.idle_timeout).await;
        if has_name {
            callers.shared_callers().remove(&key);
        }
        let caller = Arc::clone(&shared.caller);
        let _ = tokio::task::spawn_blocking(move || caller.end()).await;
        if has_name {
            return;
        }
        shared.presence.back(visits).await;
    }
}
