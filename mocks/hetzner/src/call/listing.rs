//! Lists: filtered, sorted, one page of them shown.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::call::query::sort;
use crate::call::{Answer, Answered, Call, Wrong};
use crate::resource::shelf::{Resource, Shelf};

/// The fields that all lists of things can be sorted by.
const SORTABLE: [&str; 3] = ["id", "name", "created"];

/// A list of things: those of the name and the labels asked for that `wanted` lets through.
pub(crate) fn list<T: Resource>(
    call: &Call<'_>,
    key: &str,
    shelf: &Shelf<T>,
    wanted: impl Fn(&T) -> bool,
    show: impl Fn(&T) -> Value,
) -> Answered {
    let of_all = call.query.of_all::<T>()?;
    let orders = call.query.order(&SORTABLE)?;
    let mut all: Vec<&T> = shelf.all().filter(|thing| of_all(thing) && wanted(thing)).collect();
    sort(&mut all, &orders, by_head);
    page(call, key, all, show)
}

fn by_head<T: Resource>(a: &T, b: &T, field: &str) -> Ordering {
    let (a, b) = (a.head(), b.head());
    match field {
        "name" => a.name.cmp(&b.name),
        "created" => a.created.cmp(&b.created),
        _ => a.id.cmp(&b.id),
    }
}

/// One page, with how to go on. What is not on it is not shown: that is most of a long list.
fn page<T>(call: &Call<'_>, key: &str, all: Vec<T>, show: impl Fn(T) -> Value) -> Answered {
    let paging = call.query.paging()?;
    let total = all.len() as u64;
    let mut body = Map::new();
    body.insert(key.to_owned(), paging.cut(all.into_iter()).into_iter().map(show).collect());
    body.insert("meta".to_owned(), paging.meta(total));
    let links = paging.links(total).into_iter();
    let links =
        links.map(|(relation, page)| (relation, format!("{}?{}", call.path, call.query.with_page(page))));
    Ok(Answer { links: links.collect(), ..Answer::ok(Value::Object(body)) })
}

/// One page of things that are sorted by fields of their own.
pub(crate) fn paged<T>(
    call: &Call<'_>,
    key: &str,
    mut all: Vec<&T>,
    sortable: &[&str],
    compare: impl Fn(&T, &T, &str) -> Ordering,
    show: impl Fn(&T) -> Value,
) -> Result<Answer, Wrong> {
    let orders = call.query.order(sortable)?;
    sort(&mut all, &orders, compare);
    page(call, key, all, show)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use mock_clock::Time;

    use super::*;
    use crate::call::Query;

    #[test]
    fn only_the_page_is_shown() {
        let query = Query::parse("page=3&per_page=10");
        let call = Call { now: Time::EPOCH, path: "/x", ids: Vec::new(), query, body: b"", agent: "" };
        let shown = Cell::new(0);
        let show = |number: u64| {
            shown.set(shown.get() + 1);
            Value::from(number)
        };
        let answer = page(&call, "x", (0..25).collect(), show).unwrap();
        assert_eq!(answer.body.unwrap()["x"], serde_json::json!([20, 21, 22, 23, 24]));
        assert_eq!(shown.get(), 5);
    }
}
