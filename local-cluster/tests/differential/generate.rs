//! Scenarios: lists of requests for objects of one kind, by seed.

use fastrand::Rng;
use serde_json::{Value, json};

use super::kinds::{Edits, Kind, Table};
use super::step::Step;

const NAMES: [&str; 5] = ["a", "a", "a", "b", "c"];

/// The requests of one scenario.
pub(super) fn scenario(table: &Table, seed: u64, number: usize, length: usize) -> Vec<Step> {
    let kind = table.kind(number);
    let rng = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    let mut generator = Generator {
        table,
        kind,
        rng,
        fences: 0,
        generates: true,
    };
    let first = Target {
        name: "a",
        wild: false,
        ..generator.target()
    };
    let mut create = generator.step("create", first, &[]);
    create.body = generator.object(first).to_string();
    let mut steps = generator.settled(create, first);
    while steps.len() < length {
        steps.extend(generator.request());
    }
    steps
}

struct Generator<'a> {
    table: &'a Table,
    kind: &'a Kind,
    rng: Rng,
    fences: usize,
    /// There is no object with a generated name yet: two have no order.
    generates: bool,
}

/// What a request is about.
#[derive(Clone, Copy)]
struct Target<'a> {
    name: &'a str,
    version: &'a str,
    subresource: &'a str,
    /// The request may be invalid.
    wild: bool,
}

