//! PLAIN (RFC 4616): one message, `[authorization id] NUL user NUL password`.

use super::credentials::Credentials;
use super::fail::Refusal;

const OTHER_ID: &str = "Authentication failed: Client requested an authorization id that is different from username";

/// Who proves itself by a message.
pub(super) fn authenticate(message: &[u8], credentials: &Credentials) -> Result<String, Refusal> {
    let text = std::str::from_utf8(message).map_err(|_| Refusal::Hidden)?;
    let parts: Vec<&str> = text.split('\0').collect();
    let [authorization_id, user, password] = parts.as_slice() else { return Err(Refusal::Hidden) };
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
            ("alice\0secret", Err(Refusal::Hidden)),
            ("\0alice\0secret\0", Err(Refusal::Hidden)),
        ] {
            assert_eq!(authenticate(message.as_bytes(), &credentials), expected, "{message:?}");
        }
    }
}
