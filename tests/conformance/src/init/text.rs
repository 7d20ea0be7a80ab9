//! The text of a first fixture. Unknown values are examples in comments, so that a run works with the
//! unchanged file.

use super::findings::{EmptySpec, Findings, ProbeResult};
use super::schema::Field;
use crate::fixture::{API_VERSION, KIND};
use std::fmt::Write as _;

/// The width of comments, in characters.
const WIDTH: usize = 100;

pub(super) fn fixture(findings: &Findings) -> String {
    let mut file = Lines::default();
    file.text(&format!(
        "\
# The description of your driver for `lbcf conformance run`.
#
# The file works unchanged: the kit then skips some checks and reports why. Lines that begin with #
# and a space are comments. Lines that begin with # and no space are examples: remove the # and
# change the value to run more checks. An example that ends with a colon belongs to the examples that
# are indented below it.
#
# Values are texts, as on the wire. In those of lbSpec, attributes and parameters, {{{{unique}}}} is
# replaced by a name that no other check uses, and {{{{number}}}} by a port that is free and that no
# other check and no other run uses: mostly from 20000 to 29999, or in the range of `numbers`.
apiVersion: {API_VERSION}
kind: {KIND}
"
    ));
    file.text(DRIVER);
    endpoint(&mut file, findings);
    file.text(FEATURES);
    load_balancer(&mut file, findings);
    backend(&mut file, &findings.maps.parameters);
    file.text(REST);
    file.0
}

const DRIVER: &str = r#"
# The driver's name and maker, for reports.
driver:
  #organization: acme
  #project: acme-lb
  #version: v1.0.0
  #url: https://acme.example/lb
  #contact: ["@acme/lb"]
"#;

const FEATURES: &str = r#"
# The optional features of the driver. The kit skips the checks of features that are not listed.
features:
  # Some operations return Running, and controllers poll them until they are done.
  #- async
  # Requests with dryRun: true change nothing (acceptDryRunCall of the LoadBalancerDriver).
  #- dryRun
  # The driver has the webhook judgePodDeregister; listBackends.
  #- judgePodDeregister
  #- listBackends
  # The driver registers pods; services by their nodes and node ports;
  # endpoints of services that are no pods; static addresses.
  #- backend.pod
  #- backend.service
  #- backend.endpoint
  #- backend.static
  # The attributes of a load balancer can be changed; the parameters of a backend.
  #- update.attributes
  #- update.parameters
"#;

const REST: &str = r#"
# How to observe the cloud. Without an observer the kit only verifies the driver's responses. A GET
# of the URL returns, or a program prints:
#   {"loadBalancers": [{"lbInfo": {}, "attributes": {}, "backends": [{"addr": "", "parameters": {}}]}]}
# {url}, {host} and {port} are the driver's. A program: {command: ["./observe.sh", "{port}"]}
#observe: {url: "http://{host}:9090/observe"}

# How to restart the driver, to verify that it does not depend on its memory. {exec: true} restarts
# the program of --exec; {url: …} sends a POST.
#restart: {command: ["./restart.sh"]}

# How to make the driver's cloud fail for a while: called with "on", and then with "off".
#fault: {command: ["./fault.sh", "{on|off}"]}

# Time limits.
budgets:
  # For one operation, until it is no longer Running.
  #async: 45s
  # For the whole run.
  #total: 10m

# The ports of {{number}}; without it those below the ephemeral ports of the machine.
#numbers: {from: 20000, to: 29999}

# Known failures with their reasons: they are reported, but do not fail the run.
knownFailures:
  #- {id: DLB-03, reason: "ACME-12: the cloud returns an error for unknown load balancers"}
"#;

fn endpoint(file: &mut Lines, findings: &Findings) {
    file.text("\n# How the driver is called.\nendpoint:\n");
    match &findings.url {
        Some(url) if url.is_cut => {
            file.prose(
                2,
                "The default without --url and --exec. User and password are left out here.",
            );
            file.line(2, &format!("#url: {}", quoted(&url.shown)));
        }
        Some(url) => {
            file.prose(2, "The default without --url and --exec.");
            file.line(2, &format!("url: {}", quoted(&url.shown)));
        }
        None => {
            file.prose(2, "The default without --url and --exec.");
            file.line(2, "#url: http://127.0.0.1:8080");
        }
    }
    file.text(
        "  \
  # The timeouts by webhook: at most 60s, 10s by default.
  #timeouts: {default: 10s, createLoadBalancer: 30s}
  # Headers of each call.
  #headers: {x-tenant: \"7\"}
",
    );
}

