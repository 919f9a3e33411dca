//! Lives of certificates, and keys against chains.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use rcgen::{
    CertificateParams, CertifiedIssuer, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
    PKCS_ED25519,
};
use serde_json::{Value, json};
use x509_parser::asn1_rs::{Any, FromDer, OctetString, Sequence};

use crate::action::Ending;
use crate::resource::certificate::pem::{chain, is_key_of};
use crate::rig::Rig;

/// A certificate that OpenSSL made, and its key.
const RSA: &str = include_str!("rsa.pem");

const FINGERPRINT: &str =
    "f3:44:3a:2e:a7:20:00:9d:90:2b:31:0e:9d:f4:25:da:88:02:20:85:4a:ac:3d:d6:85:7f:31:d2:4c:ff:17:f9";
const NOT_BEFORE: &str = "2026-11-21T05:48:53Z";
const NOT_AFTER: &str = "2126-10-28T05:48:53Z";

fn rsa() -> (&'static str, &'static str) {
    RSA.split_at(RSA.find("-----BEGIN PRIVATE").unwrap())
}

/// A certificate that certifies itself, and its key.
fn own(algorithm: &'static rcgen::SignatureAlgorithm) -> (String, String) {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let certificate =
        CertificateParams::new(vec!["a.example.com".to_owned()]).unwrap().self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

/// The key within one that says of what kind it is: in the form that older programs write.
fn older(key: &str, label: &str) -> String {
    let body: String = key.lines().filter(|line| !line.starts_with('-')).collect();
    let key = STANDARD.decode(body).unwrap();
    let (_, sequence) = Sequence::from_der(&key).unwrap();
    let (rest, _version) = u8::from_der(&sequence.content).unwrap();
    let (rest, _algorithm) = Any::from_der(rest).unwrap();
    let (_, inner) = OctetString::from_der(rest).unwrap();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(inner.as_ref()))
}

/// Lets all actions that run at the moment fail.
fn fail_all(rig: &mut Rig, code: &str) {
    let mut all: Vec<_> = rig.engine.project.actions.clone().into();
    for action in all.iter_mut().filter(|action| action.finished.is_none()) {
        action.ending = Ending::Error { code: code.to_owned(), message: "no".to_owned() };
    }
    rig.engine.project.actions = all.into();
}

#[test]
fn keys_of_all_kinds_fit_their_own_certificate_only() {
    let mut pairs = vec![(rsa().0.to_owned(), rsa().1.to_owned())];
    pairs.extend([&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384, &PKCS_ED25519].map(own));
    pairs.push(own(&PKCS_ECDSA_P256_SHA256));
    pairs.push((pairs[0].0.clone(), older(&pairs[0].1, "RSA PRIVATE KEY")));
    pairs.push((pairs[1].0.clone(), older(&pairs[1].1, "EC PRIVATE KEY")));
    pairs.push((pairs[2].0.clone(), older(&pairs[2].1, "EC PRIVATE KEY")));
    for (certificate, _) in &pairs {
        for (other, key) in &pairs {
            assert_eq!(is_key_of(key, certificate), Some(certificate == other), "{certificate}{key}");
        }
    }
}

#[test]
fn what_is_no_key_is_told_from_one_that_does_not_fit() {
    let (certificate, key) = rsa();
    for wrong in [
        "",
        "key",
        certificate,
        &key[..key.len() / 2],
        &older(key, "PRIVATE KEY"),
        &older(key, "EC PRIVATE KEY"),
    ] {
        assert_eq!(is_key_of(wrong, certificate), None, "{wrong}");
    }
}

