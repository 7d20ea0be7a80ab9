//! The rule of flags: each can also be given by an environment variable, whose name follows from the flag's.

use clap::builder::{BoolishValueParser, Resettable};
use clap::{Arg, ArgAction};
use std::ffi::OsStr;

/// Gives each flag that has no variable yet the one that consists of the prefix and the flag's name. A variable that
/// is empty counts as one that is not set, and that of a flag without a value may be `1`, `true`, `yes`, `on` or one
/// of `0`, `false`, `no`, `off`.
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
    move |mut flag| {
        if let Some(name) = flag.get_long().filter(|_| flag.get_env().is_none()) {
            let name = name.to_uppercase().replace('-', "_");
            flag = flag.env(format!("{prefix}{name}"));
        }
        let is_switch = matches!(flag.get_action(), ArgAction::SetTrue);
        if is_switch {
            flag = flag.value_parser(BoolishValueParser::new());
        }
        let value = flag.get_env().and_then(std::env::var_os);
        match value.as_deref().and_then(OsStr::to_str) {
            // For clap, a switch that is off would be one that is given, which other flags may conflict with.
            Some(value) if value.is_empty() || is_switch && is_off(value) => {
                flag.env(Resettable::Reset)
            }
            _ => flag,
        }
    }
}

/// The words of [`BoolishValueParser`].
fn is_off(value: &str) -> bool {
    let value = value.to_lowercase();
    ["0", "f", "false", "n", "no", "off"].contains(&value.as_str())
}
