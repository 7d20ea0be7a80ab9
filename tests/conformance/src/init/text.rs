//! What the fixture's file says. What is not known stands there as an example in a comment, so
//! that a run works with the file as it is.

use super::findings::{EmptySpec, Findings, Seen};
use super::schema::Field;
use crate::fixture::{API_VERSION, KIND};
use std::fmt::Write as _;

/// Where comments are broken, in characters.
const WIDTH: usize = 100;

/// The fixture's text.
pub(super) fn fixture(findings: &Findings) -> String {
    let mut file = Lines::default();
    file.text(&format!(
        "\
# What `lbcf conformance run` has to know of your driver, beside its URL.
#
# All of it may stay as it is: the kit then runs what it can, and says what it had to skip. Lines
# that begin with # and a space explain. Lines that begin with # and no space are examples: take
# the # away, change the value, and more checks are made. An example that ends with a colon belongs
# to the examples that are indented below it.
#
# Values are texts, as on the wire. In those of lbSpec, attributes and parameters, {{{{unique}}}}
# stands for a name that no other check uses, and {{{{number}}}} for a number that is used once in a
# run, from 20000 to 59999.
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
# Who the driver is: for reports.
driver:
  #organization: acme
  #project: acme-lb
  #version: v1.0.0
  #url: https://acme.example/lb
  #contact: ["@acme/lb"]
"#;

const FEATURES: &str = r#"
# What the driver can do beyond what every driver does. What is named here is checked; what is not
# is not, and is no fault.
features:
  # Some operations answer Running, and are asked again until they are done.
  #- async
  # Requests with dryRun: true change nothing (acceptDryRunCall of the LoadBalancerDriver).
  #- dryRun
  # The webhook judgePodDeregister is there.
  #- judgePodDeregister
  # Pods can be registered; Services, by their nodes and node ports; and static addresses.
  #- backend.pod
  #- backend.service
  #- backend.static
  # A load balancer's attributes can be changed; and a backend's parameters.
  #- update.attributes
  #- update.parameters
"#;

const REST: &str = r#"
# How to see what is really there. Without it, checks judge by the driver's answers alone. A GET of
# the URL answers, or a program prints:
#   {"loadBalancers": [{"lbInfo": {}, "attributes": {}, "backends": [{"addr": "", "parameters": {}}]}]}
# {url}, {host} and {port} are the driver's. A program instead: {command: ["./observe.sh", "{port}"]}
#observe: {url: "http://{host}:9090/observe"}

# How to restart the driver, to see that nothing depends on its memory. {exec: true} restarts the
# program of --exec; {url: …} is called by POST.
#restart: {command: ["./restart.sh"]}

# How to make the driver's cloud fail for a while: called with "on", and then with "off".
#fault: {command: ["./fault.sh", "{on|off}"]}

# How long things may take.
budgets:
  # One operation, until it is no longer Running.
  #async: 120s
  # The whole run.
  #total: 10m

# Failures that are known, and why: they are reported, but do not fail the run.
knownFailures:
  #- {id: DLB-03, reason: "ACME-12: the cloud refuses to delete what is not there"}
"#;

fn endpoint(file: &mut Lines, findings: &Findings) {
    file.text("\n# Where the driver is, and how it is called.\nendpoint:\n");
    match &findings.url {
        Some(url) if url.is_cut => {
            file.prose(2, "Used where neither --url nor --exec is given. User and password are left out here.");
            file.line(2, &format!("#url: {}", quoted(&url.shown)));
        }
        Some(url) => {
            file.prose(2, "Used where neither --url nor --exec is given.");
            file.line(2, &format!("url: {}", quoted(&url.shown)));
        }
        None => {
            file.prose(2, "Used where neither --url nor --exec is given.");
            file.line(2, "#url: http://127.0.0.1:8080");
        }
    }
    file.text(
        "  \
  # How long a call may take, by webhook; at most 60s, and 10s where nothing is said.
  #timeouts: {default: 10s, createLoadBalancer: 30s}
  # Headers that go with each call.
  #headers: {x-tenant: \"7\"}
",
    );
}

fn load_balancer(file: &mut Lines, findings: &Findings) {
    let maps = &findings.maps;
    file.text("\n# Which load balancers there can be.\nloadBalancer:\n");
    file.prose(
        2,
        "Right ones: they are created, changed and deleted, each check with its own.",
    );
    match &findings.seen {
        Seen::There { empty_spec, .. } => match empty_spec {
            EmptySpec::Accepted => file.prose(
                2,
                "The driver takes an empty lbSpec, so this may stay as it is.",
            ),
            EmptySpec::Refused(message) => {
                let message = if message.is_empty() {
                    "no, without a reason"
                } else {
                    message
                };
                let said = format!("Of an empty lbSpec the driver said: {message}");
                file.prose(2, &said);
                file.prose(2, "Until this is filled in, most checks are skipped.");
            }
            EmptySpec::NoVerdict(problem) => file.prose(
                2,
                &format!("Asked about an empty lbSpec the driver gave no proper answer: {problem}"),
            ),
        },
        Seen::Away(_) | Seen::NotAsked => file.prose(
            2,
            "Without any an empty lbSpec is tried; for most drivers this has to be filled in.",
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
        "Wrong ones, each of which the driver must refuse with a reason.",
    );
    file.text(match &findings.seen {
        Seen::There { empty_spec, .. } => match empty_spec {
            EmptySpec::Refused(_) => {
                "  invalid:\n    - {lbSpec: {}, reason: \"the driver refused it when this was written\"}\n"
            }
            EmptySpec::Accepted => {
                "  #invalid:\n    #- {lbSpec: {vpcID: \"no such\"}, reason: \"there is no such network\"}\n"
            }
            EmptySpec::NoVerdict(_) => EMPTY_IS_WRONG,
        },
        Seen::Away(_) | Seen::NotAsked => EMPTY_IS_WRONG,
    });
    file.text(
        "  \
  #update:
    # Attributes that the first right one can be changed to.
    #attributes: {bandwidth: \"2\"}
    # Attributes that it cannot be changed to.
    #forbidden: [{attributes: {charge: prepaid}}]
  # The identity (lbInfo) of a load balancer that does not exist, but might.
",
    );
    file.line(2, &unknown_lb_info(&maps.lb_info));
    file.text(
        "  \
  # Whether checks that need just some load balancer share one, where each is dear.
  #reuse: true
",
    );
}

const EMPTY_IS_WRONG: &str = "  #invalid:\n    #- {lbSpec: {}, reason: \"nothing says where\"}\n";

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
# Which backends there can be.
backend:
  parameters:
    # Right ones. Without any, backends have no parameters.
    #valid:
",
    );
    if parameters.is_empty() {
        file.text("      #- {weight: \"50\"}\n");
    } else {
        // A list's item has its first key beside the dash, so the dash has a line of its own.
        file.line(6, "#-");
        fields(file, 8, parameters);
    }
    file.text(
        "    \
    # Wrong ones, each of which the driver must refuse with a reason.
    #invalid:
      #- {weight: \"-1\"}
    # What the first right ones can be changed to.
    #update: {weight: \"80\"}
  # What pods are made from: a Pod, or the path of a file with one. Names, uids and IPs are replaced.
  #podTemplate: {metadata: {labels: {app: web}}}
  # For drivers of static addresses: some that can be registered.
  #addresses: [\"10.0.0.1:80\", \"10.0.0.2:80\", \"10.0.0.3:80\"]
  # An address that nothing is registered by.
  #unknownAddr: \"10.255.255.254:1\"
",
    );
}

/// Fields as examples, each with what is known of it.
fn fields(file: &mut Lines, indent: usize, fields: &[Field]) {
    for field in fields {
        let required = if field.is_required { "Required. " } else { "" };
        file.prose(indent, &format!("{required}{}", field.about));
        let line = format!("#{}: {}", key(&field.name), quoted(&field.example));
        file.line(indent, &line);
    }
}

/// A name as a key: in quotes, unless nobody could take it for anything but a text.
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

/// A text in double quotes, as JSON has it and YAML takes it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The file as it grows.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn line(&mut self, indent: usize, line: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.0, "{:indent$}{line}", "");
    }

    /// A comment, broken into lines. What it says may be somebody else's, and stays a comment.
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
