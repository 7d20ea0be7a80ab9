//! The webhook specification as an OpenAPI 3.1 document, for authors in other languages.
//!
//! Paths and schemas come from the same table and types as the router and the client. The
//! document is checked in as `openapi/lbcf-webhooks.json`; a test fails when it is out of date.
//! [`document_for`] adds the schemas of a driver's maps.
//!
//! ```
//! let document = lbcf_driver_sdk::openapi::document();
//! assert!(document.paths.paths.contains_key("/ensureBackend"));
//! ```

mod examples;
mod limits;
mod map_schema;
mod of_driver;

pub use of_driver::document_for;

use crate::specification::{Rule, rules};
use crate::webhook::{
    self, BackendType, Class, Obligation, Operation, SPECIFICATION, Webhook, WebhookInfo,
    for_each_webhook,
};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{HttpMethod, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ComponentsBuilder, Object, Schema, Type};
use utoipa::openapi::{
    Content, ContentBuilder, Info, License, ObjectBuilder, OpenApi, PathItem, Paths, Ref, RefOr,
    Required, Response, ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};

const JSON: &str = "application/json";

/// The statuses of calls that did not reach the driver, or in which it panicked.
const ERRORS: [(&str, &str, &str); 4] = [
    (
        "400",
        "NoProperCall",
        "The body is not JSON, or a field has a wrong type.",
    ),
    ("408", "BodyTooSlow", "The body did not arrive in time."),
    (
        "413",
        "BodyTooLarge",
        "The body is larger than the driver takes.",
    ),
    (
        "500",
        "DriverBroke",
        "The driver panicked. A failure that it reports is a 200 with the status Fail.",
    ),
];

type Schemas = Vec<(String, RefOr<Schema>)>;

