//! What the filter answers, asked of a small BPF machine: for each rule what it means and what it does not, and for
//! any call the same as the rules say when they are read one by one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

const CODE: Range<u64> = 0x10_0000_0000..0x10_0000_2000;
static PROGRAM: LazyLock<Vec<u8>> = LazyLock::new(|| program(CODE));
const ELSEWHERE: u64 = 0x40_1234;

/// What the kernel shows a filter.
#[derive(Clone, Copy, Debug)]
struct Call {
    number: u32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

fn call(number: u32, arguments: &[u64]) -> Call {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    Call { number, architecture: X86_64, instruction: ELSEWHERE, arguments: all }
}

impl Call {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = [self.number.to_le_bytes(), self.architecture.to_le_bytes()].concat();
        bytes.extend(self.instruction.to_le_bytes());
        bytes.extend(self.arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        bytes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Allow,
    Trap,
    Unknown,
}

fn traps(program: &[u8], call: &Call) -> bool {
    answer(program, call) == Answer::Trap
}

/// What a program says of a call. It must end, within itself, with one of three answers.
fn answer(program: &[u8], call: &Call) -> Answer {
    let data = call.bytes();
    let mut accumulator = 0_u32;
    let mut at = 0;
    loop {
        let instruction = &program[at * 8..][..8];
        let code = u16::from_le_bytes([instruction[0], instruction[1]]);
        let operand = u32::from_le_bytes(*instruction.last_chunk().unwrap());
        let place = usize::try_from(operand).unwrap();
        let branch = |so: bool| usize::from(instruction[if so { 2 } else { 3 }]);
        at += 1;
        match code {
            0x20 => accumulator = u32::from_le_bytes(*data[place..].first_chunk().unwrap()),
            0x54 => accumulator &= operand,
            0x05 => at += place,
            0x15 => at += branch(accumulator == operand),
            0x25 => at += branch(accumulator > operand),
            0x06 if operand == 0x7fff_0000 => return Answer::Allow,
            0x06 if operand == 0x0003_0000 => return Answer::Trap,
            0x06 if operand == 0x0005_0026 => return Answer::Unknown,
            other => panic!("instruction {other:#x} with {operand:#x}"),
        }
    }
}

/// What the rules say of a call, read one by one.
fn meant(call: &Call) -> Answer {
    let low = |argument: u32| call.arguments[argument as usize].to_le_bytes();
    let low = |argument: u32| u32::from_le_bytes(*low(argument).first_chunk().unwrap());
    let passes = |test: &Test| match *test {
        Test::Given(argument) => call.arguments[argument as usize] != 0,
        Test::Positive(argument) => low(argument).cast_signed() > 0,
        Test::Among { argument, mask, values } => values.contains(&(low(argument) & mask)),
    };
    let ours = CODE.start < call.instruction && call.instruction <= CODE.end;
    let rule = RULES.iter().find(|rule| rule.number == i64::from(call.number));
    let means = |rule: &Rule| match rule.when {
        When::Always => true,
        When::All(tests) => tests.iter().all(passes),
        When::Any(tests) => tests.iter().any(passes),
        When::Unknown => false,
    };
    match rule.filter(|_| call.architecture == X86_64) {
        Some(Rule { when: When::Unknown, .. }) => Answer::Unknown,
        Some(rule) if !ours && means(rule) => Answer::Trap,
        _ => Answer::Allow,
    }
}

const POINTER: u64 = 0x7fff_0000_0000;
/// Minus one in 32 bits, as a compiler leaves it in a register of 64.
const MINUS: u64 = 0xffff_ffff;

/// A name, a number, calls that are trapped, and calls that are not.
type Example = (&'static str, u32, &'static [&'static [u64]], &'static [&'static [u64]]);

const EXAMPLES: &[Example] = &[
    (
        "futex",
        202,
        &[
            &[POINTER, 0x80, 1, POINTER],
            &[POINTER, 0x189, 1, POINTER],
            &[POINTER, 6, 0, 8],
            &[POINTER, 13, 0, POINTER],
            &[POINTER, 0x8b, 0, POINTER],
        ],
        &[&[POINTER, 0x80, 1, 0], &[POINTER, 0x81, 1, 7], &[POINTER, 3, 1, 7], &[POINTER, 0x8c, 1, 7]],
    ),
    (
        "epoll_pwait",
        281,
        &[&[3, POINTER, 8, 5], &[3, POINTER, 8, MINUS, POINTER]],
        &[&[3, POINTER, 8, MINUS], &[3]],
    ),
    ("epoll_wait", 232, &[&[3, POINTER, 8, 1]], &[&[3, POINTER, 8, MINUS, POINTER], &[3, POINTER, 8, 0]]),
    ("rt_sigprocmask", 14, &[&[0, POINTER], &[2, POINTER, POINTER, 8]], &[&[0, 0, POINTER, 8]]),
    ("rt_sigaction", 13, &[&[31], &[31, 0, POINTER], &[2, POINTER]], &[&[2, 0, POINTER], &[0]]),
    ("clock_gettime", 228, &[&[]], &[]),
    ("gettimeofday", 96, &[&[]], &[]),
    ("time", 201, &[&[]], &[]),
    ("nanosleep", 35, &[&[]], &[]),
    ("clock_nanosleep", 230, &[&[]], &[]),
    (
        "poll",
        7,
        &[&[POINTER, 1, 1]],
        &[&[POINTER, 1, MINUS], &[POINTER, 1, 0, 5], &[POINTER, 1, 0x1_0000_0000]],
    ),
    ("ppoll", 271, &[&[0, 0, POINTER], &[0, 0, 0, POINTER]], &[&[POINTER, 1, 0, 0, 8]]),
    ("select", 23, &[&[0, 0, 0, 0, POINTER]], &[&[4, POINTER, POINTER, POINTER]]),
    ("pselect6", 270, &[&[]], &[]),
    (
        "epoll_pwait2",
        441,
        &[&[3, POINTER, 8, POINTER], &[3, POINTER, 8, 0, POINTER]],
        &[&[3, POINTER, 8, 0, 0, 8]],
    ),
    ("recvmmsg", 299, &[&[3, POINTER, 1, 0, POINTER]], &[&[3, POINTER, 1, 1]]),
    (
        "setsockopt",
        54,
        &[&[3, 1, 20], &[3, 1, 21], &[3, 1, 66], &[3, 1, 67]],
        &[&[3, 1, 2], &[3, 6, 20], &[3, 6, 18], &[3, 1, 22]],
    ),
    ("io_uring_enter", 426, &[&[3, 0, 1, 9, POINTER]], &[&[3, 0, 1, 1, POINTER], &[3, 0, 1, 9]]),
    ("io_getevents", 208, &[&[3, 1, 1, POINTER, POINTER]], &[&[3, 1, 1, POINTER]]),
    (
        "io_pgetevents",
        333,
        &[&[3, 1, 1, POINTER, POINTER], &[3, 1, 1, POINTER, 0, POINTER]],
        &[&[3, 1, 1, POINTER]],
    ),
    ("futex_wait", 455, &[&[POINTER, 1, 1, 2, POINTER]], &[&[POINTER, 1, 1, 2, 0, 1]]),
    ("futex_waitv", 449, &[&[POINTER, 1, 0, POINTER]], &[&[POINTER, 1, 0, 0, 1]]),
    ("semtimedop", 220, &[&[3, POINTER, 1, POINTER]], &[&[3, POINTER, 1]]),
    ("mq_timedsend", 242, &[&[3, POINTER, 1, 0, POINTER]], &[&[3, POINTER, 1, 7]]),
    ("mq_timedreceive", 243, &[&[3, POINTER, 1, 0, POINTER]], &[&[3, POINTER, 1, 7]]),
    ("rt_sigsuspend", 130, &[&[]], &[]),
    ("rt_sigtimedwait", 128, &[&[]], &[]),
    ("timerfd_create", 283, &[&[]], &[]),
    ("timerfd_settime", 286, &[&[]], &[]),
    ("timerfd_gettime", 287, &[&[]], &[]),
    ("timer_settime", 223, &[&[]], &[]),
    ("timer_gettime", 224, &[&[]], &[]),
    ("timer_create", 222, &[&[]], &[]),
    ("timer_delete", 226, &[&[]], &[]),
    ("setitimer", 38, &[&[0, POINTER]], &[&[1, POINTER], &[2, POINTER]]),
    ("getitimer", 36, &[&[0, POINTER]], &[&[1, POINTER], &[2, POINTER]]),
    ("alarm", 37, &[&[]], &[]),
    // It has an answer of its own.
    ("clone3", 435, &[], &[&[POINTER, 88]]),
    ("execve", 59, &[&[]], &[]),
    ("execveat", 322, &[&[]], &[]),
    ("prctl", 157, &[&[22, 2, POINTER]], &[&[38, 1], &[15, POINTER], &[1, 9]]),
    ("seccomp", 317, &[&[0], &[1, 0, POINTER]], &[&[2, 0, POINTER], &[3, 0, POINTER]]),
];

#[test]
fn each_rule_traps_what_it_means_and_nothing_else() {
    for &(name, number, trapped, allowed) in EXAMPLES {
        for arguments in trapped {
            assert!(traps(&PROGRAM, &call(number, arguments)), "{name} {arguments:x?}");
        }
        for arguments in allowed {
            assert!(!traps(&PROGRAM, &call(number, arguments)), "{name} {arguments:x?}");
        }
    }
}

#[test]
fn whoever_could_lose_the_handler_is_told_that_there_is_no_such_call() {
    assert_eq!(answer(&PROGRAM, &call(435, &[POINTER, 88])), Answer::Unknown);
}

#[test]
fn each_rule_has_examples_and_stands_once() {
    let examples: BTreeSet<_> = EXAMPLES.iter().map(|&(_, number, ..)| i64::from(number)).collect();
    let rules: BTreeSet<_> = RULES.iter().map(|rule| rule.number).collect();
    assert_eq!(examples, rules);
    assert_eq!(rules.len(), RULES.len());
}

#[test]
fn all_but_foreign_calls_of_this_architecture_pass() {
    let sleep = call(35, &[]);
    let at = |instruction| Call { instruction, ..sleep };
    assert!(!traps(&PROGRAM, &Call { architecture: 0x4000_0003, ..sleep }));
    assert!(!traps(&PROGRAM, &Call { number: 0x4000_0000 + 35, ..sleep }));
    assert!(!traps(&PROGRAM, &Call { number: u32::MAX, ..sleep }));
    // The instruction is two bytes long, and the kernel tells the address behind it.
    assert!(traps(&PROGRAM, &at(CODE.start)));
    assert!(!traps(&PROGRAM, &at(CODE.start + 2)));
    assert!(!traps(&PROGRAM, &at(CODE.end)));
    assert!(traps(&PROGRAM, &at(CODE.end + 1)));
    assert!(traps(&PROGRAM, &at(CODE.start + 2 + (1 << 32))));
    assert!(traps(&PROGRAM, &at(CODE.start + 2 - (1 << 32))));
}

#[test]
fn the_kernel_takes_programs_of_this_length() {
    assert!(PROGRAM.len() <= 4096 * 8);
}

fn any_argument() -> impl Strategy<Value = u64> {
    let word = prop_oneof![0_u64..70, any::<u32>().prop_map(u64::from), Just(MINUS), Just(MINUS / 2)];
    (word, prop_oneof![Just(0), Just(1), any::<u32>()]).prop_map(|(low, high)| low | u64::from(high) << 32)
}

fn any_call() -> impl Strategy<Value = Call> {
    let listed = prop::sample::select(RULES).prop_map(|rule| u32::try_from(rule.number).unwrap());
    let number = prop_oneof![8 => listed, 1 => 0_u32..500, 1 => any::<u32>()];
    let architecture = prop_oneof![9 => Just(X86_64), 1 => any::<u32>()];
    let near = prop_oneof![Just(CODE.start), Just(CODE.end), Just(CODE.start + 64)];
    let near = (near, 0_u64..4, 0_u64..3).prop_map(|(at, low, high)| at - 2 + low + (high << 32) - (1 << 32));
    let instruction = prop_oneof![2 => any::<u64>(), 1 => near];
    (number, architecture, instruction, prop::array::uniform6(any_argument())).prop_map(
        |(number, architecture, instruction, arguments)| Call {
            number,
            architecture,
            instruction,
            arguments,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_program_does_what_the_rules_say(call in any_call()) {
        prop_assert_eq!(answer(&PROGRAM, &call), meant(&call));
    }

    /// Where our code lies makes no difference, but for its own calls.
    #[test]
    fn our_code_may_lie_anywhere(
        (start, length) in any::<(u64, u32)>(),
        (at, near) in any::<(u64, bool)>(),
    ) {
        let code = start..start.saturating_add(length.into());
        let at = if near { start.wrapping_add(at % (u64::from(length) + 4)).wrapping_sub(1) } else { at };
        let ours = code.start < at && at <= code.end;
        prop_assert_eq!(traps(&program(code), &Call { instruction: at, ..call(35, &[]) }), !ours);
    }
}
