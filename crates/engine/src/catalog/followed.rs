//! What one engine remembers of the catalog from one call to the next.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::time::Duration;

use super::{
    Entry, FIRST_LIVE, PAGE, SLOT, all, mark_ended, open_to_read, open_to_write, owner_hash,
    read_slot, scan,
};
use crate::clock;
use crate::id::JobId;
use crate::state::State;

/// A slot without a directory belongs to a job that is just made, or that never was: this long the
/// first is supposed.
const LONGEST_MAKING: Duration = Duration::from_mins(1);
/// So many deleted jobs of an owner are remembered whatever their share.
const MOST_DELETED: usize = 1024;
/// So many owners are followed: those who asked last.
const MOST_OWNERS: usize = 8;

/// The jobs that may be alive, as one engine follows them.
#[derive(Debug, Default)]
pub(crate) struct Living {
    file: Option<File>,
    /// How far the catalog was read.
    end: u64,
    live: Vec<Entry>,
}

impl Living {
    /// Those that may be alive now, in the order in which they were created.
    pub(crate) fn jobs(&mut self, state: &State) -> io::Result<Vec<JobId>> {
        if !self.file.as_ref().is_some_and(is_in_place) {
            *self = Self::default();
        }
        let Some(file) = self.file.take().or_else(|| open_to_read(state).ok()) else {
            let all = all(state)?;
            return Ok(all.iter().filter(|entry| entry.is_live).map(Entry::job).collect());
        };
        self.live.retain(|entry| {
            let now = read_slot(&file, entry.at);
            now.is_some_and(|now| now.is_live && now.number == entry.number)
        });
        let from = if self.end == 0 { first_live(&file) } else { self.end };
        let live = &mut self.live;
        self.end = scan(&file, from, |entry| {
            if entry.is_live {
                live.push(entry);
            }
        })?;
        self.live.retain(|entry| is_possible(state, entry));
        let first = self.live.first().map_or(self.end, |entry| entry.at);
        if first > from + PAGE as u64 {
            // For those who come later. Slots never become alive again, so it stays true.
            let _ = open_to_write(state)
                .and_then(|file| file.write_all_at(&first.to_le_bytes(), FIRST_LIVE));
        }
        self.file = Some(file);
        Ok(self.live.iter().map(Entry::job).collect())
    }
}

/// The jobs of some owners, as one engine follows them: whoever asks again pays for what was added since,
/// not for the jobs of others.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// Who asked last comes first.
    followed: Vec<Owned>,
}

impl Owners {
    /// What may be this owner's now. The jobs' records know for certain.
    pub(crate) fn numbers(&mut self, state: &State, owner: &str) -> io::Result<Arc<Vec<u128>>> {
        let owner = owner_hash(Some(owner));
        let known = self.followed.iter().position(|own| own.owner == owner);
        let mut own = known.map(|index| self.followed.remove(index)).unwrap_or_default();
        let numbers = own.numbers(state, owner);
        self.followed.truncate(MOST_OWNERS - 1);
        self.followed.insert(0, own);
        numbers
    }
}

/// Those of one.
#[derive(Debug, Default)]
struct Owned {
    file: Option<File>,
    /// How far the catalog was read.
    end: u64,
    owner: u64,
    /// The ids, in the order in which the jobs were created; some may be deleted by now.
    numbers: Arc<Vec<u128>>,
    /// How many there were when the catalog was read from its beginning.
    at_first: usize,
}

impl Owned {
    fn numbers(&mut self, state: &State, owner: u64) -> io::Result<Arc<Vec<u128>>> {
        // Twice as many: those that were deleted are left out by reading all again.
        let is_overgrown = self.numbers.len() > 2 * self.at_first + MOST_DELETED;
        if is_overgrown || !self.file.as_ref().is_some_and(is_in_place) {
            *self = Self { owner, ..Self::default() };
        }
        let Some(file) = self.file.take().or_else(|| open_to_read(state).ok()) else {
            let own = all(state)?.into_iter().filter(|entry| entry.owner == owner);
            return Ok(Arc::new(own.map(|entry| entry.number).collect()));
        };
        let is_first = self.end == 0;
        let numbers = Arc::make_mut(&mut self.numbers);
        self.end = scan(&file, self.end.max(SLOT as u64), |entry| {
            if entry.owner == owner {
                numbers.push(entry.number);
            }
        })?;
        if is_first {
            self.at_first = self.numbers.len();
        }
        self.file = Some(file);
        Ok(Arc::clone(&self.numbers))
    }
}

