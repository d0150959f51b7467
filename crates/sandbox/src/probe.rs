//! Which ways to enforce a sandbox this machine has, found out by building one.

use std::io;

use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, WaitOptions, waitpid};

use crate::namespace::{Namespace, socket_pair};
use crate::plan::{Network, Plan, Rung, Tell};
use crate::sys::namespace::{Fork, exit_now, fork};
use crate::walls::Walls;

/// Tries a way to enforce a sandbox; says what fails. The caller must be single-threaded.
pub fn probe(rung: Rung) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let (ours, theirs) = socket_pair().map_err(failed)?;
    let child = match fork().map_err(failed)? {
        Fork::Child => {
            let answer = try_out(rung);
            let _ = rustix::net::send(&theirs, answer.as_bytes(), SendFlags::NOSIGNAL);
            exit_now(0)
        }
        Fork::Parent(child) => child,
    };
    drop(theirs);
    let mut buffer = [0; 512];
    let heard = rustix::net::recv(&ours, &mut buffer[..], RecvFlags::empty());
    let _ = waitpid(Some(child), WaitOptions::empty());
    let count = heard.map_err(|error| failed(error.into()))?.1;
    let text = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()).into_owned();
    // The first process of the namespaces is a child of ours, and over.
    match text.split_once(' ') {
        Some(("works", pid)) => {
            if let Some(first) = pid.parse().ok().and_then(Pid::from_raw) {
                let _ = waitpid(Some(first), WaitOptions::empty());
            }
            Ok(())
        }
        _ => Err(text),
    }
}

fn try_out(rung: Rung) -> String {
    let plan = Plan {
        profile: String::new(),
        write: Vec::new(),
        protect: Vec::new(),
        hide: Vec::new(),
        show: Vec::new(),
        temporary: None,
        execute: None,
        network: Network::Off,
        connect: Vec::new(),
        drop_variables: Vec::new(),
        keep_variables: Vec::new(),
        ask: None,
        tell: Tell::Writes,
        rungs: vec![rung],
    };
    match Walls::build(plan) {
        Ok(walls) => {
            let first = walls
                .namespace()
                .map_or(0, |space: &Namespace| space.first().as_raw_nonzero().get());
            drop(walls);
            format!("works {first}")
        }
        Err(refusal) => refusal.tried.join("; "),
    }
}
