//! What the columns of a table are called.

use serde_json::{Value, json};

use crate::registry::Resource;

const COLUMNS: &str = include_str!("columns.txt");
const OTHERS: &str = "Name~ | Created At:date";

/// The definitions of a resource's columns, as a table begins with them.
pub(super) fn definitions(resource: &Resource) -> Vec<Value> {
    let Some((_, version)) = &resource.custom else {
        return line(&resource.shelf).unwrap_or(OTHERS).split(" | ").map(built_in).collect();
    };
    let mut columns = vec![built_in("Name~")];
    columns.extend(version.columns.iter().map(|column| {
        let described = if column.description.is_empty() {
            of_path(&column.json_path)
        } else {
            column.description.clone()
        };
        definition(&column.name, &column.kind, &column.format, &described, column.priority)
    }));
    if version.columns.is_empty() {
        columns.push(definition("Age", "date", "", "", 0));
    }
    columns
}

/// What a real server says of a column that nobody has described.
fn of_path(path: &str) -> String {
    format!("Custom resource definition column (in JSONPath format): {path}")
}

fn line(shelf: &str) -> Option<&'static str> {
    let mut lines = COLUMNS.lines().filter_map(|line| line.split_once(" = "));
    lines.find(|(name, _)| *name == shelf).map(|(_, columns)| columns)
}

/// A column as the table of columns writes it.
fn built_in(text: &str) -> Value {
    let (text, priority) = text.strip_suffix('+').map_or((text, 0), |text| (text, 1));
    let (text, format) = text.strip_suffix('~').map_or((text, ""), |text| (text, "name"));
    let (name, kind) = text.split_once(':').unwrap_or((text, "string"));
    definition(name, kind, format, "", priority)
}

fn definition(name: &str, kind: &str, format: &str, description: &str, priority: i32) -> Value {
    json!({
        "name": name,
        "type": kind,
        "format": format,
        "description": description,
        "priority": priority,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn columns_are_read_as_they_are_written() {
        assert_eq!(built_in("Count:integer+")["type"], "integer");
        assert_eq!(built_in("Count:integer+")["priority"], 1);
        assert_eq!(built_in("Name~+")["format"], "name");
        assert_eq!(built_in("Port(s)")["name"], "Port(s)");
    }

    #[test]
    fn every_line_belongs_to_a_resource() {
        let registry = Registry::built_in();
        for (shelf, _) in COLUMNS.lines().filter_map(|line| line.split_once(" = ")) {
            if !shelf.starts_with('#') {
                assert!(registry.resources().any(|resource| resource.shelf == shelf), "{shelf}");
            }
        }
    }
}
