//! Spans → periods, wherever they stand.

use std::time::Duration;

use super::error::PlanError;
use super::make::too_old;
use crate::scenario::{Condition, FateSpec, FaultSpec, Span, Workload};
use crate::subject::Profile;
use crate::terms::{Period, Timers};

/// No span is longer than a week.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// What spans are resolved against.
pub(super) struct Resolver<'a> {
    profile: &'a Profile,
    timers: &'a Timers,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(profile: &'a Profile, timers: &'a Timers) -> Self {
        Self { profile, timers }
    }

    pub(super) fn period(&self, span: Span) -> Result<Period, PlanError> {
        let too_long = || PlanError::TooLong(Period(LONGEST));
        let period = match span {
            Span::Fixed(Period(period)) => period,
            Span::Timer { timer, times, plus, minus } => {
                let unknown = || {
                    let profile = self.profile;
                    too_old(profile, &[profile.since.timers.get(&timer)], || format!("wait for {timer}"))
                        .unwrap_or_else(|| PlanError::Timer { profile: profile.name.clone(), timer })
                };
                let &period = self.timers.get(&timer).ok_or_else(unknown)?;
                let long = period.0.checked_mul(times).and_then(|long| long.checked_add(plus.0));
                let rest = long.ok_or_else(too_long)?.checked_sub(minus.0);
                rest.ok_or(PlanError::BelowZero { timer, period })?
            }
        };
        if period > LONGEST { Err(too_long()) } else { Ok(Period(period)) }
    }

    /// The same as a span that depends on nothing.
    pub(super) fn fixed(&self, span: Span) -> Result<Span, PlanError> {
        self.period(span).map(Span::Fixed)
    }

    pub(super) fn workload(&self, workload: &Workload) -> Result<Workload, PlanError> {
        let mut workload = workload.clone();
        workload.ends_in = workload.ends_in.map(|span| self.fixed(span)).transpose()?;
        workload.grace = workload.grace.map(|span| self.fixed(span)).transpose()?;
        Ok(workload)
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<Condition, PlanError> {
        let mut condition = condition.clone();
        if let Condition::RunningFor { lasting, .. } = &mut condition {
            *lasting = self.fixed(*lasting)?;
        }
        Ok(condition)
    }

    pub(super) fn fault(&self, fault: &FaultSpec) -> Result<FaultSpec, PlanError> {
        let mut fault = fault.clone();
        match &mut fault {
            FaultSpec::SlowKubelet { takes: span, .. }
            | FaultSpec::Flapping { every: span, .. }
            | FaultSpec::SlowClusterApi { takes: span, .. }
            | FaultSpec::Calls { fate: FateSpec::Delay(span) | FateSpec::DelayAnswer(span), .. } => {
                *span = self.fixed(*span)?;
            }
            FaultSpec::Calls { .. }
            | FaultSpec::NeverRegisters { .. }
            | FaultSpec::LostHeartbeats { .. }
            | FaultSpec::NoCloudProvider { .. }
            | FaultSpec::CloudControllerDown
            | FaultSpec::PodNeverEnds(_)
            | FaultSpec::EvictionsRefused
            | FaultSpec::LeaseLeak { .. }
            | FaultSpec::ZombieKubelets { .. }
            | FaultSpec::StuckAttachment { .. }
            | FaultSpec::TaintsByHand { .. }
            | FaultSpec::Edits { .. }
            | FaultSpec::Cloud(_)
            | FaultSpec::MachinesRefused { .. }
            | FaultSpec::MachinesNeverCome { .. }
            | FaultSpec::MachinesFail { .. }
            | FaultSpec::PausedGroup { .. }
            | FaultSpec::ApiGroupMissing(_)
            | FaultSpec::WorldClock { .. } => {}
        }
        Ok(fault)
    }
}