/// Whether nobody deleted the catalog since it was opened.
fn is_in_place(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| meta.nlink() > 0)
}

fn first_live(file: &File) -> u64 {
    let mut bytes = [0; 8];
    let said = file.read_exact_at(&mut bytes, FIRST_LIVE).map(|()| u64::from_le_bytes(bytes));
    let length = file.metadata().map_or(0, |meta| meta.len());
    said.ok()
        .filter(|at| at.is_multiple_of(SLOT as u64) && *at <= length)
        .unwrap_or(0)
        .max(SLOT as u64)
}

/// Whether a job that may be alive is worth a look. One that was announced, or never got a directory,
/// is marked here.
fn is_possible(state: &State, entry: &Entry) -> bool {
    let job = entry.job();
    let directory = state.job(&job);
    let is_over = if directory.exists() {
        directory.is_announced()
    } else {
        let age = (clock::now_us() / 1000).saturating_sub(job.made_at_ms());
        u128::from(age) > LONGEST_MAKING.as_millis()
    };
    if is_over {
        mark_ended(state, &job, Some(entry.at));
    }
    !is_over
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use proptest::prelude::*;

    use super::super::{Appender, end, forget, path};
    use super::*;

    /// Two more than are followed.
    const OWNERS: [&str; MOST_OWNERS + 2] =
        ["ann", "bob", "cy", "dee", "eve", "fay", "gus", "hal", "ida", "jo"];

    proptest! {
        #[test]
        fn an_owners_jobs_are_those_of_the_catalog_whatever_happens_to_it(
            steps in prop::collection::vec((0..10u8, prop::sample::select(OWNERS.to_vec())), 1..60)
        ) {
            let (_directory, state) = State::temporary();
            let mut owners = Owners::default();
            for (step, owner) in steps {
                match step {
                    // Kept as far as it has a directory, which is what a new catalog is made from.
                    0 => drop(fs::remove_file(path(&state))),
                    1 => forget(&state, end(&state), &HashSet::new()).unwrap(),
                    _ => {
                        let job = JobId::generate();
                        Appender::open(&state).unwrap().add(&state, &job, Some(owner)).unwrap();
                        if step > 5 {
                            mark_ended(&state, &job, None);
                        }
                    }
                }
                let now = owners.numbers(&state, owner).unwrap();
                let hash = owner_hash(Some(owner));
                let known = all(&state).unwrap().into_iter().filter(|entry| entry.owner == hash);
                let known: Vec<u128> = known.map(|entry| entry.number).collect();
                // What was deleted may still be there; whoever looks finds no record of it.
                let now: Vec<u128> =
                    now.iter().copied().filter(|number| known.contains(number)).collect();
                prop_assert_eq!(now, known);
            }
        }
    }

    #[test]
    fn deleted_jobs_of_an_owner_are_forgotten_in_the_end() {
        let (_directory, state) = State::temporary();
        let mut owners = Owners::default();
        let mut appender = Appender::open(&state).unwrap();
        for number in 0..5 * MOST_DELETED {
            let job = JobId::generate();
            appender.add(&state, &job, Some("ann")).unwrap();
            appender.mark_ended(&state, &job);
            let held = owners.numbers(&state, "ann").unwrap().len();
            assert!(held <= 2 * MOST_DELETED + 1, "{held} are remembered");
            if number.is_multiple_of(100) {
                forget(&state, end(&state), &HashSet::new()).unwrap();
            }
        }
    }
}