#[test]
fn a_chain_is_in_order() {
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.distinguished_name.push(DnType::CommonName, "root");
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let leaf = CertificateParams::new(vec!["leaf.example.com".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&KeyPair::generate().unwrap(), &root).unwrap();
    let names = |text: &str| chain(text).map(|facts| facts.domain_names);
    assert_eq!(names(&(leaf.pem() + &root.pem())), Ok(vec!["leaf.example.com".to_owned()]));
    assert!(names(&(root.pem() + &leaf.pem())).is_err());
    assert!(names(&(leaf.pem() + rsa().1)).is_err());
    assert_eq!(names(&root.pem()), Ok(vec!["root".to_owned()]));
}

#[test]
fn the_life_of_an_uploaded_one() {
    let mut rig = Rig::new();
    let (certificate, private_key) = rsa();
    let body =
        json!({"name": "web", "type": "uploaded", "certificate": certificate, "private_key": private_key});
    let answer = rig.post("/certificates", &body);
    assert_eq!(answer["action"], Value::Null);
    let made = answer["certificate"].clone();
    assert_eq!(made["type"], "uploaded");
    assert_eq!(made["certificate"], certificate);
    assert_eq!(made["domain_names"], json!(["example.com", "*.example.com"]));
    assert_eq!(made["fingerprint"], FINGERPRINT);
    assert_eq!(made["not_valid_before"], NOT_BEFORE);
    assert_eq!(made["not_valid_after"], NOT_AFTER);
    assert_eq!((&made["status"], &made["used_by"]), (&Value::Null, &json!([])));
    let path = format!("/certificates/{}", made["id"]);
    for (filter, count) in
        [("type=uploaded", 1), ("type=managed", 0), ("type=managed&type=uploaded", 1), ("name=web", 1)]
    {
        let all = rig.get(&format!("/certificates?{filter}"));
        assert_eq!(all["meta"]["pagination"]["total_entries"], count, "{filter}");
    }
    assert_eq!(rig.done("PUT", &path, &json!({"name": "www"}))["certificate"]["name"], "www");
    let retried = rig.refused("POST", &format!("{path}/actions/retry"), &Value::Null);
    assert_eq!(retried, (422, "unsupported_error".to_owned()));
    assert_eq!(rig.ask("DELETE", &path, &Value::Null), (204, Value::Null));
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (404, "not_found".to_owned()));
}

#[test]
fn what_cannot_be_uploaded_is_refused() {
    let mut rig = Rig::new();
    let (certificate, key) = rsa();
    let (other, other_key) = own(&PKCS_ECDSA_P256_SHA256);
    for (body, fields) in [
        (json!({}), vec!["name", "certificate", "private_key"]),
        (json!({"name": "a", "certificate": "x", "private_key": key}), vec!["certificate"]),
        (json!({"name": "a", "certificate": certificate, "private_key": "x"}), vec!["private_key"]),
        (json!({"name": "a", "certificate": certificate, "private_key": other_key}), vec!["private_key"]),
        (json!({"name": "a", "certificate": other, "private_key": key}), vec!["private_key"]),
        (json!({"name": "a", "type": "bought"}), vec!["type", "certificate", "private_key"]),
        (json!({"name": "a", "type": "managed"}), vec!["domain_names"]),
        (json!({"name": "a", "type": "managed", "domain_names": []}), vec!["domain_names"]),
        (json!({"name": "a", "type": "managed", "domain_names": ["com"]}), vec!["domain_names"]),
        (json!({"name": "a", "type": "managed", "domain_names": ["ä.example.com"]}), vec!["domain_names"]),
    ] {
        let (status, answer) = rig.ask("POST", "/certificates", &body);
        assert_eq!(status, 422, "{body}: {answer}");
        let told = answer["error"]["details"]["fields"].as_array().unwrap();
        let told: Vec<&str> = told.iter().filter_map(|field| field["name"].as_str()).collect();
        assert_eq!(told, fields, "{body}");
    }
    assert_eq!(rig.get("/certificates")["certificates"], json!([]));
}

#[test]
fn a_managed_one_is_issued_in_time() {
    let mut rig = Rig::new();
    let domains = json!(["example.com", "*.example.com"]);
    let body = json!({"name": "web", "type": "managed", "domain_names": domains});
    let answer = rig.post("/certificates", &body);
    assert_eq!(answer["action"]["command"], "create_certificate");
    let made = &answer["certificate"];
    assert_eq!((&made["certificate"], &made["fingerprint"]), (&Value::Null, &Value::Null));
    assert_eq!((&made["status"]["issuance"], &made["domain_names"]), (&json!("pending"), &domains));
    let path = format!("/certificates/{}", made["id"]);
    rig.pass(3600);
    let issued = rig.get(&path)["certificate"].clone();
    assert_eq!(issued["status"], json!({"issuance": "completed", "renewal": "scheduled", "error": null}));
    let facts = chain(issued["certificate"].as_str().unwrap()).unwrap();
    assert_eq!(
        (json!(facts.domain_names), json!(facts.fingerprint)),
        (domains, issued["fingerprint"].clone())
    );
    assert_eq!(facts.not_after_s - facts.not_before_s, 90 * 24 * 3600);
    assert!(issued["not_valid_before"].as_str().unwrap().starts_with("2026-11-01T00:"));
    let mut again = Rig::new();
    again.post("/certificates", &body);
    again.pass(3600);
    assert_eq!(again.get(&path)["certificate"], issued);
}

