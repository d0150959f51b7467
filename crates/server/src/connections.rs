//! Connections that are open. One that has not shown the token yet gives way when there is no room:
//! whoever only holds connections open keeps nobody out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// All open connections of a server.
pub(crate) struct Connections {
    most: usize,
    state: Mutex<State>,
    left: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    open: HashMap<u64, Open>,
}

struct Open {
    address: IpAddr,
    has_token: Arc<AtomicBool>,
    close: CancellationToken,
}

/// One connection, as requests on it see it.
#[derive(Clone)]
pub(crate) struct Connection {
    has_token: Arc<AtomicBool>,
}

impl Connection {
    /// A request on it showed the token.
    pub(crate) fn trust(&self) {
        self.has_token.store(true, Ordering::Relaxed);
    }
}

/// A place that a connection holds until this is dropped.
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) connection: Connection,
    /// Told when the connection has to give way.
    pub(crate) close: CancellationToken,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), left: Notify::new() })
    }

    /// A place for one more connection; waits while all places are held by connections that have
    /// shown the token.
    pub(crate) async fn enter(self: &Arc<Self>, address: IpAddr) -> Place {
        loop {
            let left = self.left.notified();
            if let Some(place) = self.try_enter(address) {
                return place;
            }
            left.await;
        }
    }

    fn try_enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut state = self.state();
        if state.open.len() >= self.most {
            let number = state.least_wanted()?;
            if let Some(open) = state.open.remove(&number) {
                open.close.cancel();
            }
        }
        let number = state.next;
        state.next += 1;
        let (has_token, close) = (Arc::<AtomicBool>::default(), CancellationToken::new());
        let open = Open { address, has_token: Arc::clone(&has_token), close: close.clone() };
        state.open.insert(number, open);
        let connection = Connection { has_token };
        Some(Place { connections: Arc::clone(self), number, connection, close })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The oldest connection without a token, of the address that has most of them.
    fn least_wanted(&self) -> Option<u64> {
        let strangers = || self.open.iter().filter(|(_, open)| !open.is_trusted());
        let mut by_address: HashMap<IpAddr, usize> = HashMap::new();
        for (_, open) in strangers() {
            *by_address.entry(open.address).or_default() += 1;
        }
        let (address, _) = by_address.into_iter().max_by_key(|(_, count)| *count)?;
        strangers().filter(|(_, open)| open.address == address).map(|(number, _)| *number).min()
    }
}

impl Open {
    fn is_trusted(&self) -> bool {
        self.has_token.load(Ordering::Relaxed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.state().open.remove(&self.number);
        self.connections.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
    }

    #[tokio::test]
    async fn the_oldest_stranger_of_the_busiest_address_gives_way() {
        let connections = Connections::new(3);
        let trusted = connections.enter(address(1)).await;
        trusted.connection.trust();
        let lone = connections.enter(address(2)).await;
        let first = connections.enter(address(3)).await;
        // All three are taken: of the two strangers one each, the choice is between them.
        let second = connections.enter(address(3)).await;
        assert!(!trusted.close.is_cancelled());
        assert_eq!(
            usize::from(lone.close.is_cancelled()) + usize::from(first.close.is_cancelled()),
            1
        );
        let _third = connections.enter(address(3)).await;
        assert!(first.close.is_cancelled() || second.close.is_cancelled());
        assert!(!trusted.close.is_cancelled());
    }

    #[tokio::test]
    async fn connections_with_a_token_keep_their_places_and_others_wait() {
        let connections = Connections::new(1);
        let trusted = connections.enter(address(1)).await;
        trusted.connection.trust();
        let waiting = {
            let connections = Arc::clone(&connections);
            tokio::spawn(async move { connections.enter(address(2)).await })
        };
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished() && !trusted.close.is_cancelled());
        drop(trusted);
        assert!(waiting.await.is_ok());
    }
}
