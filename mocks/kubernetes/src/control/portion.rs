//! A number, or a percentage of one.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// Its value of `total`; percentages are rounded up or down. What is neither counts as none: validation refuses it.
pub(super) fn portion(value: &IntOrString, total: i32, up: bool) -> i32 {
    match value {
        IntOrString::Int(number) => *number,
        IntOrString::String(text) => {
            let percent: i64 = text.strip_suffix('%').and_then(|text| text.parse().ok()).unwrap_or_default();
            let hundredfold = i64::from(total).saturating_mul(percent);
            let rounded = if up { hundredfold.saturating_add(99) } else { hundredfold } / 100;
            i32::try_from(rounded).unwrap_or(i32::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_round_as_they_are_told() {
        let percent = |text: &str, total, up| portion(&IntOrString::String(text.to_owned()), total, up);
        assert_eq!((percent("25%", 10, true), percent("25%", 10, false)), (3, 2));
        assert_eq!((percent("0%", 10, true), percent("100%", 7, false)), (0, 7));
        assert_eq!(portion(&IntOrString::Int(4), 1, true), 4);
    }
}
