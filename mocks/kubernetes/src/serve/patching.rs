//! Patches: which of the four ways, by the content type of the body.

use hyper::Response;
use serde_json::Value;

use super::{Call, body, syntax};
use crate::api::{Patch, Write};
use crate::listen::Body;
use crate::schema;
use crate::status::{Status, Wrong};

impl Call<'_> {
    pub(super) fn patch(&self) -> Result<Response<Body>, Status> {
        let mut write = self.write("PatchOptions")?;
        let patch = self.read_patch(&mut write, self.resource.custom.is_none())?;
        Ok(self.written(&self.api.patch(&self.target(), &patch, &write)?))
    }

    /// The patch that the body is; what it says twice is noted in `write`.
    pub(super) fn read_patch(&self, write: &mut Write, strategic: bool) -> Result<Patch, Status> {
        let media_type = body::media_type(self.headers);
        let applies = media_type == "application/apply-patch+yaml";
        let known = applies
            || ["application/json-patch+json", "application/merge-patch+json"].contains(&media_type)
            || strategic && media_type == "application/strategic-merge-patch+json";
        if !known {
            return Err(if self.resource.custom.is_none() {
                Status::no_such_patch()
            } else {
                Status::unsupported_media_type(&[
                    "application/json-patch+json",
                    "application/merge-patch+json",
                    "application/apply-patch+yaml",
                ])
            });
        }
        self.check_options(applies)?;
        if applies {
            let force = self.query.flag("force").unwrap_or_default();
            let config = body::read_yaml(self.body, "error decoding YAML: ", &mut write.doubles)?;
            return Ok(Patch::Apply { config, force });
        }
        let value = self.read_patch_json(write)?;
        Ok(match media_type {
            "application/json-patch+json" => Patch::Json(value),
            "application/merge-patch+json" => Patch::Merge(value),
            _ => Patch::Strategic(value),
        })
    }

    fn read_patch_json(&self, write: &mut Write) -> Result<Value, Status> {
        let document = schema::read(self.body).map_err(|error| {
            let why = syntax::mistake(self.body).unwrap_or_else(|| error.to_string());
            Status::bad_request(format!("error decoding patch: {why}"))
        })?;
        write.doubles = document.duplicates;
        Ok(document.value)
    }

    /// Who applies must have a name, and only who applies can force.
    fn check_options(&self, applies: bool) -> Result<(), Status> {
        let wrong = if applies && self.query.text("fieldManager").is_none() {
            Wrong::required("fieldManager", "is required for apply patch")
        } else if !applies && self.query.flag("force").is_some() {
            Wrong::forbidden("force", "may not be specified for non-apply patch")
        } else {
            return Ok(());
        };
        Err(Status::invalid_options("PatchOptions", vec![wrong]))
    }
}
