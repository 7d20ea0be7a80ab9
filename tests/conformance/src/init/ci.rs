//! CI configurations for a driver in any language.

/// The supported CI systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Ci {
    /// GitHub Actions: writes a workflow
    Github,
    /// GitLab CI: prints a job for .gitlab-ci.yml
    Gitlab,
}

/// The path of the workflow below the folder.
pub(super) const WORKFLOW: &str = ".github/workflows/lbcf-conformance.yml";

/// The workflow for GitHub, with lines to fill in.
pub(super) const GITHUB: &str = include_str!("templates/github.yaml");

/// The job for GitLab.
pub(super) const GITLAB: &str = include_str!("templates/gitlab.yaml");

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn both_are_yaml_and_run_the_kit_with_the_fixture() {
        let github: Value = serde_saphyr::from_str(GITHUB).unwrap();
        let steps = github["jobs"]["conformance"]["steps"].as_array().unwrap();
        let run = steps[3]["run"].as_str().unwrap();
        let gitlab: Value = serde_saphyr::from_str(GITLAB).unwrap();
        let script = gitlab["lbcf-conformance"]["script"][0].as_str().unwrap();
        for line in [run, script] {
            assert!(line.starts_with("lbcf conformance run --"), "{line}");
            assert!(line.contains("--fixture conformance.yaml "), "{line}");
            assert!(
                line.contains("--output junit=lbcf-conformance.xml"),
                "{line}"
            );
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
