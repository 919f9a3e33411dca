//! Where the next page of a list begins.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::status::Status;
use crate::store::Key;

/// The revision that all pages share, and the key after which the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) revision: u64,
    pub(super) after: Key,
}

impl Token {
    pub(super) fn write(&self) -> String {
        let start = format!("{}/{}\u{0}", self.after.namespace, self.after.name);
        let text = json!({"v": "meta.k8s.io/v1", "rv": self.revision, "start": start}).to_string();
        URL_SAFE_NO_PAD.encode(text)
    }

    pub(super) fn read(text: &str) -> Result<Self, Status> {
        let invalid = || Status::bad_request(format!("continue key is not valid: {text}"));
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| invalid())?;
        let token: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        if token["v"] != "meta.k8s.io/v1" {
            return Err(invalid());
        }
        let start =
            token["start"].as_str().and_then(|start| start.strip_suffix('\u{0}')).ok_or_else(invalid)?;
        let (namespace, name) = start.split_once('/').ok_or_else(invalid)?;
        let revision = token["rv"].as_u64().ok_or_else(invalid)?;
        Ok(Self { revision, after: Key::new(namespace, name) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_what_was_written() {
        let token = Token { revision: 7, after: Key::new("a", "b") };
        assert_eq!(Token::read(&token.write()), Ok(token));
    }

    proptest::proptest! {
        #[test]
        fn made_up_tokens_are_refused(text in ".{0,60}") {
            assert_eq!(Token::read(&text).map_err(|status| status.code), Err(400));
        }
    }
}
