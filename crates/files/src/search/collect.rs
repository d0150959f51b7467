//! The matches of all files, of which only those that the page needs are kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::Stat;

use super::sink::{FileSink, KeptLine};
use super::{FileMatches, MatchLine, SearchAnswer, SearchOutput, SearchRequest};
use crate::Session;
use crate::seen::SeenStamp;

pub(super) struct Collection<'a> {
    request: &'a SearchRequest,
    /// `skip + limit`: what lies behind is on no page up to this one.
    needed: usize,
    files: Mutex<Kept>,
    /// How many matches of one file can still be needed.
    rounds: AtomicUsize,
    matches: AtomicU64,
    matching_files: AtomicU64,
    searched: AtomicU64,
    binary: AtomicU64,
    unreadable: AtomicU64,
}

#[derive(Default)]
struct Kept {
    files: Vec<FileHits>,
    /// How many matches they have together.
    matches: usize,
}

struct FileHits {
    path: PathBuf,
    total: u64,
    /// How many matches are kept.
    kept: usize,
    lines: Vec<KeptLine>,
    stamp: Option<SeenStamp>,
}

impl<'a> Collection<'a> {
    pub(super) fn new(request: &'a SearchRequest) -> Self {
        let needed = request.skip.saturating_add(request.limit);
        Self {
            request,
            needed,
            files: Mutex::default(),
            rounds: AtomicUsize::new(needed),
            matches: AtomicU64::default(),
            matching_files: AtomicU64::default(),
            searched: AtomicU64::default(),
            binary: AtomicU64::default(),
            unreadable: AtomicU64::default(),
        }
    }

    pub(super) fn rounds(&self) -> usize {
        self.rounds.load(Ordering::Relaxed)
    }

    pub(super) fn unreadable(&self) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add(&self, path: &Path, sink: FileSink, stat: Option<&Stat>) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        self.binary.fetch_add(u64::from(sink.is_binary), Ordering::Relaxed);
        if sink.matches == 0 {
            return;
        }
        self.matches.fetch_add(sink.matches, Ordering::Relaxed);
        self.matching_files.fetch_add(1, Ordering::Relaxed);
        let kept = match self.request.output {
            SearchOutput::Lines => sink.lines.iter().filter(|line| line.ordinal.is_some()).count(),
            // A file is one.
            SearchOutput::Files | SearchOutput::Counts => 1,
        };
        let stamp = stat.map(SeenStamp::of);
        let hits = FileHits {
            path: path.to_path_buf(),
            total: sink.matches,
            kept,
            lines: sink.lines,
            stamp,
        };
        let mut all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.push(hits);
        all.matches += kept;
        if all.matches > self.needed.saturating_mul(2).saturating_add(1000) {
            let rounds = prune(&mut all.files, self.needed);
            all.matches = all.files.iter().map(|file| file.kept).sum();
            self.rounds.fetch_min(rounds, Ordering::Relaxed);
        }
    }

    pub(super) fn page(self, session: &Session) -> SearchAnswer {
        let mut files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner).files;
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let order = emitted_order(&files, self.needed);
        let page = order.get(self.request.skip..).unwrap_or_default();
        let mut chosen: Vec<BTreeSet<usize>> = files.iter().map(|_| BTreeSet::new()).collect();
        for (round, file) in page {
            chosen[*file].insert(*round);
        }
        let pairs = files.into_iter().zip(&chosen).filter(|(_, chosen)| !chosen.is_empty());
        let shown_files: Vec<FileMatches> =
            pairs.map(|(file, chosen)| file.shown(session, self.request, chosen)).collect();
        let total_matches = self.matches.into_inner();
        let total_files = self.matching_files.into_inner();
        let total = match self.request.output {
            SearchOutput::Lines => total_matches,
            SearchOutput::Files | SearchOutput::Counts => total_files,
        };
        let end = self.request.skip.saturating_add(page.len());
        let has_more = !page.is_empty() && u64::try_from(end).is_ok_and(|end| end < total);
        SearchAnswer {
            files: shown_files,
            shown: page.len(),
            total_matches,
            total_files,
            searched_files: self.searched.into_inner(),
            next_skip: has_more.then_some(end),
            binary_files: self.binary.into_inner(),
            unreadable_files: self.unreadable.into_inner(),
            ..SearchAnswer::default()
        }
    }
}

/// The first matches in the order of all pages: round by round, in each round file by file.
/// `files` are in order of paths.
fn emitted_order(files: &[FileHits], needed: usize) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    let mut round = 0;
    let mut left: Vec<usize> = (0..files.len()).collect();
    while !left.is_empty() && order.len() < needed {
        left.retain(|file| files[*file].kept > round);
        let room = needed - order.len();
        order.extend(left.iter().take(room).map(|file| (round, *file)));
        round += 1;
    }
    order
}

/// Drops what is on no page; gives how many matches of one file can still be needed.
fn prune(files: &mut Vec<FileHits>, needed: usize) -> usize {
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut keep = vec![0; files.len()];
    let order = emitted_order(files, needed);
    let rounds = order.last().map_or(needed, |(round, _)| round + 1);
    for (round, file) in order {
        keep[file] = round + 1;
    }
    for (file, keep) in files.iter_mut().zip(&keep) {
        let cut = file.lines.iter().position(|line| line.ordinal.is_some_and(|own| own > *keep));
        // The context behind the last kept match may go a little further; it does no harm.
        if let Some(cut) = cut {
            file.lines.truncate(cut);
        }
        file.kept = file.kept.min(*keep);
    }
    files.retain(|file| file.kept > 0);
    rounds
}

impl FileHits {
    fn shown(
        self,
        session: &Session,
        request: &SearchRequest,
        chosen: &BTreeSet<usize>,
    ) -> FileMatches {
        let is_chosen = |line: &KeptLine| line.ordinal.is_some_and(|own| chosen.contains(&own));
        // A match of several lines is all of its lines.
        let mut matching: BTreeSet<usize> = BTreeSet::new();
        let mut inside = false;
        for line in &self.lines {
            inside = is_chosen(line) || (line.continues && inside);
            if inside {
                matching.insert(line.number);
            }
        }
        let is_near = |number: usize| {
            let from = number.saturating_sub(request.after);
            matching.range(from..=number.saturating_add(request.before)).next().is_some()
        };
        let mut lines: Vec<KeptLine> =
            self.lines.into_iter().filter(|line| is_near(line.number)).collect();
        lines.dedup_by_key(|line| line.number);
        if let Some(stamp) = self.stamp {
            let seen = lines.iter().filter(|line| !line.is_clamped);
            let seen = seen.map(|line| (line.number, line.text.as_str()));
            session.seen.record(&self.path, seen, None, stamp);
        }
        let texts = lines.iter_mut().map(|line| std::mem::take(&mut line.text)).collect();
        let texts = session.mask(&self.path, texts);
        let shown = lines.into_iter().zip(texts).map(|(line, text)| MatchLine {
            number: line.number,
            anchor: line.anchor,
            text,
            is_match: matching.contains(&line.number),
            is_clamped: line.is_clamped,
        });
        FileMatches {
            path: session.workspace.shown(&self.path),
            total: self.total,
            lines: shown.collect(),
        }
    }
}
