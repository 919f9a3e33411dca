//! What is done in a step, in words: for the schedule and for the history.

use serde_json::Value;

use super::Act;
use crate::scenario::{
    BudgetEdit, Condition, Expect, GroupDeed, Matter, NodeDeed, ObjectName, PoolEdit, Span, SubjectDeed,
    When, Workload, WorkloadEdit, WorkloadKind,
};

/// A step.
pub(super) fn act(act: &Act) -> String {
    match act {
        Act::Deploy(of) => format!("deploy {}", workload(of)),
        Act::Scale { workload, pods } => format!("scale {workload} to {}", count(*pods, "pod")),
        Act::Change(edit) => change(edit),
        Act::Remove(workload) => format!("remove {workload}"),
        Act::Create(object) => {
            let name = object["metadata"]["name"].as_str().or(object["metadata"]["generateName"].as_str());
            format!("create {} {} by hand", object["kind"].as_str().unwrap_or("?"), name.unwrap_or("?"))
        }
        Act::Delete(ObjectName { kind, name, namespace }) => {
            let namespace =
                namespace.as_ref().map(|namespace| format!(" of {namespace}")).unwrap_or_default();
            format!("delete {kind} {name}{namespace} by hand")
        }
        Act::Wait(period) => format!("wait for {period}"),
        Act::Until { condition: of, at_most, may_fail } => {
            let may_fail = if *may_fail { ", which need not be" } else { "" };
            format!("until {}, for at most {at_most}{may_fail}", condition(of))
        }
        Act::Expect(of) => expect(of),
        Act::Hurt { name, fault, lasting } => {
            let what = short(&serde_json::to_value(fault).unwrap_or_default());
            let lasting = lasting.map(|period| format!(", lasting {period}")).unwrap_or_default();
            format!("hurt {name}: {what}{lasting}")
        }
        Act::Heal(name) => format!("heal {name}"),
        Act::Node { deed, pool } => format!("{} a node of {pool}", node(deed)),
        Act::Group { deed, pool } => group(deed, pool),
        Act::Pool(PoolEdit { name, label, weight }) => {
            let label = label.as_ref().map(|label| format!(" label {}={}", label.key, label.value));
            let weight = weight.map(|weight| format!(" weight {weight}"));
            format!("give pool {name}{}{}", label.unwrap_or_default(), weight.unwrap_or_default())
        }
        Act::Cloud(deed) => format!("by hand in the cloud: {}", short(deed)),
        Act::Subject(deed) => subject(deed),
    }
}

/// A workload: what it is and what it asks for.
pub(super) fn workload(of: &Workload) -> String {
    let Workload { name, kind, pods, cpu_milli, memory_mib, .. } = of;
    let kind = match kind {
        WorkloadKind::Deployment => "deployment",
        WorkloadKind::DaemonSet => "daemon set",
        WorkloadKind::Bare => "bare pods",
        WorkloadKind::Job => "job",
        WorkloadKind::StatefulSet => "stateful set",
    };
    format!("{name} ({kind}): {} of {cpu_milli}m and {memory_mib}Mi", count(*pods, "pod"))
}

/// So many of something.
pub(super) fn count(many: u32, what: &str) -> String {
    format!("{many} {what}{}", if many == 1 { "" } else { "s" })
}

fn change(edit: &WorkloadEdit) -> String {
    let budget = edit.budget.map(|budget| match budget {
        BudgetEdit::None => "no budget".to_owned(),
        BudgetEdit::MaxUnavailable(away) => format!("a budget by which {away} may be away"),
        BudgetEdit::MinAvailable(there) => format!("a budget by which {there} must be there"),
    });
    let labels = edit.labels.iter().map(|(key, value)| match value {
        Some(value) => format!("the label {key}={value}"),
        None => format!("no label {key}"),
    });
    let changes = edit.pods.map(|many| count(many, "pod")).into_iter().chain(budget).chain(labels);
    format!("give {} {}", edit.workload, changes.collect::<Vec<_>>().join(", "))
}

fn condition(of: &Condition) -> String {
    match of {
        Condition::Running(workload) | Condition::RunningFor { workload, lasting: Span::Timer { .. } } => {
            format!("all pods of {workload} run")
        }
        Condition::Unschedulable(workload) => format!("a pod of {workload} is unschedulable"),
        Condition::Gone(workload) => format!("all pods of {workload} are gone"),
        Condition::Servers { pool, count: many } => format!("{pool} has {}", count(*many, "server")),
        Condition::ReadyNodes { pool, count: many } => format!("{pool} has {} ready", count(*many, "node")),
        Condition::Ordered(pool) => format!("something was ordered for {pool}"),
        Condition::GivenBack(pool) => format!("something of {pool} was given back"),
        Condition::Bitten(fault) => format!("{fault} has hurt"),
        Condition::BittenTimes { fault, times } => format!("{fault} has hurt {}", count(*times, "time")),
        Condition::RunningFor { workload, lasting: Span::Fixed(period) } => {
            format!("all pods of {workload} have run for {period}")
        }
        Condition::ServerStatus { pool, status, count: Some(many) } => {
            format!("{} of {pool} {} {status}", count(*many, "server"), if *many == 1 { "is" } else { "are" })
        }
        Condition::ServerStatus { pool, status, count: None } => format!("a server of {pool} is {status}"),
    }
}

