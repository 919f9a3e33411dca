//! Services as bodies describe them. What is not said stays as it was or, in a new service, is as usual.
//!
//! What is read for a mistake in a body is a placeholder: [`Body::done`] refuses before it is used.

use crate::call::Body;
use crate::resource::load_balancer::service::{Check, Http, HttpCheck, Protocol, Service};

/// Longer than anybody waits, in seconds.
const IDLE_MOST: u64 = 1 << 20;

/// A service that is new.
pub(super) fn new(body: &mut Body) -> Service {
    let protocol = body.needed("protocol", |body, field| body.word(field, &Protocol::WORDS));
    let protocol = protocol.unwrap_or(Protocol::Tcp);
    let usual = match protocol {
        Protocol::Http => Some(80),
        Protocol::Https => Some(443),
        Protocol::Tcp => None,
    };
    let listen_port = port_or(body, "listen_port", usual);
    service(body, protocol, listen_port, None)
}

/// What becomes of a service, whose port was read already.
pub(super) fn changed(body: &mut Body, before: &Service) -> Service {
    let protocol = body.word("protocol", &Protocol::WORDS).unwrap_or(before.protocol);
    service(body, protocol, before.listen_port, Some(before))
}

/// A number of a port.
pub(super) fn port(body: &mut Body, field: &str) -> Option<u16> {
    body.number(field, 1, u16::MAX.into()).and_then(|port| u16::try_from(port).ok())
}

/// A port that has to be there if there is no usual one.
fn port_or(body: &mut Body, field: &str, usual: Option<u16>) -> u16 {
    match usual {
        None => body.required(field, port),
        Some(usual) => port(body, field).unwrap_or(usual),
    }
}

fn service(body: &mut Body, protocol: Protocol, listen_port: u16, before: Option<&Service>) -> Service {
    let known = before.map(|it| it.destination_port).or((protocol != Protocol::Tcp).then_some(80));
    let destination_port = port_or(body, "destination_port", known);
    let proxy_protocol = body.flag("proxyprotocol").or(before.map(|it| it.proxy_protocol)).unwrap_or(false);
    let http_before = before.and_then(|it| it.http.clone()).unwrap_or_default();
    let http = body.object("http", |body| http(body, protocol, http_before.clone())).unwrap_or(http_before);
    let usual = before.map_or_else(|| usual(protocol, destination_port), |it| it.check.clone());
    let check = body.object("health_check", |body| check(body, usual.clone())).unwrap_or(usual);
    Service {
        protocol,
        listen_port,
        destination_port,
        proxy_protocol,
        http: (protocol != Protocol::Tcp).then_some(http),
        check,
    }
}

fn http(body: &mut Body, protocol: Protocol, before: Http) -> Http {
    let cookie_name = sized(body, "cookie_name", 1, 100).unwrap_or(before.cookie_name);
    let http = Http {
        cookie_name,
        cookie_lifetime_s: body.number("cookie_lifetime", 30, 86_400).unwrap_or(before.cookie_lifetime_s),
        timeout_idle_s: body.number("timeout_idle", 1, IDLE_MOST).unwrap_or(before.timeout_idle_s),
        certificates: body.ids("certificates").unwrap_or(before.certificates),
        redirect: body.flag("redirect_http").unwrap_or(before.redirect),
        sticky: body.flag("sticky_sessions").unwrap_or(before.sticky),
    };
    if protocol == Protocol::Http {
        for (field, given) in
            [("certificates", !http.certificates.is_empty()), ("redirect_http", http.redirect)]
        {
            if given {
                body.wrong(field, "Only possible for protocol https.");
            }
        }
    }
    http
}

/// How a service is checked if nobody says.
fn usual(protocol: Protocol, port: u16) -> Check {
    let http = (protocol != Protocol::Tcp).then(HttpCheck::default);
    Check { port, interval_s: 15, timeout_s: 10, retries: 3, http }
}

fn check(body: &mut Body, before: Check) -> Check {
    let is_http = body.word("protocol", &[("tcp", false), ("http", true)]).unwrap_or(before.http.is_some());
    let http_before = before.http.unwrap_or_default();
    let http = body.object("http", |body| http_check(body, http_before.clone())).unwrap_or(http_before);
    Check {
        port: port(body, "port").unwrap_or(before.port),
        interval_s: body.number("interval", 3, 60).unwrap_or(before.interval_s),
        timeout_s: body.number("timeout", 1, 60).unwrap_or(before.timeout_s),
        retries: body.number("retries", 1, 5).unwrap_or(before.retries),
        http: is_http.then_some(http),
    }
}

fn http_check(body: &mut Body, before: HttpCheck) -> HttpCheck {
    let domain = sized(body, "domain", 0, 128);
    if domain.as_ref().is_some_and(|domain| domain.contains([' ', '%', '\\'])) {
        body.wrong("domain", "Must not contain spaces, percent signs or backslashes.");
    }
    let path = sized(body, "path", 1, 256);
    if path.as_ref().is_some_and(|path| path.contains(' ')) {
        body.wrong("path", "Must not contain spaces.");
    }
    let status_codes = body.texts("status_codes");
    if status_codes.as_ref().is_some_and(|codes| codes.len() > 20) {
        body.wrong("status_codes", "Longer than maximum length 20.");
    }
    HttpCheck {
        domain: domain.or(before.domain),
        path: path.unwrap_or(before.path),
        response: sized(body, "response", 0, 256).unwrap_or(before.response),
        status_codes: status_codes.unwrap_or(before.status_codes),
        tls: body.flag("tls").unwrap_or(before.tls),
    }
}

fn sized(body: &mut Body, field: &str, least: usize, most: usize) -> Option<String> {
    let text = body.text(field)?;
    if !(least..=most).contains(&text.chars().count()) {
        body.wrong(field, format!("Length must be between {least} and {most}."));
    }
    Some(text)
}
