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
pub(super) const GITHUB: &str = r#"# Runs the LBCF conformance checks on the driver. This needs the driver and the binary `lbcf`, but no
# Kubernetes.
name: LBCF conformance
on: [push, pull_request]
permissions:
  contents: read
jobs:
  conformance:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      # FILL-IN: build the driver, such as `go build -o driver .`, `pip install -r requirements.txt`
      # or `npm ci`.
      - run: go build -o driver .
      # FILL-IN: install `lbcf`.
      - run: lbcf --version
      # FILL-IN: the command that starts the driver; {port} is the port to listen on.
      - run: >-
          lbcf conformance run
          --exec './driver --port {port}'
          --fixture conformance.yaml
          --output junit=lbcf-conformance.xml
          --output markdown="$GITHUB_STEP_SUMMARY"
          --report lbcf-conformance-report.yaml
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: lbcf-conformance
          path: |
            lbcf-conformance.xml
            lbcf-conformance-report.yaml
"#;

/// The job for GitLab.
pub(super) const GITLAB: &str = r#"# For .gitlab-ci.yml. FILL-IN: the image with `lbcf`, and the driver's image.
lbcf-conformance:
  image:
    name: registry.example/lbcf:VERSION
    entrypoint: [""]
  services:
    - name: $CI_REGISTRY_IMAGE:$CI_COMMIT_SHA
      alias: driver
  script:
    - >-
      lbcf conformance run
      --url http://driver:8080 --wait 60s
      --fixture conformance.yaml
      --output junit=lbcf-conformance.xml
      --report lbcf-conformance-report.yaml
  artifacts:
    when: always
    paths: [lbcf-conformance-report.yaml]
    reports:
      junit: lbcf-conformance.xml
"#;

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
