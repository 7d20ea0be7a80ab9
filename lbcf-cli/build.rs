//! Builds again when a template comes or goes, which the compiler does not see.

fn main() {
    println!("cargo::rerun-if-changed=templates");
}
