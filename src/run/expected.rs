//! Steps that expect something: the run waits as long as they take, and sees it as the judge will.

use std::time::Duration;

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use mock_clock::Clock as _;

use super::stage::Stage;
use crate::history::{BillEvent, What};
use crate::matter::Watch;
use crate::plan::{Act, Expect, Matter, Plan, Span, When};

impl Stage {
    /// Waits for what a step expects: until it is so, if that decides, and otherwise to the end of its time.
    pub(super) async fn expect(&self, step: usize, expect: &Expect, left: Duration) {
        let Span::Fixed(period) = expect.when.span() else { return };
        if expect.meanwhile {
            return;
        }
        let time = self.clock.sleep(period.0.min(left));
        match expect.when {
            When::Within(_) => {
                tokio::select! {
                    () = self.until_so(step, expect) => {}
                    _ = time => {}
                }
            }
            When::Throughout(_) | When::Never(_) => drop(time.await),
        }
    }

    /// Returns once it is so.
    async fn until_so(&self, step: usize, expect: &Expect) {
        let mut watch = Watch::new(&expect.matter, self.provider);
        let mut follower = self.recorder.follow();
        let mut begun = false;
        while let Some((_, event)) = follower.next().await {
            let changed = watch.see(&event);
            let begins = !begun && event.begins(step);
            if begins {
                watch.begin(event.at);
                begun = true;
            }
            if begun && (changed || begins) && watch.state().so {
                return;
            }
        }
        // Nothing happens any more.
        std::future::pending::<()>().await;
    }

    /// Tells what the servers have cost, if anybody expects anything of that.
    pub(super) fn tell_bill(&self, plan: &Plan) {
        let asks =
            |act: &Act| matches!(act, Act::Expect(expect) if matches!(expect.matter, Matter::Bill { .. }));
        if plan.steps.iter().any(|step| asks(&step.act)) {
            self.recorder.record(What::Bill(BillEvent { cost_millis: self.cloud.cost_millis() }));
        }
    }
}

/// The kinds of objects that a plan expects something of, with their APIs.
pub(super) fn kinds(plan: &Plan) -> Vec<ApiResource> {
    let kind = |act: &Act| match act {
        Act::Expect(Expect { matter: Matter::Object { api, kind, .. }, .. }) => {
            let (group, version) = api.rsplit_once('/').unwrap_or(("", api));
            Some(ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind)))
        }
        _ => None,
    };
    plan.steps.iter().filter_map(|step| kind(&step.act)).collect()
}
