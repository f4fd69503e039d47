//! Values of options: from a method's argument, and from text.

use crate::runtime::FOR_EVER;
use std::time::Duration;

/// A value that a properties file can hold.
pub(crate) trait OptionValue: Sized {
    /// Reads it; the error says what would be right.
    fn parse(text: &str) -> Result<Self, String>;
}

/// A value that a method's argument becomes.
pub(crate) trait FromArgument<A> {
    fn from_argument(argument: A) -> Self;
}

impl<A: Into<Self>> FromArgument<A> for String {
    fn from_argument(argument: A) -> Self {
        argument.into()
    }
}
impl<A: Into<String>> FromArgument<A> for Option<String> {
    fn from_argument(argument: A) -> Self {
        Some(argument.into())
    }
}

/// Types whose option is the argument itself.
macro_rules! plain_options {
    ($($ty:ty),* $(,)?) => {$(
        impl $crate::config::FromArgument<$ty> for $ty {
            fn from_argument(argument: $ty) -> Self {
                argument
            }
        }
    )*};
}
pub(crate) use plain_options;
plain_options!(bool, usize, i32);

impl FromArgument<Self> for Duration {
    /// No more than deadlines can be counted with.
    fn from_argument(argument: Self) -> Self {
        argument.min(FOR_EVER)
    }
}

impl OptionValue for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}
impl OptionValue for Option<String> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}
impl OptionValue for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("`{text}` is neither true nor false")),
        }
    }
}
impl OptionValue for usize {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("`{text}` is not a whole number of zero or more"))
    }
}
impl OptionValue for i32 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("`{text}` is not a whole number"))
    }
}
impl OptionValue for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        let millis = text.parse().map_err(|_| format!("`{text}` is not a number of milliseconds"))?;
        Ok(Self::from_millis(millis).min(FOR_EVER))
    }
}
