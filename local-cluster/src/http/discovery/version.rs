//! Which Kubernetes this is.

use serde_json::{Value, json};

/// `/version`: the build whose answers this crate follows. Clients read every field.
pub(crate) fn version() -> Value {
    json!({
        "major": "1", "minor": "36",
        "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.2",
        // As a build from an archive has them.
        "gitCommit": "$Format:%H$", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "go1.26.6", "compiler": "gc", "platform": "linux/amd64",
    })
}
