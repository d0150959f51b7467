//! Listening: connections, their number and their pace.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::connections::{Connections, Place};
use crate::door::Door;

/// With this many connections open, strangers give way and others wait.
const MOST_CONNECTIONS: usize = 512;
/// How long the headers of a request may take to arrive.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long no connection is taken after one could not be.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);
/// How long calls may take to end after the server was stopped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// More calls than this do not block threads at the same time.
const MOST_BLOCKING_THREADS: usize = 512;

/// Whether other machines may reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// They may not.
    Loopback,
    /// They may, through a proxy that encrypts.
    Proxied,
}

/// A server that listens, with a runtime of its own.
pub struct HttpServer {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
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
    /// Listens at an address. Port 0 is any that is free.
    pub fn bind(address: SocketAddr, exposure: Exposure) -> Result<Self, Error> {
        if exposure == Exposure::Loopback && !address.ip().is_loopback() {
            return Err(Error::Exposed(address));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MOST_BLOCKING_THREADS)
            .enable_all()
            .build()?;
        let listen = |source| Error::Listen { address, source };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { runtime, listener, address, stop: CancellationToken::new() })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped.
    pub fn serve(self, door: &Door) {
        let Self { runtime, listener, stop, .. } = self;
        runtime.block_on(serve(listener, door.clone(), stop.cancelled()));
        door.close();
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    }
}

/// Serves on the runtime that calls, until `stop` is ready. What ends with the server ends with
/// [`Door::close`], which blocks and is the caller's to call.
pub async fn serve(listener: TcpListener, door: Door, stop: impl Future<Output = ()>) {
    tokio::select! {
        () = accept(listener, door) => {}
        () = stop => {}
    }
}

async fn accept(listener: TcpListener, door: Door) {
    let connections = Connections::new(MOST_CONNECTIONS);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let place = connections.enter(peer.ip()).await;
                tokio::spawn(converse(stream, door.clone(), place));
            }
            // Too many open files, or a client that left again: the next one may be luckier.
            Err(error) => {
                tracing::warn!(%error, "cannot take a connection");
                tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, door: Door, place: Place) {
    let _ = stream.set_nodelay(true);
    let connection = place.connection.clone();
    let door = Arc::new(door);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        let door = Arc::clone(&door);
        request.extensions_mut().insert(connection.clone());
        let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        result = serving => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection broke");
            }
        }
        () = place.close.cancelled() => tracing::debug!("a connection without a token gave way"),
    }
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer").field("address", &self.address).finish_non_exhaustive()
    }
}
