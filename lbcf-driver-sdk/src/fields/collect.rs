//! All that is wrong with a map, for somebody who wants to write it right at the second try.
//!
//! Serde stops at the first problem. So the map is read again with something in the place of the
//! value that was wrong, and what the type says then is the next problem. What comes of that
//! reading is thrown away.

use super::de;
use super::problem::{Problem, What};
use super::stand_ins::Tried;
use crate::webhook::StringMap;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// So many problems are told.
const TOLD: usize = 8;
/// So often the map is read for that.
const READ: usize = 64;

/// The messages on the first problem and on those that it hid.
pub(super) fn messages<T: DeserializeOwned>(
    map_name: &str,
    map: &StringMap,
    first: Problem,
) -> Vec<String> {
    let mut messages = vec![first.message(map_name)];
    let mut tried: BTreeMap<String, Tried> = BTreeMap::new();
    let mut rest = map.clone();
    let mut problem = first;
    for _ in 0..READ {
        let Some(key) = problem.key().map(str::to_owned) else {
            // It is about the map as a whole, which is not the user's any more.
            break;
        };
        if !tried.is_empty() && !tried.contains_key(&key) {
            if messages.len() == TOLD {
                messages.push("and perhaps more".to_owned());
                break;
            }
            messages.push(problem.message(map_name));
        }
        let tried = tried.entry(key.clone()).or_default();
        match problem.what() {
            What::Unknown(_) => {
                rest.remove(&key);
            }
            What::Twice => break,
            what => {
                let Some(text) = tried.next(what) else { break };
                rest.insert(key, text.to_owned());
            }
        }
        match de::read::<T>(&rest, None) {
            Ok(_) => break,
            Err(next) => problem = next,
        }
    }
    messages
}
