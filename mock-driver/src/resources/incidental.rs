//! Values in which two equal states may differ.

use serde::{Deserialize, Serialize};

/// A value that does not say what a state holds, such as the time that has passed. All of them count as
/// equal.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incidental<T>(pub T);

impl<T> PartialEq for Incidental<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Incidental<T> {}
