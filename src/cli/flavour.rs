//! Who is asked when nobody is named: the autoscaler that comes along, in the flavour that the scenario is about.

use super::files;
use crate::check::catalogue;
use crate::cloud;
use crate::exit::Exit;
use crate::plan;
use crate::scenario::Scenario;
use crate::subject::Profile;

/// Its profiles, the first that fits first.
const FLAVOURS: [&str; 3] =
    ["mock-autoscaler-hetzner", "mock-autoscaler-clusterapi", "mock-autoscaler-karpenter"];

/// The name of the first of its profiles to which all that happens in the scenario can happen, and whose provider has
/// promised all that is expected. Of a scenario that fits none, the first tells what is wrong.
pub(super) fn of(scenario: &Scenario) -> Result<&'static str, Exit> {
    for name in FLAVOURS {
        if fits(scenario, &files::profile(name)?) {
            return Ok(name);
        }
    }
    Ok(FLAVOURS[0])
}

fn fits(scenario: &Scenario, profile: &Profile) -> bool {
    let asked = || scenario.expect.iter().chain(&scenario.convicts);
    let promised = catalogue();
    let foreign = promised.iter().any(|expectation| {
        !expectation.providers.contains(&profile.provider) && asked().any(|code| *code == expectation.code)
    });
    // Which seed it is says nothing about who is meant.
    let made = plan::make(scenario, profile, 0, &cloud::room);
    !foreign && !made.is_err_and(|error| error.is_about_subject())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_happens_and_what_is_expected_tell_the_flavour() {
        for (scenario, flavour) in [
            ("suites/incidents/s1-a-minimum-with-the-flag.yaml", "mock-autoscaler-hetzner"),
            // By what is expected.
            ("suites/incidents/s4-a-storm-of-edits.yaml", "mock-autoscaler-clusterapi"),
            // By what happens.
            ("suites/chaos/cluster-api/a-paused-group-is-left-alone.yaml", "mock-autoscaler-clusterapi"),
            ("suites/conformance/karpenter/limits-hold.yaml", "mock-autoscaler-karpenter"),
            ("suites/incidents/s5-leaked-leases-end-up-gone.yaml", "mock-autoscaler-karpenter"),
            // By what convicts.
            (
                "suites/negative/a-subject-that-ignores-the-maximum-is-convicted.yaml",
                "mock-autoscaler-hetzner",
            ),
        ] {
            let read = files::scenario(Path::new(scenario)).unwrap();
            assert_eq!(of(&read).unwrap(), flavour, "{scenario}");
        }
    }
}
