//! Patching an object, in four ways.

use serde_json::{Value, json};

use super::create::metadata;
use super::finish::Written;
use super::{Api, Target, Write, decode, prepare};
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
            Patch::Json(operations) => {
                self.patch_by(target, write, None, |before| patch::json(before, operations))
            }
            Patch::Merge(merge) => self.patch_by(target, write, None, |before| patch::merge(before, merge)),
            Patch::Strategic(strategic) => {
                let kind = prepare::structure(target.resource);
                let shown = Some(strategic);
                self.patch_by(target, write, shown, |before| patch::strategic(before, strategic, kind))
            }
            Patch::Apply { config, force } => self.apply(target, config, *force, write),
        }
    }

    /// What cannot be read afterwards is the fault of the patch: a strategic one is `shown`, of the others the object.
    fn patch_by(
        &self,
        target: &Target<'_>,
        write: &Write,
        shown: Option<&Value>,
        patch: impl Fn(&Value) -> Result<Value, Status>,
    ) -> Result<Written, Status> {
        self.rewrite(target, write, |before, warnings| {
            let after = patch(before)?;
            // Made once more where it is shown: few are, and the text of an object is long.
            let object = || patch(before).map(|after| after.to_string()).unwrap_or_default();
            let shown = || shown.map_or_else(object, patch::as_go);
            decode::patched(target.resource, after, shown, write, warnings)
        })
    }

    fn apply(
        &self,
        target: &Target<'_>,
        config: &Value,
        force: bool,
        write: &Write,
    ) -> Result<Written, Status> {
        decode::applied(target.resource, config, write)?;
        let write = Write { applies: true, ..write.clone() };
        if self.get(target).is_none() && target.subresource.is_empty() {
            let mut body = prepare::apply(self, target, None, config, force, &write)?;
            no_uid(target, &body)?;
            metadata(&mut body).insert("name".to_owned(), json!(target.name));
            match self.create(target.resource, target.namespace, body, &write) {
                // Somebody else created it first: apply to what is there.
                Err(status) if status.reason == "AlreadyExists" => {}
                other => return other,
            }
        }
        self.change(target, &write, |before| {
            prepare::apply(self, target, Some(before), config, force, &write)
        })
    }
}

/// Who applies with a uid means an object that is there.
fn no_uid(target: &Target<'_>, body: &Value) -> Result<(), Status> {
    let Some(uid) = body["metadata"]["uid"].as_str().filter(|uid| !uid.is_empty()) else { return Ok(()) };
    let why =
        format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
    Err(Status::conflict(target.resource.name(), target.name, &why))
}
