//! A job as bytes for its supervisor: each field in the order of its type, a number in eight bytes, a length
//! before each text. A command waits for both ends of this, which are the same program: words for the fields
//! would cost more than all else in the message. What few jobs have (a sandbox, others to wait for) is JSON.

use std::time::Duration;

use serde::Serialize;
use umbo_sandbox::Plan;

use super::{Afterwards, Assign, NotifyOn, Retention, StdinKind};
use crate::id::JobId;
use crate::request::{
    Admission, Ladder, Leaks, Limits, OnDisconnect, OutputLimit, OutputPolicy, Size, Streams,
};
use crate::turns::After;

/// What can be packed.
pub(super) trait Packed: Sized {
    /// Appends it.
    fn pack(&self, to: &mut Vec<u8>);

    /// Takes it off the front; `None` if it is not there.
    fn unpack(from: &mut &[u8]) -> Option<Self>;
}

/// A structure is its fields, one behind the other.
macro_rules! structures {
    ($($type:ident { $($field:ident),+ $(,)? })+) => {
        $(impl Packed for $type {
            fn pack(&self, to: &mut Vec<u8>) {
                $(self.$field.pack(to);)+
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Packed::unpack(from)?),+ })
            }
        })+
    };
}

/// One of several words is its number among them.
macro_rules! words {
    ($($type:ident { $($number:literal $word:ident),+ })+) => {
        $(impl Packed for $type {
            fn pack(&self, to: &mut Vec<u8>) {
                to.push(match self {
                    $(Self::$word => $number),+
                });
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                match take::<1>(from)? {
                    $([$number] => Some(Self::$word),)+
                    _ => None,
                }
            }
        })+
    };
}

structures! {
    Assign {
        job, record, name, owner, limits, ladder, leaks, on_disconnect, admission, max_running, group, after,
        parent, terminal, stdin, streams, session, continues_session, arguments, stdin_bytes, retention,
        notify_on, sandbox, afterwards,
    }
    Limits { wall, idle, output, memory_bytes, processes, cpu_percent, nice }
    OutputLimit { bytes, policy }
    Ladder { interrupt, terminate }
    Size { columns, rows }
    Retention { jobs, bytes, age }
}

words! {
    Leaks { 0 Kill, 1 Leave }
    OnDisconnect { 0 Detach, 1 Stop }
    Admission { 0 Queue, 1 Refuse }
    OutputPolicy { 0 Stop, 1 KeepEnds }
    Streams { 0 Apart, 1 Together }
    StdinKind { 0 None, 1 Bytes, 2 File, 3 Open, 4 Passed }
    NotifyOn { 0 Start, 1 End }
    Afterwards { 0 End, 1 Return }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = from.split_first_chunk::<N>()?;
    *from = rest;
    Some(*bytes)
}

impl Packed for u64 {
    fn pack(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        take(from).map(Self::from_le_bytes)
    }
}

/// Other numbers.
macro_rules! as_u64 {
    ($($type:ty)+) => {
        $(impl Packed for $type {
            fn pack(&self, to: &mut Vec<u8>) {
                // One that does not fit is none that a field can have.
                u64::try_from(*self).unwrap_or(u64::MAX).pack(to);
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                u64::unpack(from)?.try_into().ok()
            }
        })+
    };
}

as_u64! { u16 u32 usize }

