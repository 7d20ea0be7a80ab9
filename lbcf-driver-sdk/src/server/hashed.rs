//! Map keys that carry their hash, so that it is computed once for all look-ups of a call.

use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::LazyLock;

/// A hash with keys of this process, so that peers cannot provoke collisions.
pub(super) fn keyed_hash(value: &impl Hash) -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEYS.hash_one(value)
}

/// For maps whose keys write nothing but a [`keyed_hash`].
pub(super) type Prehashed = BuildHasherDefault<PassThrough>;

/// Returns the last number written as the hash.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PassThrough(u64);

impl Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    // Not used by keys that carry their hash.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}
