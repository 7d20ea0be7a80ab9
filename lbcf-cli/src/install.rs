//! `lbcf install`: prints what `kubectl apply -k deploy/` applies.

use crate::new::Namespace;
use lbcf_controller::admission::{Endpoint, configurations_yaml};
use lbcf_controller::api::crds_yaml;
use lbcf_controller::names::{self, SYSTEM_NAMESPACE};
use lbcf_serving::streams;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The manifests of `deploy/controller/`.
const CONTROLLER: [&str; 4] = [
    include_str!("../../deploy/controller/rbac.yaml"),
    include_str!("../../deploy/controller/deployment.yaml"),
    include_str!("../../deploy/controller/availability.yaml"),
    include_str!("../../deploy/controller/network-policy.yaml"),
];
const IMAGE: &str = concat!("lbcf-controller:", env!("CARGO_PKG_VERSION"));
/// The longest reference of an image, in bytes: a name of 255 characters, a tag of 128 and a digest.
const MAX_IMAGE: usize = 512;

/// Print the CRDs, the webhook configurations and the controller, for `kubectl apply -f -`
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_INSTALL_"))]
pub(crate) struct InstallArgs {
    /// Namespace of the controller, which has to exist; drivers for all namespaces are in kube-system anyway
    #[arg(long, value_name = "NAMESPACE", default_value = SYSTEM_NAMESPACE)]
    namespace: Namespace,

    /// Image with the binary lbcf-controller, such as registry.example/lbcf-controller:0.1.0
    #[arg(long, value_name = "IMAGE", default_value = IMAGE)]
    image: Image,
}

/// The reference of an image, which needs no quotes in YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Image(String);

impl FromStr for Image {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let ends = text.ends_with(|c: char| c.is_ascii_alphanumeric());
        if begins && ends && text.len() <= MAX_IMAGE && text.chars().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "{text:?}: must be the reference of an image, such as registry.example/lbcf-controller:0.1.0: \
                 up to {MAX_IMAGE} letters, digits and . _ - / : @, with a letter or digit first and last"
            ))
        }
    }
}

pub(crate) fn print(args: &InstallArgs) -> Result<(), Box<dyn Error>> {
    Ok(streams::print(&manifests(&args.namespace, &args.image)?)?)
}

/// In the order in which kubectl has to apply them.
fn manifests(namespace: &impl fmt::Display, image: &Image) -> Result<String, Box<dyn Error>> {
    let endpoint = Endpoint::Service {
        namespace: namespace.to_string(),
        name: names::CONTROLLER.into(),
        port: 443,
    };
    let mut printed = crds_yaml()?;
    for yaml in CONTROLLER {
        let yaml = yaml
            .replace(
                &format!("namespace: {SYSTEM_NAMESPACE}"),
                &format!("namespace: {namespace}"),
            )
            .replace(&format!("image: {IMAGE}"), &format!("image: {}", image.0));
        printed.push_str("---\n");
        printed.push_str(&yaml);
    }
    printed.push_str(&configurations_yaml(&endpoint, None)?);
    Ok(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_and_the_image_are_replaced_wherever_they_are() {
        let printed = manifests(&"elsewhere", &"r.example/c@sha256:ab".parse().unwrap()).unwrap();
        assert!(!printed.contains("namespace: kube-system"));
        assert_eq!(printed.matches("image: ").count(), 1);
        assert!(printed.contains("image: r.example/c@sha256:ab\n"));
    }

    #[test]
    fn images_that_yaml_would_read_as_something_else_are_refused() {
        for image in ["", "a b", "a: b", "a:", "#a", "a\nb", "\"a\"", "{a}", "ä"] {
            let refused = Image::from_str(image).unwrap_err();
            assert!(
                refused.starts_with(&format!("{image:?}: must")),
                "{refused}"
            );
        }
        assert!(Image::from_str(&"a".repeat(MAX_IMAGE + 1)).is_err());
    }
}
