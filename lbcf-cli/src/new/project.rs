//! The project's files: the templates with their placeholders replaced.

use super::name::{Name, Namespace};
use super::sdk::{Sdk, string};
use crate::shell;

/// The server's default port.
const DEFAULT_PORT: u16 = 8080;

/// The path of a file in the project, and its template. Some templates have other names, which
/// cargo and git ignore.
macro_rules! template {
    ($path:literal) => {
        template!($path from $path)
    };
    ($path:literal from $file:literal) => {
        (
            $path,
            include_str!(concat!("../../templates/driver/", $file)),
        )
    };
}

const TEMPLATES: &[(&str, &str)] = &[
    template!(".dockerignore" from "dockerignore"),
    template!(".github/workflows/ci.yml" from "ci.yml"),
    template!(".gitignore" from "gitignore"),
    template!("Cargo.toml" from "Cargo.toml.template"),
    template!("Dockerfile"),
    template!("README.md" from "README.md.template"),
    template!("conformance.yaml"),
    template!("deploy/10-deployment.yaml"),
    template!("deploy/20-service.yaml"),
    template!("deploy/30-driver.yaml"),
    template!("deploy/example/10-load-balancer.yaml"),
    template!("deploy/example/20-backend-group.yaml"),
    template!("deploy/example/30-web-server.yaml"),
    template!("src/cloud.rs"),
    template!("src/driver.rs"),
    template!("src/fields.rs"),
    template!("src/lib.rs"),
    template!("src/main.rs"),
    template!("src/observer.rs"),
    template!("src/proxy.rs"),
    template!("tests/driver.rs"),
];

/// The parameters of a project.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) name: Name,
    pub(crate) namespace: Namespace,
    /// The name of the `LoadBalancerDriver` object.
    pub(crate) driver: String,
    pub(crate) port: u16,
    pub(crate) sdk: Sdk,
}

impl Project {
    /// The path and the text of each file.
    pub(crate) fn files(&self) -> Vec<(&'static str, String)> {
        let values = self.values();
        let fill = |template: &str| {
            values
                .iter()
                .fold(template.to_owned(), |text, (placeholder, value)| {
                    text.replace(placeholder, value)
                })
        };
        TEMPLATES
            .iter()
            .map(|(path, template)| (*path, fill(template)))
            .collect()
    }

    /// The arguments of `cargo run` that set the port; empty for the default.
    pub(crate) fn listen_flag(&self) -> String {
        if self.port == DEFAULT_PORT {
            String::new()
        } else {
            format!(" -- --listen 127.0.0.1:{}", self.port)
        }
    }

    /// The value of each placeholder. The path comes last, because only a path can contain text that
    /// looks like a placeholder.
    fn values(&self) -> Vec<(&'static str, String)> {
        let namespace = self.namespace.to_string();
        let (scope, examples) = match self.namespace.is_system() {
            true => (
                "All namespaces may use it, so it is in kube-system and its name starts with `lbcf-`.".to_owned(),
                "default".to_owned(),
            ),
            false => (
                format!("Only namespace {namespace} may use it; a driver for all namespaces is in kube-system."),
                namespace.clone(),
            ),
        };
        let mut values = vec![
            ("__SCOPE__", scope),
            ("__NAME__", self.name.to_string()),
            ("__CRATE__", self.name.crate_name()),
            ("__DRIVER__", self.driver.clone()),
            ("__NAMESPACE__", namespace),
            ("__EXAMPLE_NAMESPACE__", examples),
            ("__PORT__", self.port.to_string()),
            ("__LISTEN__", self.listen_flag()),
            (
                "__RUST_VERSION__",
                env!("CARGO_PKG_RUST_VERSION").to_owned(),
            ),
        ];
        let [context, copy, path, ci, row] = self.sdk_placeholders();
        values.extend([
            ("__DOCKER_CONTEXT__", context),
            ("__DOCKER_SDK__", copy),
            ("__DOCKER_SDK_PATH__", path),
            ("__CI_SDK__", ci),
            ("__README_CI__", row),
            ("__SDK__", self.sdk.dependency()),
        ]);
        values
    }

