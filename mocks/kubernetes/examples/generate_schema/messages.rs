//! The protobuf side: messages, tags and wire types.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use protox::Compiler;
use protox::file::{File, FileResolver};

/// A field as `generated.proto` has it.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) repeated: bool,
    pub(crate) map: bool,
    pub(crate) wire: Wire,
}

/// What a field (or the value of a map) is on the wire.
#[derive(Clone, PartialEq)]
pub(crate) enum Wire {
    /// One letter of the table.
    Scalar(char),
    /// The full name of a message.
    Message(String),
}

/// Messages by full name, fields by tag.
pub(crate) type Messages = BTreeMap<String, BTreeMap<i32, Field>>;

struct ModuleCache(PathBuf);

impl FileResolver for ModuleCache {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let (package, file) = name.rsplit_once('/').unwrap_or(("", name));
        let path = super::directory(&self.0, package).join(file);
        let source = std::fs::read_to_string(&path).map_err(|_| protox::Error::file_not_found(name))?;
        File::from_source(name, &source)
    }
}

pub(crate) fn read(modules: &Path) -> Result<Messages, Box<dyn Error>> {
    let mut compiler = Compiler::with_file_resolver(ModuleCache(modules.to_owned()));
    compiler.include_imports(true);
    for (package, _) in super::PACKAGES {
        compiler.open_file(format!("{package}/generated.proto"))?;
    }
    let mut messages = Messages::new();
    for file in compiler.file_descriptor_set().file {
        for message in &file.message_type {
            let entries: BTreeMap<_, _> =
                message.nested_type.iter().map(|entry| (entry.name(), entry)).collect();
            let mut fields = BTreeMap::new();
            for field in &message.field {
                let short = field.type_name().rsplit('.').next().unwrap_or("");
                let entry = entries.get(short);
                let valued = entry.map_or(field, |entry| &entry.field[1]);
                fields.insert(
                    field.number(),
                    Field {
                        name: field.name().to_owned(),
                        repeated: field.label() as i32 == 3 && entry.is_none(),
                        map: entry.is_some(),
                        wire: wire(valued.r#type() as i32, valued.type_name())?,
                    },
                );
            }
            messages.insert(format!("{}.{}", file.package(), message.name()), fields);
        }
    }
    Ok(messages)
}

/// The numbers are those of `FieldDescriptorProto.Type`.
fn wire(number: i32, name: &str) -> Result<Wire, String> {
    Ok(match number {
        1 => Wire::Scalar('d'),
        3 => Wire::Scalar('l'),
        5 => Wire::Scalar('i'),
        8 => Wire::Scalar('b'),
        9 => Wire::Scalar('s'),
        11 => Wire::Message(name.trim_start_matches('.').to_owned()),
        12 => Wire::Scalar('y'),
        other => return Err(format!("a field has the type {other}, for which the table has no letter")),
    })
}