impl Packed for i32 {
    fn pack(&self, to: &mut Vec<u8>) {
        self.cast_unsigned().pack(to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u32::unpack(from).map(u32::cast_signed)
    }
}

impl Packed for bool {
    fn pack(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        take::<1>(from).map(|byte| byte != [0])
    }
}

impl Packed for Duration {
    fn pack(&self, to: &mut Vec<u8>) {
        self.as_secs().pack(to);
        self.subsec_nanos().pack(to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let (seconds, nanos) = (u64::unpack(from)?, u32::unpack(from)?);
        // More would be carried over, which may be too much.
        (nanos < 1_000_000_000).then(|| Self::new(seconds, nanos))
    }
}

impl Packed for String {
    fn pack(&self, to: &mut Vec<u8>) {
        pack_bytes(self.as_bytes(), to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(unpack_bytes(from)?.to_vec()).ok()
    }
}

impl Packed for JobId {
    fn pack(&self, to: &mut Vec<u8>) {
        pack_bytes(self.as_str().as_bytes(), to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Self::exact(unpack_bytes(from)?)
    }
}

impl<T: Packed> Packed for Option<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.is_some().pack(to);
        if let Some(value) = self {
            value.pack(to);
        }
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        if bool::unpack(from)? { T::unpack(from).map(Some) } else { Some(None) }
    }
}

impl Packed for Vec<u8> {
    fn pack(&self, to: &mut Vec<u8>) {
        pack_bytes(self, to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        unpack_bytes(from).map(<[u8]>::to_vec)
    }
}

impl Packed for Vec<After> {
    fn pack(&self, to: &mut Vec<u8>) {
        if self.is_empty() {
            pack_bytes(&[], to);
        } else {
            pack_json(self, to);
        }
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        match unpack_bytes(from)? {
            [] => Some(Self::new()),
            text => serde_json::from_slice(text).ok(),
        }
    }
}

impl Packed for Plan {
    fn pack(&self, to: &mut Vec<u8>) {
        pack_json(self, to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        serde_json::from_slice(unpack_bytes(from)?).ok()
    }
}

/// Nothing instead of what cannot be JSON, which nobody takes for any.
fn pack_json(value: &impl Serialize, to: &mut Vec<u8>) {
    pack_bytes(&serde_json::to_vec(value).unwrap_or_default(), to);
}

fn pack_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    bytes.len().pack(to);
    to.extend_from_slice(bytes);
}

fn unpack_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::unpack(from)?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::turns::AfterEnd;

    fn assign() -> impl Strategy<Value = Assign> {
        let text = || prop::option::of(".{0,20}");
        let time =
            || prop::option::of(any::<(u64, u32)>().prop_map(|(s, n)| Duration::new(s / 2, n)));
        let limits =
            (time(), time(), any::<Option<(u64, bool)>>(), any::<(Option<u64>, Option<i32>)>())
                .prop_map(|(wall, idle, output, (memory_bytes, nice))| Limits {
                    wall,
                    idle,
                    output: output.map(|(bytes, stops)| OutputLimit {
                        bytes,
                        policy: if stops { OutputPolicy::Stop } else { OutputPolicy::KeepEnds },
                    }),
                    memory_bytes,
                    processes: memory_bytes.map(|bytes| bytes / 2),
                    cpu_percent: nice.map(i32::unsigned_abs),
                    nice,
                });
        let words = (any::<[bool; 8]>(), any::<Option<(u16, u16)>>());
        let rest = (text(), text(), text(), any::<Vec<u8>>(), time(), any::<(usize, usize)>());
        (limits, words, rest, any::<u128>()).prop_map(|(limits, words, rest, number)| {
            let (flags, size) = words;
            let (name, owner, session, record, age, (arguments, stdin_bytes)) = rest;
            let job = JobId::from_number(number);
            Assign {
                record,
                limits,
                ladder: Ladder { interrupt: age, terminate: None },
                leaks: if flags[0] { Leaks::Leave } else { Leaks::Kill },
                on_disconnect: if flags[1] { OnDisconnect::Stop } else { OnDisconnect::Detach },
                admission: if flags[2] { Admission::Refuse } else { Admission::Queue },
                max_running: arguments,
                group: owner.clone(),
                after: if flags[3] {
                    vec![After { job: job.clone(), end: AfterEnd::Any }]
                } else {
                    Vec::new()
                },
                parent: flags[4].then(|| job.clone()),
                terminal: size.map(|(columns, rows)| Size { columns, rows }),
                stdin: if flags[5] { StdinKind::Passed } else { StdinKind::Bytes },
                streams: if flags[6] { Streams::Together } else { Streams::Apart },
                continues_session: flags[7],
                retention: Retention { jobs: stdin_bytes, bytes: 7, age },
                notify_on: if flags[0] { NotifyOn::End } else { NotifyOn::Start },
                sandbox: None,
                afterwards: if flags[1] { Afterwards::Return } else { Afterwards::End },
                job,
                name,
                owner,
                session,
                arguments,
                stdin_bytes,
            }
        })
    }

    proptest! {
        #[test]
        fn a_job_arrives_as_it_was_sent(sent in assign()) {
            let mut bytes = Vec::new();
            sent.pack(&mut bytes);
            let mut rest = &bytes[..];
            let came = Assign::unpack(&mut rest);
            prop_assert_eq!(came.as_ref(), Some(&sent));
            prop_assert!(rest.is_empty());
            for cut in 0..bytes.len() {
                prop_assert!(Assign::unpack(&mut &bytes[..cut]).is_none());
            }
        }

        #[test]
        fn garbage_is_no_job_and_never_a_huge_allocation(bytes: Vec<u8>) {
            let _ = Assign::unpack(&mut &bytes[..]);
        }
    }
}
