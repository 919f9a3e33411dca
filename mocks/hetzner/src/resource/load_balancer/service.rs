//! What a load balancer offers on a port, and how it finds out whether its targets do.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::word;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Service {
    pub(super) protocol: Protocol,
    pub(super) listen_port: u16,
    pub(super) destination_port: u16,
    pub(super) proxy_protocol: bool,
    /// None for TCP.
    pub(super) http: Option<Http>,
    pub(super) check: Check,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Protocol {
    Tcp,
    Http,
    Https,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Http {
    pub(super) cookie_name: String,
    pub(super) cookie_lifetime_s: u64,
    pub(super) timeout_idle_s: u64,
    pub(super) certificates: Vec<u64>,
    pub(super) redirect: bool,
    pub(super) sticky: bool,
}

/// How often a target is asked whether it is well, and how long it may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Check {
    pub(super) port: u16,
    pub(super) interval_s: u64,
    pub(super) timeout_s: u64,
    pub(super) retries: u64,
    /// None if a connection is enough.
    pub(super) http: Option<HttpCheck>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HttpCheck {
    pub(super) domain: Option<String>,
    pub(super) path: String,
    pub(super) response: String,
    pub(super) status_codes: Vec<String>,
    pub(super) tls: bool,
}

impl Protocol {
    pub(super) const WORDS: [(&str, Self); 3] =
        [("tcp", Self::Tcp), ("http", Self::Http), ("https", Self::Https)];

    fn word(self) -> &'static str {
        word(&Self::WORDS, self)
    }
}

impl Default for Http {
    fn default() -> Self {
        Self {
            cookie_name: "HCLBSTICKY".to_owned(),
            cookie_lifetime_s: 300,
            timeout_idle_s: 50,
            certificates: Vec::new(),
            redirect: false,
            sticky: false,
        }
    }
}

impl Default for HttpCheck {
    fn default() -> Self {
        Self {
            domain: None,
            path: "/".to_owned(),
            response: String::new(),
            status_codes: vec!["2??".to_owned(), "3??".to_owned()],
            tls: false,
        }
    }
}

impl Service {
    pub(super) fn certificates(&self) -> &[u64] {
        self.http.as_ref().map_or(&[], |http| &http.certificates)
    }

    /// All ports that it listens on: who redirects takes that of plain HTTP, too.
    pub(super) fn ports(&self) -> impl Iterator<Item = u16> {
        let redirects = self.http.as_ref().is_some_and(|http| http.redirect);
        std::iter::once(self.listen_port).chain(redirects.then_some(80))
    }

    pub(super) fn show(&self) -> Value {
        let mut shown = json!({
            "protocol": self.protocol.word(),
            "listen_port": self.listen_port,
            "destination_port": self.destination_port,
            "proxyprotocol": self.proxy_protocol,
            "health_check": self.check.show(),
        });
        if let (Some(fields), Some(http)) = (shown.as_object_mut(), &self.http) {
            fields.insert("http".to_owned(), http.show());
        }
        shown
    }
}

impl Http {
    fn show(&self) -> Value {
        json!({
            "cookie_name": self.cookie_name,
            "cookie_lifetime": self.cookie_lifetime_s,
            "timeout_idle": self.timeout_idle_s,
            "certificates": self.certificates,
            "redirect_http": self.redirect,
            "sticky_sessions": self.sticky,
        })
    }
}

impl Check {
    fn show(&self) -> Value {
        let mut shown = json!({
            "protocol": if self.http.is_some() { "http" } else { "tcp" },
            "port": self.port,
            "interval": self.interval_s,
            "timeout": self.timeout_s,
            "retries": self.retries,
        });
        if let (Some(fields), Some(http)) = (shown.as_object_mut(), &self.http) {
            let http = json!({
                "domain": http.domain,
                "path": http.path,
                "response": http.response,
                "status_codes": http.status_codes,
                "tls": http.tls,
            });
            fields.insert("http".to_owned(), http);
        }
        shown
    }
}
