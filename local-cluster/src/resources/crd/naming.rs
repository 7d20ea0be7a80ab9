//! Acceptance of names: no two definitions of a group may share one.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::conditions::{change_conditions, set_condition};
use crate::object::{Object, child, is_condition_true, map};

/// The accepted names of the other definitions of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    resources: HashSet<String>,
    kinds: HashSet<String>,
}

impl Names {
    /// Adds the accepted names of another definition of the group.
    pub(crate) fn add(&mut self, other: &Object) {
        let Some(names) = map(other, &["status", "acceptedNames"]) else {
            return;
        };
        for (key, value) in names {
            let set = match key.as_str() {
                "plural" | "singular" | "shortNames" => &mut self.resources,
                "kind" | "listKind" => &mut self.kinds,
                _ => continue,
            };
            set.extend(words(value).filter(|name| !name.is_empty()));
        }
    }
}

/// A name, or a list of names.
fn words(value: &Value) -> impl Iterator<Item = String> {
    let list = value.as_array().into_iter().flatten();
    list.chain([value])
        .filter_map(|name| Some(name.as_str()?.to_owned()))
}

/// The definition with its accepted names and conditions; `None` if they are up to date.
pub(crate) fn accept_names(crd: &Object, taken: &Names, now: &str) -> Option<Object> {
    let requested = map(crd, &["spec", "names"])?;
    let before = map(crd, &["status", "acceptedNames"]).cloned();
    let (accepted_names, conflict) = free_names(requested, before.unwrap_or_default(), taken);
    let accepted = match &conflict {
        None => ("True", "NoConflicts", "no conflicts found"),
        Some((reason, why)) => ("False", *reason, why.as_str()),
    };
    let established = match (is_established(crd), &conflict) {
        (true, _) => None,
        (false, None) => Some((
            "True",
            "InitialNamesAccepted",
            "the initial names have been accepted",
        )),
        (false, Some(_)) => Some(("False", "NotAccepted", "not all names are accepted")),
    };
    let mut next = crd.clone();
    let status = child(&mut next, "status");
    status.insert("acceptedNames".to_owned(), Value::Object(accepted_names));
    change_conditions(&mut next, |conditions| {
        let accepted = Some(("NamesAccepted", accepted));
        let established = established.map(|decided| ("Established", decided));
        for (kind, (status, reason, message)) in accepted.into_iter().chain(established) {
            let condition =
                json!({"type": kind, "status": status, "reason": reason, "message": message});
            set_condition(conditions, condition, now);
        }
    });
    (next != *crd).then_some(next)
}

/// The requested names that are free, the former ones in place of others, and the last conflict with its
/// reason.
fn free_names(
    requested: &Object,
    mut names: Object,
    taken: &Names,
) -> (Object, Option<(&'static str, String)>) {
    let mut conflict = None;
    for (key, used, reason) in [
        ("plural", &taken.resources, "PluralConflict"),
        ("singular", &taken.resources, "SingularConflict"),
        ("shortNames", &taken.resources, "ShortNamesConflict"),
        ("kind", &taken.kinds, "KindConflict"),
        ("listKind", &taken.kinds, "ListKindConflict"),
    ] {
        let own: Vec<String> = names.get(key).into_iter().flat_map(words).collect();
        let wanted = requested.get(key).into_iter().flat_map(words);
        let why: Vec<String> = wanted
            .filter(|name| !own.contains(name) && used.contains(name))
            .map(|name| format!("{name:?} is already in use"))
            .collect();
        match (why.as_slice(), requested.get(key)) {
            ([], Some(new)) => _ = names.insert(key.to_owned(), new.clone()),
            ([], None) => _ = names.remove(key),
            ([one], _) => conflict = Some((reason, one.clone())),
            (several, _) => conflict = Some((reason, format!("[{}]", several.join(", ")))),
        }
    }
    match requested.get("categories") {
        Some(categories) => names.insert("categories".to_owned(), categories.clone()),
        None => names.remove("categories"),
    };
    (names, conflict)
}

pub(crate) fn is_established(crd: &Object) -> bool {
    is_condition_true(crd, "Established")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{condition, object};

    fn definition(plural: &str, kind: &str, short: &str) -> Object {
        object(json!({"spec": {"group": "x.io", "names": {
            "plural": plural, "singular": kind.to_lowercase(), "kind": kind,
            "listKind": format!("{kind}List"), "shortNames": [short],
        }}}))
    }

    fn shown_condition(crd: &Object, kind: &str) -> String {
        let found = condition(crd, kind).unwrap();
        format!(
            "{} {} {}",
            found["status"], found["reason"], found["message"]
        )
    }

    #[test]
    fn names_belong_to_the_first_definition() {
        let first = accept_names(&definition("pets", "Pet", "p"), &Names::default(), "t1").unwrap();
        assert_eq!(
            shown_condition(&first, "NamesAccepted"),
            "\"True\" \"NoConflicts\" \"no conflicts found\""
        );
        assert!(
            shown_condition(&first, "Established").starts_with("\"True\" \"InitialNamesAccepted\"")
        );
        assert_eq!(first["status"]["acceptedNames"], first["spec"]["names"]);
        assert_eq!(accept_names(&first, &Names::default(), "t2"), None);

        let mut taken = Names::default();
        taken.add(&first);
        let second = accept_names(&definition("others", "Pet", "p"), &taken, "t2").unwrap();
        assert_eq!(
            shown_condition(&second, "NamesAccepted"),
            "\"False\" \"ListKindConflict\" \"\\\"PetList\\\" is already in use\""
        );
        assert!(shown_condition(&second, "Established").starts_with("\"False\" \"NotAccepted\""));
        assert_eq!(
            second["status"]["acceptedNames"],
            json!({"plural": "others"})
        );
        assert_eq!(accept_names(&second, &taken, "t3"), None);

        // Once the names are free, they are accepted.
        let third = accept_names(&second, &Names::default(), "t3").unwrap();
        assert_eq!(third["status"]["acceptedNames"], third["spec"]["names"]);
        assert_eq!(
            condition(&third, "Established").unwrap()["lastTransitionTime"],
            "t3"
        );

        // An established definition keeps its accepted names.
        let mut renamed = third;
        renamed["spec"]["names"]["shortNames"] = json!(["p", "q"]);
        renamed["spec"]["names"]["singular"] = json!("pet-too");
        let mut taken = Names::default();
        taken.resources.extend(["q".to_owned()]);
        let renamed = accept_names(&renamed, &taken, "t4").unwrap();
        assert!(shown_condition(&renamed, "NamesAccepted").contains("ShortNamesConflict"));
        assert!(shown_condition(&renamed, "Established").starts_with("\"True\""));
        assert_eq!(
            renamed["status"]["acceptedNames"]["shortNames"],
            json!(["p"])
        );
        assert_eq!(
            renamed["status"]["acceptedNames"]["singular"],
            json!("pet-too")
        );
    }
}
