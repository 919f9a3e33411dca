//! What the API answers when it refuses: the error object of its wire, built here and nowhere else.
//!
//! A constructor a case, each with the status that its code has. Details are null unless the code has a form of its
//! own: clients decode those and fail to read the whole error if the form is another.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::profile::Profile;

/// Every code that is answered, and the status it comes with.
const CODES: &[(&str, u16)] = &[
    ("json_error", 400),
    ("unauthorized", 401),
    ("token_readonly", 401),
    ("forbidden", 403),
    ("maintenance", 403),
    ("resource_limit_exceeded", 403),
    ("limit_exceeded_error", 403),
    ("not_found", 404),
    ("firewall_resource_not_found", 404),
    ("method_not_allowed", 405),
    ("uniqueness_error", 409),
    ("conflict", 409),
    ("deprecated_api_endpoint", 410),
    ("resource_unavailable", 412),
    ("primary_ip_version_mismatch", 412),
    ("source_port_already_used", 412),
    ("invalid_input", 422),
    ("service_error", 422),
    ("unsupported_error", 422),
    ("already_in_placement_group", 422),
    ("cloud_resource_ip_not_allowed", 422),
    ("firewall_already_applied", 422),
    ("firewall_already_removed", 422),
    ("firewall_managed_by_label_selector", 422),
    ("floating_ip_assigned", 422),
    ("incompatible_network_type", 422),
    ("invalid_load_balancer_type", 422),
    ("invalid_server_type", 422),
    ("ip_not_available", 422),
    ("ip_not_owned", 422),
    ("ip_not_in_vswitch_subnet", 422),
    ("load_balancer_already_attached", 422),
    ("load_balancer_not_attached_to_network", 422),
    ("load_balancer_public_interface_disabled", 422),
    ("missing_ipv4", 422),
    ("must_be_unassigned", 422),
    ("network_has_no_vswitch_subnet", 422),
    ("networks_overlap", 422),
    ("no_space_left_in_location", 422),
    ("no_subnet_available", 422),
    ("not_attached", 422),
    ("placement_error", 422),
    ("placement_group_member_limit_reached", 422),
    ("primary_ip_already_assigned", 422),
    ("primary_ip_assigned", 422),
    ("primary_ip_datacenter_mismatch", 422),
    ("private_net_only_server", 422),
    ("resolve_cloud_private_targets_error", 422),
    ("resolve_cloud_public_targets_error", 422),
    ("resource_in_use", 422),
    ("server_already_added", 422),
    ("server_already_attached", 422),
    ("server_has_ipv4", 422),
    ("server_has_ipv6", 422),
    ("server_is_load_balancer_target", 422),
    ("server_not_attached_to_network", 422),
    ("server_not_stopped", 422),
    ("target_already_defined", 422),
    ("targets_without_use_private_ip", 422),
    ("volume_already_attached", 422),
    ("vswitch_id_already_used", 422),
    ("locked", 423),
    ("protected", 423),
    ("rate_limit_exceeded", 429),
    ("server_error", 500),
    ("not_simulated", 501),
    ("bad_gateway", 502),
    ("unavailable", 503),
    ("timeout", 504),
];

/// The status that a code comes with; none for a word that is no code.
pub(crate) fn status_of(code: &str) -> Option<u16> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, status)| *status)
}

/// A refusal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wrong {
    code: Cow<'static, str>,
    status: u16,
    message: String,
    details: Value,
    /// Told on a page for people instead of in JSON.
    page: bool,
}

