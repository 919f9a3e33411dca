//! The filter that the kernel asks for every system call of a foreign program: which of them are trapped.
//!
//! It is a program for the kernel's classic BPF machine: the rules one after the other, and at the end the question
//! who calls. Calls by our own code are let through, and so are those of other architectures and all that no rule
//! names: x32 numbers too, which carry a bit that none here has. One call is answered as if the kernel did not know
//! it. It does not install itself.

mod rules;

use std::ops::Range;

use nix::libc;

use rules::{RULES, Rule, Test, When};

// Where the kernel puts what it knows of the call; of 64 bits the low half comes first.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const INSTRUCTION: u32 = 8;
const ARGUMENTS: u32 = 16;
const HIGH: u32 = 4;

const X86_64: u32 = 0xc000_003e;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const RETURN: u16 = 0x06;

/// The filter for a program in which our code lies there. In the kernel's form: eight bytes for an instruction.
pub(super) fn program(code: Range<u64>) -> Vec<u8> {
    let blocks: Vec<Vec<Instruction>> = RULES.iter().map(block).collect();
    let mut program = vec![
        instruction(LOAD, ARCHITECTURE),
        branch(JUMP_EQUAL, X86_64, 1, 0),
        ALLOW,
        instruction(LOAD, NUMBER),
    ];
    let caller = program.len() + blocks.iter().map(Vec::len).sum::<usize>() + 1;
    for block in blocks {
        for mut instruction in block {
            if instruction.code == JUMP {
                instruction.operand = u32::try_from(caller - program.len() - 1).expect("there are few rules");
            }
            program.push(instruction);
        }
    }
    program.push(ALLOW);
    program.extend(who_calls(code));
    program.into_iter().flat_map(Instruction::bytes).collect()
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    code: u16,
    /// How many instructions are skipped if it is so, and if not.
    yes: u8,
    no: u8,
    operand: u32,
}

const ALLOW: Instruction = instruction(RETURN, libc::SECCOMP_RET_ALLOW);
const UNKNOWN: Instruction = instruction(RETURN, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
const TRAP: Instruction = instruction(RETURN, libc::SECCOMP_RET_TRAP);

const fn instruction(code: u16, operand: u32) -> Instruction {
    branch(code, operand, 0, 0)
}

const fn branch(code: u16, operand: u32, yes: u8, no: u8) -> Instruction {
    Instruction { code, yes, no, operand }
}

impl Instruction {
    fn bytes(self) -> [u8; 8] {
        let [c0, c1] = self.code.to_ne_bytes();
        let [o0, o1, o2, o3] = self.operand.to_ne_bytes();
        [c0, c1, self.yes, self.no, o0, o1, o2, o3]
    }
}

/// The instructions for one rule. Other calls go on behind them; of those that it names, the ones it means jump to the
/// question who calls, which is filled in when that has its place, and the rest are let through.
fn block(rule: &Rule) -> Vec<Instruction> {
    let number = u32::try_from(rule.number).expect("numbers of system calls are small");
    let (tests, all): (&[Test], bool) = match rule.when {
        When::Always => (&[], true),
        When::All(tests) => (tests, true),
        When::Any(tests) => (tests, false),
        When::Unknown => return vec![branch(JUMP_EQUAL, number, 0, 1), UNKNOWN],
    };
    let tests: Vec<Vec<Step>> = tests.iter().map(steps).collect();
    let trap = 1 + tests.iter().map(Vec::len).sum::<usize>();
    let allow = trap + 1;

    let mut block = vec![branch(JUMP_EQUAL, number, 0, distance(0, allow + 1))];
    for (n, steps) in tests.iter().enumerate() {
        let next = block.len() + steps.len();
        let last = n + 1 == tests.len();
        let pass = if all && !last { next } else { trap };
        let fail = if all || last { allow } else { next };
        for step in steps {
            let at = block.len();
            let skipped = |to| match to {
                To::Next => 0,
                To::Pass => distance(at, pass),
                To::Fail => distance(at, fail),
            };
            block.push(match *step {
                Step::Do(code, operand) => instruction(code, operand),
                Step::Ask(code, operand, yes, no) => branch(code, operand, skipped(yes), skipped(no)),
            });
        }
    }
    block.extend([instruction(JUMP, 0), ALLOW]);
    block
}

/// How many instructions lie between two.
fn distance(from: usize, to: usize) -> u8 {
    u8::try_from(to - from - 1).expect("a rule has few tests")
}

/// An instruction of a test that does not yet know what follows.
#[derive(Clone, Copy)]
enum Step {
    Do(u16, u32),
    Ask(u16, u32, To, To),
}

#[derive(Clone, Copy)]
enum To {
    Next,
    Pass,
    Fail,
}

fn steps(test: &Test) -> Vec<Step> {
    let low = |argument: u32| ARGUMENTS + argument * 8;
    match *test {
        Test::Given(argument) => vec![
            Step::Do(LOAD, low(argument)),
            Step::Ask(JUMP_EQUAL, 0, To::Next, To::Pass),
            Step::Do(LOAD, low(argument) + HIGH),
            Step::Ask(JUMP_EQUAL, 0, To::Fail, To::Pass),
        ],
        Test::Positive(argument) => vec![
            Step::Do(LOAD, low(argument)),
            Step::Ask(JUMP_GREATER, i32::MAX.unsigned_abs(), To::Fail, To::Next),
            Step::Ask(JUMP_EQUAL, 0, To::Fail, To::Pass),
        ],
        Test::Among { argument, mask, values } => {
            let mut steps = vec![Step::Do(LOAD, low(argument)), Step::Do(AND, mask)];
            for (n, &value) in values.iter().enumerate() {
                let no = if n + 1 == values.len() { To::Fail } else { To::Next };
                steps.push(Step::Ask(JUMP_EQUAL, value, To::Pass, no));
            }
            steps
        }
    }
}

/// Traps the call, unless it comes from our code. What the kernel knows is the address behind the calling instruction:
/// the last of our code is called from if that is its end, and not if it is its start.
fn who_calls(code: Range<u64>) -> [Instruction; 12] {
    let ((start_high, start), (end_high, end)) = (halves(code.start), halves(code.end));
    [
        instruction(LOAD, INSTRUCTION + HIGH),
        branch(JUMP_GREATER, start_high, 3, 0),
        branch(JUMP_EQUAL, start_high, 0, 8),
        instruction(LOAD, INSTRUCTION),
        branch(JUMP_GREATER, start, 0, 6),
        instruction(LOAD, INSTRUCTION + HIGH),
        branch(JUMP_GREATER, end_high, 4, 0),
        branch(JUMP_EQUAL, end_high, 0, 2),
        instruction(LOAD, INSTRUCTION),
        branch(JUMP_GREATER, end, 1, 0),
        ALLOW,
        TRAP,
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "the machine compares 32 bits at a time")]
fn halves(address: u64) -> (u32, u32) {
    ((address >> 32) as u32, address as u32)
}

#[cfg(test)]
mod tests;
