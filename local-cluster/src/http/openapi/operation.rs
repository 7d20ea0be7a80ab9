//! The operations on the paths of a kind.

use serde_json::{Value, json};

use super::schemas::schema_name;
use crate::object::{Object, object};
use crate::resources::Kind;

type Parameter = (&'static str, &'static str);

const LIST: &[Parameter] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
const PRETTY: &[Parameter] = &[("pretty", "string")];
const READ: &[Parameter] = &[("resourceVersion", "string")];
const WRITE: &[Parameter] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
];
const PATCH: &[Parameter] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
    ("force", "boolean"),
];
const DELETE: &[Parameter] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

pub(super) struct Operations<'a> {
    kind: &'a Kind,
    object: Value,
    list: Value,
    /// Part of operation IDs, such as `LbcfTkestackIoV1beta1`.
    group: String,
    tag: String,
}

struct Operation<'a> {
    action: &'a str,
    description: String,
    id: String,
    parameters: &'a [Parameter],
    body: Option<Value>,
    codes: &'a [u16],
    response: &'a Value,
}

impl<'a> Operations<'a> {
    pub(super) fn of(kind: &'a Kind) -> Self {
        let name = schema_name(kind);
        let words = match kind.group.as_str() {
            "" => vec!["core"],
            group => group.trim_end_matches(".k8s.io").split('.').collect(),
        };
        let title = words.iter().map(|w| title(w)).collect::<String>();
        let group = format!("{title}{}", self::title(&kind.version));
        let mut tag = title;
        if let Some(first) = tag.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        Self {
            kind,
            object: reference(&name),
            list: reference(&format!("{name}List")),
            group,
            tag: format!("{tag}_{}", kind.version),
        }
    }

    /// The collection of a namespaced kind across all namespaces.
    pub(super) fn everywhere(&self) -> Value {
        let mut parameters = query(LIST);
        parameters.extend(query(PRETTY));
        parameters.sort_by_key(|p| p["name"].to_string());
        let suffix = format!("{}ForAllNamespaces", self.kind.kind);
        json!({"get": self.list_objects(&suffix, &[]), "parameters": parameters})
    }

    /// The collection of a cluster-scoped kind, or of one namespace.
    pub(super) fn collection(&self) -> Value {
        let kind = &self.kind.kind;
        let mut found = object(json!({
            "get": self.list_objects(&format!("{}{kind}", self.scope()), LIST),
            "post": self.create(),
            "parameters": self.shared(false),
        }));
        if !self.kind.is("", "namespaces") {
            let delete = self.operation(&Operation {
                action: "deletecollection",
                description: format!("delete collection of {kind}"),
                id: format!("delete{}Collection{}{kind}", self.group, self.scope()),
                parameters: LIST,
                body: None,
                codes: &[200],
                response: &reference(META_STATUS),
            });
            found.insert("delete".to_owned(), delete);
        }
        Value::Object(found)
    }

    pub(super) fn review(&self) -> Value {
        json!({"post": self.create(), "parameters": self.shared(false)})
    }

    fn list_objects(&self, id_suffix: &str, parameters: &[Parameter]) -> Value {
        self.operation(&Operation {
            action: "list",
            description: format!("list objects of kind {}", self.kind.kind),
            id: format!("list{}{id_suffix}", self.group),
            parameters,
            body: None,
            codes: &[200],
            response: &self.list,
        })
    }

    fn create(&self) -> Value {
        let kind = &self.kind.kind;
        self.operation(&Operation {
            action: "post",
            description: format!("create a {kind}"),
            id: format!("create{}{}{kind}", self.group, self.scope()),
            parameters: WRITE,
            body: Some(self.object_body()),
            codes: &[200, 201, 202],
            response: &self.object,
        })
    }

