//! When a cron job is to run: five fields, or a word for them. The sentences are those of upstream's parser.

/// The names and bounds of the fields, in their order.
const FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const WORDS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// What is wrong with a schedule.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if rest.starts_with("TZ=") || rest.starts_with("CRON_TZ=") {
        // Whether there is such a zone does not matter: none is allowed here, and that is said elsewhere.
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest.trim());
    }
    if rest.starts_with('@') {
        return word(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let shown = fields.join(" ");
        return Err(format!("expected exactly {} fields, found {}: [{shown}]", FIELDS.len(), fields.len()));
    }
    for (field, bounds) in fields.into_iter().zip(FIELDS) {
        field.split(',').filter(|part| !part.is_empty()).try_for_each(|part| range(part, bounds))?;
    }
    Ok(())
}

fn word(text: &str) -> Result<(), String> {
    if WORDS.contains(&text) {
        return Ok(());
    }
    let Some(span) = text.strip_prefix("@every ") else {
        return Err(format!("unrecognized descriptor: {text}"));
    };
    if is_span(span) {
        return Ok(());
    }
    Err(format!("failed to parse duration {text}: time: invalid duration {span:?}"))
}

/// A duration as Go writes it: `1h30m`.
fn is_span(text: &str) -> bool {
    const UNITS: [&str; 7] = ["ns", "us", "µs", "μs", "ms", "s", "m"];
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut parts = 0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, tail) = rest.split_at(number);
        let unit = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        if digits.parse::<f64>().is_err() || !(UNITS.contains(&unit) || unit == "h") {
            return false;
        }
        rest = tail;
        parts += 1;
    }
    parts > 0
}

/// One of the parts between commas: `*/15`, `1-5`, `mon`.
fn range(text: &str, (least, most, names): (u64, u64, &[&str])) -> Result<(), String> {
    let (span, steps) = text.split_once('/').map_or((text, None), |(span, step)| (span, Some(step)));
    let bounds: Vec<&str> = span.split('-').collect();
    let everything = matches!(bounds[0], "*" | "?");
    let start = if everything { least } else { number(bounds[0], least, names)? };
    let mut end = match bounds.as_slice() {
        _ if everything => most,
        [_] => start,
        [_, end] => number(end, least, names)?,
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let mut step = 1;
    if let Some(steps) = steps {
        if steps.contains('/') {
            return Err(format!("too many slashes: {text}"));
        }
        step = number(steps, 0, &[])?;
        if bounds.len() == 1 {
            end = most;
        }
    }
    let why = if start < least {
        format!("beginning of range ({start}) below minimum ({least})")
    } else if end > most {
        format!("end of range ({end}) above maximum ({most})")
    } else if start > end {
        format!("beginning of range ({start}) beyond end of range ({end})")
    } else if step == 0 {
        "step of range should be a positive number".to_owned()
    } else {
        return Ok(());
    };
    Err(format!("{why}: {text}"))
}

/// A number, or a name that stands for one from the least on.
fn number(text: &str, least: u64, names: &[&str]) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    if let Some(place) = names.iter().position(|name| *name == lower) {
        return Ok(least + place as u64);
    }
    match text.parse::<i64>() {
        Ok(number) => {
            u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
        }
        Err(_) => {
            Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_can_be_kept_is_taken() {
        let all = [
            "* * * * *",
            "*/15 0-6,22 1,15 JAN-mar sun",
            "0/5 ? * * 0",
            "@daily",
            "@every 1h30m",
            "@every 1.5s",
        ];
        for schedule in all {
            assert_eq!(check(schedule), Ok(()), "{schedule}");
        }
    }

    #[test]
    fn what_cannot_is_told_in_upstreams_words() {
        for (schedule, why) in [
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("* * * * 5-1", "beginning of range (5) beyond end of range (1): 5-1"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("@now", "unrecognized descriptor: @now"),
            ("@every x", "failed to parse duration @every x: time: invalid duration \"x\""),
        ] {
            assert_eq!(check(schedule), Err(why.to_owned()), "{schedule}");
        }
    }
}
