//! `umbo sandbox port`: a port that a job opened in its own network, on this machine.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::process::{self, ExitCode};
use std::thread;

use umbo_engine::{Condition, Status};

use crate::args::SandboxPort;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output;

pub(super) fn run(context: &Context, args: &SandboxPort) -> Result<ExitCode, Failure> {
    let caller = context.observer(&CallerWords::default())?;
    let job = caller.backend.job(&args.job)?;
    let Status::Started { pid, .. } = job.status()? else {
        return Err(Failure::new(format!("job {} does not run", job.id())));
    };
    let at = args.at.unwrap_or(args.port);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, at)).map_err(|error| {
        Failure::new(format!(
            "cannot listen at 127.0.0.1:{at}: {error}; --at PORT takes another one"
        ))
    })?;
    let address = listener.local_addr().map_err(|error| Failure::new(error.to_string()))?;
    // What listens already stays on the machine; what is connected from here on is connected inside.
    umbo_engine::sandbox::join_network(pid).map_err(|error| {
        Failure::new(format!("cannot enter the network of job {}: {error}", job.id()))
    })?;
    output::line(address)?;
    thread::spawn(move || {
        let _ = job.wait(&[Condition::Exit], None);
        process::exit(0);
    });
    for client in listener.incoming().flatten() {
        let port = args.port;
        thread::spawn(move || relay(&client, port));
    }
    Ok(ExitCode::SUCCESS)
}

/// Passes on what both sides say, until both have ended.
fn relay(client: &TcpStream, port: u16) -> io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .or_else(|_| TcpStream::connect((Ipv6Addr::LOCALHOST, port)))?;
    let pass = |mut from: &TcpStream, mut to: &TcpStream| {
        let _ = io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write)
    };
    thread::scope(|scope| {
        scope.spawn(|| pass(client, &server));
        pass(&server, client)
    })
}
