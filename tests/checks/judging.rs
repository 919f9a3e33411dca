//! What a whole history is judged to be.

use mock_clock::Time;
use scaleproof::check::{Judgement, Outcome, Verdict, catalogue, judge};
use scaleproof::history::{FaultChange, History, LagEvent, Phase, StepChange, StepEvent, What};
use scaleproof::terms::{Provider, Version};

use super::story::Story;
use super::{read, word};

fn history(story: Story, code: &str) -> History {
    read(&story.text(code, "case"))
}

fn outcome<'j>(judgement: &'j Judgement, code: &str) -> Option<&'j Outcome> {
    judgement.judged.iter().find(|judged| judged.code.to_string() == code).map(|judged| &judged.outcome)
}

/// What became of the expectation that was asked for, in a word.
fn told(history: &History, code: &str) -> &'static str {
    match outcome(&judge(history), code) {
        Some(Outcome::Judged(verdict)) => word(verdict),
        Some(Outcome::NotApplicable(_)) => "not applicable",
        None => "nothing",
    }
}

fn good() -> Story {
    Story::new()
        .pending(100, "web-1")
        .order(112, "small", 7)
        .node(150, 7, "small")
        .runs(160, "web-1", "small-7")
}

fn bad() -> Story {
    Story::new().pending(100, "web-1")
}

#[test]
fn what_was_asked_for_is_told_and_so_is_what_always_binds() {
    let judgement = judge(&history(good().end(300), "SU-01"));
    assert!(matches!(outcome(&judgement, "SU-01"), Some(Outcome::Judged(Verdict::Held { .. }))));
    assert!(
        matches!(outcome(&judgement, "MM-01"), Some(Outcome::Judged(Verdict::Held { .. }))),
        "always, and exercised"
    );
    assert!(outcome(&judgement, "SF-12").is_none(), "always, and not exercised");
    assert!(outcome(&judgement, "SU-08").is_none(), "not asked for");
    assert!(judgement.overall().is_held() && judgement.violated().is_empty(), "{judgement:#?}");
    let judgement = judge(&history(bad().end(300), "MM-01"));
    assert!(judgement.overall().is_violated(), "by what always binds");
    assert_eq!(judgement.violated().iter().map(ToString::to_string).collect::<Vec<_>>(), ["SU-01"]);
}

#[test]
fn doubts_about_the_whole_history_make_it_unknown() {
    let lag = |late_us| What::Lag(LagEvent { late_us, starved_us: 0 });
    assert_eq!(told(&history(good().what(50, lag(900_000)).end(300), "SU-01"), "SU-01"), "held");
    for story in [good(), bad()] {
        assert_eq!(
            told(&history(story.clone().what(50, lag(2_000_000)).end(300), "SU-01"), "SU-01"),
            "unknown"
        );
        let trouble = What::Trouble("the watch of pods broke".into());
        assert_eq!(told(&history(story.what(50, trouble).end(300), "SU-01"), "SU-01"), "unknown");
    }
    let cut = |story: Story| history(story.status(300), "SU-01");
    assert_eq!((told(&cut(good()), "SU-01"), told(&cut(bad()), "SU-01")), ("unknown", "violated"));
}

#[test]
fn faults_that_never_bit_leave_unknown_what_was_asked_for() {
    let fault = |story: Story, hurt| {
        let story = story.fault(50, "slow", FaultChange::Injected("boots take long".into()));
        history(story.fault(200, "slow", FaultChange::Healed(hurt)).end(300), "SU-01")
    };
    assert_eq!((told(&fault(good(), 0), "SU-01"), told(&fault(good(), 1), "SU-01")), ("unknown", "held"));
    assert_eq!((told(&fault(good(), 0), "MM-01"), told(&fault(bad(), 0), "SU-01")), ("held", "violated"));
}

fn step(second: u64, change: StepChange, may_fail: bool) -> impl Fn(Story) -> Story {
    let says = "until all pods of web run, for at most 5m".to_owned();
    let event = StepEvent { step: 2, says, change, may_fail };
    move |story| story.what(second, What::Step(event.clone()))
}

