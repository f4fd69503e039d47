//! The client's message: `n,[a=id],^Aauth=Bearer token^A[key=value^A…]^A`.

use super::super::scram_messages::name;

const SEPARATOR: char = '\u{1}';

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientMessage {
    pub(super) authorization_id: Option<String>,
    pub(super) token: String,
}
impl ClientMessage {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (id, rest) = text.strip_prefix("n,")?.split_once(',')?;
        let authorization_id = match id {
            "" => None,
            id => Some(name(id.strip_prefix("a=")?)?),
        };
        let pairs = rest.strip_prefix(SEPARATOR)?.strip_suffix(SEPARATOR)?;
        let pairs: Vec<(&str, &str)> = pairs.split_terminator(SEPARATOR).map(pair).collect::<Option<_>>()?;
        let (auths, extensions): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| *key == "auth");
        let (_, auth) = auths.last()?;
        if extensions.iter().any(|(key, _)| key.eq_ignore_ascii_case("auth")) {
            return None;
        }
        Some(Self { authorization_id, token: bearer(auth)? })
    }
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_value =
        !value.is_empty() && value.bytes().all(|byte| matches!(byte, 0x21..=0x7e | b' ' | b'\t' | b'\r' | b'\n'));
    (is_key && is_value).then_some((key, value))
}
fn bearer(auth: &str) -> Option<String> {
    let (scheme, token) = auth.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    let is_token =
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then(|| token.to_owned())
}
