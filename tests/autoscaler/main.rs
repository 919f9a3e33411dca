//! The mock autoscaler against both mocks, over the wire and at its default timers: what takes a cluster half an hour
//! takes a second or two.
//!
//! Each test starts this very binary again as the autoscaler, which is why it has a main function of its own.
//! `SCALEPROOF_TEST_FOREIGN_AUTOSCALER=/path/to/cluster-autoscaler` runs the same tests with another one.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod deeds;
mod rig;

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use mock_clock::Clock as _;
use rig::Rig;

const POOL: &str = "--nodes=0:3:cx23:fsn1:workers";

fn main() -> ExitCode {
    if std::env::var_os(rig::ROLE).is_some() {
        // A subject must not outlive a test that failed.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).unwrap();
        return mock_autoscaler::main(std::env::args_os());
    }
    // Only ours has defects.
    let foreign = std::env::var_os(rig::FOREIGN).is_some();
    let trials = vec![
        trial("up_from_zero_and_down_again", || up_from_zero_and_down_again(&[])),
        trial("the_same_with_a_lease", || up_from_zero_and_down_again(&["--leader-elect=true"])),
        trial("a_drained_node_loses_nobody", a_drained_node_loses_nobody),
        trial("a_minimum_is_filled_if_that_is_wanted", a_minimum_is_filled_if_that_is_wanted),
        trial("what_never_registers_is_given_back", what_never_registers_is_given_back),
        trial("a_successor_goes_on_where_the_first_was", a_successor_goes_on_where_the_first_was),
        trial("deeds::a_server_that_fails_is_taken_back", deeds::a_server_that_fails_is_taken_back),
        trial(
            "deeds::a_server_that_takes_too_long_is_taken_back",
            deeds::a_server_that_takes_too_long_is_taken_back,
        ),
        trial("deeds::one_look_that_fails_destroys_nothing", deeds::one_look_that_fails_destroys_nothing),
        trial("deeds::a_list_that_fails_says_nothing", deeds::a_list_that_fails_says_nothing),
        trial("deeds::the_node_is_left_to_others", deeds::the_node_is_left_to_others),
        trial("deeds::a_node_that_cannot_go_is_given_back", deeds::a_node_that_cannot_go_is_given_back),
        trial("deeds::taints_of_a_predecessor_are_taken_away", deeds::taints_of_a_predecessor_are_taken_away),
        trial("deeds::who_does_not_lead_does_nothing", deeds::who_does_not_lead_does_nothing),
        trial("deeds::who_does_not_end_ends_with_the_node", deeds::who_does_not_end_ends_with_the_node),
        trial("deeds::a_cloud_that_is_down_is_told", deeds::a_cloud_that_is_down_is_told),
        trial(
            "deeds::whoever_is_told_to_end_takes_the_status_along",
            deeds::whoever_is_told_to_end_takes_the_status_along,
        ),
        trial("deeds::others_can_see_what_it_does", deeds::others_can_see_what_it_does),
    ];
    let trials = trials.into_iter().filter(|trial| !(foreign && trial.name().starts_with("deeds"))).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(test());
        Ok::<(), Failed>(())
    })
}

/// Runs a test while machines boot.
async fn with_machines(rig: &Rig, test: impl Future<Output = ()>) {
    tokio::select! {
        () = rig.machines_boot() => {}
        () = test => {}
    }
}

fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

