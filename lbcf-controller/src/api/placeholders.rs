//! Placeholders such as `$(port)` in the values of a service class. No I/O.

use crate::api::StringMap;
use std::collections::BTreeMap;

/// The placeholders that stand for a port, and so need one.
pub(crate) const OF_PORT: [&str; 2] = ["port", "protocol"];
/// The placeholders that stand for the Service.
pub(crate) const OF_SERVICE: [&str; 3] = ["namespace", "name", "uid"];

const START: &str = "$(";

/// The names in a text of what stands between `$(` and `)`; all of the rest where the end is missing.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(START).skip(1);
    parts.map(|part| part.split_once(')').map_or(part, |(name, _)| name))
}

/// The first placeholder in the values of a map that is not among `known`, with its key.
pub(crate) fn first_unknown(map: &StringMap, known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    map.iter().find_map(|(key, text)| {
        let name = names(text).find(|name| !known(name) || !is_closed(text, name))?;
        Some((key.as_str(), name))
    })
}

fn is_closed(text: &str, name: &str) -> bool {
    text.contains(&format!("{START}{name})"))
}

/// The map with each placeholder replaced by its value. Those without a value stay as they are: admission
/// refuses them, and [`first_unknown`] finds them.
pub(crate) fn expand(map: &StringMap, values: &[(&str, String)]) -> StringMap {
    let entries = map.iter().map(|(key, text)| {
        let mut parts = text.split(START);
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let known = part.split_once(')').and_then(|(name, rest)| {
                let (_, value) = values.iter().find(|(known, _)| *known == name)?;
                Some((value, rest))
            });
            match known {
                Some((value, rest)) => expanded.extend([value.as_str(), rest]),
                None => expanded.extend([START, part]),
            }
        }
        (key.clone(), expanded)
    });
    entries.collect::<BTreeMap<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d72_placeholders_are_replaced_once() {
        let values = [("port", "80".to_owned()), ("name", "$(port)".to_owned())];
        for (text, expected) in [
            ("", ""),
            ("$(port)", "80"),
            ("a-$(port)-b$(port)", "a-80-b80"),
            ("$(name)", "$(port)"),
            ("$(other) $(port)", "$(other) 80"),
            ("$(port", "$(port"),
            ("$port) $", "$port) $"),
            ("$$(port)", "$80"),
        ] {
            let map = StringMap::from([("key", text)]);
            assert_eq!(expand(&map, &values)["key"], expected, "{text}");
        }
    }

    #[test]
    fn d72_what_is_unknown_is_named_with_its_key() {
        let known = |name: &str| name == "port";
        for (text, expected) in [
            ("no placeholder, $ or ()", None),
            ("$(port)$(port)", None),
            ("$(port) $(prot)", Some("prot")),
            ("$()", Some("")),
            ("$(port", Some("port")),
            ("$(port 80", Some("port 80")),
        ] {
            let map = StringMap::from([("a", "1"), ("key", text)]);
            let found = first_unknown(&map, known);
            assert_eq!(found, expected.map(|name| ("key", name)), "{text}");
        }
    }
}
