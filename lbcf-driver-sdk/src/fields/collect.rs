//! Collects all problems of a map.
//!
//! Serde stops at the first problem. So the map is read again with a placeholder for the wrong value,
//! which shows the next problem. The value that is read is discarded.

use super::de;
use super::placeholders::Tried;
use super::problem::{Problem, What};
use crate::webhook::StringMap;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The limit of reported problems.
const MAX_PROBLEMS: usize = 8;
/// The limit of readings.
const MAX_READINGS: usize = 64;

pub(super) fn messages<T: DeserializeOwned>(
    map_name: &str,
    map: &StringMap,
    first: Problem,
) -> Vec<String> {
    let mut messages = vec![first.message(map_name)];
    let mut tried: BTreeMap<String, Tried> = BTreeMap::new();
    let mut rest = map.clone();
    let mut problem = first;
    for _ in 0..MAX_READINGS {
        let Some(key) = problem.key().map(str::to_owned) else {
            // It concerns the map as a whole, which has placeholders by now.
            break;
        };
        if !tried.is_empty() && !tried.contains_key(&key) {
            if messages.len() == MAX_PROBLEMS {
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
                rest.insert(key, text);
            }
        }
        match de::read::<T>(&rest) {
            Ok(_) => break,
            Err(next) => problem = next,
        }
    }
    messages
}