async fn up_from_zero_and_down_again(arguments: &[&str]) {
    let mut rig = Rig::start("up-and-down").await;
    let mut all = vec![POOL, "--leader-elect=false"];
    all.extend(arguments);
    rig.autoscale(&all);
    let rig_ = &rig;
    with_machines(rig_, async {
        rig_.deploy("web", 2, "900m").await;
        let bought = rig_.until("a server is bought", || async { rig_.count() == 1 }).await;
        assert!(bought <= Duration::from_secs(30), "{bought:?}");
        let up = rig_.until("both pods run", || async { rig_.running().await == 2 }).await;
        rig_.clock.sleep(minutes(15)).await;
        assert_eq!((rig_.count(), rig_.ever()), (1, 1), "nothing more is needed");
        rig_.scale("web", 0).await;
        let down = rig_.until("the server is given back", || async { rig_.count() == 0 }).await;
        println!(
            "up after {bought:?} and {up:?}, down after {down:?}, all in {:?}",
            rig_.clock.real_elapsed()
        );
        assert!((minutes(10)..minutes(10) + Duration::from_secs(60)).contains(&down), "{down:?}");
        let reasons = rig_.reasons().await;
        for reason in ["ScaledUpGroup", "TriggeredScaleUp", "ScaleDown"] {
            assert!(reasons.contains(reason), "{reason} is missing in {reasons:?}");
        }
        assert!(rig_.status().await.is_some());
    })
    .await;
    rig.end().await;
}

async fn a_drained_node_loses_nobody() {
    let mut rig = Rig::start("drain").await;
    rig.autoscale(&[POOL, "--leader-elect=false"]);
    let rig_ = &rig;
    with_machines(rig_, async {
        rig_.deploy("big", 2, "1600m").await;
        rig_.until("both big pods run", || async { rig_.running().await == 2 }).await;
        assert_eq!(rig_.count(), 2);
        rig_.deploy("small", 2, "300m").await;
        rig_.until("small pods run", || async { rig_.running().await == 4 }).await;
        rig_.clock.sleep(minutes(11)).await;
        rig_.scale("big", 0).await;
        let down = rig_.until("one node is drained", || async { rig_.count() == 1 }).await;
        assert!((minutes(10)..minutes(12)).contains(&down), "{down:?}");
        rig_.until("small pods run again", || async { rig_.running().await == 2 }).await;
        rig_.clock.sleep(minutes(30)).await;
        assert_eq!((rig_.count(), rig_.ever()), (1, 2), "neither emptied nor bought again");
    })
    .await;
    rig.end().await;
}

async fn a_minimum_is_filled_if_that_is_wanted() {
    for (wanted, count) in
        [("--enforce-node-group-min-size=false", 0), ("--enforce-node-group-min-size=true", 2)]
    {
        let mut rig = Rig::start("minimum").await;
        rig.autoscale(&["--nodes=2:3:cx23:fsn1:workers", "--leader-elect=false", wanted]);
        let rig_ = &rig;
        with_machines(rig_, async {
            rig_.clock.sleep(minutes(40)).await;
            assert_eq!((rig_.count(), rig_.ever()), (count, count), "{wanted}");
        })
        .await;
        rig.end().await;
    }
}

async fn what_never_registers_is_given_back() {
    let mut rig = Rig::start("never").await;
    rig.autoscale(&[POOL, "--leader-elect=false"]);
    rig.deploy("web", 1, "900m").await;
    rig.until("a server is bought", || async { rig.count() == 1 }).await;
    let gone = rig.until("it is given back", || async { rig.count() == 0 }).await;
    assert!((minutes(15)..minutes(17)).contains(&gone), "{gone:?}");
    rig.clock.sleep(minutes(3)).await;
    assert_eq!(rig.ever(), 1, "the pool is left alone for a while");
    rig.end().await;
}

async fn a_successor_goes_on_where_the_first_was() {
    let mut rig = Rig::start("successor").await;
    rig.autoscale(&[POOL, "--leader-elect=false"]);
    rig.deploy("web", 2, "900m").await;
    rig.until("a server is bought", || async { rig.count() == 1 }).await;
    rig.kill();
    rig.autoscale(&[POOL, "--leader-elect=false"]);
    rig.clock.sleep(minutes(2)).await;
    assert_eq!(rig.ever(), 1, "what is on its way counts");
    let rig_ = &rig;
    with_machines(rig_, async {
        rig_.until("both pods run", || async { rig_.running().await == 2 }).await;
    })
    .await;
    assert_eq!(rig.ever(), 1);
    rig.end().await;
}