impl<'a> Generator<'a> {
    fn choose<'t, T: ?Sized>(&mut self, list: &'t [impl std::borrow::Borrow<T>]) -> &'t T {
        list[self.rng.usize(..list.len())].borrow()
    }

    fn one_in(&mut self, number: u8) -> bool {
        self.rng.u8(..number) == 0
    }

    fn target(&mut self) -> Target<'a> {
        let kind = self.kind;
        Target {
            name: self.choose::<&str>(&NAMES),
            version: self.choose(&kind.versions),
            subresource: "",
            wild: kind.custom && self.one_in(3),
        }
    }

    fn request(&mut self) -> Vec<Step> {
        let (table, kind) = (self.table, self.kind);
        let mut target = self.target();
        if !kind.subresources.is_empty() && self.rng.bool() {
            target.subresource = self.choose(&kind.subresources);
        }
        let verb = *self.choose::<&str>(&table.verbs(kind, target.subresource));
        if verb == "watch" {
            return self.watch(target);
        }
        let query = self.query(verb, target);
        let mut step = self.step(verb, target, &query);
        if self.one_in(8) {
            let accepts = &table.accepts[&table.verbs[verb].accept];
            let wild = target.wild.then_some(&table.wild_accepts);
            step.accept = self.choose::<str>(wild.unwrap_or(accepts)).to_owned();
        }
        if !step.is_read() && (!verb.starts_with("delete") || self.rng.bool()) {
            step.body = self.body(verb, target).to_string();
            if target.wild && self.one_in(12) {
                step.body = self.choose::<str>(&table.wild_bodies).to_owned();
            } else if target.wild && self.one_in(12) {
                step.content_type = self.choose::<str>(&table.content_types).to_owned();
            }
        }
        self.settled(step, target)
    }

    /// The step, and a read of the object after a write that the server completes on its own.
    fn settled(&mut self, step: Step, target: Target<'a>) -> Vec<Step> {
        let reads = self.kind.settles && !step.is_read();
        let read = reads.then(|| self.step("get", target, &[]));
        std::iter::once(step).chain(read).collect()
    }

    fn step(&self, verb: &str, target: Target<'_>, query: &[String]) -> Step {
        let kind = self.kind;
        let row = &self.table.verbs[verb];
        // A deletion of all namespaces' objects has to be refused.
        let all = query.iter().any(|p| p.starts_with("labelSelector=s"));
        let namespaced = kind.namespaced && !all;
        let namespace = if namespaced { "/namespaces/<ns>" } else { "" };
        let (group, version) = (&kind.group, target.version);
        let mut path = format!("{group}/{version}{namespace}/{}", kind.plural);
        if !row.collection {
            path = format!("{path}/{}", kind.name.replace("<n>", target.name));
        }
        if !target.subresource.is_empty() {
            path = format!("{path}/{}", target.subresource);
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        Step {
            verb: verb.to_owned(),
            resource: kind.resource(target.subresource),
            method: row.method.clone(),
            path,
            content_type: row.content_type.clone(),
            accept: "application/json".to_owned(),
            object: target.name.to_owned(),
            settles: kind.settles,
            ..Step::default()
        }
    }

    fn query(&mut self, verb: &str, target: Target<'_>) -> Vec<String> {
        let table = self.table;
        let row = &table.verbs[verb];
        let mut query = Vec::new();
        if row.collection && verb != "create" {
            query = self.selectors(verb);
        }
        if verb == "apply" && !(target.wild && self.one_in(8)) {
            let manager = self.choose::<str>(&["one", "two", "three"]);
            query.push(format!("fieldManager={manager}"));
        }
        if self.one_in(3) {
            let wild = table.wild_queries.get(&row.query).filter(|_| target.wild);
            let pool = wild.unwrap_or(&table.queries[&row.query]);
            query.push(self.choose::<str>(pool).to_owned());
        }
        query
    }

    /// Selectors of this scenario's objects.
    fn selectors(&mut self, verb: &str) -> Vec<String> {
        let (table, kind) = (self.table, self.kind);
        let mut labels = Vec::new();
        if !kind.namespaced || self.one_in(8) {
            labels.push("s=<ns>");
        }
        if self.one_in(3) {
            labels.push(self.choose::<str>(&table.labels));
        }
        let mut fields = Vec::new();
        if self.one_in(3) {
            fields.push(self.choose::<str>(&kind.fields));
        }
        let one = format!("metadata.name={}", kind.name.replace("<n>", "a"));
        if verb == "list" && self.one_in(8) {
            fields.push(&one);
        }
        let parameters = [("labelSelector", labels), ("fieldSelector", fields)].into_iter();
        let parameters = parameters.filter(|(_, terms)| !terms.is_empty());
        parameters
            .map(|(name, terms)| format!("{name}={}", encoded(&terms.join(","))))
            .collect()
    }

    /// A watch from a version, behind a fence that ends it.
    fn watch(&mut self, target: Target<'a>) -> Vec<Step> {
        self.fences += 1;
        let name = format!("f{}", self.fences);
        let fence = Target {
            name: &name,
            subresource: "",
            ..target
        };
        let mut create = self.step("create", fence, &[]);
        create.body = self.object(fence).to_string();
        let mut query = self.selectors("watch");
        query.push("timeoutSeconds=5".to_owned());
        let versions = &self.table.queries["watch"];
        query.push(self.choose::<str>(versions).to_owned());
        // The old form does not know all parameters.
        let old = query.iter().all(|p| !p.starts_with("send")) && self.one_in(8);
        if !old {
            query.push("watch=true".to_owned());
        }
        let mut watch = self.step("watch", fence, &query);
        if old {
            let version = format!("{}/{}", self.kind.group, target.version);
            watch.path = watch
                .path
                .replacen(&version, &format!("{version}/watch"), 1);
        }
        if self.one_in(6) {
            let accepts = &self.table.accepts["watch"];
            watch.accept = self.choose::<str>(accepts).to_owned();
        }
        watch.fence = Some(self.kind.name.replace("<n>", &name));
        vec![create, watch]
    }

    /// An object with the labels by which the scenario's objects are found.
    fn object(&self, target: Target<'_>) -> Value {
        let name = self.kind.name.replace("<n>", target.name);
        if target.subresource == "scale" {
            let metadata = json!({"name": name, "namespace": "<ns>"});
            return json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale",
                "metadata": metadata, "spec": {"replicas": 2},
            });
        }
        let text = self.kind.object.to_string().replace("<n>", target.name);
        let mut object: Value = serde_json::from_str(&text).unwrap();
        object["apiVersion"] = self.kind.api_version(target.version).into();
        object["metadata"] = json!({"name": name, "labels": {"app": "x", "s": "<ns>"}});
        object
    }

    /// A field and a value for it.
    fn edit(&mut self, target: Target<'_>) -> (String, Value) {
        let (table, kind) = (self.table, self.kind);
        match target.subresource {
            "scale" if target.wild => self.edit_of(&table.wild_scale),
            "scale" => self.edit_of(&table.scale),
            _ if target.wild && self.one_in(4) => self.edit_of(&table.wild),
            _ if target.wild && self.one_in(3) => {
                let (path, _) = self.edit_of(&kind.edits);
                (path, self.choose::<Value>(&table.values).clone())
            }
            "status" if !kind.status.is_empty() && !self.one_in(4) => self.edit_of(&kind.status),
            _ if self.one_in(4) => self.edit_of(&table.metadata),
            _ => self.edit_of(&kind.edits),
        }
    }

    fn edit_of(&mut self, edits: &Edits) -> (String, Value) {
        let path = edits.keys().nth(self.rng.usize(..edits.len())).unwrap();
        (path.clone(), self.choose::<Value>(&edits[path]).clone())
    }

    fn body(&mut self, verb: &str, target: Target<'_>) -> Value {
        let (table, kind) = (self.table, self.kind);
        let mut object = self.object(target);
        let part = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"name": object["metadata"]["name"]},
        });
        match verb {
            "json" => return (0..2).map(|_| self.operation(target)).collect(),
            "delete" | "deletecollection" => return self.choose(&table.delete_options).clone(),
            "strategic" if !kind.strategic.is_empty() && self.rng.bool() => {
                return self.choose(&kind.strategic).clone();
            }
            "merge" | "strategic" => object = json!({}),
            "update" => {
                let version = self.choose::<str>(&["<rv:", "<rv:", "<old:", "<none:"]);
                let version = format!("{version}{}>", target.name);
                object["metadata"]["resourceVersion"] = version.into();
            }
            // Everything, or a few fields.
            "apply" if target.subresource == "status" => object = part,
            "apply" if kind.custom && self.rng.bool() => object = part,
            "create" if !kind.settles && self.one_in(15) && self.generates => {
                self.generates = false;
                let prefix = kind.name.replace("<n>", "g-");
                object["metadata"] = json!({"generateName": prefix});
            }
            _ => {}
        }
        for _ in 0..self.rng.usize(..4) {
            let (path, value) = self.edit(target);
            // An item without the rest of its list would be invalid.
            if kind.custom || object["spec"].is_object() || !path.contains("/0/") {
                set(&mut object, &path, value);
            }
        }
        object
    }

    fn operation(&mut self, target: Target<'_>) -> Value {
        const VALID: [&str; 6] = ["add", "add", "replace", "replace", "remove", "test"];
        const WILD: [&str; 5] = ["add", "copy", "move", "remove", "other"];
        let ((path, value), (from, _)) = (self.edit(target), self.edit(target));
        let operations: &[&str] = if target.wild { &WILD } else { &VALID };
        let operation = self.choose::<str>(operations);
        json!({"op": operation, "path": path, "value": value, "from": from})
    }
}

/// A selector in a query; placeholders are filled later.
fn encoded(selector: &str) -> String {
    let encoded = |c: char| match c {
        ' ' | '(' | ')' | ',' | '!' | '=' => format!("%{:02X}", u32::from(c)),
        c => c.to_string(),
    };
    selector.chars().map(encoded).collect()
}

/// Sets a field by JSON pointer, and what is missing on the way to it.
fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut place = object;
    for key in pointer.split('/').skip(1) {
        if place.is_null() {
            *place = if key == "0" { json!([null]) } else { json!({}) };
        }
        place = match place {
            Value::Object(map) => map.entry(key.replace("~1", "/")).or_insert(Value::Null),
            Value::Array(list) if !list.is_empty() => &mut list[0],
            _ => return,
        };
    }
    *place = value;
}
