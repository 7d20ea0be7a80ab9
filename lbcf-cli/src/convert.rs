//! `lbcf convert`: manifests of earlier editions as today's.

use crate::manifests;
use lbcf_controller::conversion::{self, ManifestFile, PodSelector};
use lbcf_serving::streams;
use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Convert manifests of earlier editions, for `kubectl apply -f -`
///
/// Rewrites the API group tke.cloud.tencent.com, `lbName`, `pods.port`, `portNumber`, labels in `byLabel`
/// without `selector`, numbers in maps of strings, names of load balancers with a scope, a record's
/// `attributes`, and metadata that only the API server sets. The manifests are printed on stdout, and each
/// change on a line of stderr:
///
///   lbcf convert -f old.yaml | kubectl apply -f -
///
/// Objects of other kinds and manifests that are up to date are printed as they are. A manifest that was
/// changed loses its comments, and its fields are sorted. If any manifest cannot be converted, nothing is
/// printed on stdout, stderr names the document, the field, its value and what is allowed, and the exit code
/// is 2.
#[derive(Debug, Clone, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONVERT_"))]
pub(crate) struct ConvertArgs {
    /// File with manifests, folder with such files (.yaml, .yml, .json), or `-` for stdin; repeatable
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "FILE",
        value_delimiter = ',',
        required = true
    )]
    files: Vec<PathBuf>,

    /// Labels for BackendGroups and Binds that select no pods, such as app=web; without them those are
    /// errors
    #[arg(long, value_name = "LABELS")]
    pod_selector: Option<PodSelector>,
}

pub(crate) fn run(args: ConvertArgs) -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    let mut is_stdin_read = false;
    for path in &args.files {
        if path == Path::new("-") {
            if std::mem::replace(&mut is_stdin_read, true) {
                return Err("-f -: stdin can be read only once".into());
            }
            files.push(read_stdin()?);
        } else {
            let found = manifests::files(path).map_err(|error| problem(path, error))?;
            if found.is_empty() {
                let why = "the folder has no .yaml, .yml or .json files";
                return Err(problem(path, why).into());
            }
            for path in found {
                files.push(read(&path)?);
            }
        }
    }
    let converted = conversion::convert(&files, args.pod_selector.as_ref())?;
    if converted.yaml.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        return Err(format!("-f {}: contains no manifest", names.join(",")).into());
    }
    let mut stderr = std::io::stderr().lock();
    for change in &converted.changes {
        writeln!(stderr, "{change}")?;
    }
    Ok(streams::print(&converted.yaml)?)
}

fn read_stdin() -> Result<ManifestFile, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("-f -: {error}"))?;
    Ok(ManifestFile {
        name: "stdin".to_owned(),
        text,
    })
}

fn read(path: &Path) -> Result<ManifestFile, String> {
    let text = fs::read_to_string(path).map_err(|error| problem(path, error))?;
    Ok(ManifestFile {
        name: path.display().to_string(),
        text,
    })
}

fn problem(path: &Path, problem: impl std::fmt::Display) -> String {
    format!("-f {}: {problem}", path.display())
}
