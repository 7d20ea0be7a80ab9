//! The project's files: the templates with the project's names in their places.

use super::name::{Name, Namespace};
use super::sdk::{Sdk, quoted, string};

/// The port that the server listens on without being told.
const DEFAULT_PORT: u16 = 8080;

/// Where a file stands in the project, and its template. Some templates have names under which
/// they mean nothing to cargo and git while they are templates.
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
    template!("src/cloud.rs"),
    template!("src/driver.rs"),
    template!("src/fields.rs"),
    template!("src/lib.rs"),
    template!("src/main.rs"),
    template!("tests/driver.rs"),
];

/// What a project is made for.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) name: Name,
    pub(crate) namespace: Namespace,
    /// The name of its `LoadBalancerDriver`.
    pub(crate) driver: String,
    pub(crate) port: u16,
    pub(crate) sdk: Sdk,
}

impl Project {
    /// Every file: where it stands in the project, and its text.
    pub(crate) fn files(&self) -> Vec<(&'static str, String)> {
        let values = self.values();
        let fill = |template: &str| {
            values
                .iter()
                .fold(template.to_owned(), |text, (place, value)| {
                    text.replace(place, value)
                })
        };
        TEMPLATES
            .iter()
            .map(|(path, template)| (*path, fill(template)))
            .collect()
    }

    /// What `cargo run` needs to serve on the project's port.
    pub(crate) fn listen_flag(&self) -> String {
        if self.port == DEFAULT_PORT {
            String::new()
        } else {
            format!(" -- --listen 127.0.0.1:{}", self.port)
        }
    }

    /// What stands in which place. A path comes last: it is the only one that could look like a
    /// place itself.
    fn values(&self) -> Vec<(&'static str, String)> {
        let (namespace, is_system) = (&self.namespace, self.namespace.is_system());
        let who_may = if is_system {
            "It is for all namespaces, so it lives in kube-system and its name starts with `lbcf-`."
                .to_owned()
        } else {
            format!("It is for namespace {namespace} alone; one for all lives in kube-system.")
        };
        let mut values = vec![
            ("__WHO_MAY__", who_may),
            ("__NAME__", self.name.to_string()),
            ("__CRATE__", self.name.crate_name()),
            ("__DRIVER__", self.driver.clone()),
            ("__NAMESPACE__", namespace.to_string()),
            (
                "__EXAMPLE_NAMESPACE__",
                if is_system {
                    "default".to_owned()
                } else {
                    namespace.to_string()
                },
            ),
            ("__PORT__", self.port.to_string()),
            ("__LISTEN__", self.listen_flag()),
            (
                "__RUST_VERSION__",
                env!("CARGO_PKG_RUST_VERSION").to_owned(),
            ),
        ];
        let [context, copy, path, ci, row] = self.places_of_sdk();
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

    /// A folder of the SDK lies outside the project, and has to be brought to where the project is
    /// built: as a second context of `docker build`, two lines in the Dockerfile, one before and
    /// one after the project is copied, and a reminder for CI.
    fn places_of_sdk(&self) -> [String; 5] {
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
# The SDK comes from a folder outside this one; in here it is at /lbcf/lbcf-driver-sdk.
COPY --from=lbcf Cargo.toml /lbcf/
COPY --from=lbcf [{}, \"/lbcf/lbcf-driver-sdk\"]
",
            string(folder)
        );
        let path_in_image = "\
RUN sed -i '/^lbcf-driver-sdk/s|path = \"[^\"]*\"|path = \"/lbcf/lbcf-driver-sdk\"|' Cargo.toml
";
        [
            format!("--build-context lbcf={} ", quoted(parent)),
            copy,
            path_in_image.to_owned(),
            format!("    # FILL-IN: lbcf-driver-sdk has to be at {path} here.\n"),
            ci_row("where `lbcf` comes from, and how the SDK's folder gets there"),
        ]
    }
}

/// What is to be filled in for CI, as a row of the README's table.
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

    fn file(project: &Project, wanted: &str) -> String {
        let files = project.files();
        let found = files.into_iter().find(|(path, _)| *path == wanted);
        found.map(|(_, text)| text).unwrap()
    }

    #[test]
    fn every_place_has_its_value_and_every_value_its_place() {
        let values = project(Sdk::registry()).values();
        for (place, _) in &values {
            let is_used = TEMPLATES.iter().any(|(_, text)| text.contains(place));
            assert!(is_used, "{place}");
        }
        for (path, text) in project(Sdk::registry()).files() {
            assert!(!text.contains("__"), "{path}:\n{text}");
        }
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
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