    pub(super) fn one(&self) -> Value {
        let kind = &self.kind.kind;
        let mut found = self.read_and_change("", "");
        let content = content(&["application/json", "application/yaml"], META_DELETE);
        let status = reference(META_STATUS);
        let delete = self.operation(&Operation {
            action: "delete",
            description: format!("delete a {kind}"),
            id: format!("delete{}{}{kind}", self.group, self.scope()),
            parameters: DELETE,
            body: Some(json!({"content": content})),
            codes: &[200, 202],
            response: if self.kind.returns_deleted {
                &self.object
            } else {
                &status
            },
        });
        found.insert("delete".to_owned(), delete);
        Value::Object(found)
    }

    /// The status subresource of one object.
    pub(super) fn status(&self) -> Value {
        Value::Object(self.read_and_change("status of ", "Status"))
    }

    fn read_and_change(&self, what: &str, suffix: &str) -> Object {
        let (kind, scope) = (&self.kind.kind, self.scope());
        let operation = |verb: &str, action, description: &str, parameters, body, codes| {
            self.operation(&Operation {
                action,
                description: format!("{description} {what}the specified {kind}"),
                id: format!("{verb}{}{scope}{kind}{suffix}", self.group),
                parameters,
                body,
                codes,
                response: &self.object,
            })
        };
        let mut patches = vec![
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ];
        // Server-side apply may create; the documents of definitions do not show it.
        let mut patched: &[u16] = &[200];
        if !self.kind.is_custom() {
            patches.push("application/strategic-merge-patch+json");
            patched = &[200, 201];
        }
        let patch = json!({"content": content(&patches, META_PATCH), "required": true});
        object(json!({
            "get": operation("read", "get", "read", READ, None, &[200]),
            "put": operation("replace", "put", "replace", WRITE, Some(self.object_body()), &[200, 201]),
            "patch": operation("patch", "patch", "partially update", PATCH, Some(patch), patched),
            "parameters": self.shared(true),
        }))
    }

    fn object_body(&self) -> Value {
        let schema = json!({"schema": self.object});
        json!({
            "content": {"application/json": schema, "application/yaml": schema}, "required": true,
        })
    }

    fn scope(&self) -> &'static str {
        if self.kind.namespaced {
            "Namespaced"
        } else {
            ""
        }
    }

    fn shared(&self, named: bool) -> Value {
        let in_path = |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}});
        let mut parameters = Vec::new();
        if named {
            parameters.push(in_path("name"));
        }
        if self.kind.namespaced {
            parameters.push(in_path("namespace"));
        }
        parameters.extend(query(PRETTY));
        Value::from(parameters)
    }

    fn operation(&self, operation: &Operation<'_>) -> Value {
        let mut responses = Object::new();
        for code in operation.codes {
            let description = match code {
                201 => "Created",
                202 => "Accepted",
                _ => "OK",
            };
            let schema = json!({"schema": operation.response});
            let content = json!({"application/json": schema, "application/yaml": schema});
            responses.insert(
                code.to_string(),
                json!({"description": description, "content": content}),
            );
        }
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        let mut found = object(json!({
            "tags": [self.tag],
            "description": operation.description,
            "operationId": operation.id,
            "responses": responses,
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": {
                "group": self.kind.group, "version": self.kind.version, "kind": self.kind.kind,
            },
        }));
        if !operation.parameters.is_empty() {
            let parameters = query(operation.parameters);
            found.insert("parameters".to_owned(), Value::from(parameters));
        }
        if let Some(body) = &operation.body {
            found.insert("requestBody".to_owned(), body.clone());
        }
        Value::Object(found)
    }
}

pub(super) const META_DELETE: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const META_PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const META_STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn content(media_types: &[&str], name: &str) -> Object {
    media_types
        .iter()
        .map(|media_type| ((*media_type).to_owned(), json!({"schema": reference(name)})))
        .collect()
}

fn query(parameters: &[Parameter]) -> Vec<Value> {
    parameters
        .iter()
        .map(|(name, of)| json!({"name": name, "in": "query", "schema": {"type": of, "uniqueItems": true}}))
        .collect()
}

fn title(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
