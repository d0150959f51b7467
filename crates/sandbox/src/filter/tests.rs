//! The filter's code is run here by an interpreter of its own, and compared with what the rules say.

use proptest::prelude::*;

use super::*;

/// A call as a filter sees it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    number: u32,
    architecture: u32,
    arguments: [u64; 6],
}

fn seen(number: i64, arguments: [u64; 6]) -> Seen {
    Seen { number: u32::try_from(number).unwrap(), architecture: calls::ARCHITECTURE, arguments }
}

impl Seen {
    fn load(&self, at: u32) -> u32 {
        match at {
            AT_NUMBER => self.number,
            AT_ARCHITECTURE => self.architecture,
            _ => {
                let offset = at - AT_ARGUMENTS;
                let (low, high) = halves(self.arguments[usize::try_from(offset / 8).unwrap()]);
                if offset.is_multiple_of(8) { low } else { high }
            }
        }
    }
}

/// What a program of the kernel's packet filter answers; it never leaves the program.
fn run(code: &[Instruction], seen: &Seen) -> u32 {
    let (mut at, mut value) = (0, 0);
    for _ in 0..code.len() {
        let instruction = code[at];
        at += 1;
        let jump =
            |yes: bool| usize::from(if yes { instruction.if_true } else { instruction.if_false });
        match instruction.code {
            LOAD => value = seen.load(instruction.value),
            AND => value &= instruction.value,
            JUMP => at += usize::try_from(instruction.value).unwrap(),
            JUMP_IF_EQUAL => at += jump(value == instruction.value),
            JUMP_IF_AT_LEAST => at += jump(value >= instruction.value),
            JUMP_IF_ANY_BIT => at += jump(value & instruction.value != 0),
            RETURN => return instruction.value,
            other => panic!("no such instruction: {other:#x}"),
        }
    }
    panic!("the program has no end")
}

/// What the rules say, read one after the other.
fn expected(rules: &[(u32, Test, Action)], seen: &Seen) -> u32 {
    let argument = |index: u32| seen.arguments[usize::try_from(index).unwrap()];
    let low = |index: u32| halves(argument(index)).0;
    let holds = |test: &Test| match test {
        Test::Always => true,
        Test::AnyBit(index, mask) => low(*index) & mask != 0,
        Test::Is(index, value) => low(*index) == *value,
        Test::NoneOf(index, values) => !values.contains(&low(*index)),
        Test::BothSet(first, second) => argument(*first) != 0 && argument(*second) != 0,
        Test::IsAndNot { first, second } => {
            low(first.0) == first.1 && low(second.0) & second.1 != second.2
        }
        Test::IsAndIs { first, second } => {
            low(first.0) == first.1 && low(second.0) & second.1 == second.2
        }
        Test::NotPointer(index, pointer) => argument(*index) != *pointer,
    };
    let decides = |(number, test, _): &&(u32, Test, Action)| *number == seen.number && holds(test);
    rules.iter().find(decides).map_or(ALLOW, |(_, _, action)| action.code())
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0..4_u32, Just(0x80), Just(u32::MAX)]
}

fn test() -> impl Strategy<Value = Test> {
    let index = || 0..6_u32;
    prop_oneof![
        Just(Test::Always),
        (index(), small()).prop_map(|(index, mask)| Test::AnyBit(index, mask)),
        (index(), small()).prop_map(|(index, value)| Test::Is(index, value)),
        (index(), prop::collection::vec(small(), 1..5))
            .prop_map(|(index, values)| Test::NoneOf(index, values)),
        (index(), index()).prop_map(|(first, second)| Test::BothSet(first, second)),
        (index(), small(), index(), small(), small())
            .prop_map(|(a, b, c, d, e)| Test::IsAndNot { first: (a, b), second: (c, d, e) }),
        (index(), small(), index(), small(), small())
            .prop_map(|(a, b, c, d, e)| Test::IsAndIs { first: (a, b), second: (c, d, e) }),
        (index(), argument()).prop_map(|(index, pointer)| Test::NotPointer(index, pointer)),
    ]
}

fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, Just(1 << 32), Just(0x80), Just(u64::MAX), Just(5 << 32 | 1)]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Action::Notify), (1..40).prop_map(Action::Fail)]
}

