//! The query of a request: filters, order and page. What no list knows is ignored, as the real API does.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::call::{Selector, Wrong};
use crate::resource::shelf::Resource;

/// How many a page holds if nobody says, and how many it can.
const PER_PAGE: u64 = 25;
const PER_PAGE_MOST: u64 = 50;

/// Names and values in the order they came in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    page: u64,
    per_page: u64,
}

/// One thing to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) field: String,
    pub(crate) descending: bool,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(name), decode(value))
                })
                .collect(),
        )
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn first<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// Whether a value is among those asked for; all are if none is.
    pub(crate) fn wants(&self, name: &str, value: &str) -> bool {
        let mut asked = self.all(name).peekable();
        asked.peek().is_none() || asked.any(|wanted| wanted == value)
    }

    /// The ids asked for by `name`; what is none is refused.
    pub(crate) fn ids(&self, name: &str) -> Result<Vec<u64>, Wrong> {
        self.all(name).map(|text| text.parse().map_err(|_| Wrong::invalid(name, "Not a valid ID."))).collect()
    }

    pub(crate) fn selector(&self) -> Result<Selector, Wrong> {
        Selector::parse(self.first("label_selector").unwrap_or_default())
            .map_err(|why| Wrong::invalid("label_selector", why))
    }

    /// What to sort by, each of the fields that the list knows.
    pub(crate) fn order(&self, known: &[&str]) -> Result<Vec<Order>, Wrong> {
        // Several may come in one value, separated by commas, as well as in several.
        let asked = self.all("sort").flat_map(|value| value.split(',')).filter(|text| !text.is_empty());
        asked
            .map(|text| {
                let (field, direction) = text.split_once(':').unwrap_or((text, "asc"));
                let descending = match direction {
                    "asc" => false,
                    "desc" => true,
                    _ => return Err(Wrong::invalid("sort", "The direction must be one of: asc, desc.")),
                };
                if !known.contains(&field) {
                    return Err(Wrong::invalid("sort", format!("Must be one of: {}.", known.join(", "))));
                }
                Ok(Order { field: field.to_owned(), descending })
            })
            .collect()
    }

    pub(crate) fn paging(&self) -> Result<Paging, Wrong> {
        let number = |name: &str, default: u64| match self.first(name) {
            None | Some("") => Ok(default),
            Some(text) => match text.parse::<u64>() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(Wrong::invalid(name, "Must be greater than or equal to 1.")),
            },
        };
        let (page, per_page) = (number("page", 1)?, number("per_page", PER_PAGE)?);
        Ok(Paging { page, per_page: per_page.min(PER_PAGE_MOST) })
    }

    /// The filters that every list of things has: name and labels.
    pub(crate) fn of_all<T: Resource>(&self) -> Result<impl Fn(&T) -> bool + use<'_, T>, Wrong> {
        let (name, selector) = (self.first("name").filter(|name| !name.is_empty()), self.selector()?);
        Ok(move |thing: &T| {
            name.is_none_or(|name| thing.head().name == name) && selector.matches(&thing.head().labels)
        })
    }

    /// The same query for another page, for the links of a list.
    pub(crate) fn with_page(&self, page: u64) -> String {
        let others = self.0.iter().filter(|(name, _)| name != "page");
        let pairs = others.map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        std::iter::once(format!("page={page}")).chain(pairs).collect::<Vec<_>>().join("&")
    }
}

impl Paging {
    /// The part of a list that the page holds.
    pub(crate) fn cut<T>(self, all: impl Iterator<Item = T>) -> Vec<T> {
        let skipped = usize::try_from(self.skipped()).unwrap_or(usize::MAX);
        all.skip(skipped).take(usize::try_from(self.per_page).unwrap_or(usize::MAX)).collect()
    }

    fn skipped(self) -> u64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    fn last(self, total: u64) -> u64 {
        total.div_ceil(self.per_page).max(1)
    }

