//! Equal maps of different records, of which one copy is kept: thousands of records have the same
//! `lbInfo`, attributes and parameters.

use crate::api::{BackendRecord, StringMap};
use std::collections::HashSet;

/// Maps that no record has any more are removed only beyond this number, so that a small set is not
/// searched at each insertion.
const MIN_PRUNED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct SharedMaps {
    maps: HashSet<StringMap>,
    /// The number of maps that the last removal left.
    left: usize,
}

impl SharedMaps {
    /// Replaces the maps of a record by equal ones of other records.
    pub(super) fn share(&mut self, record: &mut BackendRecord) {
        let spec = &mut record.spec;
        for map in [
            &mut spec.lb_info,
            &mut spec.lb_attributes,
            &mut spec.parameters,
        ] {
            self.share_map(map);
        }
        if let Some(status) = &mut record.status {
            self.share_map(&mut status.injected_info);
        }
    }

    fn share_map(&mut self, map: &mut StringMap) {
        if let Some(shared) = self.maps.get(map) {
            *map = shared.clone();
            return;
        }
        self.maps.insert(map.clone());
        // The cost of removing is that of the insertions since.
        if self.maps.len() > (2 * self.left).max(MIN_PRUNED) {
            self.maps.retain(StringMap::is_shared);
            self.left = self.maps.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: usize) -> BackendRecord {
        let mut record = BackendRecord::default();
        record.spec.lb_info = StringMap::from([("id", id.to_string().as_str())]);
        record
    }

    #[test]
    fn equal_maps_are_kept_once_and_only_while_a_record_has_them() {
        let mut shared = SharedMaps::default();
        let mut records: Vec<_> = (0..1000).map(|number| record(number % 3)).collect();
        for record in &mut records {
            shared.share(record);
        }
        assert_eq!(shared.maps.len(), 4, "and the empty one");
        assert_eq!(records[998].spec, record(998 % 3).spec);
        for number in 0..10_000 {
            shared.share(&mut record(number));
        }
        assert!(shared.maps.len() <= MIN_PRUNED + 1, "{}", shared.maps.len());
        assert!(shared.maps.contains(&records[0].spec.lb_info));
    }
}