    /// The placeholders for an SDK in a folder outside the project, which has to be available where
    /// the project is built: a second context of `docker build`, a line of the Dockerfile before the
    /// project is copied and one after, and a reminder for CI.
    fn sdk_placeholders(&self) -> [String; 5] {
        let Sdk::Folder {
            path,
            parent,
            folder,
        } = &self.sdk
        else {
            let [context, copy, path, ci] = Default::default();
            return [context, copy, path, ci, ci_row("where `lbcf` comes from")];
        };
        let copy = format!(
            "\
# The SDK comes from a folder outside the project; in the image it is at /lbcf/lbcf-driver-sdk.
COPY --from=lbcf Cargo.toml /lbcf/
COPY --from=lbcf [{}, \"/lbcf/lbcf-driver-sdk\"]
",
            string(folder)
        );
        let path_in_image = "\
RUN sed -i '/^lbcf-driver-sdk/s|path = \"[^\"]*\"|path = \"/lbcf/lbcf-driver-sdk\"|' Cargo.toml
";
        [
            format!("--build-context lbcf={} ", shell::quote(parent)),
            copy,
            path_in_image.to_owned(),
            format!("    # FILL-IN: lbcf-driver-sdk has to be at {path} here.\n"),
            ci_row("where `lbcf` comes from, and how the SDK's folder gets there"),
        ]
    }
}

/// The row on CI of the table in the README.
fn ci_row(what: &str) -> String {
    format!("| `.github/workflows/ci.yml` | {what} |\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(sdk: Sdk) -> Project {
        Project {
            name: "demo-driver".parse().unwrap(),
            namespace: "kube-system".parse().unwrap(),
            driver: "lbcf-demo-driver".into(),
            port: 9000,
            sdk,
        }
    }

    fn file(project: &Project, name: &str) -> String {
        let files = project.files();
        let found = files.into_iter().find(|(path, _)| *path == name);
        found.map(|(_, text)| text).unwrap()
    }

    #[test]
    fn every_placeholder_has_a_value_and_every_value_a_placeholder() {
        let values = project(Sdk::registry()).values();
        for (placeholder, _) in &values {
            let is_used = TEMPLATES.iter().any(|(_, text)| text.contains(placeholder));
            assert!(is_used, "{placeholder}");
        }
        for (path, text) in project(Sdk::registry()).files() {
            assert!(!text.contains("__"), "{path}:\n{text}");
        }
    }

    #[test]
    fn a_path_is_used_unchanged() {
        let path = r#"/a "b"/__NAME__ it's/lbcf-driver-sdk"#;
        let project = project(Sdk::Folder {
            path: path.into(),
            parent: r#"/a "b"/__NAME__ it's"#.into(),
            folder: "lbcf-driver-sdk".into(),
        });
        let manifest = file(&project, "Cargo.toml");
        let dependency = r#"{ path = "/a \"b\"/__NAME__ it's/lbcf-driver-sdk", "#;
        assert_eq!(manifest.matches(dependency).count(), 2, "{manifest}");
        let dockerfile = file(&project, "Dockerfile");
        let context = r#"--build-context lbcf='/a "b"/__NAME__ it'\''s' --tag demo-driver"#;
        assert!(dockerfile.contains(context), "{dockerfile}");
        assert!(file(&project, ".github/workflows/ci.yml").contains(path));
    }

    #[test]
    fn the_port_is_the_same_everywhere() {
        let project = project(Sdk::registry());
        for path in [
            "Dockerfile",
            "README.md",
            "conformance.yaml",
            "deploy/10-deployment.yaml",
        ] {
            let text = file(&project, path);
            assert!(text.contains("9000") && !text.contains("8080"), "{path}");
        }
        assert_eq!(project.listen_flag(), " -- --listen 127.0.0.1:9000");
        let project = Project {
            port: DEFAULT_PORT,
            ..project
        };
        assert_eq!(project.listen_flag(), "");
    }
}
