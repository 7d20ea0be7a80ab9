//! Names and labels that are most like others that do not exist.

use crate::cluster::{Cluster, Labels};
use crate::object::ObjectRef;
use lbcf_driver_sdk::fields::nearest;

/// The name that is most like this one, if any is.
pub(super) fn name<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(wanted, &names.into_iter().collect::<Vec<_>>())
}

/// The object of the same kind and namespace whose name is most like that of one that does not exist.
pub(super) fn object(cluster: &Cluster, missing: &ObjectRef) -> Option<String> {
    let beside: Vec<_> = cluster.beside(missing, missing.kind).collect();
    let near = name(
        &missing.key.name,
        beside.iter().map(|(it, _)| &*it.key.name),
    );
    near.map(str::to_owned)
}

/// The selector that was probably meant: that of the objects of which each label is equal or misspelled. Others may be
/// meant for something else, and must not get its traffic.
pub(super) fn selector<'a>(
    wanted: &Labels,
    existing: impl IntoIterator<Item = &'a Labels>,
) -> Option<Labels> {
    let mut meant = existing.into_iter().filter_map(|labels| {
        let found = wanted.iter().map(|entry| counterpart(entry, labels));
        found.collect::<Option<Labels>>()
    });
    meant.find(|meant| meant != wanted)
}

/// The label that an object has instead of this one.
fn counterpart((key, value): (&String, &String), labels: &Labels) -> Option<(String, String)> {
    let is_like = |one: &String, other: &String| one == other || nearest(one, &[other]).is_some();
    let mut like = labels
        .iter()
        .filter(|(other, has)| match labels.contains_key(key) {
            true => *other == key && is_like(value, has),
            false => is_like(key, other) && *has == value,
        });
    like.next().map(|(key, value)| (key.clone(), value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn a_name_is_meant_if_it_is_much_like_it() {
        let names = ["web", "api-gateway", "payments"];
        for (wanted, meant) in [
            ("wbe", None),
            ("webs", Some("web")),
            ("api-gatewy", Some("api-gateway")),
            ("db", None),
            ("payment", Some("payments")),
        ] {
            assert_eq!(name(wanted, names), meant, "{wanted}");
        }
        assert_eq!(name("web", []), None);
    }

    #[test]
    fn a_selector_is_meant_as_the_objects_have_its_labels() {
        let existing = [labels("app=web,tier=front"), labels("app=db,tier=back")];
        for (wanted, meant) in [
            ("app=wep", Some("app=web")),
            ("ap=web", Some("app=web")),
            ("app=web,tier=frnt", Some("app=web,tier=front")),
            ("app=web,tier=back", None),
            ("app=web,version=v9", None),
            ("name=web", None),
            ("role=cache", None),
            ("app=web", None),
        ] {
            let found = selector(&labels(wanted), &existing);
            assert_eq!(found, meant.map(labels), "{wanted}");
        }
    }
}
