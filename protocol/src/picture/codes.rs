//! The error codes in a message.

use crate::ErrorCode;
use crate::codec::Malformed;
use crate::guard::{Value, Visit};

/// Collects the different codes of a message.
#[derive(Debug, Default)]
pub(super) struct Codes {
    found: Vec<ErrorCode>,
    /// Whether the field that began last holds one.
    is_code: bool,
}

impl Codes {
    /// What was found, in rising order.
    pub(super) fn sorted(mut self) -> Vec<ErrorCode> {
        self.found.sort_unstable();
        self.found
    }
}

impl<'a> Visit<'a> for Codes {
    const VALUES: bool = true;

    // Kafka's schemas call such a field `errorCode`, or so that it ends like that.
    fn field(&mut self, name: &'static str, _at: usize) {
        self.is_code = name == "errorCode" || name.ends_with("ErrorCode");
    }
    fn value(&mut self, value: Value<'a>) -> Result<(), Malformed> {
        if let (true, Value::Int(code)) = (self.is_code, value)
            && let Ok(code) = i16::try_from(code).map(ErrorCode::new)
            && !self.found.contains(&code)
        {
            self.found.push(code);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[(&'static str, Value<'_>)]) -> Vec<ErrorCode> {
        let mut codes = Codes::default();
        for (name, value) in values {
            codes.field(name, 0);
            codes.value(*value).expect("nothing is refused");
        }
        codes.sorted()
    }

    #[test]
    fn codes_are_found_once_each_and_not_in_other_fields() {
        let values = [
            ("errorCode", Value::Int(3)),
            ("name", Value::Text(b"\"errorCode\":7")),
            ("throttleTimeMs", Value::Int(9)),
            ("partitionErrorCode", Value::Int(-1)),
            ("errorCode", Value::Int(3)),
            ("errorCode", Value::Null),
        ];
        assert_eq!(found(&values), [-1, 3].map(ErrorCode::new));
    }
}
