//! The rule of flags: each can also be given by an environment variable, whose name follows from the flag's.

use clap::Arg;

/// Gives each flag that has no variable yet the one that consists of the prefix and the flag's name.
///
/// ```
/// use clap::{CommandFactory as _, Parser};
/// use lbcf_serving::flags;
///
/// #[derive(Parser)]
/// #[command(mut_args = flags::variables("MY_DRIVER_"))]
/// struct Mine {
///     #[arg(long)]
///     max_backends: Option<usize>,
///     #[arg(long, env = "REGION")]
///     region: Option<String>,
/// }
/// let mine = Mine::command();
/// let names: Vec<_> = mine.get_arguments().map(|flag| flag.get_env().unwrap()).collect();
/// assert_eq!(names, ["MY_DRIVER_MAX_BACKENDS", "REGION"]);
/// ```
///
/// On a struct that others flatten, it also concerns the flags that were added before: those of structs that
/// come earlier have their variables by then if they follow this rule as well.
pub fn variables(prefix: &'static str) -> impl Fn(Arg) -> Arg {
    move |flag| match flag.get_long() {
        Some(name) if flag.get_env().is_none() => {
            let name = name.to_uppercase().replace('-', "_");
            flag.env(format!("{prefix}{name}"))
        }
        _ => flag,
    }
}