impl Wrong {
    /// A refusal whose code needs no details.
    pub(crate) fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        let code = code.into();
        let status = status_of(&code).unwrap_or(500);
        Self { code, status, message: message.into(), details: Value::Null, page: false }
    }

    /// As another status than that of its code. Few operations have one, and injected troubles may.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// As gateways tell it, which an injected trouble may want.
    pub(crate) fn on_a_page(mut self) -> Self {
        self.page = true;
        self
    }

    fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    pub(crate) fn json() -> Self {
        Self::new("json_error", "failed to parse JSON body")
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new("unauthorized", "unable to authenticate")
    }

    /// Of a token that may only look. It had a code of its own until autumn 2026.
    pub(crate) fn read_only(profile: Profile) -> Self {
        let code = if profile < Profile::Current { "token_readonly" } else { "forbidden" };
        Self::new(code, "token is only allowed to read")
    }

    /// Of a thing that was asked for by its id.
    pub(crate) fn not_found(kind: &str, id: u64) -> Self {
        Self::new("not_found", format!("{kind} with ID '{id}' not found"))
    }

    /// Of a path that leads nowhere.
    pub(crate) fn no_such_path() -> Self {
        Self::new("not_found", "the requested resource was not found")
    }

    pub(crate) fn method_not_allowed(method: &str, path: &str) -> Self {
        Self::new("method_not_allowed", format!("method {method} is not allowed for {path}"))
    }

    /// Of a route that the real API has and this mock has not.
    pub(crate) fn not_simulated(method: &str, path: &str) -> Self {
        Self::new(
            "not_simulated",
            format!("{method} {path} is part of the API, but this mock does not simulate it"),
        )
    }

    pub(crate) fn not_unique(field: &str, message: impl Into<String>) -> Self {
        Self::new("uniqueness_error", message).with_details(json!({"fields": [{"name": field}]}))
    }

    pub(crate) fn limit_exceeded(limit: &str, message: impl Into<String>) -> Self {
        Self::new("resource_limit_exceeded", message).with_details(json!({"limits": [{"name": limit}]}))
    }

    pub(crate) fn deprecated_endpoint(message: &str, announcement: &str) -> Self {
        Self::new("deprecated_api_endpoint", message).with_details(json!({"announcement": announcement}))
    }

    /// One field that cannot be as it is.
    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::invalid_fields(&[(field.to_owned(), message.into())])
    }

    /// One field that cannot be as it is, told in words of its own.
    pub(crate) fn invalid_saying(field: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message: message.clone(), ..Self::invalid(field, message) }
    }

    /// Fields that cannot be as they are, all at once; several sentences may concern the same one.
    pub(crate) fn invalid_fields(mistakes: &[(String, String)]) -> Self {
        let mut fields: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, message) in mistakes {
            match fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, messages)) => messages.push(message),
                None => fields.push((name, vec![message])),
            }
        }
        let names: Vec<String> = fields.iter().map(|(name, _)| format!("'{name}'")).collect();
        let plural = if names.len() == 1 { "" } else { "s" };
        let message = format!("invalid input in field{plural} {}", names.join(", "));
        let fields: Vec<Value> =
            fields.iter().map(|(name, messages)| json!({"name": name, "messages": messages})).collect();
        Self::new("invalid_input", message).with_details(json!({"fields": fields}))
    }

    pub(crate) fn locked(kind: &str) -> Self {
        Self::new("locked", format!("cannot perform operation because {kind} is locked"))
    }

    pub(crate) fn protected(kind: &str, what: &str) -> Self {
        Self::new("protected", format!("{kind} is protected against {what}"))
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The body of the answer, and what it is.
    pub(crate) fn body(&self) -> (String, &'static str) {
        if !self.page {
            return (self.show().to_string(), "application/json");
        }
        let Self { status, message, .. } = self;
        let page = format!(
            "<html>\n<head><title>{status} {message}</title></head>\n<body>\n<h1>{status} {message}</h1>\n</body>\n</html>\n"
        );
        (page, "text/html")
    }

    /// The object of the wire.
    pub(crate) fn show(&self) -> Value {
        json!({"error": {"code": self.code, "message": self.message, "details": self.details}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_with_two_mistakes_is_named_once() {
        let mistakes = [("name", "one"), ("labels", "two"), ("name", "three")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()));
        let shown = Wrong::invalid_fields(&mistakes).show();
        assert_eq!(shown["error"]["message"], "invalid input in fields 'name', 'labels'");
        assert_eq!(
            shown["error"]["details"]["fields"][0],
            json!({"name": "name", "messages": ["one", "three"]})
        );
    }

    #[test]
    fn every_code_stands_once() {
        let mut codes: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), CODES.len());
    }
}
