//! Fields of earlier editions, and the fields that replaced them.
//!
//! Admission rewrites them in the objects that it receives, [`conversion`](crate::conversion) in
//! manifests. A value of the wrong type stays where it is.

use serde_json::{Map, Value, json};

/// A field that was moved, rewritten or removed. The fields are relative to the object that has them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RewrittenField {
    pub(crate) field: String,
    pub(crate) old: Value,
    /// The field that replaced it and the value there; none for a field that was removed.
    pub(crate) new: Option<(String, Value)>,
}

/// A group's `lbName` moves into `loadBalancers`.
pub(crate) fn list_load_balancer(spec: &mut Map<String, Value>) -> Option<RewrittenField> {
    let name = spec.get("lbName")?.as_str()?.to_owned();
    let list = if name.is_empty() {
        None
    } else {
        Some(move_into(spec, "loadBalancers", json!(name), |a, b| {
            a == b
        })?)
    };
    Some(RewrittenField {
        field: "lbName".to_owned(),
        old: spec.remove("lbName")?,
        new: list.map(|list| ("loadBalancers".to_owned(), list)),
    })
}

/// The single `port` of a selection of pods moves into `ports`.
pub(crate) fn list_port(pods: &mut Map<String, Value>) -> Option<RewrittenField> {
    let mut port = pods.get("port").filter(|port| port.is_object())?.clone();
    rename_port_number(&mut port);
    let list = move_into(pods, "ports", port, is_same_port)?;
    Some(RewrittenField {
        field: "port".to_owned(),
        old: pods.remove("port")?,
        new: Some(("ports".to_owned(), list)),
    })
}

/// `portNumber` becomes `port` if that is not set. Without either number `port` stays absent.
pub(crate) fn rename_port_number(port: &mut Value) -> Option<RewrittenField> {
    let port = port.as_object_mut()?;
    let old = port.remove("portNumber")?;
    let is_renamed = !is_positive(port.get("port")) && !old.is_null();
    if is_renamed {
        port.insert("port".to_owned(), old.clone());
    }
    Some(RewrittenField {
        field: "portNumber".to_owned(),
        new: is_renamed.then(|| ("port".to_owned(), old.clone())),
        old,
    })
}

/// Rewrites integers such as `weight: 50` to strings. Numbers with a fraction stay, because YAML's
/// `1.10` arrives as 1.1.
pub(crate) fn numbers_to_strings(map: Option<&mut Value>) -> Vec<RewrittenField> {
    let mut rewritten = Vec::new();
    for (key, value) in map.and_then(Value::as_object_mut).into_iter().flatten() {
        if let Value::Number(number) = value
            && (number.is_i64() || number.is_u64())
        {
            let text = Value::String(number.to_string());
            rewritten.push(RewrittenField {
                field: key.clone(),
                old: std::mem::replace(value, text.clone()),
                new: Some((key.clone(), text)),
            });
        }
    }
    rewritten
}

/// Puts an item into a list unless the list has it. Returns the list, or none if the field has another type.
fn move_into(
    parent: &mut Map<String, Value>,
    name: &str,
    item: Value,
    is_same: impl Fn(&Value, &Value) -> bool,
) -> Option<Value> {
    let list = list_at(parent, name)?;
    if !list.iter().any(|listed| is_same(listed, &item)) {
        list.push(item);
    }
    Some(json!(list))
}

/// The list of this name, which is created if it is missing or null; none if the value is no list.
pub(crate) fn list_at<'a>(
    parent: &'a mut Map<String, Value>,
    name: &str,
) -> Option<&'a mut Vec<Value>> {
    let list = parent.entry(name).or_insert(Value::Null);
    if list.is_null() {
        *list = json!([]);
    }
    list.as_array_mut()
}

/// True for two ports that are the same, of which either may have the earlier fields.
fn is_same_port(a: &Value, b: &Value) -> bool {
    let number = |port: &Value| {
        let current = port.get("port").filter(|port| is_positive(Some(port)));
        current.or_else(|| port.get("portNumber")).cloned()
    };
    let protocol = |port: &Value| {
        let given = port.get("protocol").cloned().unwrap_or_default();
        if given.is_null() || given == "" {
            json!("TCP")
        } else {
            given
        }
    };
    number(a) == number(b) && protocol(a) == protocol(b)
}

fn is_positive(number: Option<&Value>) -> bool {
    number
        .and_then(Value::as_i64)
        .is_some_and(|number| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b89_b90_b91_d20_what_was_rewritten_is_returned() {
        let mut group = json!({"lbName": "a", "loadBalancers": ["b"]});
        let moved = list_load_balancer(group.as_object_mut().unwrap()).unwrap();
        assert_eq!((moved.field.as_str(), moved.old), ("lbName", json!("a")));
        assert_eq!(
            moved.new,
            Some(("loadBalancers".to_owned(), json!(["b", "a"])))
        );
        assert_eq!(group, json!({"loadBalancers": ["b", "a"]}));

        let mut pods = json!({"port": {"portNumber": 80}});
        let moved = list_port(pods.as_object_mut().unwrap()).unwrap();
        assert_eq!(moved.old, json!({"portNumber": 80}));
        assert_eq!(moved.new, Some(("ports".to_owned(), json!([{"port": 80}]))));

        let mut port = json!({"port": 80, "portNumber": 81});
        let removed = rename_port_number(&mut port).unwrap();
        assert_eq!((removed.old, removed.new), (json!(81), None));

        let mut map = json!({"weight": 50, "ratio": 1.5});
        let rewritten = numbers_to_strings(Some(&mut map));
        assert_eq!(rewritten.len(), 1);
        assert_eq!(rewritten[0].new, Some(("weight".to_owned(), json!("50"))));
        assert_eq!(map, json!({"weight": "50", "ratio": 1.5}));
    }

    #[test]
    fn u23_a_value_of_the_wrong_type_stays_where_it_is() {
        for (object, name) in [
            (json!({"lbName": 7}), "lbName"),
            (json!({"lbName": "a", "loadBalancers": "b"}), "lbName"),
            (json!({"port": 80}), "port"),
            (json!({"port": {"port": 80}, "ports": "x"}), "port"),
            (json!({}), "absent"),
        ] {
            let mut after = object.clone();
            let fields = after.as_object_mut().unwrap();
            assert_eq!(list_load_balancer(fields), None, "{name}");
            assert_eq!(list_port(fields), None, "{name}");
            assert_eq!(after, object);
        }
        for mut value in [json!(null), json!(80), json!([]), json!({"port": 80})] {
            assert_eq!(rename_port_number(&mut value), None);
            assert_eq!(numbers_to_strings(Some(&mut json!("x"))), []);
        }
    }
}
