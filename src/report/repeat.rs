//! The command that repeats a run, to be pasted into a shell.

use crate::history::Header;

/// The program that scaleproof brings along: its profile finds it.
const OWN: &str = "mock-autoscaler";

pub(super) fn command(header: &Header) -> String {
    let subject = &header.subject;
    let mut words = vec!["scaleproof".to_owned(), "run".to_owned()];
    // One that does not come along is found by its path only.
    let profile = subject.profile_path.as_ref().unwrap_or(&subject.profile);
    words.extend([&header.scenario.path, "--subject", profile].map(quoted));
    // It is this program under its own name, or its first argument.
    let own = subject.command.iter().take(2).any(|word| word.rsplit('/').next() == Some(OWN));
    if let Some(binary) = subject.command.first().filter(|_| !own) {
        words.extend(["--binary", binary].map(quoted));
    }
    if !header.scenario.convicts.is_empty() {
        words.push("--negative".to_owned());
    }
    words.extend(["--seed".to_owned(), header.seed.to_string()]);
    words.extend(["--time", &header.time].map(quoted));
    if header.cluster.kind != "embedded" {
        words.extend(["--cluster", &header.cluster.kind].map(quoted));
    }
    words.join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_split_are_quoted() {
        assert_eq!(quoted("suites/a-b.yaml"), "suites/a-b.yaml");
        assert_eq!([quoted(""), quoted("a b"), quoted("it's")], ["''", "'a b'", "'it'\\''s'"]);
    }
}
