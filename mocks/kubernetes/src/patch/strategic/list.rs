//! Lists in a strategic merge patch: merged by a key or as a set, then put in order.
//!
//! The order of the result: items the patch names, in its order; items only the server has, in theirs; the two woven
//! so that each server's item stays before the item it stood before.

use serde_json::Value;

use crate::status::Status;

use super::super::structure::{Structure, Way};
use super::super::{as_go, go_type};
use super::{ORDER, Object, PATCH, merge, rule, unknown_directive, without_directives};

type List = Vec<Value>;

/// Merges a list, or deletes from it, or replaces it, as its strategy says.
pub(super) fn merge_field(
    current: List,
    wanted: List,
    place: Structure<'_>,
    deleting: bool,
) -> Result<List, Status> {
    let strategy = place.strategy();
    if strategy.way != Way::Merge && !deleting {
        return Ok(wanted);
    }
    if current.is_empty() && wanted.is_empty() {
        return Ok(current);
    }
    let (current, wanted, merged) = if element_type(&current, &wanted)? == OBJECT {
        let Some(key) = strategy.key else {
            return Err(Status::plain("cannot merge lists without merge key for struct"));
        };
        let (current, wanted) = obey_directives(current, wanted, key)?;
        let merged = merge_items(current.clone(), &wanted, key, place.item())?;
        (current, wanted, merged)
    } else if deleting {
        return Ok(current.into_iter().filter(|item| !wanted.contains(item)).collect());
    } else {
        let mut merged: List = Vec::new();
        for item in current.iter().chain(&wanted) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        (current, wanted, merged)
    };
    let (named, kept) = part(merged, &wanted, strategy.key)?;
    weave(named, kept, &wanted, &current, strategy.key)
}

/// Does what `$patch` says in items: `delete` takes items away, one `replace` makes the patch the list.
fn obey_directives(mut current: List, wanted: List, key: &str) -> Result<(List, List), Status> {
    let mut plain = Vec::new();
    let mut replace = false;
    for item in wanted {
        let Some(directive) = item.get(PATCH) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let id = item.get(key).ok_or_else(|| no_merge_key(&item, key))?;
                if let Some(at) = current.iter().position(|item| !item.is_object()) {
                    return Err(not_a_map(at));
                }
                current.retain(|item| item.get(key) != Some(id));
            }
            Some("replace") => replace = true,
            Some("merge") => {
                return Err(Status::plain("merging lists cannot yet be specified in the patch"));
            }
            _ => return Err(unknown_directive(directive, item.as_object().cloned().unwrap_or_default())),
        }
    }
    Ok(if replace { (plain, Vec::new()) } else { (current, plain) })
}

fn merge_items(mut merged: List, wanted: &[Value], key: &str, place: Structure<'_>) -> Result<List, Status> {
    for item in wanted {
        let id = item.get(key).ok_or_else(|| no_merge_key(item, key))?;
        match merged.iter_mut().find(|item| item.get(key) == Some(id)) {
            Some(found) => {
                let (current, item) = (objects(found.take()), objects(item.clone()));
                *found = Value::Object(merge(current, item, place)?);
            }
            None => merged.push(item.clone()),
        }
    }
    Ok(merged)
}

/// Merges each list that comes with its order, and takes it out of the patch.
pub(super) fn put_in_order(
    target: &mut Object,
    patch: &mut Object,
    place: Structure<'_>,
) -> Result<(), Status> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        let order = list_of(order)?;
        let field = directive.strip_prefix(ORDER).and_then(|rest| rest.strip_prefix('/'));
        let field = field.ok_or_else(bad_order)?;
        let current = target.get(field).cloned().map(list_of).transpose()?;
        let wanted = patch.get(field).cloned().map(list_of).transpose()?;
        let place = rule(place, field)?;
        let key = place.strategy().key;
        agree(wanted.as_deref().unwrap_or_default(), &order, key)?;
        let merged = match (current.clone(), wanted.clone()) {
            (None, None) => continue,
            (Some(current), None) => current,
            (None, Some(wanted)) => wanted.into_iter().filter_map(without_directives).collect(),
            (Some(current), Some(wanted)) => merge_field(current, wanted, place, false)?,
        };
        let current = current.unwrap_or_default();
        let (named, kept) = part(merged, &order, key)?;
        element_type(&current, wanted.as_deref().unwrap_or_default())?;
        let woven = weave(named, kept, &order, &current, key)?;
        target.insert(field.to_owned(), Value::Array(woven));
        patch.remove(field);
    }
    Ok(())
}