macro_rules! rows {
    ($($(#[doc = $doc:literal])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        fn add_webhooks(paths: &mut Paths, schemas: &mut Schemas) {
            $(add::<webhook::$hook>(stringify!($hook), concat!($($doc),*).trim(), paths, schemas);)*
        }
    };
}

for_each_webhook!(rows);

/// The document: every webhook as `POST /<name>`.
#[must_use]
pub fn document() -> OpenApi {
    let general = rules_of_several();
    let mut info = Info::new("LBCF webhooks", SPECIFICATION);
    info.description = Some(
        "Served by an LBCF driver and called by an LBCF controller. Only status 200 is a response of the \
         driver. null means empty. The whole is in specification.md; these rules concern several webhooks:"
            .to_owned()
            + &rules_text(&general),
    );
    let mut license = License::new("Apache License 2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    info.license = Some(license);

    let mut paths = Paths::new();
    let mut schemas = Schemas::new();
    add_webhooks(&mut paths, &mut schemas);
    limits::add(&mut schemas);

    let mut components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .schema("Error", error_schema());
    for (_, name, description) in ERRORS {
        components = components.response(name, error_response(description));
    }
    components = components.response(
        "NoResponse",
        Response::new(
            "No response of the driver, but of what is in between. The call is repeated.",
        ),
    );
    let mut document = OpenApi::new(info, paths);
    document.extensions = Some(rule_ids(&general));
    document.components = Some(components.build());
    document
}

fn add<W>(type_name: &str, summary: &str, paths: &mut Paths, schemas: &mut Schemas)
where
    W: Webhook<Response: ToSchema> + ToSchema,
{
    let WebhookInfo { name, class, .. } = W::INFO;
    let rules = rules_of(name);
    let request = RequestBodyBuilder::new()
        .content(
            JSON,
            content::<W>(name, "request", &format!("{type_name}Request"), schemas),
        )
        .required(Some(if class == Class::Health {
            Required::False
        } else {
            Required::True
        }))
        .build();
    let response = ResponseBuilder::new()
        .description(match class {
            Class::Health => "Whether the driver is healthy.",
            Class::Verdict => "The decision: yes or no. With no, `msg` says why.",
            Class::Operation => "The state of the operation: done, failed or still running. With `Fail`, `msg` says why.",
        })
        .content(
            JSON,
            content::<W::Response>(name, "response", &W::Response::name(), schemas),
        )
        .build();
    let mut operation = OperationBuilder::new()
        .operation_id(Some(name))
        .summary(Some(summary))
        .description(Some(description(W::INFO) + &rules_text(rules)))
        .extensions(Some(rule_ids(rules)))
        .tag(match class {
            Class::Health => "health",
            Class::Verdict => "decisions",
            Class::Operation => "operations",
        })
        .request_body(Some(request))
        .response("200", response);
    for (status, name, _) in ERRORS {
        operation = operation.response(status, Ref::from_response_name(name));
    }
    operation = operation.response("default", Ref::from_response_name("NoResponse"));
    let mut path = PathItem::new(HttpMethod::Post, operation);
    if class == Class::Health {
        path.get = path.post.clone().map(|mut probe| {
            probe.operation_id = Some(format!("{name}ByGet"));
            probe.description = Some("For probes that use GET.".to_owned());
            probe.request_body = None;
            probe
        });
    }
    paths.paths.insert(format!("/{name}"), path);
}

fn description(webhook: WebhookInfo) -> String {
    let repeated = match webhook.class {
        Class::Health => "",
        Class::Verdict if webhook.obligation == Obligation::OnRequest => {
            "Called before pods that are not ready are deregistered. "
        }
        Class::Verdict => "Called once, before the user's object is stored. ",
        Class::Operation if webhook.obligation == Obligation::Listed => {
            "Called until it succeeds, with the same recordID and with a new retryID. Each listing \
             has another recordID. "
        }
        Class::Operation => {
            "Called until it succeeds, always with the same recordID and with a new retryID. "
        }
    };
    let obligation = match webhook.obligation {
        Obligation::Mandatory => "Every driver serves it.",
        Obligation::OnRequest => "Served by drivers that a deregisterWebhook names.",
        Obligation::Listed => {
            "Served by drivers whose LoadBalancerDriver lists it in spec.webhooks."
        }
        Obligation::Optional => {
            "Every driver serves it; of one that does not, the health is unknown."
        }
    };
    format!("{repeated}{obligation}")
}

/// The rules about a webhook, which are in the group with its name.
fn rules_of(webhook: &str) -> &'static [Rule] {
    let group = rules::GROUPS.iter().find(|group| group.title == webhook);
    group.map_or(&[], |group| group.rules)
}

/// The rules of no single webhook.
fn rules_of_several() -> Vec<Rule> {
    let is_webhook = |title| webhook::ALL.iter().any(|webhook| webhook.name == title);
    let several = rules::GROUPS.iter().filter(|it| !is_webhook(it.title));
    several.flat_map(|group| group.rules).copied().collect()
}

/// Rules as a list in Markdown.
fn rules_text(rules: &[Rule]) -> String {
    let line = |rule: &Rule| format!("\n* LBCF-{}: {}", rule.id, rule.sentence);
    format!("\n{}", rules.iter().map(line).collect::<String>())
}

fn rule_ids(rules: &[Rule]) -> Extensions {
    let ids: Vec<_> = rules
        .iter()
        .map(|rule| format!("LBCF-{}", rule.id))
        .collect();
    Extensions::builder().add("x-lbcf-rules", ids).build()
}

/// A reference to the type's schema, which is added to `schemas` with its dependencies, and examples.
fn content<T: ToSchema>(
    webhook: &str,
    direction: &str,
    name: &str,
    schemas: &mut Schemas,
) -> Content {
    schemas.push((name.to_owned(), T::schema()));
    T::schemas(schemas);
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(name)))
        .examples_from_iter(examples::of(webhook, direction))
        .build()
}

fn error_schema() -> Object {
    let error = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("What is wrong with the call."))
        .build();
    ObjectBuilder::new()
        .property("error", error)
        .required("error")
        .build()
}

fn error_response(description: &str) -> Response {
    ResponseBuilder::new()
        .description(description)
        .content(JSON, Content::new(Some(Ref::from_schema_name("Error"))))
        .build()
}

/// The values of the specification. It may define more later, so that others have to be read, too.
fn words(description: &str, words: &[&str]) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .examples(words.iter().copied())
        .build()
        .into()
}

impl PartialSchema for Operation {
    fn schema() -> RefOr<Schema> {
        words(
            "The user's change to the object that is validated: `Create`, `Update`, or another word of a later edition.",
            &["Create", "Update"],
        )
    }
}

impl ToSchema for Operation {}

impl PartialSchema for BackendType {
    fn schema() -> RefOr<Schema> {
        words(
            "The kind of a group's backends: `Pod`, `Service`, `Static`, or another word of a later edition.",
            &["Pod", "Service", "Static"],
        )
    }
}

impl ToSchema for BackendType {}
