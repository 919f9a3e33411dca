//! Whether a job is over, and why.

use k8s_openapi::api::batch::v1::{Job, JobCondition};

use super::{Ended, Work};
use crate::control::brief::Phase;
use crate::control::events::about;
use crate::control::moment::moment;

/// How it ends. It is said twice: when it is decided, and when the last pod has stopped.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) is_success: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Verdict {
    pub(super) fn success() -> Self {
        Self {
            is_success: true,
            reason: "CompletionsReached".to_owned(),
            message: "Reached expected number of succeeded pods".to_owned(),
        }
    }

    fn failure(reason: &str, message: &str) -> Self {
        Self { is_success: false, reason: reason.to_owned(), message: message.to_owned() }
    }

    fn said(condition: &JobCondition, is_success: bool) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self { is_success, reason: text(&condition.reason), message: text(&condition.message) }
    }

    pub(super) fn interim(&self) -> &'static str {
        if self.is_success { "SuccessCriteriaMet" } else { "FailureTarget" }
    }

    pub(super) fn last(&self) -> &'static str {
        if self.is_success { "Complete" } else { "Failed" }
    }
}

pub(super) fn is_finished(job: &Job) -> bool {
    let conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut conditions = conditions.filter(|condition| condition.status == "True");
    conditions.any(|condition| matches!(condition.type_.as_str(), "Complete" | "Failed"))
}

impl Work<'_> {
    /// What was said already, or what follows from failures and time.
    pub(super) fn verdict(&self, failed: i32, ended: &[Ended]) -> Option<Verdict> {
        let said = |kind: &str, is_success| {
            let conditions = self.status.conditions.iter().flatten();
            let mut said = conditions.filter(|one| one.type_ == kind && one.status == "True");
            said.next().map(|condition| Verdict::said(condition, is_success))
        };
        if let Some(verdict) = said("SuccessCriteriaMet", true).or_else(|| said("FailureTarget", false)) {
            return Some(verdict);
        }
        let mut rules = ended.iter().filter_map(|ended| ended.rule.as_ref());
        if let Some(rule) = rules.find(|rule| rule.action == "FailJob") {
            return Some(Verdict::failure("PodFailurePolicy", &rule.message));
        }
        let limit = self.spec().backoff_limit.unwrap_or(6);
        if failed > limit || self.restarts_too_often(limit) {
            return Some(Verdict::failure(
                "BackoffLimitExceeded",
                "Job has reached the specified backoff limit",
            ));
        }
        let late = !self.is_suspended() && self.deadline().is_some_and(|deadline| deadline <= self.now);
        late.then(|| Verdict::failure("DeadlineExceeded", "Job was active longer than specified deadline"))
    }

    /// Pods that restart their containers themselves fail by restarting.
    fn restarts_too_often(&self, limit: i32) -> bool {
        let spec = self.spec().template.spec.as_ref();
        if spec.and_then(|spec| spec.restart_policy.as_deref()) != Some("OnFailure") {
            return false;
        }
        let alive = self.pods.iter().filter(|pod| matches!(pod.phase, Phase::Running | Phase::Pending));
        let restarts = alive.fold(0_i32, |sum, pod| sum.saturating_add(pod.restarts_total));
        if limit == 0 { restarts > 0 } else { restarts >= limit }
    }

    pub(super) fn is_complete(&self, succeeded: i32, active: usize) -> bool {
        let enough = match self.spec().completions {
            Some(completions) => succeeded >= completions,
            None => succeeded > 0,
        };
        enough && active == 0
    }

    /// Says that the job was suspended, or goes on.
    pub(super) fn note_suspension(&mut self) {
        let conditions = self.status.conditions.iter().flatten();
        let suspended =
            conditions.clone().any(|condition| condition.type_ == "Suspended" && condition.status == "True");
        let (reason, message) = match (self.is_suspended(), suspended) {
            (true, false) => ("Suspended", "Job suspended"),
            (false, true) => ("Resumed", "Job resumed"),
            _ => return,
        };
        if suspended {
            self.status.start_time = Some(moment(self.now));
        }
        self.recorder.normal(self.api, &about(&self.job), reason, message);
        let conditions = self.status.conditions.get_or_insert_default();
        conditions.retain(|condition| condition.type_ != "Suspended");
        let status = if suspended { "False" } else { "True" };
        conditions.push(self::condition("Suspended", status, &format!("Job{reason}"), message, self.now));
    }

    /// Says something once.
    pub(super) fn note(&mut self, kind: &str, reason: &str, message: &str) {
        let conditions = self.status.conditions.get_or_insert_default();
        if !conditions.iter().any(|condition| condition.type_ == kind) {
            conditions.push(condition(kind, "True", reason, message, self.now));
        }
    }

    pub(super) fn tell_end(&mut self, verdict: &Verdict) {
        let job = about(&self.job);
        if !verdict.is_success {
            return self.recorder.warning(self.api, &job, &verdict.reason, &verdict.message);
        }
        if self.spec().completions.is_some_and(|wanted| self.status.succeeded.unwrap_or_default() > wanted) {
            let message = "Too many succeeded pods running after completion count reached";
            self.recorder.warning(self.api, &job, "TooManySucceededPods", message);
        }
        self.recorder.normal(self.api, &job, "Completed", "Job completed");
    }
}

fn condition(kind: &str, status: &str, reason: &str, message: &str, now: mock_clock::Time) -> JobCondition {
    JobCondition {
        last_probe_time: Some(moment(now)),
        last_transition_time: Some(moment(now)),
        message: Some(message.to_owned()),
        reason: Some(reason.to_owned()),
        status: status.to_owned(),
        type_: kind.to_owned(),
    }
}
