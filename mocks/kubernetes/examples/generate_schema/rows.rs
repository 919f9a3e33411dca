//! The join of both sides, as the text of the table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::PACKAGES;
use crate::golang;
use crate::messages::{Field, Messages, Wire};

type Structs = BTreeMap<&'static str, golang::Package>;

/// Messages that the runtime knows by name and whose inside is not JSON of the usual kind.
const SPECIAL: [&str; 12] = [
    "Quantity",
    "IntOrString",
    "Time",
    "MicroTime",
    "Duration",
    "FieldsV1",
    "RawExtension",
    "JSON",
    "JSONSchemaPropsOrArray",
    "JSONSchemaPropsOrBool",
    "JSONSchemaPropsOrStringArray",
    "Unknown",
];

/// One package: its line, then its messages.
pub(crate) fn package(
    package: &str,
    group: &str,
    messages: &Messages,
    structs: &Structs,
) -> Result<String, String> {
    let dotted = package.replace('/', ".").replace('-', "_");
    let version = package.rsplit('/').next().unwrap_or(package);
    let served = match group {
        "-" => "-".to_owned(),
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    };
    let mut text = format!("package {dotted} {served}\n");
    for (full, fields) in messages {
        let Some(name) = full.strip_prefix(&dotted).and_then(|rest| rest.strip_prefix('.')) else { continue };
        if name == "QuantityValue" {
            continue; // Quantity once more, for other generators.
        }
        let declared = declaration(package, name, structs);
        message(&mut text, &dotted, name, fields, declared.as_ref(), &structs[package])
            .map_err(|error| format!("{full}: {error}"))?;
    }
    Ok(text)
}

/// The Go struct of a message, also behind `type List metav1.List`.
fn declaration(path: &str, name: &str, structs: &Structs) -> Option<golang::Struct> {
    let package = &structs[path];
    if let Some(found) = package.structs.get(name) {
        return Some(found.clone());
    }
    let (from, behind) = package.named.get(name)?.split_once('.')?;
    let siblings = structs.iter().filter(|(other, _)| other.rsplit('/').next() == Some(from));
    let group = path.rsplit_once('/').map_or(path, |(group, _)| group);
    let (near, far): (Vec<_>, Vec<_>) = siblings.partition(|(other, _)| other.starts_with(group));
    near.into_iter().chain(far).find_map(|(_, package)| package.structs.get(behind)).cloned()
}

fn message(
    text: &mut String,
    package: &str,
    name: &str,
    fields: &BTreeMap<i32, Field>,
    declared: Option<&golang::Struct>,
    go: &golang::Package,
) -> Result<(), String> {
    let mut flags = String::new();
    if declared.is_some_and(|declared| declared.kind) {
        flags.push('k');
    }
    if declared.is_some_and(|declared| declared.markers.has("structType", "atomic")) {
        flags.push('a');
    }
    if declared.is_none() && go.named.get(name).is_some_and(|behind| behind.starts_with("[]")) {
        flags.push('w');
    }
    let line = format!("> {name} {flags}");
    writeln!(text, "{}", line.trim_end()).map_err(|error| error.to_string())?;
    let plain = SPECIAL.contains(&name) || flags.contains('w');
    for (tag, field) in fields {
        let known = declared.and_then(|declared| declared.fields.get(tag));
        let line = match known {
            Some(known) if !plain => row(package, *tag, field, known, go),
            _ => format!("{} {tag} {} r", field.name, shape(package, field)),
        };
        if known.is_none() && !plain {
            return Err(format!("the Go struct has no field with the tag {tag}"));
        }
        writeln!(text, "{line}").map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn row(package: &str, tag: i32, field: &Field, known: &golang::Field, go: &golang::Package) -> String {
    let mut flags = String::new();
    for (letter, set) in [
        ('p', known.pointer),
        ('r', !known.omit_empty && !known.inline),
        ('z', known.omit_zero),
        ('n', known.inline),
        ('a', known.markers.has("structType", "atomic") || known.markers.has("mapType", "atomic")),
    ] {
        if set {
            flags.push(letter);
        }
    }
    if flags.is_empty() {
        flags.push('.');
    }
    let name = if known.inline { &known.name } else { &known.json };
    let mut words = vec![name.clone(), tag.to_string(), shape(package, field), flags];
    let element = known.go.trim_start_matches("[]");
    let behind = go.aliases.get(element).map_or(element, String::as_str);
    let spelled = known.go.replace(element, behind);
    if spelled != usual(package, field) {
        words.push(format!("~{spelled}"));
    }
    match (known.patch_strategy.as_str(), known.patch_merge_key.as_str()) {
        ("", _) => {}
        (strategy, "") => words.push(format!("@{strategy}")),
        (strategy, key) => words.push(format!("@{strategy}/{key}")),
    }
    if known.markers.has("listType", "set") {
        words.push("#set".to_owned());
    } else if known.markers.has("listType", "map") {
        let keys: Vec<&str> = known.markers.all("listMapKey").collect();
        words.push(format!("#map:{}", keys.join(",")));
    }
    if let Some(value) = known.markers.all("default").find_map(|value| value.strip_prefix('"')) {
        words.push(format!("={}", value.trim_end_matches('"')));
    }
    words.join(" ")
}

fn shape(package: &str, field: &Field) -> String {
    let prefix = match (field.repeated, field.map) {
        (true, _) => "[]",
        (_, true) => "{}",
        _ => "",
    };
    match &field.wire {
        Wire::Scalar(letter) => format!("{prefix}{letter}"),
        Wire::Message(full) => {
            let (from, name) = full.rsplit_once('.').unwrap_or(("", full));
            if from == package {
                return format!("{prefix}{name}");
            }
            let number =
                PACKAGES.iter().position(|(path, _)| path.replace('/', ".").replace('-', "_") == from);
            number.map_or_else(|| format!("{prefix}?{full}"), |number| format!("{prefix}{number}.{name}"))
        }
    }
}

/// The Go type that the table implies.
fn usual(package: &str, field: &Field) -> String {
    let element = match &field.wire {
        Wire::Scalar('b') => "bool".to_owned(),
        Wire::Scalar('i') => "int32".to_owned(),
        Wire::Scalar('l') => "int64".to_owned(),
        Wire::Scalar('d') => "float64".to_owned(),
        Wire::Scalar('y') => "[]uint8".to_owned(),
        Wire::Scalar(_) => "string".to_owned(),
        Wire::Message(full) => {
            let full = if full.contains('.') { full.clone() } else { format!("{package}.{full}") };
            let parts: Vec<&str> = full.rsplitn(3, '.').collect();
            format!("{}.{}", parts[1], parts[0])
        }
    };
    match (field.repeated, field.map) {
        (true, _) => format!("[]{element}"),
        (_, true) => format!("map[string]{element}"),
        _ => element,
    }
}
