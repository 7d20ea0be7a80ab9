//! The columns of built-in kinds in `kubectl get`.
//!
//! They are declared in `printers/columns.json` the way a definition declares its
//! `additionalPrinterColumns`: each with the field that its cell shows. Cells that take more than a
//! field are computed, by [`computed`]; of kinds without a controller there are none.

mod computed;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock;
use crate::object::{Object, dotted, meta};
use crate::resources::Kind;

/// A column, serialised as a `Table` defines it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct BuiltinColumn {
    name: String,
    #[serde(default = "string", rename = "type")]
    type_name: String,
    #[serde(default)]
    format: String,
    description: String,
    /// 0 is always shown, 1 only with `-o wide`.
    #[serde(default)]
    priority: u8,
    #[serde(default, skip_serializing)]
    cell: Cell,
}

/// The content of a cell; fields are given as paths such as `spec.replicas`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Cell {
    /// Text or a number, or the second string where the field is empty.
    Text(String, String),
    Integer(String),
    /// As `Integer`, null if the field is missing.
    Number(String),
    Boolean(String),
    /// The number of entries of a map or list.
    Count(String),
    /// A map, as `a=1,b=2`.
    Labels(String),
    /// The entries of a list: texts, or one key of each.
    Join(String, String),
    Age,
    #[default]
    Computed,
}

#[derive(Deserialize)]
struct ColumnFile {
    /// Columns that kinds refer to by name.
    shared: HashMap<String, BuiltinColumn>,
    kinds: HashMap<String, Vec<ColumnOrName>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ColumnOrName {
    Name(String),
    Column(BuiltinColumn),
}

/// The columns by plural name; those of kinds without an entry are under the empty name.
static COLUMNS: LazyLock<HashMap<String, Vec<BuiltinColumn>>> = LazyLock::new(|| {
    let Ok(file) = serde_json::from_str::<ColumnFile>(include_str!("printers/columns.json")) else {
        return HashMap::new();
    };
    let resolved = |column| match column {
        ColumnOrName::Name(name) => file.shared.get(&name).cloned(),
        ColumnOrName::Column(column) => Some(column),
    };
    file.kinds
        .into_iter()
        .map(|(plural, columns)| (plural, columns.into_iter().filter_map(resolved).collect()))
        .collect()
});

fn string() -> String {
    "string".to_owned()
}

pub(super) fn columns(kind: &Kind) -> &'static [BuiltinColumn] {
    COLUMNS
        .get(&kind.plural)
        .or_else(|| COLUMNS.get(""))
        .map_or(&[], Vec::as_slice)
}

/// The first column of every kind but `events`, custom resources included.
pub(super) fn name_column() -> Option<&'static BuiltinColumn> {
    COLUMNS.get("")?.first()
}

impl BuiltinColumn {
    pub(super) fn cell(&self, kind: &Kind, object: &Object) -> Value {
        match &self.cell {
            Cell::Text(path, empty) => match dotted(object, path) {
                Some(Value::String(text)) if !text.is_empty() => Value::from(text.as_str()),
                Some(Value::Number(number)) => Value::from(number.to_string()),
                _ => Value::from(empty.as_str()),
            },
            Cell::Integer(path) => {
                Value::from(dotted(object, path).and_then(Value::as_i64).unwrap_or(0))
            }
            Cell::Number(path) => dotted(object, path).cloned().unwrap_or_default(),
            Cell::Boolean(path) => Value::from(dotted(object, path) == Some(&Value::Bool(true))),
            Cell::Count(path) => Value::from(match dotted(object, path) {
                Some(Value::Object(map)) => map.len(),
                Some(Value::Array(list)) => list.len(),
                _ => 0,
            }),
            Cell::Labels(path) => {
                let map = dotted(object, path).and_then(Value::as_object);
                let pairs = map.into_iter().flatten();
                let shown = |(key, value): (&String, &Value)| {
                    format!("{key}={}", value.as_str().unwrap_or_default())
                };
                Value::from(computed::or_none(pairs.map(shown)))
            }
            Cell::Join(path, key) => {
                let list = dotted(object, path).and_then(Value::as_array);
                let entries = list.into_iter().flatten();
                let values: Vec<&str> = entries
                    .filter_map(|entry| entry.as_str().or_else(|| entry.get(key)?.as_str()))
                    .collect();
                Value::from(values.join(","))
            }
            Cell::Age => Value::from(
                meta(object, "creationTimestamp")
                    .map_or_else(|| "<unknown>".to_owned(), clock::age),
            ),
            Cell::Computed => computed::cell(&kind.plural, &self.name, object),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::object;
    use crate::resources::Registry;

    fn cells(kind: &Kind, object: &Object) -> Vec<Value> {
        let columns = columns(kind).iter();
        columns.map(|column| column.cell(kind, object)).collect()
    }

    #[test]
    fn rows_of_every_kind_but_events_begin_with_the_name() {
        let bare = object(json!({"metadata": {"name": "a"}}));
        for kind in Registry::new().all() {
            let cells = cells(&kind, &bare);
            let expected = if kind.plural == "events" {
                "<unknown>"
            } else {
                "a"
            };
            assert_eq!(
                cells.first(),
                Some(&Value::from(expected)),
                "{}",
                kind.plural
            );
        }
    }

    #[test]
    fn cells_show_the_progress_of_workloads() {
        let registry = Registry::new();
        let shown = |group: &str, plural: &str, body: Value| {
            cells(&registry.builtin(group, plural).unwrap(), &object(body))[1..].to_vec()
        };
        let template = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
        let selector = json!({"matchLabels": {"a": "b"}});
        let deployment = json!({
            "spec": {"replicas": 3, "selector": selector, "template": template},
            "status": {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2},
        });
        let expected = json!(["2/3", 1, 2, "<unknown>", "c", "i", "a=b"]);
        assert_eq!(
            Value::from(shown("apps", "deployments", deployment)),
            expected
        );
        let class = json!({"spec": {"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}});
        let claim = shown("", "persistentvolumeclaims", class);
        assert_eq!(claim[3], "ReadWriteOnce,ReadOnlyMany");
        let endpoints: Vec<Value> = (1..=5)
            .map(|n| json!({"addresses": [format!("10.0.0.{n}")]}))
            .collect();
        let slice = json!({"addressType": "IPv4", "ports": [{"port": 80}, {"name": "all"}], "endpoints": endpoints});
        let expected = json!([
            "IPv4",
            "80,all",
            "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...",
            "<unknown>"
        ]);
        assert_eq!(
            Value::from(shown("discovery.k8s.io", "endpointslices", slice)),
            expected
        );
    }
}
