//! A backend of one's own: jobs in another process, over a socket. `remote SOCKET STATE` serves the
//! jobs of a state directory; [`client::Remote`] is the backend that a caller elsewhere uses.
//!
//! It is what a backend for another machine looks like, without the parts that make one good: one
//! connection for each call, and bytes as JSON.

mod protocol;
mod server;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    umbo_engine::init();
    let mut words = std::env::args().skip(1);
    let (Some(socket), Some(state)) = (words.next(), words.next()) else {
        return Err("usage: remote SOCKET STATE_DIRECTORY".into());
    };
    server::serve(&socket, &state)
}