    fn previous(self) -> Option<u64> {
        (self.page > 1).then(|| self.page - 1)
    }

    fn next(self, total: u64) -> Option<u64> {
        (self.page < self.last(total)).then(|| self.page + 1)
    }

    /// The object that tells a client how to go on.
    pub(crate) fn meta(self, total: u64) -> Value {
        json!({"pagination": {
            "page": self.page,
            "per_page": self.per_page,
            "previous_page": self.previous(),
            "next_page": self.next(total),
            "last_page": self.last(total),
            "total_entries": total,
        }})
    }

    /// The pages that links lead to, each with its relation.
    pub(crate) fn links(self, total: u64) -> Vec<(&'static str, u64)> {
        let last = (self.page != self.last(total)).then(|| self.last(total));
        let all = [("prev", self.previous()), ("next", self.next(total)), ("last", last)];
        all.into_iter().filter_map(|(relation, page)| page.map(|page| (relation, page))).collect()
    }
}

/// Sorts by what was asked for. Things that are equal in that stay by ascending id.
pub(crate) fn sort<T: ?Sized>(all: &mut [&T], orders: &[Order], compare: impl Fn(&T, &T, &str) -> Ordering) {
    all.sort_by(|a, b| {
        let by = |order: &Order| {
            let ordering = compare(a, b, &order.field);
            if order.descending { ordering.reverse() } else { ordering }
        };
        orders.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    });
}

/// Undoes the encoding of a URL. What is badly encoded stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, tail) = match (first, tail) {
            (b'+', _) => (b' ', tail),
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, after),
                _ => (b'%', tail),
            },
            (other, _) => (*other, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().fold(String::with_capacity(text.len()), |mut all, byte| {
        if plain(byte) {
            all.push(char::from(byte));
        } else {
            all.push('%');
            for half in [byte >> 4, byte & 0xf] {
                all.extend(char::from_digit(half.into(), 16).map(|digit| digit.to_ascii_uppercase()));
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_order_has_fields_and_directions() {
        let query = Query::parse("sort=status&sort=id%3Adesc&page=1");
        let orders = query.order(&["id", "status"]).unwrap();
        assert_eq!(orders[0], Order { field: "status".to_owned(), descending: false });
        assert_eq!(orders[1], Order { field: "id".to_owned(), descending: true });
        assert!(query.order(&["id"]).is_err());
        assert!(Query::parse("sort=id:up").order(&["id"]).is_err());
    }

    #[test]
    fn absurd_pages_are_refused_and_large_ones_cut() {
        for text in ["page=0", "page=-1", "per_page=0", "page=x", "page=99999999999999999999999"] {
            assert!(Query::parse(text).paging().is_err(), "{text}");
        }
        assert_eq!(Query::parse("per_page=5000").paging().unwrap().per_page, PER_PAGE_MOST);
        let far = Query::parse("page=18446744073709551615").paging().unwrap();
        assert_eq!(far.cut(0..10), Vec::<i32>::new());
        assert_eq!(far.meta(10)["pagination"]["next_page"], Value::Null);
    }

    fn config() -> ProptestConfig {
        ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn following_the_pages_meets_each_once(total in 0u64..200, per_page in 1u64..70) {
            let mut met = Vec::new();
            let mut page = Some(1);
            while let Some(number) = page {
                let paging = Query::parse(&format!("page={number}&per_page={per_page}")).paging().unwrap();
                met.extend(paging.cut(0..total));
                page = paging.meta(total)["pagination"]["next_page"].as_u64();
            }
            prop_assert_eq!(met, (0..total).collect::<Vec<_>>());
        }

        #[test]
        fn a_query_survives_being_written_and_read(name in "[^&=]{1,8}", value in ".{0,12}") {
            let text = Query(vec![(name.clone(), value.clone())]).with_page(3);
            let again = Query::parse(&text);
            prop_assert_eq!(again.first(&name), Some(if name == "page" { "3" } else { value.as_str() }));
        }
    }
}
