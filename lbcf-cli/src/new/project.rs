//! The project's files: the templates with their placeholders replaced.

use super::language::{Kind, Language};
use super::name::{Name, Namespace};
use super::sdk::{Sdk, string};
use crate::shell;
use std::path::PathBuf;

/// The server's default port.
const DEFAULT_PORT: u16 = 8080;

/// The parameters of a project.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) name: Name,
    pub(crate) namespace: Namespace,
    /// The name of the `LoadBalancerDriver` object.
    pub(crate) driver: String,
    pub(crate) port: u16,
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    /// Of a driver in Rust.
    pub(crate) sdk: Sdk,
}

impl Project {
    /// The path and the text of each file.
    pub(crate) fn files(&self) -> Vec<(PathBuf, String)> {
        let values = self.values();
        let fill = |template: &str| {
            values
                .iter()
                .fold(template.to_owned(), |text, (placeholder, value)| {
                    text.replace(placeholder, value)
                })
        };
        let templates = self.language.templates(self.kind).into_iter();
        templates
            .map(|(path, template)| (path, fill(template)))
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
        let [arguments, key, memory, probes, dry_run, webhooks] = self.features();
        let mut values = vec![
            ("__MORE_ARGS__", arguments),
            ("__KEY__", key),
            ("__MEMORY__", memory),
            ("__PROBES__", probes),
            ("__DRY_RUN__", dry_run),
            ("__MORE_WEBHOOKS__", webhooks),
            ("__SCOPE__", scope),
            ("__NAME__", self.name.to_string()),
            ("__DRIVER__", self.driver.clone()),
            ("__NAMESPACE__", namespace),
            ("__EXAMPLE_NAMESPACE__", examples),
            ("__PORT__", self.port.to_string()),
        ];
        if self.language != Language::Rust {
            return values;
        }
        values.extend([
            ("__CRATE__", self.name.crate_name()),
            ("__LISTEN__", self.listen_flag()),
            (
                "__RUST_VERSION__",
                env!("CARGO_PKG_RUST_VERSION").to_owned(),
            ),
        ]);
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

    /// The lines of manifests that differ by language: its further flags, a note on probes, dry runs and further webhooks.
    fn features(&self) -> [String; 6] {
        let lines = if self.language == Language::Rust {
            [
                "        - --log-format=json\n",
                "        # - --cloud-key-file=/secrets/cloud/key\n",
                "32Mi",
                "        # With client certificates (--client-ca) probes need a separate port: --probes-on.\n",
                "  # If the driver supports `dryRun: true`, set this to true and implement `Driver::accepts_dry_run`.\n  \
                   acceptDryRunCall: false\n",
                "",
            ]
        } else {
            [
                "",
                "        # env: [{name: CLOUD_KEY_FILE, value: /secrets/cloud/key}]\n",
                "64Mi",
                "",
                "  acceptDryRunCall: true\n",
                "  - name: judgePodDeregister\n    timeout: 10s\n  - name: listBackends\n    timeout: 10s\n",
            ]
        };
        lines.map(str::to_owned)
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
    use clap::ValueEnum;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn project(sdk: Sdk) -> Project {
        Project {
            name: "demo-driver".parse().unwrap(),
            namespace: "kube-system".parse().unwrap(),
            driver: "lbcf-demo-driver".into(),
            port: 9000,
            language: Language::Rust,
            kind: Kind::Memory,
            sdk,
        }
    }

    fn file(project: &Project, name: &str) -> String {
        let files = project.files();
        let found = files.into_iter().find(|(path, _)| path == Path::new(name));
        found.map(|(_, text)| text).unwrap()
    }

    #[test]
    fn every_placeholder_has_a_value_and_every_value_a_placeholder() {
        for language in Language::value_variants() {
            let project = Project {
                language: *language,
                ..project(Sdk::registry())
            };
            let values = project.values();
            let templates = language.templates(Kind::Memory);
            for (placeholder, _) in &values {
                let is_used = templates.iter().any(|(_, text)| text.contains(placeholder));
                assert!(is_used, "{language:?}: {placeholder}");
            }
            for (path, text) in project.files() {
                assert!(!has_placeholder(&text), "{path:?}:\n{text}");
            }
        }
    }

    /// Python has words of its own between underscores, in lower case.
    fn has_placeholder(text: &str) -> bool {
        let words = text.split("__").skip(1).step_by(2);
        words.into_iter().any(|word| {
            !word.is_empty() && word.chars().all(|it| it.is_ascii_uppercase() || it == '_')
        })
    }

    #[test]
    fn another_kind_replaces_one_file_of_each_language() {
        for language in Language::value_variants() {
            let [memory, local] = [Kind::Memory, Kind::Local]
                .map(|kind| BTreeMap::from_iter(language.templates(kind)));
            assert!(memory.keys().eq(local.keys()), "{language:?}");
            let differs = |it: &&PathBuf| memory[*it] != local[*it];
            let differing: Vec<_> = memory.keys().filter(differs).collect();
            assert!(
                matches!(&differing[..], [it] if it.file_stem().unwrap() == "proxy"),
                "{language:?}: {differing:?}"
            );
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
        assert!(manifest.contains(dependency), "{manifest}");
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
