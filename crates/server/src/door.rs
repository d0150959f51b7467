//! One request: whether it may come in, and what is mounted where it wants to go.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes};
use hyper::header::ORIGIN;
use hyper::{Request, Response, StatusCode};
use tower_service::Service;

use crate::body::{Body, RequestBody};
use crate::connections::Connection;
use crate::guard::{Guard, share};
use crate::refusal::Refusal;

/// An answer on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Response<Body>, Refusal>> + Send + 'a>>;

/// Something that answers the requests for one path.
pub trait Mount: Send + Sync + 'static {
    /// Answers a request that was let in.
    fn answer(&self, request: Request<RequestBody>) -> Answering<'_>;

    /// Words a refusal as its clients expect it.
    fn refuse(&self, refusal: Refusal) -> Response<Body>;

    /// The server stops: ends what ends with it. May block.
    fn close(&self) {}
}

/// Checks requests and hands them to what is mounted. Clones share everything. As a `tower` service
/// it can be mounted on any server that speaks HTTP.
#[derive(Clone)]
pub struct Door {
    inner: Arc<Inner>,
}

struct Inner {
    guard: Guard,
    mounts: Vec<(&'static str, Arc<dyn Mount>)>,
}

/// Builds a [`Door`].
pub struct DoorBuilder {
    inner: Inner,
}

impl DoorBuilder {
    /// Mounts something at a path, as `/mcp`.
    #[must_use]
    pub fn mount(mut self, path: &'static str, mount: Arc<dyn Mount>) -> Self {
        self.inner.mounts.push((path, mount));
        self
    }

    /// The door.
    pub fn build(self) -> Door {
        Door { inner: Arc::new(self.inner) }
    }
}

impl Door {
    /// Starts building a door that `guard` watches.
    pub fn builder(guard: Guard) -> DoorBuilder {
        DoorBuilder { inner: Inner { guard, mounts: Vec::new() } }
    }

    /// Answers a request, one way or the other.
    pub async fn answer(&self, request: Request<RequestBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let what = format!("{} {}", parts.method, parts.uri.path());
        let mount = self.mount(parts.uri.path());
        if let Some(answer) = self.inner.guard.preflight(&parts) {
            return answer.unwrap_or_else(|refusal| self.refuse(&what, mount, refusal));
        }
        if let Err(refusal) = self.inner.guard.check(&parts) {
            return self.refuse(&what, mount, refusal);
        }
        if let Some(connection) = parts.extensions.get::<Connection>() {
            connection.trust();
        }
        let origin = parts.headers.get(ORIGIN).cloned();
        let answer = match mount {
            Some(mount) => mount.answer(Request::from_parts(parts, body)).await,
            None => Err(self.nothing_at(parts.uri.path())),
        };
        let mut response = answer.unwrap_or_else(|refusal| self.refuse(&what, mount, refusal));
        // What was let in may be read by the page it came from, refusals included.
        share(origin.as_ref(), response.headers_mut());
        response
    }

    fn refuse(&self, what: &str, mount: Option<&dyn Mount>, refusal: Refusal) -> Response<Body> {
        let status = refusal.status().as_u16();
        tracing::warn!(request = what, status, reason = refusal.message(), "refused");
        match mount.or_else(|| self.only_mount()) {
            Some(mount) => mount.refuse(refusal),
            None => refusal.into_plain_response(),
        }
    }

    /// Ends what ends with the server. Blocks.
    pub fn close(&self) {
        for (_, mount) in &self.inner.mounts {
            mount.close();
        }
    }

    fn mount(&self, path: &str) -> Option<&dyn Mount> {
        let found = self.inner.mounts.iter().find(|(mounted, _)| *mounted == path);
        found.map(|(_, mount)| &**mount)
    }

    /// Where one thing is mounted, its clients are the only ones there are, whatever path they try.
    fn only_mount(&self) -> Option<&dyn Mount> {
        match &self.inner.mounts[..] {
            [(_, mount)] => Some(&**mount),
            _ => None,
        }
    }

    fn nothing_at(&self, path: &str) -> Refusal {
        let paths: Vec<&str> = self.inner.mounts.iter().map(|(path, _)| *path).collect();
        let why = format!("there is nothing at {path:?}; the server is at {}", paths.join(" "));
        Refusal::new(StatusCode::NOT_FOUND, &why)
    }
}

impl<B> Service<Request<B>> for Door
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let door = self.clone();
        let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
        Box::pin(async move { Ok(door.answer(request).await) })
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths: Vec<&str> = self.inner.mounts.iter().map(|(path, _)| *path).collect();
        f.debug_struct("Door").field("mounted", &paths).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for DoorBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoorBuilder").finish_non_exhaustive()
    }
}
