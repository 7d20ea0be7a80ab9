//! What can be done at the addresses of a kind.

use serde_json::{Value, json};

use super::schemas::schema_name;
use crate::object::Object;
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

/// The operations of a kind.
pub(super) struct Operations<'a> {
    kind: &'a Kind,
    object: Value,
    list: Value,
    /// `LbcfTkestackIoV1beta1`
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
    answer: &'a Value,
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

    /// What can be done at the address of all objects of a namespaced kind.
    pub(super) fn everywhere(&self) -> Value {
        let kind = &self.kind.kind;
        let mut parameters = query(LIST);
        parameters.push(pretty());
        parameters.sort_by_key(|p| p["name"].to_string());
        json!({
            "get": self.operation(&Operation {
                action: "list",
                description: format!("list objects of kind {kind}"),
                id: format!("list{}{kind}ForAllNamespaces", self.group),
                parameters: &[],
                body: None,
                codes: &[200],
                answer: &self.list,
            }),
            "parameters": parameters,
        })
    }

    /// What can be done at the address of a collection.
    pub(super) fn collection(&self) -> Value {
        let (kind, scope) = (&self.kind.kind, self.scope());
        let mut found = Object::new();
        found.insert(
            "get".to_owned(),
            self.operation(&Operation {
                action: "list",
                description: format!("list objects of kind {kind}"),
                id: format!("list{}{scope}{kind}", self.group),
                parameters: LIST,
                body: None,
                codes: &[200],
                answer: &self.list,
            }),
        );
        found.insert("post".to_owned(), self.create());
        if !self.kind.is("", "namespaces") {
            let status = reference(META_STATUS);
            found.insert(
                "delete".to_owned(),
                self.operation(&Operation {
                    action: "deletecollection",
                    description: format!("delete collection of {kind}"),
                    id: format!("delete{}Collection{scope}{kind}", self.group),
                    parameters: LIST,
                    body: None,
                    codes: &[200],
                    answer: &status,
                }),
            );
        }
        found.insert("parameters".to_owned(), self.shared(false));
        Value::Object(found)
    }

    /// What can be done at the address of a review.
    pub(super) fn review(&self) -> Value {
        json!({"post": self.create(), "parameters": self.shared(false)})
    }

    fn create(&self) -> Value {
        let (kind, scope) = (&self.kind.kind, self.scope());
        self.operation(&Operation {
            action: "post",
            description: format!("create a {kind}"),
            id: format!("create{}{scope}{kind}", self.group),
            parameters: WRITE,
            body: Some(self.whole_body()),
            codes: &[200, 201, 202],
            answer: &self.object,
        })
    }

    /// What can be done at the address of an object.
    pub(super) fn one(&self) -> Value {
        let (kind, scope) = (&self.kind.kind, self.scope());
        let mut found = self.read_and_change("", "");
        let content = content(&["application/json", "application/yaml"], META_DELETE);
        let status = reference(META_STATUS);
        let answer = if self.kind.returns_deleted {
            &self.object
        } else {
            &status
        };
        found.insert(
            "delete".to_owned(),
            self.operation(&Operation {
                action: "delete",
                description: format!("delete a {kind}"),
                id: format!("delete{}{scope}{kind}", self.group),
                parameters: DELETE,
                body: Some(json!({"content": content})),
                codes: &[200, 202],
                answer,
            }),
        );
        found.insert("parameters".to_owned(), self.shared(true));
        Value::Object(found)
    }

    /// What can be done at the address of an object's status.
    pub(super) fn status(&self) -> Value {
        let mut found = self.read_and_change("status of ", "Status");
        found.insert("parameters".to_owned(), self.shared(true));
        Value::Object(found)
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
                answer: &self.object,
            })
        };
        let mut patches = vec![
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ];
        if !self.kind.is_custom() {
            patches.push("application/strategic-merge-patch+json");
        }
        let patch = json!({"content": content(&patches, META_PATCH), "required": true});
        crate::object::object(json!({
            "get": operation("read", "get", "read", READ, None, &[200]),
            "put": operation("replace", "put", "replace", WRITE, Some(self.whole_body()), &[200, 201]),
            "patch": operation("patch", "patch", "partially update", PATCH, Some(patch), self.patched()),
        }))
    }

    /// Applying may create; the documents of definitions do not say so.
    fn patched(&self) -> &'static [u16] {
        if self.kind.is_custom() {
            &[200]
        } else {
            &[200, 201]
        }
    }

    fn whole_body(&self) -> Value {
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
        parameters.push(pretty());
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
            let schema = json!({"schema": operation.answer});
            let content = json!({"application/json": schema, "application/yaml": schema});
            responses.insert(
                code.to_string(),
                json!({"description": description, "content": content}),
            );
        }
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        let mut found = crate::object::object(json!({
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

/// A reference to a type of the document.
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

fn pretty() -> Value {
    json!({"name": "pretty", "in": "query", "schema": {"type": "string", "uniqueItems": true}})
}

fn title(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
