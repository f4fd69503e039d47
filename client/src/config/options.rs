//! The macro that turns a table of options into a builder's methods, defaults and keys.

/// Declares a builder's options: a struct of the values with their defaults, a method each, and `set` by Kafka's key.
///
/// The builder has the fields `options: $options` and `problems: Vec<ConfigError>`; `build` asks `checked()` first.
macro_rules! options {
    ($builder:ident, $options:ident { $(
        $(#[$doc:meta])*
        $key:literal => $method:ident($argument:ty): $field:ty = $default:expr, $shown:literal $(, $check:ident)?;
    )* }) => {
        #[derive(Debug, Clone)]
        pub(crate) struct $options {
            $(pub(crate) $method: $field,)*
        }
        impl Default for $options {
            fn default() -> Self {
                Self { $($method: $default,)* }
            }
        }
        impl $options {
            /// Kafka's keys of these options.
            pub(crate) const KEYS: &'static [&'static str] = &[$($key,)*];

            /// Sets an option by its key; none when it is not one of these.
            pub(crate) fn set_text(&mut self, key: &str, text: &str) -> Option<Result<(), $crate::ConfigError>> {
                let set = match key {
                    $($key => <$field as $crate::config::OptionValue>::parse(text).map(|value| self.$method = value),)*
                    _ => return None,
                };
                Some(set.map_err(|problem| $crate::ConfigError::new(key, problem)))
            }
            /// The first option whose value cannot be.
            pub(crate) fn check(&self) -> Result<(), $crate::ConfigError> {
                $($(
                    $crate::config::checks::$check(&self.$method)
                        .map_err(|problem| $crate::ConfigError::new($key, problem))?;
                )?)*
                Ok(())
            }
        }
        impl $builder {
            $(
                $(#[$doc])*
                ///
                #[doc = concat!("Kafka's key: `", $key, "`. Default: ", $shown, ".")]
                pub fn $method(mut self, value: $argument) -> Self {
                    self.options.$method = $crate::config::FromArgument::from_argument(value);
                    self
                }
            )*
        }
    };
}
pub(crate) use options;
