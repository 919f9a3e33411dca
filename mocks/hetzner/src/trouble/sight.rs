//! Troubles of what is seen: lists that are behind or torn, images and types that are gone, groups that count wrong.
//!
//! A trouble has bitten if the answer is another one without it; that is found by asking both ways. How the project is
//! bent for that is next door.

use std::collections::BTreeSet;

use mock_clock::Time;
use serde_json::Value;

use crate::call::{Answered, Call, Request};
use crate::project::Project;
use crate::trouble::standing::{Ghost, Holds, Lag, Late, Standing, Troubles};
use crate::trouble::what::{Tear, TroubleId, What};

impl Standing {
    /// Whether there is something that it bends, or may be.
    fn bends(&self) -> bool {
        match self.trouble.what {
            What::Unseen { .. } => !self.holds.unseen.is_empty(),
            What::Lingering { .. } => !self.holds.ghosts.is_empty(),
            What::LateRelease { .. } => !self.holds.members.is_empty(),
            _ => true,
        }
    }

    /// Forgets what lists have caught up with.
    pub(super) fn catch_up(&mut self, now: Time) {
        let Holds { unseen, ghosts, members, .. } = &mut self.holds;
        match self.trouble.what {
            What::Unseen { lag_s, reads, .. } => unseen.retain(|_, lag| lag.lasts(now, lag_s, reads)),
            What::Lingering { lag_s, reads, .. } => ghosts.retain(|_, it| it.lag.lasts(now, lag_s, reads)),
            What::LateRelease { lag_s, .. } => members.retain(|_, it| it.lag.lasts(now, Some(lag_s), None)),
            _ => {}
        }
    }
}

impl Troubles {
    /// Lists do not know this server yet.
    pub(super) fn hide(&mut self, now: Time, trouble: TroubleId, server: u64) {
        if let Some(standing) = self.get_mut(trouble) {
            standing.holds.unseen.insert(server, Lag::begin(now));
        }
    }
}

impl Project {
    /// Whether a server type can no longer be had, by a trouble.
    pub(crate) fn retired(&self, now: Time, server_type: &str) -> bool {
        let is = |what: &What| {
            matches!(what, What::Retired { server_type: it } if it == server_type).then_some(())
        };
        self.troubles.picked(now, is).iter().any(|(id, ())| !self.troubles.lifted.contains(id))
    }

    /// A server is about to go: lists may still show it, and its group may still count it.
    pub(crate) fn goes(&mut self, now: Time, id: u64) {
        let Some(server) = self.servers.find(id).filter(|_| !self.troubles.is_empty()).cloned() else {
            return;
        };
        let ips = [server.ipv4, server.ipv6].into_iter().flatten();
        let ips: Vec<_> = ips.filter_map(|ip| self.primary_ips.find(ip).cloned()).collect();
        let concerns = |what: &What| match what {
            What::Lingering { of, status, .. } if of.holds_server(&server) => Some((true, *status)),
            What::LateRelease { of, .. } if of.holds_server(&server) => Some((false, None)),
            _ => None,
        };
        for (trouble, (lingers, status)) in self.troubles.picked(now, concerns) {
            let drawn = self.troubles.drawn(trouble);
            let Some(standing) = self.troubles.get_mut(trouble).filter(|_| drawn) else { continue };
            if lingers {
                let mut ghost = Ghost { server: server.clone(), ips: ips.clone(), lag: Lag::begin(now) };
                ghost.server.status = status.unwrap_or(server.status);
                standing.holds.ghosts.insert(id, ghost);
            } else if let Some(group) = server.placement_group {
                standing.holds.members.insert(id, Late { group, lag: Lag::begin(now) });
            }
        }
        self.troubles.gone = Some(server);
    }

    /// The troubles that may bend what a request finds. None is the usual case.
    pub(crate) fn bending(&self, now: Time, request: &Request, path: &str) -> Vec<TroubleId> {
        let looks = request.method == "GET";
        let orders = request.method == "POST" && path.starts_with("/servers");
        let picked = self.troubles.picked(now, |what| {
            match what {
                What::Retired { .. } => {
                    orders || looks && (path.starts_with("/server_types") || path == "/pricing")
                }
                What::Vanished { .. } => orders || path.starts_with("/images"),
                What::LateRelease { .. } => orders || looks && path.starts_with("/placement_groups"),
                What::Lingering { status: Some(_), .. } if path.starts_with("/servers/") => looks,
                What::Unseen { .. } | What::Lingering { .. } => looks && path == "/servers",
                What::TornList { on, .. } => looks && on.hold(self, request, path),
                _ => false,
            }
            .then_some(())
        });
        let holding = |id: &TroubleId| self.troubles.get(*id).is_some_and(Standing::bends);
        picked.into_iter().map(|(id, ())| id).filter(holding).collect()
    }

