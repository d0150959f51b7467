//! What ctrl-c, ctrl-z and ctrl-\ do to a job that somebody waits for. The job has a session of its
//! own, so the terminal signals umbo alone: umbo stands in the job's place and passes on what was meant
//! for it.

use std::thread;
use std::time::Duration;

use umbo_engine::{JobHandle, Ladder, Reach, TerminalKey, TerminalKeys};

use crate::output;

/// How a person's ctrl-c climbs.
const CTRL_C: Ladder =
    Ladder { interrupt: Some(Duration::from_secs(3)), terminate: Some(Duration::from_secs(2)) };
/// How long a second ctrl-c waits for the end of what it killed.
const LEAVING: Duration = Duration::from_secs(3);
/// The exit code of a command that ctrl-c ended.
const INTERRUPTED: i32 = 130;
/// The signal that ctrl-\ sends.
const QUIT: i32 = 3;

/// ctrl-z pauses the job and gives the prompt back; `fg` and `bg` let both go on. ctrl-\ reaches the
/// job's command, whose answer to it is its own: some quit, some print what they are doing.
pub(crate) fn pass_on_keys(job: &JobHandle) {
    let job = job.clone();
    // Where they cannot be heard, they do what they do to any program.
    let Ok(keys) = TerminalKeys::listen() else { return };
    thread::spawn(move || {
        while let Ok(key) = keys.wait() {
            match key {
                TerminalKey::Quit => {
                    let _ = job.signal(QUIT, Reach::Group);
                }
                TerminalKey::Suspend => {
                    // A job that has just ended, or has not begun, is no reason to keep the prompt.
                    let is_paused = job.pause().is_ok();
                    let _ = keys.suspend();
                    if is_paused {
                        let _ = job.resume();
                    }
                }
            }
        }
    });
}

/// A first ctrl-c interrupts the job, and umbo waits for its end. A second one kills it, and umbo
/// leaves with it, or soon, whatever becomes of it. A third leaves at once.
pub(crate) fn stop_on_ctrl_c(job: &JobHandle) {
    let job = job.clone();
    let mut presses = 0;
    let _ = ctrlc::set_handler(move || {
        let job = job.clone();
        presses += 1;
        // Waiting here would keep the next ctrl-c waiting.
        match presses {
            1 => thread::spawn(move || {
                if let Err(error) = job.stop(CTRL_C) {
                    output::talk(format_args!("umbo: {error}; ctrl-c once more leaves it"));
                }
            }),
            2 => {
                let last = job.clone();
                thread::spawn(move || last.stop(Ladder::KILL));
                thread::spawn(move || {
                    thread::sleep(LEAVING);
                    leave(&job)
                })
            }
            _ => leave(&job),
        };
    });
}

/// Ends this process though its job has not ended.
fn leave(job: &JobHandle) -> ! {
    output::talk(format_args!("umbo: left job {0}; `umbo stop --kill {0}` ends it", job.id()));
    std::process::exit(INTERRUPTED)
}
