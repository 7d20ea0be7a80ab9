//! Files are whole or as they were; streams are written to.

use super::*;
use std::fs::File;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn write(format: Format, path: &Path, text: &str) -> Result<(), CannotWrite> {
    let path = Some(path.to_owned());
    Output { format, path }.write(text, None)
}

#[test]
fn files_are_replaced() {
    let folder = Folder::new();
    let file = folder.file("report.json");
    for text in ["a long first text", "second"] {
        write(Format::Json, &file, text).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    assert_eq!(folder.names(), ["report.json"]);
}

#[test]
fn only_the_steps_summary_grows() {
    let folder = Folder::new();
    let file = folder.file("summary.md");
    let other = folder.file("other.md");
    let write = |format, path: &Path, text| {
        let path = Some(path.to_owned());
        let output = Output { format, path };
        output.write(text, Some(&file)).unwrap();
    };
    for _ in 0..2 {
        write(Format::Markdown, &file, "x\n");
        write(Format::Markdown, &other, "x\n");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\nx\n");
    assert_eq!(fs::read_to_string(&other).unwrap(), "x\n");
    write(Format::Json, &file, "{}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
}

#[test]
fn errors_name_format_and_file_and_leave_nothing() {
    let folder = Folder::new();
    let missing = folder.file("no/report.xml");
    let error = write(Format::Junit, &missing, "x").unwrap_err().to_string();
    let start = format!("cannot write the junit report to {}: ", missing.display());
    assert!(error.starts_with(&start), "{error}");
    let error = write(Format::Report, folder.0.path(), "x").unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn links_stay_and_keep_their_files_modes() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let (file, link) = (folder.file("file"), folder.file("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&file, &link).unwrap();
    write(Format::Json, &link, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    symlink(folder.file("nothing"), folder.file("dangling")).unwrap();
    assert!(write(Format::Json, &folder.file("dangling"), "x").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn streams_are_written_to_and_stay() {
    let full = write(Format::Json, Path::new("/dev/full"), "x");
    assert_eq!(full.unwrap_err().source.kind(), ErrorKind::StorageFull);
    write(Format::Json, Path::new("/dev/null"), "x").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // What is open already, even if it is a file, is not replaced behind the opener's back.
    let folder = Folder::new();
    let file = File::create(folder.file("stdout")).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    let path = PathBuf::from(format!("/proc/self/fd/{fd}"));
    write(Format::Json, &path, "x").unwrap();
    write(Format::Json, &path, "y").unwrap();
    assert_eq!(fs::read_to_string(folder.file("stdout")).unwrap(), "xy");
    assert_eq!(file.metadata().unwrap().len(), 2);
}