    /// Looks through all of these troubles.
    pub(crate) fn look_bent(
        &mut self,
        look: fn(&Self, &Call<'_>) -> Answered,
        call: &Call<'_>,
        troubles: &[TroubleId],
    ) -> Answered {
        let plain = self.seen(look, call, troubles, &[]);
        let mut biting = Vec::new();
        for id in troubles {
            let alone = self.seen(look, call, troubles, &[*id]);
            if alone != plain && self.bites_answer(*id) {
                self.troubles.bitten(call.now, *id);
                biting.push((*id, alone));
            }
        }
        let ids: Vec<TroubleId> = biting.iter().map(|(id, _)| *id).collect();
        let answered = self.seen(look, call, troubles, &ids);
        for (id, alone) in &biting {
            self.read(*id, &plain, alone);
        }
        answered
    }

    /// Changes something under all of these troubles. Who refuses only because of one is bitten by it.
    pub(crate) fn change_bent(
        &mut self,
        change: fn(&mut Self, &Call<'_>) -> Answered,
        call: &Call<'_>,
        troubles: &[TroubleId],
    ) -> Answered {
        let before = self.clone();
        let changed = |project: &mut Self, under: &[TroubleId]| {
            let bent = project.bend(call.now, troubles, under);
            let answered = change(project, call);
            project.unbend(bent);
            answered
        };
        let answered = changed(self, troubles);
        if answered.is_err() {
            for id in troubles {
                let others: Vec<TroubleId> = troubles.iter().copied().filter(|it| it != id).collect();
                if changed(&mut before.clone(), &others) != answered {
                    self.troubles.bitten(call.now, *id);
                }
            }
        }
        answered
    }

    /// What a look sees under some of the troubles, and as if there were none of the others.
    fn seen(
        &mut self,
        look: fn(&Self, &Call<'_>) -> Answered,
        call: &Call<'_>,
        all: &[TroubleId],
        under: &[TroubleId],
    ) -> Answered {
        let bent = self.bend(call.now, all, under);
        let mut answered = look(self, call);
        self.unbend(bent);
        if let Ok(Some(body)) = answered.as_mut().map(|answer| answer.body.as_mut()) {
            for id in under {
                if let Some(What::TornList { tear, .. }) = self.troubles.what(*id) {
                    torn(body, *tear);
                }
            }
        }
        answered
    }

    /// Chance decides about a torn list when it is read, about all others when they begin.
    fn bites_answer(&mut self, id: TroubleId) -> bool {
        let torn = matches!(self.troubles.what(id), Some(What::TornList { .. }));
        !torn || self.troubles.drawn(id)
    }

    /// Counts a list in which a server was missing, or was still shown.
    fn read(&mut self, id: TroubleId, plain: &Answered, alone: &Answered) {
        let (with, without) = (listed(plain), listed(alone));
        let Some(standing) = self.troubles.get_mut(id) else { return };
        let missing = standing.holds.unseen.iter_mut().filter(|(server, _)| !without.contains(server));
        let missing = missing.filter(|(server, _)| with.contains(server)).map(|(_, lag)| lag);
        let shown = standing.holds.ghosts.iter_mut().filter(|(server, _)| without.contains(server));
        for lag in missing.chain(shown.map(|(_, ghost)| &mut ghost.lag)) {
            lag.reads = lag.reads.saturating_add(1);
        }
    }
}

/// The servers that an answer lists.
fn listed(answered: &Answered) -> BTreeSet<u64> {
    let body = answered.as_ref().ok().and_then(|answer| answer.body.as_ref());
    let servers = body.and_then(|body| body.get("servers")?.as_array());
    servers.into_iter().flatten().filter_map(|server| server.get("id")?.as_u64()).collect()
}

/// Tears the list of an answer, if it has one.
fn torn(body: &mut Value, tear: Tear) {
    if tear == Tear::NoNextPage {
        if let Some(next) = body.pointer_mut("/meta/pagination/next_page") {
            *next = Value::Null;
        }
        return;
    }
    let fields = body.as_object_mut().into_iter().flat_map(|fields| fields.values_mut());
    for list in fields.filter_map(Value::as_array_mut) {
        match tear {
            Tear::EmptyPage => list.clear(),
            Tear::MissingItem => drop(list.pop()),
            Tear::RepeatedItem => {
                if let Some(first) = list.first().cloned() {
                    list.insert(0, first);
                }
            }
            Tear::NoNextPage => {}
        }
    }
}
