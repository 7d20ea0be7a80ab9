//! Maps that are read as `StringMap`, and others.

use super::map;
use crate::fields::{read, read_whole, show_if_it_fits};
use crate::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Port {
    port: u16,
}

/// The memory address of a map's first text.
fn place(map: &StringMap) -> *const u8 {
    map.values().next().unwrap().as_ptr()
}

#[test]
fn a_map_is_moved_and_not_copied() {
    let given = map(&[("a", " x "), ("b", "")]);
    let (equal, at) = (given.clone(), place(&given));
    let shown = show_if_it_fits(&given, |shown: &StringMap| (place(shown), shown.clone()));
    assert_eq!(shown, Some((at, equal.clone())));
    let taken: StringMap = read_whole("m", given).unwrap();
    assert_eq!((place(&taken), &taken), (at, &equal));
}

#[test]
fn other_types_are_converted() {
    let given = || map(&[("port", "80")]);
    assert_eq!(read_whole::<Port>("m", given()), Ok(Port { port: 80 }));
    assert_eq!(show_if_it_fits(&given(), |port: &Port| port.port), Some(80));
    let read_as_map = read_whole::<HashMap<String, String>>("m", given()).unwrap();
    assert_eq!(read_as_map["port"], "80");
    assert_eq!(read_whole::<Option<StringMap>>("m", map(&[])), Ok(None));
    let wrong = map(&[("port", "8o")]);
    assert_eq!(read_whole::<Port>("m", wrong.clone()), read("m", &wrong));
    assert!(read::<Port>("m", &wrong).is_err());
    assert_eq!(show_if_it_fits(&wrong, |port: &Port| port.port), None);
}