#[test]
fn what_failed_can_be_tried_again() {
    let mut rig = Rig::new();
    let body = json!({"name": "web", "type": "managed", "domain_names": ["example.com"]});
    let id = rig.post("/certificates", &body)["certificate"]["id"].clone();
    let (path, retry) = (format!("/certificates/{id}"), format!("/certificates/{id}/actions/retry"));
    assert_eq!(rig.refused("POST", &retry, &Value::Null), (422, "unsupported_error".to_owned()));
    fail_all(&mut rig, "dns_zone_not_found");
    rig.pass(3600);
    assert_eq!(
        rig.get(&path)["certificate"]["status"],
        json!({
            "issuance": "failed",
            "renewal": "unavailable",
            "error": {"code": "dns_zone_not_found", "message": "no"},
        })
    );
    assert_eq!(rig.post(&retry, &Value::Null)["action"]["command"], "issue_certificate");
    assert_eq!(rig.get(&path)["certificate"]["status"]["issuance"], "pending");
    rig.pass(3600);
    assert_eq!(rig.get(&path)["certificate"]["status"]["issuance"], "completed");
    assert_eq!(rig.get(&format!("{path}/actions"))["meta"]["pagination"]["total_entries"], 2);
}

#[test]
fn one_that_goes_before_it_is_issued_stays_away() {
    let mut rig = Rig::new();
    let body = json!({"name": "web", "type": "managed", "domain_names": ["example.com"]});
    let id = rig.post("/certificates", &body)["certificate"]["id"].clone();
    rig.done("DELETE", &format!("/certificates/{id}"), &Value::Null);
    rig.pass(3600);
    assert_eq!(rig.get("/certificates")["certificates"], json!([]));
}

#[test]
fn one_in_use_cannot_go() {
    let mut rig = Rig::new();
    let (certificate, private_key) = rsa();
    let body = json!({"name": "web", "certificate": certificate, "private_key": private_key});
    let id = rig.post("/certificates", &body)["certificate"]["id"].clone();
    let path = format!("/certificates/{id}");
    let service = json!({
        "protocol": "https",
        "listen_port": 443,
        "destination_port": 80,
        "proxyprotocol": false,
        "http": {"certificates": [id]},
        "health_check": {"protocol": "tcp", "port": 80, "interval": 15, "timeout": 10, "retries": 3},
    });
    let balancer =
        json!({"name": "lb", "load_balancer_type": "lb11", "location": "fsn1", "services": [service]});
    let balancer = rig.post("/load_balancers", &balancer)["load_balancer"]["id"].clone();
    assert_eq!(rig.get(&path)["certificate"]["used_by"], json!([{"id": balancer, "type": "load_balancer"}]));
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (422, "service_error".to_owned()));
    rig.done("DELETE", &format!("/load_balancers/{balancer}"), &Value::Null);
    assert_eq!(rig.get(&path)["certificate"]["used_by"], json!([]));
    rig.done("DELETE", &path, &Value::Null);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever somebody sends, reading it ends with an answer.
    #[test]
    fn damage_is_survived(at in 0_usize..RSA.len(), with in any::<char>(), text in any::<String>()) {
        let damaged: String =
            RSA.char_indices().map(|(index, letter)| if index == at { with } else { letter }).collect();
        let _ = chain(&damaged);
        let _ = is_key_of(&damaged, &damaged);
        prop_assert!(chain(&text).is_err());
        prop_assert_eq!(is_key_of(&text, rsa().0), None);
    }
}
