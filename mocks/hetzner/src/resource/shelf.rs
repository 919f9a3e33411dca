//! All things of one kind, by id, and what all kinds have in common. Ids are given out once.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::call::Wrong;
use crate::resource::Kind;

/// Labels of a thing.
pub(crate) type Labels = BTreeMap<String, String>;

/// What every thing has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) id: u64,
    /// Empty for what has none, such as a snapshot.
    pub(crate) name: String,
    pub(crate) labels: Labels,
    pub(crate) created: Time,
    /// Protected against being deleted.
    pub(crate) kept: bool,
}

/// A thing that lies on a shelf.
pub(crate) trait Resource {
    const KIND: Kind;
    fn head(&self) -> &Head;
    fn head_mut(&mut self) -> &mut Head;
}

/// Gives a struct with a field `head` its place on a shelf.
macro_rules! resource {
    ($type:ty, $kind:ident) => {
        impl $crate::resource::shelf::Resource for $type {
            const KIND: $crate::resource::Kind = $crate::resource::Kind::$kind;
            fn head(&self) -> &$crate::resource::shelf::Head {
                &self.head
            }
            fn head_mut(&mut self) -> &mut $crate::resource::shelf::Head {
                &mut self.head
            }
        }
    };
}
pub(crate) use resource;

/// All things of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shelf<T> {
    next_id: u64,
    things: BTreeMap<u64, T>,
}

impl<T: Resource> Default for Shelf<T> {
    fn default() -> Self {
        Self { next_id: T::KIND.first_id(), things: BTreeMap::new() }
    }
}

impl<T: Resource> Shelf<T> {
    /// The head of a new thing. Its id is spent when the thing is put.
    pub(crate) fn head(&self, now: Time, name: String, labels: Labels) -> Head {
        Head { id: self.next_id, name, labels, created: now, kept: false }
    }

    pub(crate) fn put(&mut self, thing: T) -> u64 {
        let id = thing.head().id;
        self.next_id = self.next_id.max(id.saturating_add(1));
        self.things.insert(id, thing);
        id
    }

    /// What was asked for by its id, or the refusal to answer with.
    pub(crate) fn get(&self, id: u64) -> Result<&T, Wrong> {
        self.things.get(&id).ok_or_else(|| Wrong::not_found(T::KIND.word(), id))
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Result<&mut T, Wrong> {
        self.things.get_mut(&id).ok_or_else(|| Wrong::not_found(T::KIND.word(), id))
    }

    /// What may be gone by now.
    pub(crate) fn find(&self, id: u64) -> Option<&T> {
        self.things.get(&id)
    }

    pub(crate) fn find_mut(&mut self, id: u64) -> Option<&mut T> {
        self.things.get_mut(&id)
    }

    pub(crate) fn named(&self, name: &str) -> Option<&T> {
        self.things.values().find(|thing| thing.head().name == name)
    }

    pub(crate) fn take(&mut self, id: u64) -> Option<T> {
        self.things.remove(&id)
    }

    /// By ascending id.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.things.values()
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.things.values_mut()
    }

    /// The id of the next thing.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Whether everything lies where its id says, and all ids were given out before the next.
    pub(crate) fn is_in_order(&self) -> bool {
        self.things.iter().all(|(id, thing)| *id == thing.head().id && *id < self.next_id)
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    /// A name may be taken once, by whoever has it already or by nobody.
    pub(crate) fn free_name(&self, name: &str, mine: Option<u64>) -> Result<(), Wrong> {
        match self.named(name) {
            Some(other) if Some(other.head().id) != mine => {
                Err(Wrong::not_unique("name", format!("{} name is already used", T::KIND.word())))
            }
            _ => Ok(()),
        }
    }
}
