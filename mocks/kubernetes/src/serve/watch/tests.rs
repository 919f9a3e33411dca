//! What a watcher is told, and when.

use mock_clock::{Hand, VirtualClock};

use super::*;
use crate::api::{Delete, Target, Write};
use crate::serve::query::Query;

/// A control plane whose time stands still, half a minute past the minute.
fn api() -> (Api, Hand) {
    let (clock, hand) = VirtualClock::manual("2030-01-01T00:00:30Z".parse().unwrap());
    let api = Api::new(clock, 1);
    crate::birth::furnish(&api).unwrap();
    (api, hand)
}

fn write() -> Write {
    Write::by("tester")
}

fn resource(api: &Api) -> Arc<Resource> {
    api.registry().find("", "v1", "configmaps").unwrap().clone()
}

/// Puts a map with a label where there is one or none.
fn put(api: &Api, name: &str, label: &str) -> u64 {
    let resource = resource(api);
    let target = Target { resource: &resource, namespace: "default", name, subresource: "" };
    let body = json!({"metadata": {"name": name, "labels": {"in": label}}});
    let written = match api.get(&target) {
        Some(_) => api.replace(&target, &write(), &body),
        None => api.create(&resource, "default", body, &write()),
    };
    written.unwrap().object.revision
}

fn delete(api: &Api, name: &str) {
    let resource = resource(api);
    let target = Target { resource: &resource, namespace: "default", name, subresource: "" };
    api.delete(&target, &Delete::background(), &write()).unwrap();
}

fn watch(api: &Api, query: &str, form: Form) -> Watch {
    let (resource, query) = (resource(api), Query::parse(query));
    let options = ListOptions::read(&query, true).unwrap();
    let selection = Selection::new(&resource, "default", "", &query).unwrap();
    Watch::new(api, &resource, selection, &options, form, Include::Metadata)
}

/// All that is told now: the event, and the name of the object or else its version.
fn told(watch: &mut Watch) -> Vec<(String, String)> {
    let mut told = Vec::new();
    while watch.state == State::Following {
        let Some(piece) = watch.piece() else { break };
        for line in piece.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let event: Value = serde_json::from_slice(line).unwrap();
            let text = |at: &str| event.pointer(at).and_then(Value::as_str).map(str::to_owned);
            let object = text("/object/metadata/name").or_else(|| text("/object/metadata/resourceVersion"));
            told.push((text("/type").unwrap(), object.or_else(|| text("/object/reason")).unwrap()));
        }
    }
    told
}

fn events(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(event, object)| ((*event).to_owned(), (*object).to_owned())).collect()
}

#[test]
fn who_stops_matching_is_deleted_and_who_begins_to_is_added() {
    let (api, _hand) = api();
    let since = put(&api, "a", "no");
    let mut watch = watch(&api, &format!("labelSelector=in%3Dyes&resourceVersion={since}"), Form::JSON);
    put(&api, "a", "yes");
    put(&api, "b", "no");
    assert_eq!(told(&mut watch), events(&[("ADDED", "a")]));
    put(&api, "a", "no");
    delete(&api, "b");
    assert_eq!(told(&mut watch), events(&[("DELETED", "a")]));
    delete(&api, "a");
    assert_eq!(told(&mut watch), events(&[]));
}

#[test]
fn who_leaves_the_selection_is_shown_as_it_was_seen_last() {
    let (api, _hand) = api();
    let since = put(&api, "a", "yes");
    let mut watch = watch(&api, &format!("labelSelector=in%3Dyes&resourceVersion={since}"), Form::JSON);
    let left = put(&api, "a", "no");
    let piece = watch.piece().unwrap();
    let event: Value = serde_json::from_slice(&piece).unwrap();
    assert_eq!(event["object"]["metadata"]["labels"]["in"], "yes");
    assert_eq!(event["object"]["metadata"]["resourceVersion"], left.to_string());
}

#[test]
fn a_list_that_is_watched_ends_with_a_bookmark() {
    let (api, _hand) = api();
    put(&api, "a", "yes");
    let last = put(&api, "b", "yes");
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&\
                 labelSelector=in%3Dyes";
    let mut watch = watch(&api, query, Form::JSON);
    let last = last.to_string();
    assert_eq!(told(&mut watch), events(&[("ADDED", "a"), ("ADDED", "b"), ("BOOKMARK", &last)]));
    put(&api, "c", "yes");
    assert_eq!(told(&mut watch), events(&[("ADDED", "c")]));
}

#[test]
fn who_takes_no_bookmarks_is_not_told_where_the_beginning_ends() {
    let (api, _hand) = api();
    put(&api, "a", "yes");
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&labelSelector=in%3Dyes";
    let mut watch = watch(&api, query, Form::JSON);
    assert_eq!(told(&mut watch), events(&[("ADDED", "a")]));
}

#[test]
fn who_is_behind_the_log_is_sent_away() {
    let (api, _hand) = api();
    let since = put(&api, "a", "no");
    let mut watch = watch(&api, &format!("resourceVersion={since}"), Form::JSON);
    put(&api, "a", "yes");
    api.store().compact();
    assert_eq!(told(&mut watch), events(&[("ERROR", "Expired")]));
    assert_eq!(watch.state, State::Over);
}

#[test]
fn bookmarks_come_on_whole_minutes_and_before_the_end() {
    let (api, hand) = api();
    let since = put(&api, "a", "no").to_string();
    let query = format!("resourceVersion={since}&allowWatchBookmarks=true&timeoutSeconds=100");
    let mut watch = watch(&api, &query, Form::JSON);
    hand.advance(Duration::from_secs(29));
    assert_eq!(told(&mut watch), events(&[]));
    hand.advance(Duration::from_secs(1));
    assert_eq!(told(&mut watch), events(&[("BOOKMARK", &since)]));
    assert_eq!(told(&mut watch), events(&[]));
    hand.advance(Duration::from_secs(60));
    assert_eq!(told(&mut watch), events(&[("BOOKMARK", &since)]));
    hand.advance(Duration::from_secs(8));
    assert_eq!(told(&mut watch), events(&[("BOOKMARK", &since)]));
    hand.advance(Duration::from_secs(2));
    assert_eq!(told(&mut watch), events(&[]));
    assert_eq!(watch.state, State::Over);
}

#[test]
fn without_bookmarks_a_watch_ends_in_silence() {
    let (api, hand) = api();
    let since = put(&api, "a", "no");
    let mut watch = watch(&api, &format!("resourceVersion={since}&timeoutSeconds=5"), Form::JSON);
    hand.advance(Duration::from_secs(5));
    assert_eq!(told(&mut watch), events(&[]));
    assert_eq!(watch.state, State::Over);
}

#[test]
fn watchers_of_one_change_share_its_protobuf() {
    let (api, _hand) = api();
    let since = put(&api, "a", "no");
    let form = Form { encoding: Encoding::Protobuf, ..Form::JSON };
    let query = format!("resourceVersion={since}");
    let (mut one, mut other) = (watch(&api, &query, form), watch(&api, &query, form));
    put(&api, "a", "yes");
    let (changes, _) = api.store().since(&resource(&api).shelf, since, 1).unwrap();
    let piece = one.piece().unwrap();
    let made = changes[0].object.protobuf(|| Err("the first watcher has made it")).unwrap();
    let shared = protobuf::enveloped("v1", "ConfigMap", made);
    assert_eq!(protobuf::watch_frame_of("MODIFIED", &shared), piece);
    assert_eq!(other.piece().unwrap(), piece);
}
