//! Many clients over HTTP, as the protocol's streamable transport has it.
//!
//! A client of a revision with sessions has one, with jobs of its own, from its handshake until it
//! deletes it or is silent for long. Clients of the newest revision have no session; those that give
//! themselves a name (`?owner=NAME`) have jobs under that name, the others share theirs. Whoever
//! comes in has shown the token; see [`guard`].

pub(crate) mod callers;
mod door;
mod guard;
mod presence;
mod refusal;
mod sessions;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use umbo_tools::{Owner, Toolset};

use self::callers::Callers;
use self::door::Door;
use self::guard::Guard;
use self::sessions::Sessions;
use crate::answer::Catalogue;
use crate::{Error, FAREWELL, runtime};

/// More connections than this wait.
const MOST_CONNECTIONS: usize = 512;
/// How long the headers of a request may take to arrive.
const SLOWEST: Duration = Duration::from_secs(30);
/// How long no connection is taken after one could not be.
const BREATH: Duration = Duration::from_millis(100);

/// How a server is to listen.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Where. Port 0 is any that is free.
    pub address: SocketAddr,
    /// Whether other machines may reach it.
    pub exposure: Exposure,
    /// What every request must carry: 16 to 1024 visible ASCII characters.
    pub token: String,
    /// Names it goes by, besides those of the loopback.
    pub hosts: Vec<String>,
    /// Places that pages may come from, besides its own names.
    pub origins: Vec<String>,
    /// How long a client may be silent before what it runs in the foreground is stopped, and its
    /// session ends.
    pub patience: Duration,
    /// The name of callers that give none; each has its own jobs if there is none.
    pub owner: Option<String>,
}

/// Whether other machines may reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// They may not.
    Loopback,
    /// They may, through a proxy that encrypts.
    Proxied,
}

/// A server that listens.
pub struct HttpServer {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    door: Arc<Door>,
    stop: CancellationToken,
}

/// Stops a server from anywhere. Clones stop the same one.
#[derive(Debug, Clone)]
pub struct Stopper(CancellationToken);

impl Stopper {
    /// Stops it: no more requests are taken, and what runs in the foreground ends.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

impl HttpServer {
    /// Listens, and serves the tools that `make` makes for each caller.
    pub fn bind(
        options: &HttpOptions,
        make: impl Fn(Owner) -> Result<Toolset, String> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let address = options.address;
        if options.exposure == Exposure::Loopback && !address.ip().is_loopback() {
            return Err(Error::Exposed(address));
        }
        let mut hosts = options.hosts.clone();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        let guard = Guard::new(&options.token, &hosts, &options.origins)?;
        // Made once before anybody calls: what cannot be made is said at once.
        let catalogue = Catalogue::new(&make(Owner::Everybody).map_err(Error::Tools)?);
        let runtime = runtime()?;
        let listen = |source| Error::Listen { address, source };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let config = door::config();
        let stop = config.cancellation_token.clone();
        let door = Arc::new(Door {
            guard,
            catalogue: Arc::new(catalogue),
            hub: Arc::default(),
            callers: Callers::new(Box::new(make), options.owner.clone(), options.patience),
            sessions: Sessions::new(options.patience),
            config,
        });
        Ok(Self { runtime, listener, address, door, stop })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, door::PATH)
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped.
    pub fn serve(self) {
        let Self { runtime, listener, door, stop, .. } = self;
        let accepting = accept(listener, Arc::clone(&door));
        runtime.block_on(async move {
            tokio::select! {
                () = accepting => {}
                () = stop.cancelled() => {}
            }
        });
        door.sessions.end_all();
        door.callers.end();
        runtime.shutdown_timeout(FAREWELL);
    }
}

async fn accept(listener: TcpListener, door: Arc<Door>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let door = Arc::clone(&door);
                tokio::spawn(async move {
                    converse(stream, door).await;
                    drop(place);
                });
            }
            // Too many open files, or a client that left again: the next one may be luckier.
            Err(error) => {
                tracing::warn!(%error, "cannot take a connection");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, door: Arc<Door>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SLOWEST)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection broke");
    }
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer").field("address", &self.address).finish_non_exhaustive()
    }
}
