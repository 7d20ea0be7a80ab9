//! Keys that are hashed once, for maps that look for them again and again.
//!
//! A call looks for its subject seven times, in two maps. With the standard library's hash, which
//! peers cannot play with, each time cost as much as the rest of the search.

use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::LazyLock;

/// A hash that nobody outside can predict, so that nobody can make two of a kind.
pub(super) fn unpredictable(value: &impl Hash) -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEYS.hash_one(value)
}

/// For maps whose keys have an [unpredictable] hash at hand, and write nothing else.
pub(super) type ByHash = BuildHasherDefault<AsItIs>;

/// Takes the number that it is given for a hash.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    // A key that writes more than its hash is found all the same.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_hashes_and_others_have_others() {
        assert_eq!(unpredictable(&("a", 1)), unpredictable(&("a", 1)));
        assert_ne!(unpredictable(&("a", 1)), unpredictable(&("a", 2)));
        assert_ne!(unpredictable(&("a", 1)), 0);
    }

    #[test]
    fn a_hash_is_taken_as_it_is() {
        assert_eq!(ByHash::default().hash_one(17_u64), 17);
        assert_ne!(
            ByHash::default().hash_one("a"),
            ByHash::default().hash_one("b")
        );
    }
}
