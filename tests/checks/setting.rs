//! What stories begin with: the header of a run at the documented default timers.

use std::collections::BTreeMap;

use mock_clock::Time;
use scaleproof::history::{ClusterFacts, Header, MachineFacts, ScenarioFacts, SubjectFacts};
use scaleproof::terms::{Provider, Timer, Timers, Version};
use serde_json::Value;

fn timers() -> Timers {
    use Timer::{
        BackoffInitial, BackoffMax, CloudCache, CreationTimeout, DelayAfterAdd, DelayAfterFailure,
        DeleteDelayAfterTaint, DeletionDelay, EvictionTime, GracefulTermination, LeaseDuration, MaxFailing,
        MaxInactivity, NewPodScaleUpDelay, ProvisionTime, ReactionTime, ScanInterval, StartupTime, StatusAge,
        UnneededTime, UnreadyTime, UnremovableRecheck,
    };
    let documented = [
        (ScanInterval, "10s"),
        (NewPodScaleUpDelay, "0s"),
        (ReactionTime, "30s"),
        (UnneededTime, "10m"),
        (UnreadyTime, "20m"),
        (DelayAfterAdd, "10m"),
        (DelayAfterFailure, "3m"),
        (UnremovableRecheck, "5m"),
        (ProvisionTime, "15m"),
        (StartupTime, "15m"),
        (CreationTimeout, "5m"),
        (BackoffInitial, "5m"),
        (BackoffMax, "30m"),
        (EvictionTime, "2m"),
        (GracefulTermination, "10m"),
        (DeleteDelayAfterTaint, "5s"),
        (DeletionDelay, "2m"),
        (LeaseDuration, "15s"),
        (MaxInactivity, "10m"),
        (MaxFailing, "15m"),
        (CloudCache, "1m"),
        (StatusAge, "3m"),
    ];
    documented.into_iter().map(|(timer, period)| (timer, period.parse().unwrap())).collect()
}

/// The header of a story that begins at a moment.
pub(crate) fn header(began: Time) -> Header {
    Header {
        format: 1,
        scaleproof: "0.1.0".into(),
        scenario: ScenarioFacts {
            path: String::new(),
            title: String::new(),
            digest: String::new(),
            expect: vec![],
            convicts: vec![],
        },
        seed: 1,
        plan: Value::Null,
        subject: SubjectFacts {
            profile: "story".into(),
            profile_path: None,
            profile_digest: None,
            provider: Provider::Hetzner,
            version: Some(Version::new(1, 36, 1)),
            digest: None,
            command: vec![],
            environment: BTreeMap::new(),
            replicas: 1,
            timers: timers(),
            options: BTreeMap::new(),
            deviations: vec![],
        },
        pools: vec![],
        cluster: ClusterFacts { kind: "embedded".into(), version: "1.35.0".into() },
        time: "idle-skip".into(),
        began,
        machine: MachineFacts { system: "none".into(), processors: 1 },
    }
}
