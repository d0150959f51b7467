//! Measurements. What is compared runs in one process, in turns, and the ratio is what counts:
//! the machine is shared and times vary, but they vary for both.

pub(crate) mod all;
pub(crate) mod command;
pub(crate) mod exec;
pub(crate) mod flood;
pub(crate) mod floor;
pub(crate) mod history;
pub(crate) mod jobs;
pub(crate) mod mcp;
pub(crate) mod sandbox;
pub(crate) mod streams;
mod tokens;

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute};

/// A measurement that a crate brings itself, as an example beside what it measures.
pub(crate) fn example(package: &str, name: &str, words: &[&str]) -> Done {
    let run = ["run", "--release", "--quiet", "--package", package, "--example", name, "--"];
    execute(cargo(&run).args(words))
}

/// What an agent costs besides the model; the program that people get is measured too.
pub(crate) fn agent() -> Done {
    execute(&mut cargo(&["build", "--release", "--quiet", "--package", "umbo"]))?;
    example("umbo-agent", "price", &[])
}

/// Times of the same thing.
#[derive(Default)]
struct Sample {
    times: Vec<Duration>,
}

impl Sample {
    fn of(times: &[Duration]) -> Self {
        Self { times: times.to_vec() }
    }

    fn add(&mut self, time: Duration) {
        self.times.push(time);
    }

    /// The time that `percent` of all are not above.
    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.times.clone();
        sorted.sort();
        let rank = (sorted.len() * percent).div_ceil(100).clamp(1, sorted.len().max(1));
        sorted.get(rank - 1).copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        self.percentile(50)
    }
}

/// How many times as long.
fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn microseconds(time: Duration) -> String {
    format!("{:.0}", time.as_secs_f64() * 1e6)
}

/// A line of the shell without umbo, read to its end.
fn bare(line: &str, wanted: &[u8]) -> Done {
    if bare_output(line)? == wanted {
        return Ok(());
    }
    Err(Failure::new(format!("{line}: it wrote something else")))
}

fn bare_output(line: &str) -> Done<Vec<u8>> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(Failure::at(line))?;
    if output.status.success() { Ok(output.stdout) } else { Err(Failure::of(line, output.status)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let mut sample = Sample::default();
        assert_eq!(sample.median(), Duration::ZERO);
        for number in (1..=100).rev() {
            sample.add(Duration::from_micros(number));
        }
        assert_eq!(sample.median(), Duration::from_micros(50));
        assert_eq!(sample.percentile(99), Duration::from_micros(99));
        assert_eq!(sample.percentile(100), Duration::from_micros(100));
    }
}
