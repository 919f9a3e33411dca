//! Runs the commands of a script with one CLI.

use std::path::Path;

use serde_json::Value;

use crate::cloud::Cloud;
use crate::judge::judge;
use crate::script::{Kept, Script, Step};

/// Of nobody.
const PUBLIC_KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f nobody@example.com";

/// How often it asks for actions that last some hundredths of a second here.
const POLL: &str = "--poll-interval=10ms";

pub(crate) async fn hold(cloud: &Cloud, cli: &Path, script: &Script) -> Result<(), String> {
    cloud.directory.write(&script.files);
    let mut kept = Kept::from([("public_key".to_owned(), PUBLIC_KEY.into())]);
    let mut wrong = Vec::new();
    for step in &script.steps {
        let step = step.filled(&kept);
        let held =
            if step.is_whole() { run(cloud, cli, &step).await } else { Err("not all was kept".to_owned()) };
        match held {
            Ok(new) => kept.extend(new),
            Err(error) => wrong.push(format!("$ hcloud {}\n{error}", step.run.trim())),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

async fn run(cloud: &Cloud, cli: &Path, step: &Step) -> Result<Kept, String> {
    let mut command = cloud.command(cli);
    command.arg(POLL).args(step.words()).envs(&step.env);
    let ended = cloud.ended(command).await?;
    judge(step, &ended)?;
    let printed: Value = serde_json::from_str(&ended.out).unwrap_or_default();
    step.keep
        .iter()
        .map(|(name, place)| {
            let value =
                printed.pointer(place).ok_or_else(|| format!("nothing at {place}:\n{}", ended.out))?;
            Ok((name.clone(), value.clone()))
        })
        .collect()
}
