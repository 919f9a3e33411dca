//! Kubernetes quantities in the two units that are summed here: thousandths of a core, and bytes.

/// A quantity in thousandths; one that cannot be read is nothing.
pub(crate) fn milli(text: &str) -> u64 {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    // An exponent begins with a letter too.
    let (number, suffix) = match suffix.strip_prefix(['e', 'E']).and_then(|rest| rest.parse::<i32>().ok()) {
        Some(_) => (text, ""),
        None => (number, suffix),
    };
    let Ok(number) = number.parse::<f64>() else { return 0 };
    let factor = match suffix {
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        _ => return 0,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates, and a negative quantity is nothing"
    )]
    let milli = (number * factor * 1000.0).round() as u64;
    milli
}

/// A quantity in whole units, rounded up.
pub(crate) fn whole(text: &str) -> u64 {
    milli(text).div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_manifests_hold_is_read() {
        assert_eq!(milli("100m"), 100);
        assert_eq!(milli("1.5"), 1500);
        assert_eq!(milli("2"), 2000);
        assert_eq!(whole("8Gi"), 8 << 30);
        assert_eq!(whole("500M"), 500_000_000);
        assert_eq!(whole("1e3"), 1000);
        assert_eq!(whole("110"), 110);
        assert_eq!((milli("x"), milli("-1"), milli("")), (0, 0, 0));
    }
}
