//! Runs in which the harness itself was late, once more: a machine that had too much to do is nobody's verdict. Every attempt
//! is kept, and told in the reports.

use super::abreast::Done;
use super::errand::Errand;
use crate::cli::complain;
use crate::exit::Exit;
use crate::report::Attempt;

/// The errands whose runs were too late to be judged, to be done again elsewhere: each with its number.
pub(super) fn late(
    errands: &[Errand],
    done: &[Done],
    attempt: u32,
) -> Result<(Vec<usize>, Vec<Errand>), Exit> {
    let (mut numbers, mut again) = (Vec::new(), Vec::new());
    for (number, (errand, done)) in errands.iter().zip(done).enumerate() {
        if !matches!(done, Ok(telling) if telling.late.is_some()) {
            continue;
        }
        let mut name = errand.directory.clone().into_os_string();
        name.push(format!("-attempt-{attempt}"));
        let errand = Errand { directory: name.into(), ..errand.clone() };
        std::fs::create_dir_all(&errand.directory).map_err(|e| {
            complain(&format!("error: failed to make the folder {}: {e}", errand.directory.display()));
            Exit::Missing
        })?;
        numbers.push(number);
        again.push(errand);
    }
    Ok((numbers, again))
}

/// Puts what came out in the place of what was too late, which becomes an earlier attempt.
pub(super) fn replace(done: &mut [Done], numbers: &[usize], again: Vec<Done>) {
    for (number, new) in numbers.iter().zip(again) {
        // One that could not be done leaves what there was.
        let (Ok(mut new), Some(Ok(old))) = (new, done.get(*number)) else { continue };
        new.attempts = old.attempts.iter().cloned().chain([Attempt::of(old)]).collect();
        if let Some(place) = done.get_mut(*number) {
            *place = Ok(new);
        }
    }
}
