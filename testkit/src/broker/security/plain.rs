//! PLAIN (RFC 4616): one message, `[authorization id] NUL user NUL password`.

use super::credentials::Credentials;
use super::fail::Refusal;

const OTHER_ID: &str = "Authentication failed: Client requested an authorization id that is different from username";

/// Kafka stops looking for more parts here.
const MOST_COUNTED: usize = 4;

/// Who proves itself by a message.
pub(super) fn authenticate(message: &[u8], credentials: &Credentials) -> Result<String, Refusal> {
    // As Java reads it: what is not UTF-8 stands for some letter.
    let text = String::from_utf8_lossy(message);
    let parts: Vec<&str> = text.split('\0').collect();
    let [authorization_id, user, password] = parts.as_slice() else {
        let count = parts.len().min(MOST_COUNTED);
        return Err(Refusal::Told(format!("Invalid SASL/PLAIN response: expected 3 tokens, got {count}")));
    };
    for (what, part) in [("username", user), ("password", password)] {
        if part.is_empty() {
            return Err(Refusal::Told(format!("Authentication failed: {what} not specified")));
        }
    }
    if !credentials.is_password(user, password) {
        return Err(Refusal::Told("Authentication failed: Invalid username or password".to_owned()));
    }
    if !authorization_id.is_empty() && authorization_id != user {
        return Err(Refusal::Told(OTHER_ID.to_owned()));
    }
    Ok((*user).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_password_and_the_own_name_pass() {
        let mut credentials = Credentials::new(1);
        credentials.add_user("alice", "secret");
        let told = |text: &str| Err(Refusal::Told(text.to_owned()));
        for (message, expected) in [
            ("\0alice\0secret", Ok("alice".to_owned())),
            ("alice\0alice\0secret", Ok("alice".to_owned())),
            ("bob\0alice\0secret", told(OTHER_ID)),
            ("\0alice\0wrong", told("Authentication failed: Invalid username or password")),
            ("\0nobody\0secret", told("Authentication failed: Invalid username or password")),
            ("\0alice\0", told("Authentication failed: password not specified")),
            ("\0\0secret", told("Authentication failed: username not specified")),
            ("", told("Invalid SASL/PLAIN response: expected 3 tokens, got 1")),
            ("alice\0secret", told("Invalid SASL/PLAIN response: expected 3 tokens, got 2")),
            ("\0alice\0secret\0", told("Invalid SASL/PLAIN response: expected 3 tokens, got 4")),
            ("\0alice\0secret\0\0\0", told("Invalid SASL/PLAIN response: expected 3 tokens, got 4")),
        ] {
            assert_eq!(authenticate(message.as_bytes(), &credentials), expected, "{message:?}");
        }
        let not_text = authenticate(b"\xff\xfe\0x", &credentials);
        assert_eq!(not_text, told("Invalid SASL/PLAIN response: expected 3 tokens, got 2"));
    }
}