#[test]
fn what_was_waited_for_in_vain_leaves_unknown_what_was_asked_for() {
    let overdue = |may_fail| step(250, StepChange::Overdue("0 of 2 pods of web ran".into()), may_fail);
    let judgement = judge(&history(overdue(false)(good()).end(300), "SU-01"));
    let why = |name: &str| match outcome(&judgement, name) {
        Some(Outcome::Judged(Verdict::Unknown { why })) => why.clone(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(why("step 3"), "it was overdue: 0 of 2 pods of web ran");
    assert_eq!(why("SU-01"), "step 3 was overdue: 0 of 2 pods of web ran; what was seen of it held");
    assert!(matches!(outcome(&judgement, "MM-01"), Some(Outcome::Judged(Verdict::Held { .. }))), "always");
    assert_eq!(told(&history(overdue(false)(bad()).end(300), "SU-01"), "SU-01"), "violated");
    for story in [overdue(true)(good()), step(250, StepChange::Done, false)(good())] {
        let judgement = judge(&history(story.end(300), "SU-01"));
        assert!(judgement.overall().is_held() && outcome(&judgement, "step 3").is_none(), "{judgement:#?}");
    }
}

#[test]
fn what_happens_when_all_is_counted_takes_back_nothing() {
    let counted = |story: Story| story.phase(280, Phase::Account);
    let lag = What::Lag(LagEvent { late_us: 2_000_000, starved_us: 0 });
    let trouble = What::Trouble("the cluster did not stop".into());
    for after in [lag, trouble] {
        let late = counted(good()).what(290, after.clone()).end(300);
        assert_eq!(told(&history(late, "SU-01"), "SU-01"), "held", "{after:?}");
        let early = counted(good().what(270, after.clone())).end(300);
        assert_eq!(told(&history(early, "SU-01"), "SU-01"), "unknown", "{after:?}");
    }
    assert_eq!(told(&history(counted(good()), "SU-01"), "SU-01"), "held", "the end is missing");
    assert_eq!(told(&history(good().status(279), "SU-01"), "SU-01"), "unknown");
}

#[test]
fn in_an_unknown_run_it_is_told_what_was_seen() {
    let lag = What::Lag(LagEvent { late_us: 2_000_000, starved_us: 0 });
    let judgement = judge(&history(good().what(50, lag.clone()).end(300), "SU-01"));
    let Some(Outcome::Judged(Verdict::Unknown { why })) = outcome(&judgement, "MM-01") else {
        panic!("{judgement:#?}")
    };
    assert!(
        why.starts_with("the harness was 2000 ms late") && why.ends_with("what was seen of it held"),
        "{why}"
    );
    let judgement = judge(&history(bad().what(50, lag).end(300), "MM-01"));
    let Some(Outcome::Judged(Verdict::Unknown { why })) = outcome(&judgement, "SU-01") else {
        panic!("{judgement:#?}")
    };
    assert!(why.contains("what was seen of it is a violation: "), "{why}");
    assert!(outcome(&judgement, "SF-12").is_none(), "never put to the test");
}

#[test]
fn promises_of_others_are_not_applicable() {
    let mut history = history(good().end(300), "SU-10");
    history.header.subject.version = Some(Version::new(1, 32, 7));
    assert_eq!(told(&history, "SU-10"), "not applicable");
    history.header.subject.version = None;
    assert_eq!(told(&history, "SU-10"), "unknown", "an unknown version is taken for the newest");
    let mut history = self::history(good().end(300), "KD-01");
    assert_eq!(told(&history, "KD-01"), "not applicable");
    history.header.subject.provider = Provider::Karpenter;
    assert_eq!(told(&history, "KD-01"), "unknown");
    history.header.scenario.expect = vec!["SD-01".parse().unwrap()];
    assert_eq!(told(&history, "SD-01"), "not applicable");
    assert!(matches!(judge(&history).overall(), Verdict::Unknown { .. }), "nothing was judged");
    history.header.scenario.expect = vec!["XX-99".parse().unwrap()];
    assert_eq!(told(&history, "XX-99"), "unknown");
}

#[test]
fn any_history_whatsoever_gets_a_verdict() {
    let mut whole = history(good().removal(900, 7).end(2000), "SU-01");
    while whole.events.pop().is_some() {
        for expectation in catalogue() {
            let _ = (expectation.check)(&whole);
        }
    }
    whole.header.began = Time::EPOCH;
    for expectation in catalogue() {
        let verdict = (expectation.check)(&whole);
        assert!(matches!(verdict, Verdict::Unknown { .. }), "{}: {verdict:?}", expectation.code);
    }
    whole.header.subject.timers.clear();
    assert!(matches!(judge(&whole).overall(), Verdict::Unknown { .. }));
}

#[test]
fn nothing_is_convicted_that_the_rest_of_the_history_would_acquit() {
    let mut wrong = Vec::new();
    for (code, case, verdict, story) in
        super::cases().into_iter().filter(|(_, _, verdict, _)| *verdict != "violated")
    {
        let expectation = catalogue().into_iter().find(|one| one.code.as_str() == code).unwrap();
        let mut history = history(story, code);
        while history.events.pop().is_some() {
            let early = (expectation.check)(&history);
            if early.is_violated() {
                wrong.push(format!(
                    "{code} {case}, {verdict} in the end, after {} events: {early:?}",
                    history.events.len()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_correct_stories_convict_nobody_of_anything_that_always_binds() {
    let mut wrong = Vec::new();
    for (code, case, verdict, story) in super::cases() {
        let judgement = judge(&history(story, code));
        let others: Vec<_> =
            judgement.violated().into_iter().filter(|other| other.to_string() != code).collect();
        if verdict == "held" && !others.is_empty() {
            wrong.push(format!("{code} {case}: {others:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