proptest! {
    #[test]
    fn a_filter_answers_as_its_rules_say(
        rules in prop::collection::vec((0..60_u32, test(), action()), 0..90),
        number in 0..64_u32,
        arguments in prop::array::uniform6(argument()),
    ) {
        let mut built = Rules::default();
        for (number, test, action) in &rules {
            built.add(i64::from(*number), test.clone(), *action);
        }
        let code = built.assemble();
        let seen = Seen { number, architecture: calls::ARCHITECTURE, arguments };
        prop_assert_eq!(run(&code, &seen), expected(&rules, &seen));
    }
}

fn plan(network: Network) -> Plan {
    Plan {
        profile: String::new(),
        write: Vec::new(),
        protect: Vec::new(),
        hide: Vec::new(),
        show: Vec::new(),
        temporary: None,
        execute: Some(Vec::new()),
        network,
        connect: Vec::new(),
        drop_variables: Vec::new(),
        keep_variables: Vec::new(),
        ask: None,
        tell: Tell::Writes,
        rungs: Vec::new(),
    }
}

#[test]
fn the_calls_of_another_processor_do_not_exist() {
    let code = build(&plan(Network::Off), Tell::Writes, Rung::Namespaces, 0);
    let foreign = Seen { architecture: 0x4000_0003, ..seen(0, [0; 6]) };
    assert_eq!(run(&code, &foreign), Action::Fail(libc::ENOSYS).code());
    let x32 = Seen { number: calls::FOREIGN_NUMBERS + 1, ..seen(0, [0; 6]) };
    assert_eq!(run(&code, &x32), Action::Fail(libc::ENOSYS).code());
}

#[test]
fn reading_is_nobodys_business_and_writing_is_asked_about() {
    let code = build(&plan(Network::Off), Tell::Writes, Rung::Namespaces, 0);
    let open = |flags: i32| {
        run(&code, &seen(calls::SYS_openat, [0, 0, flags.cast_unsigned().into(), 0, 0, 0]))
    };
    assert_eq!(open(libc::O_RDONLY | libc::O_CLOEXEC), ALLOW);
    for flags in
        [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | libc::O_RDWR]
    {
        assert_eq!(open(flags), NOTIFY, "{flags:#o}");
    }
    assert_eq!(run(&code, &seen(libc::SYS_read, [0; 6])), ALLOW);
}

#[test]
fn only_the_start_of_the_command_itself_is_not_asked_about() {
    let pointer = 0x7fff_1234_5678_9abc;
    let code = build(&plan(Network::Off), Tell::Writes, Rung::Namespaces, pointer);
    let exec = |path: u64| run(&code, &seen(calls::SYS_execve, [path, 0, 0, 0, 0, 0]));
    assert_eq!(exec(pointer), ALLOW);
    assert_eq!(exec(pointer & u64::from(u32::MAX)), NOTIFY);
    assert_eq!(exec(pointer ^ 1), NOTIFY);
}

#[test]
fn sockets_that_go_past_the_proxy_cannot_be_made() {
    let socket = |rung, family: i32, kind: i32, protocol: i32| {
        let code = build(&plan(Network::Off), Tell::Writes, rung, 0);
        let arguments = [family, kind, protocol, 0, 0, 0].map(|n| u64::from(n.cast_unsigned()));
        run(&code, &seen(calls::SYS_socket, arguments))
    };
    for rung in Rung::ALL {
        assert_eq!(socket(rung, libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0), ALLOW);
        assert_eq!(socket(rung, libc::AF_UNIX, libc::SOCK_STREAM, 0), ALLOW);
        assert_eq!(socket(rung, libc::AF_NETLINK, libc::SOCK_RAW, 0), ALLOW);
        assert_ne!(socket(rung, libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, 0), ALLOW);
        assert_ne!(socket(rung, libc::AF_VSOCK, libc::SOCK_STREAM, 0), ALLOW);
        assert_ne!(socket(rung, libc::AF_NETLINK, libc::SOCK_RAW, 9), ALLOW);
    }
    let mptcp = 262;
    assert_ne!(socket(Rung::Landlock, libc::AF_INET, libc::SOCK_STREAM, mptcp), ALLOW);
    assert_ne!(socket(Rung::Landlock, libc::AF_INET, libc::SOCK_DGRAM, 0), ALLOW);
    assert_eq!(socket(Rung::Landlock, libc::AF_INET6, libc::SOCK_STREAM, libc::IPPROTO_TCP), ALLOW);
}