fn expect(Expect { matter: what, when, meanwhile }: &Expect) -> String {
    let Span::Fixed(period) = when.span() else { return "expect something".to_owned() };
    let when = match when {
        When::Within(_) => format!("within {period}"),
        When::Throughout(_) => format!("throughout {period}"),
        When::Never(_) => format!("never for {period}"),
    };
    let meanwhile = if *meanwhile { ", meanwhile" } else { "" };
    format!("expect {when}: {}{meanwhile}", matter(what))
}

fn matter(of: &Matter) -> String {
    let mine = |of: &Option<String>| of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
    let word = |state: Value| state.as_str().map(|word| format!("{word} ")).unwrap_or_default();
    match of {
        Matter::Running(workload) => format!("all pods of {workload} run"),
        Matter::Unschedulable(workload) => format!("a pod of {workload} is unschedulable"),
        Matter::Gone(workload) => format!("all pods of {workload} are gone"),
        Matter::Pods { workload, state, count } => {
            format!("{count} {}pods{}", word(serde_json::to_value(state).unwrap_or_default()), mine(workload))
        }
        Matter::Nodes { pool, state, count } => {
            format!("{count} {}nodes{}", word(serde_json::to_value(state).unwrap_or_default()), mine(pool))
        }
        Matter::ReadyNodes { pool, count } => format!("{count} ready nodes of {pool}"),
        Matter::Servers { pool, count } => format!("{count} servers{}", mine(pool)),
        Matter::Size { pool, count } => format!("the size of {pool} is {count}"),
        Matter::Ordered(pool) => format!("something is ordered for {pool}"),
        Matter::GivenBack(pool) => format!("something of {pool} is given back"),
        Matter::Orders { pool, count } => format!("{count} machines ordered{}", mine(pool)),
        Matter::Bill { at_most_millis: most } => {
            format!("all servers have cost at most €{}.{:03}", most / 1000, most % 1000)
        }
        Matter::Bitten(fault) => format!("{fault} has hurt"),
        Matter::Object { kind, name, path, condition, is, .. } => {
            let name = name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
            let what = path.as_ref().or(condition.as_ref());
            let what = what.map_or_else(|| " is there".to_owned(), |what| format!(" has {what}"));
            let is = is.as_ref().map(|is| format!(" {is}")).unwrap_or_default();
            format!("{kind}{name}{what}{is}")
        }
    }
}

fn node(deed: &NodeDeed) -> String {
    match deed {
        NodeDeed::Cordon => "cordon".to_owned(),
        NodeDeed::Uncordon => "uncordon".to_owned(),
        NodeDeed::Taint(taint) => format!("taint ({}={}:{})", taint.key, taint.value, taint.effect),
        NodeDeed::Untaint(key) => format!("take the taint {key} from"),
        NodeDeed::Annotate { key, value: Some(value) } => format!("annotate ({key}={value})"),
        NodeDeed::Annotate { key, value: None } => format!("take the annotation {key} from"),
        NodeDeed::Delete => "delete".to_owned(),
    }
}

fn group(deed: &GroupDeed, pool: &str) -> String {
    match deed {
        GroupDeed::RollOut => format!("roll out a new template of {pool}"),
        GroupDeed::Replicas(many) => format!("ask for {} of {pool} by hand", count(*many, "machine")),
        GroupDeed::Limits { min, max } => format!("tell autoscalers to keep {pool} between {min} and {max}"),
        GroupDeed::Annotate { key, value: Some(value) } => format!("annotate {pool} ({key}={value})"),
        GroupDeed::Annotate { key, value: None } => format!("take the annotation {key} from {pool}"),
    }
}

fn subject(deed: &SubjectDeed) -> String {
    match deed {
        SubjectDeed::Kill => "kill the subject".to_owned(),
        SubjectDeed::Restart => "restart the subject".to_owned(),
        SubjectDeed::Pause(Span::Fixed(period)) => format!("pause the subject for {period}"),
        SubjectDeed::Pause(_) => "pause the subject".to_owned(),
        SubjectDeed::KillLeader => "kill the replica that leads".to_owned(),
    }
}

/// A value without what says nothing: `calls(fate: cut, on: (to: cloud))`.
fn short(value: &Value) -> String {
    match value.as_object().and_then(|fields| (fields.len() == 1).then(|| fields.iter().next())?) {
        Some((name, value)) => format!("{name}({})", inner(value)),
        None => inner(value),
    }
}

fn inner(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let told = fields.iter().filter(|(_, value)| !value.is_null());
            let told: Vec<String> = told.map(|(name, value)| format!("{name}: {}", nested(value))).collect();
            told.join(", ")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn nested(value: &Value) -> String {
    if value.is_object() { format!("({})", inner(value)) } else { inner(value) }
}