/// Refuses a patch whose items are not among, or not in the order of, the order it sets.
fn agree(wanted: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Status> {
    if wanted.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut rest = order.iter();
    for item in wanted {
        if key.is_some() && !item.is_object() {
            return Err(bad_type(OBJECT, item));
        }
        if key.is_some() && item.get(PATCH).is_some() {
            continue;
        }
        let mut found = false;
        for entry in rest.by_ref() {
            if same(item, entry, key)? {
                found = true;
                break;
            }
        }
        if !found {
            let (wanted, order) = (as_go(&wanted.into()), as_go(&order.into()));
            return Err(Status::plain(format!(
                "The order in patch list:\n{wanted}\n doesn't match {ORDER} list:\n{order}\n"
            )));
        }
    }
    Ok(())
}

fn same(item: &Value, entry: &Value, key: Option<&str>) -> Result<bool, Status> {
    let Some(key) = key else { return Ok(item == entry) };
    Ok(id(item, key)? == id(entry, key)?)
}

/// Items that are in `names` and items that are not.
fn part(items: List, names: &[Value], key: Option<&str>) -> Result<(List, List), Status> {
    let Some(key) = key else {
        return Ok(items.into_iter().partition(|item| names.contains(item)));
    };
    let (mut named, mut kept) = (Vec::new(), Vec::new());
    for item in items {
        let id = id(&item, key)?;
        if let Some(at) = names.iter().position(|name| !name.is_object() || name.get(key) == Some(id)) {
            if !names[at].is_object() {
                return Err(not_a_map(at));
            }
            named.push(item);
        } else {
            kept.push(item);
        }
    }
    Ok((named, kept))
}

/// Sorts the items the patch names by its order, the others by the server's, and weaves them.
fn weave(
    named: List,
    kept: List,
    order: &[Value],
    servers: &[Value],
    key: Option<&str>,
) -> Result<List, Status> {
    let named = sorted(named, order, key)?;
    let kept = sorted(kept, servers, key)?;
    let mut woven = Vec::with_capacity(named.len() + kept.len());
    let mut kept = kept.into_iter().peekable();
    for item in named {
        let place = position(servers, &item, key);
        while let Some(next) = kept.next_if(
            |next| matches!((position(servers, next, key), place), (Some(next), Some(place)) if next < place),
        ) {
            woven.push(next);
        }
        woven.push(item);
    }
    woven.extend(kept);
    Ok(woven)
}

/// Items in the order of a list. What the list lacks comes before what it was after, as a real server has it.
fn sorted(items: List, order: &[Value], key: Option<&str>) -> Result<List, Status> {
    if let Some(key) = key {
        for item in items.iter().chain(order) {
            id(item, key)?;
        }
    }
    let deleted =
        |item: &Value| key.is_some() && item.get(PATCH).is_some_and(|directive| directive == "delete");
    let (deleted, items): (List, List) = items.into_iter().partition(deleted);
    let mut done: Vec<(Option<usize>, Value)> = Vec::with_capacity(items.len());
    for item in items {
        let place = position(order, &item, key);
        let mut at = done.len();
        while at > 0 && place.is_none_or(|place| done[at - 1].0.is_none_or(|other| place < other)) {
            at -= 1;
        }
        done.insert(at, (place, item));
    }
    Ok(done.into_iter().map(|(_, item)| item).chain(deleted).collect())
}

fn position(list: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    list.iter().position(|other| match key {
        Some(key) => other.get(key) == item.get(key),
        None => other == item,
    })
}

/// The value of an item's merge key.
fn id<'a>(item: &'a Value, key: &str) -> Result<&'a Value, Status> {
    if !item.is_object() {
        return Err(bad_type(OBJECT, item));
    }
    item.get(key).ok_or_else(|| no_merge_key(item, key))
}

const OBJECT: &str = "map[string]interface {}";
const LIST: &str = "[]interface {}";

/// The Go type of all items.
fn element_type(current: &[Value], wanted: &[Value]) -> Result<&'static str, Status> {
    let mut types = current.iter().chain(wanted).map(go_type);
    let first = types.next().ok_or_else(|| Status::plain("no elements in any of the given slices"))?;
    if first == LIST {
        return Err(Status::rejected());
    }
    if types.any(|other| other != first) {
        let (current, wanted) = (as_go(&current.into()), as_go(&wanted.into()));
        return Err(Status::plain(format!("list element types are not identical: [{current} {wanted}]")));
    }
    Ok(first)
}

fn list_of(value: Value) -> Result<List, Status> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(bad_type(LIST, &other)),
    }
}

fn objects(value: Value) -> Object {
    match value {
        Value::Object(fields) => fields,
        _ => Object::new(),
    }
}

fn bad_order() -> Status {
    Status::bad_request("invalid patch format of setElementOrder list")
}

fn bad_type(wanted: &str, got: &Value) -> Status {
    Status::plain(format!("expected a {wanted}, but received a {}", go_type(got)))
}

fn not_a_map(at: usize) -> Status {
    Status::plain(format!("value for key {at} is not a map"))
}

fn no_merge_key(item: &Value, key: &str) -> Status {
    Status::plain(format!("map: {} does not contain declared merge key: {key}", as_go(item)))
}
