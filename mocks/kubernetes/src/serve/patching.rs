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
        let (patch, write) = self.read_patch(self.resource.custom.is_none())?;
        Ok(self.written(&self.api.patch(&self.target(), &patch, &write)?))
    }

    /// The patch that the body is, and how it is to be written.
    pub(super) fn read_patch(&self, strategic: bool) -> Result<(Patch, Write), Status> {
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
        let wrong = self.wrong_options(applies).into_iter().collect();
        let mut write = body::write_options(&self.query, "PatchOptions", self.agent(), wrong)?;
        let patch = if applies {
            let force = self.query.flag("force").unwrap_or_default();
            let config = body::read_yaml(self.body, "error decoding YAML: ", &mut write.doubles)?;
            Patch::Apply { config, force }
        } else {
            let value = self.read_patch_json(&mut write)?;
            match media_type {
                "application/json-patch+json" => Patch::Json(value),
                "application/merge-patch+json" => Patch::Merge(value),
                _ => Patch::Strategic(value),
            }
        };
        Ok((patch, write))
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
    fn wrong_options(&self, applies: bool) -> Option<Wrong> {
        if applies && self.query.text("fieldManager").is_none() {
            Some(Wrong::required("fieldManager", "is required for apply patch"))
        } else if !applies && self.query.flag("force").is_some() {
            Some(Wrong::forbidden("force", "may not be specified for non-apply patch"))
        } else {
            None
        }
    }
}
