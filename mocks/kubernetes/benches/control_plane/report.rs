//! Figures: measured once, compared, printed beside what they should be.

use std::time::Duration;

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    value: f64,
    unit: String,
    /// What it should be; no number if nobody has said.
    target: f64,
}

impl Row {
    /// The less the better.
    pub(crate) fn ms(what: impl Into<String>, value: Duration, target: Option<f64>) -> Self {
        Self::new(what, value.as_secs_f64() * 1e3, "ms", target)
    }

    /// The more the better.
    pub(crate) fn per_second(
        what: impl Into<String>,
        count: usize,
        time: Duration,
        target: Option<f64>,
    ) -> Self {
        Self::new(what, count as f64 / time.as_secs_f64(), "/s", target)
    }

    pub(crate) fn megabytes(what: impl Into<String>, bytes: f64, target: Option<f64>) -> Self {
        Self::new(what, bytes / 1e6, "MB", target)
    }

    fn new(what: impl Into<String>, value: f64, unit: &str, target: Option<f64>) -> Self {
        Self { what: what.into(), value, unit: unit.to_owned(), target: target.unwrap_or(f64::NAN) }
    }

    pub(crate) fn figure(&self) -> String {
        let digits = if self.value < 10.0 { 2 } else { usize::from(self.value < 100.0) };
        format!("{:.digits$} {}", self.value, self.unit)
    }

    pub(crate) fn target(&self) -> String {
        let side = if self.more_is_better() { "≥" } else { "<" };
        if self.target.is_nan() { String::new() } else { format!("{side} {} {}", self.target, self.unit) }
    }

    /// As it comes out of a child.
    pub(crate) fn to_line(&self) -> String {
        format!("{}\t{}\t{}\t{}", self.what, self.value, self.unit, self.target)
    }

    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let mut parts = line.split('\t').map(str::to_owned);
        let (what, value) = (parts.next()?, parts.next()?.parse().ok()?);
        Some(Self { what, value, unit: parts.next()?, target: parts.next()?.parse().ok()? })
    }

    fn more_is_better(&self) -> bool {
        self.unit == "/s"
    }

    fn better_of(self, other: Self) -> Self {
        if (self.value < other.value) == self.more_is_better() { other } else { self }
    }
}

/// The best of several runs of the same rows.
pub(crate) fn best(rounds: Vec<Vec<Row>>) -> Vec<Row> {
    let better = |left: Vec<Row>, right: Vec<Row>| {
        left.into_iter().zip(right).map(|(left, right)| left.better_of(right)).collect()
    };
    rounds.into_iter().reduce(better).unwrap_or_default()
}

/// The value below which `percent` of all lie.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).or(sorted.last()).copied().unwrap_or_default()
}

/// The memory of this process that is in use now, in bytes.
pub(crate) fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() * 1024.0
}
