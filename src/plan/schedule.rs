//! A plan as people read it: what there is, and what happens when at the latest.

use std::fmt;

use super::{Act, Expect, Plan, Span, When, words};
use crate::scenario::FixedNode;
use crate::terms::{Period, Pool, Room};

impl Act {
    /// How long it takes at most, beyond the moment that doing it takes.
    pub fn bound(&self) -> Period {
        match self {
            Act::Wait(period) | Act::Until { at_most: period, .. } => *period,
            Act::Expect(expect) => lasts(expect),
            _ => Period::default(),
        }
    }

    /// Whether it is well if what it waits for does not come.
    pub fn may_fail(&self) -> bool {
        matches!(self, Act::Until { may_fail: true, .. })
    }

    /// How long it takes at least.
    pub fn least(&self) -> Period {
        match self {
            Act::Wait(period) => *period,
            Act::Expect(expect) if !matches!(expect.when, When::Within(_)) => lasts(expect),
            _ => Period::default(),
        }
    }
}

/// How long the run waits for what is expected.
fn lasts(expect: &Expect) -> Period {
    match expect.when.span() {
        Span::Fixed(period) if !expect.meanwhile => period,
        _ => Period::default(),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, {} of the subject", self.seed, words::count(self.replicas, "replica"))?;
        for (option, value) in &self.options {
            writeln!(f, "  asked for {option}: {value}")?;
        }
        for argument in &self.subject.arguments {
            writeln!(f, "  told {argument}")?;
        }
        for (name, value) in &self.subject.environment {
            writeln!(f, "  told {name}={value} in its environment")?;
        }
        writeln!(f, "pools")?;
        for pool in &self.pools {
            writeln!(f, "  {}", of_pool(pool))?;
        }
        if !self.fixed_nodes.is_empty() {
            writeln!(f, "nodes of no pool")?;
        }
        for FixedNode { name, cpu_milli, memory_mib, .. } in &self.fixed_nodes {
            writeln!(f, "  {name}: {cpu_milli}m and {memory_mib}Mi")?;
        }
        if !self.workloads.is_empty() {
            writeln!(f, "workloads")?;
        }
        for workload in &self.workloads {
            writeln!(f, "  {}", words::workload(workload))?;
        }
        self.steps(f)
    }
}

impl Plan {
    fn steps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut least, mut most) = (Period::default(), Period::default());
        writeln!(f, "steps")?;
        for step in &self.steps {
            writeln!(f, "  {}  {}", when(least, most), step.says)?;
            least.0 += step.act.least().0;
            most.0 += step.act.bound().0;
        }
        writeln!(f, "  {}  heal what hurts, and converge for at most {}", when(least, most), self.converge)?;
        most.0 += self.converge.0;
        write!(f, "the end at most at T+{most}; the run is ended after {} whatever happens", self.longest)
    }
}

fn when(least: Period, most: Period) -> String {
    let told = if least == most { format!("T+{least}") } else { format!("T+{least} … at most T+{most}") };
    format!("{told:<30}")
}

fn of_pool(pool: &Pool) -> String {
    let Pool { name, machine, location, min, max, initial, room, .. } = pool;
    let Room { cpu_milli, memory_mib } = room;
    let there = if *initial == 0 { String::new() } else { format!(", {initial} at the beginning") };
    format!(
        "{name}: {machine} in {location} with {cpu_milli}m and {memory_mib}Mi each, {min} to {max}{there}"
    )
}
