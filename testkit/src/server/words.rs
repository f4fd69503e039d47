//! What serde says of a value that does not fit, in the words of whoever wrote the value: JSON has no `usize`.

/// Says what was expected as a reader of JSON would.
pub(super) fn in_words(reason: &str) -> String {
    let Some((found, expected)) = reason.split_once(", expected ") else { return reason.to_owned() };
    format!("{}, expected {}", found_in_words(found), expected_in_words(expected))
}
fn found_in_words(found: &str) -> String {
    found.replace("type: map", "type: object").replace("type: sequence", "type: array")
}
fn expected_in_words(expected: &str) -> &str {
    match expected {
        "u64" | "usize" => "a whole number, 0 or more",
        "u32" => "a whole number of 0 to 4294967295",
        "u16" => "a whole number of 0 to 65535",
        "u8" => "a whole number of 0 to 255",
        "i64" | "isize" => "a whole number",
        "i32" => "a whole number of -2147483648 to 2147483647",
        "i16" => "a whole number of -32768 to 32767",
        "i8" => "a whole number of -128 to 127",
        "f64" | "f32" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a map" => "an object",
        "string or map" => "a name, or an object with a name in it",
        other if other.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_to_know_rust() {
        for (said, words) in [
            (
                "invalid type: string \"two\", expected usize",
                "invalid type: string \"two\", expected a whole number, 0 or more",
            ),
            (
                "invalid value: integer `70000`, expected i16",
                "invalid value: integer `70000`, expected a whole number of -32768 to 32767",
            ),
            ("invalid type: map, expected a boolean", "invalid type: object, expected true or false"),
            ("invalid type: sequence, expected struct Scope", "invalid type: array, expected an object"),
            ("missing field `name`", "missing field `name`"),
        ] {
            assert_eq!(in_words(said), words);
        }
    }
}
