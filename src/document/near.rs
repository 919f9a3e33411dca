//! What somebody may have meant: the nearest of the words there are.

use std::fmt::Write;

/// A hint for a word that is unknown: the one that was meant, if one is near enough, or all there are.
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known.iter().map(|other| (distance(word, other), *other)).min();
    match nearest {
        Some((far, other)) if far <= 1 + word.chars().count() / 4 => format!("did you mean `{other}`?"),
        Some((_, only)) if known.len() == 1 => format!("there is only `{only}`"),
        Some(_) => {
            let mut all = String::from("there are ");
            for (before, other) in known.iter().enumerate() {
                let _ = write!(all, "{}`{other}`", if before == 0 { "" } else { ", " });
            }
            all
        }
        None => "there are none".to_owned(),
    }
}

/// How many letters must be put in, left out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, of_other) in other.iter().enumerate() {
            let change = corner + usize::from(letter != *of_other);
            corner = row[column + 1];
            row[column + 1] = change.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_and_otherwise_all() {
        assert_eq!(meant("pols", ["pools", "steps"]), "did you mean `pools`?");
        assert_eq!(meant("given", ["pools", "steps"]), "there are `pools`, `steps`");
        assert_eq!(meant("x", []), "there are none");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