fn load_balancer(file: &mut Lines, findings: &Findings) {
    let maps = &findings.maps;
    file.text("\n# Samples of load balancers.\nloadBalancer:\n");
    file.prose(
        2,
        "Valid ones: the kit creates, changes and deletes one for each check.",
    );
    match &findings.result {
        ProbeResult::Probed { empty_spec, .. } => match empty_spec {
            EmptySpec::Accepted => file.prose(
                2,
                "The driver accepts an empty lbSpec, so this may stay unchanged.",
            ),
            EmptySpec::Rejected(message) => {
                let message = if message.is_empty() {
                    "no message"
                } else {
                    message
                };
                let text = format!("The driver rejected an empty lbSpec: {message}");
                file.prose(2, &text);
                file.prose(2, "Without a sample most checks are skipped.");
            }
            EmptySpec::Invalid(problem) => file.prose(
                2,
                &format!("The driver's response to an empty lbSpec is invalid: {problem}"),
            ),
        },
        ProbeResult::Unreachable(_) | ProbeResult::NotProbed => file.prose(
            2,
            "Without a sample the kit uses an empty lbSpec, which most drivers reject.",
        ),
    }
    file.line(2, "#valid:");
    if maps.lb_spec.is_empty() {
        file.text("    #- lbSpec: {vpcID: vpc-1, name: \"{{unique}}\", port: \"{{number}}\"}\n");
    } else {
        file.line(4, "#- lbSpec:");
        fields(file, 8, &maps.lb_spec);
    }
    if maps.attributes.is_empty() {
        file.text("      #attributes: {bandwidth: \"1\"}\n");
    } else {
        file.line(6, "#attributes:");
        fields(file, 8, &maps.attributes);
    }
    file.prose(
        2,
        "Invalid ones, which the driver must reject with a reason.",
    );
    file.text(match &findings.result {
        ProbeResult::Probed { empty_spec, .. } => match empty_spec {
            EmptySpec::Rejected(_) => {
                "  invalid:\n    - {lbSpec: {}, reason: \"the driver rejected it during init\"}\n"
            }
            EmptySpec::Accepted => {
                "  #invalid:\n    #- {lbSpec: {vpcID: \"no such\"}, reason: \"the network does not exist\"}\n"
            }
            EmptySpec::Invalid(_) => EMPTY_IS_INVALID,
        },
        ProbeResult::Unreachable(_) | ProbeResult::NotProbed => EMPTY_IS_INVALID,
    });
    file.text(
        "  \
  #update:
    # An allowed update of the attributes of the first valid one.
    #attributes: {bandwidth: \"2\"}
    # Updates that the driver must reject.
    #forbidden: [{attributes: {charge: prepaid}}]
  # The identity (lbInfo) of a load balancer that does not exist.
",
    );
    file.line(2, &unknown_lb_info(&maps.lb_info));
    file.text(
        "  \
  # Whether checks may share a load balancer, if each is expensive.
  #reuse: true
",
    );
}

const EMPTY_IS_INVALID: &str = "  #invalid:\n    #- {lbSpec: {}, reason: \"vpcID is required\"}\n";

fn unknown_lb_info(lb_info: &[Field]) -> String {
    let pairs: Vec<String> = lb_info
        .iter()
        .filter(|field| field.is_required)
        .map(|field| format!("{}: doesnotexist", key(&field.name)))
        .collect();
    if pairs.is_empty() {
        return "#unknownLBInfo: {lbID: lb-doesnotexist}".to_owned();
    }
    format!("#unknownLBInfo: {{{}}}", pairs.join(", "))
}

fn backend(file: &mut Lines, parameters: &[Field]) {
    file.text(
        "
# Samples of backends.
backend:
  parameters:
    # Valid ones. Without any, backends have no parameters.
    #valid:
",
    );
    if parameters.is_empty() {
        file.text("      #- {weight: \"50\"}\n");
    } else {
        // The dash has its own line, because each key has a comment above.
        file.line(6, "#-");
        fields(file, 8, parameters);
    }
    file.text(
        "    \
    # Invalid ones, which the driver must reject with a reason.
    #invalid:
      #- {weight: \"-1\"}
    # An allowed update of the first valid ones.
    #update: {weight: \"80\"}
  # The template of pods: a Pod, or the path of a file with one. Names, uids and IPs are replaced.
  #podTemplate: {metadata: {labels: {app: web}}}
  # For drivers with static backends: addresses that can be registered.
  #addresses: [\"10.0.0.1:80\", \"10.0.0.2:80\", \"10.0.0.3:80\"]
  # An address that is not registered.
  #unknownAddr: \"10.255.255.254:1\"
",
    );
}

/// Fields as examples, each with its description.
fn fields(file: &mut Lines, indent: usize, fields: &[Field]) {
    for field in fields {
        let required = if field.is_required { "Required. " } else { "" };
        file.prose(indent, &format!("{required}{}", field.about));
        let line = format!("#{}: {}", key(&field.name), quoted(&field.example));
        file.line(indent, &line);
    }
}

/// A name as a key: in quotes, unless it is certainly a text.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let words = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf",
    ];
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_plain)
        && !words.contains(&name.to_ascii_lowercase().as_str());
    if plain { name.to_owned() } else { quoted(name) }
}

/// A text in double quotes, valid in JSON and YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.0, "{:indent$}{line}", "");
    }

    /// A wrapped comment. The text may be untrusted, and stays a comment.
    fn prose(&mut self, indent: usize, text: &str) {
        let mut line = String::new();
        let mut length = 0;
        let words = text.split(|c: char| c.is_control() || c.is_whitespace());
        for word in words.filter(|word| !word.is_empty()) {
            let more = word.chars().count();
            if length > 0 && indent + 2 + length + 1 + more > WIDTH {
                self.line(indent, &format!("# {line}"));
                line.clear();
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += more;
        }
        if length > 0 {
            self.line(indent, &format!("# {line}"));
        }
    }
}

#[cfg(test)]
mod tests;
