//! Patching an object, in four ways.

use serde_json::{Value, json};

use super::create::metadata;
use super::finish::Written;
use super::{Api, Target, Write, prepare};
use crate::patch;
use crate::status::Status;

/// A patch, read from its body.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    Json(Value),
    Merge(Value),
    Strategic(Value),
    Apply { config: Value, force: bool },
}

impl Api {
    /// Patches an object; applying creates it if it is not there.
    pub(crate) fn patch(&self, target: &Target<'_>, patch: &Patch, write: &Write) -> Result<Written, Status> {
        match patch {
            Patch::Json(operations) => self.change(target, write, |before| patch::json(before, operations)),
            Patch::Merge(merge) => self.change(target, write, |before| patch::merge(before, merge)),
            Patch::Strategic(strategic) => {
                let kind = prepare::structure(target.resource);
                self.change(target, write, |before| patch::strategic(before, strategic, kind))
            }
            Patch::Apply { config, force } => self.apply(target, config, *force, write),
        }
    }

    fn apply(
        &self,
        target: &Target<'_>,
        config: &Value,
        force: bool,
        write: &Write,
    ) -> Result<Written, Status> {
        let mut config = config.clone();
        let mut warnings = Vec::new();
        prepare::check_kind(target.resource, &config)?;
        prepare::decode_applied(target.resource, &mut config, write, &mut warnings)?;
        let write = Write { applies: true, ..write.clone() };
        if self.get(target).is_none() && target.subresource.is_empty() {
            let mut body = prepare::apply(self, target, None, &config, force, &write)?;
            metadata(&mut body).insert("name".to_owned(), json!(target.name));
            match self.create(target.resource, target.namespace, body, &write) {
                // Somebody else created it first: apply to what is there.
                Err(status) if status.reason == "AlreadyExists" => {}
                other => return other,
            }
        }
        self.change(target, &write, |before| {
            prepare::apply(self, target, Some(before), &config, force, &write)
        })
    }
}
