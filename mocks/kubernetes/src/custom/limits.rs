//! The keywords that limit a single value: lengths, bounds, patterns, formats, choices.

use serde_json::Value;

use super::{
    correlation::same,
    node::Node,
    number::{Num, canonical, go_float},
    openapi::{At, Outcome},
};
use crate::status::Wrong;

fn invalid(at: At<'_>, value: &Value, says: &str, outcome: &mut Outcome) {
    let sentence = format!("{} in body {says}", at.name);
    outcome.fail(sentence.clone(), Wrong::invalid(at.here(), value, &sentence));
}

fn size(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Only the first keyword that a text breaks is reported, and its format.
pub(super) fn text(text: &str, node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let limits = &node.limits;
    let value = Value::from(text);
    let length = size(text.chars().count());
    let pattern = limits.pattern.as_ref().filter(|(_, regex)| !regex.is_match(text));
    if let Some(limit) = limits.max_length.filter(|&limit| length > limit) {
        let sentence = format!("{} in body should be at most {limit} chars long", at.name);
        outcome.fail(sentence, Wrong::too_long(at.here(), usize::try_from(limit).unwrap_or(usize::MAX)));
    } else if let Some(limit) = limits.min_length.filter(|&limit| length < limit) {
        invalid(at, &value, &format!("should be at least {limit} chars long"), outcome);
    } else if let Some((pattern, _)) = pattern {
        invalid(at, &value, &format!("should match '{pattern}'"), outcome);
    }
    outcome.count();
    let Some(format) = &node.format else { return };
    if !format.holds(text) {
        let sentence = format!("{} in body must be of type {}: {text:?}", at.name, format.name);
        outcome.fail(sentence.clone(), Wrong::wrong_type(at.here(), &value, &sentence));
    }
    outcome.count();
}

pub(super) fn number(number: Num, node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let limits = &node.limits;
    let value = number.shown();
    if let Some(factor) = limits.multiple_of {
        multiple(number, factor, at, outcome);
    }
    // A bound loses its fraction when the number is an integer.
    let bound = |bound: f64| if matches!(number, Num::Int(_)) { bound.trunc() } else { bound };
    if let Some(limit) = limits.maximum.map(bound) {
        let beyond = compare(number, limit, limits.exclusive_maximum, std::cmp::Ordering::Greater);
        let word = if limits.exclusive_maximum { "less than" } else { "less than or equal to" };
        if beyond {
            invalid(at, &value, &format!("should be {word} {}", go_number(number, limit)), outcome);
        }
    }
    if let Some(limit) = limits.minimum.map(bound) {
        let beyond = compare(number, limit, limits.exclusive_minimum, std::cmp::Ordering::Less);
        let word = if limits.exclusive_minimum { "greater than" } else { "greater than or equal to" };
        if beyond {
            invalid(at, &value, &format!("should be {word} {}", go_number(number, limit)), outcome);
        }
    }
    outcome.count();
    outcome.count();
}

/// Whether a number is on the wrong side of a limit.
fn compare(number: Num, limit: f64, exclusive: bool, wrong: std::cmp::Ordering) -> bool {
    let order = match number {
        Num::Int(int) => Some(int.cmp(&Num::Float(limit).trunc())),
        Num::Float(float) => float.partial_cmp(&limit),
    };
    order == Some(wrong) || (exclusive && order == Some(std::cmp::Ordering::Equal))
}

/// A limit as it is printed beside a number: an integer beside an integer.
fn go_number(number: Num, limit: f64) -> String {
    match number {
        Num::Int(_) => Num::Float(limit).trunc().to_string(),
        Num::Float(_) => go_float(limit),
    }
}

fn multiple(number: Num, factor: f64, at: At<'_>, outcome: &mut Outcome) {
    let (positive, holds, shown) = match number {
        Num::Int(int) => {
            let factor = Num::Float(factor).trunc();
            (factor > 0, factor > 0 && int % factor == 0, factor.to_string())
        }
        Num::Float(float) => {
            let times = if factor < 1.0 { 1.0 / factor * float } else { float / factor };
            (factor > 0.0, Num::Float(times).is_whole(), go_float(factor))
        }
    };
    if !positive {
        let sentence = format!("factor MultipleOf declared for {} must be positive: {shown}", at.name);
        outcome.fail(sentence.clone(), Wrong::invalid_shown(at.here(), &shown, &sentence));
    } else if !holds {
        invalid(at, &number.shown(), &format!("should be a multiple of {shown}"), outcome);
    }
}

pub(super) fn items(items: &[Value], node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let limits = &node.limits;
    let count = size(items.len());
    if let Some(limit) = limits.min_items.filter(|&limit| count < limit) {
        invalid(at, &Value::from(count), &format!("should have at least {limit} items"), outcome);
    }
    if let Some(limit) = limits.max_items.filter(|&limit| count > limit) {
        let sentence = format!("{} in body should have at most {limit} items", at.name);
        outcome.fail(sentence, too_many(at, items.len(), limit));
    }
    let double = |(index, item): (usize, &Value)| items[..index].iter().any(|other| same(other, item));
    if limits.unique_items && items.iter().enumerate().any(double) {
        invalid(at, &Value::from(""), "shouldn't contain duplicates", outcome);
    }
}

pub(super) fn properties(count: usize, node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let limits = &node.limits;
    if let Some(limit) = limits.min_properties.filter(|&limit| size(count) < limit) {
        invalid(at, &Value::from(count), &format!("should have at least {limit} properties"), outcome);
    }
    if let Some(limit) = limits.max_properties.filter(|&limit| size(count) > limit) {
        let sentence = format!("{} in body should have at most {limit} properties", at.name);
        outcome.fail(sentence, too_many(at, count, limit));
    }
}

fn too_many(at: At<'_>, count: usize, limit: u64) -> Wrong {
    Wrong::too_many(at.here(), count, usize::try_from(limit).unwrap_or(usize::MAX))
}

/// `enum`. A null is never among the choices.
pub(super) fn choices(value: &Value, node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let choices = &node.limits.choices;
    if choices.is_empty() || (!value.is_null() && choices.iter().any(|choice| same(choice, value))) {
        return;
    }
    let shown: Vec<String> = choices
        .iter()
        .map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
        .collect();
    let list: Vec<&str> = shown.iter().map(String::as_str).collect();
    let sentence = format!("{} in body should be one of [{}]", at.name, list.join(" "));
    outcome.fail(sentence, Wrong::not_supported(at.here(), &canonical(value), &list));
}
