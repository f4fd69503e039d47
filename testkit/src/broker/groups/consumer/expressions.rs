//! Expressions for whole names of topics (KIP-848's `SubscribedTopicRegex`). What they match is found out aside, after the heartbeat that makes
//! it due is answered: for all expressions of a group at once, with the rights of that heartbeat's sender, and not again for a while.
//!
//! ```text
//!             an expression that nobody had; a topic was created; the refresh interval is over
//!   Resolved ─────────────────────────────────────────────────────────────────────────────────► Due
//!      ▲             (only if the last resolution is older than LEAST_INTERVAL)                  │
//!      └──────────────── matches: a new epoch if any expression matches something else ──────────┘
//! ```

use super::member::Member;
use super::{ConsumerGroup, Context};
use crate::broker::Broker;
use crate::broker::authorizer::{Guard, Operation, Rights};
use crate::broker::call::{Call, Refusal};
use crate::broker::groups::Group;
use crate::broker::re2;
use millstream_protocol::messages::{ConsumerGroupHeartbeatRequest, StrBytes};
use millstream_protocol::{ErrorCode, Timestamp};
use regex::bytes::{Regex, RegexBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Topics by the expression that matches them.
pub(crate) type Matches = BTreeMap<StrBytes, BTreeSet<StrBytes>>;

/// What the expressions of a group matched when they were resolved last.
#[derive(Debug)]
pub(crate) struct Resolution {
    pub(crate) matches: Matches,
    pub(crate) at: Timestamp,
    /// How many topics there had ever been.
    pub(crate) created: i64,
    /// Whether they are to be resolved now.
    is_due: bool,
}
impl Resolution {
    /// Of no expressions.
    pub(super) const fn nothing() -> Self {
        Self { matches: Matches::new(), at: Timestamp::from_millis(0), created: 0, is_due: false }
    }
    fn keep(&mut self, used: &BTreeSet<StrBytes>) {
        self.matches.retain(|expression, _| used.contains(expression));
    }
}

impl ConsumerGroup {
    /// Makes sure that an expression can be read, unless somebody has it already; tells whether nobody has it yet.
    pub(super) fn check_expression(&self, expression: Option<&StrBytes>) -> Result<bool, Refusal> {
        let new = expression.filter(|expression| !expression.is_empty() && !self.has_expression(expression));
        new.map_or(Ok(false), |expression| compile(expression).map(|_| true))
    }
    fn has_expression(&self, expression: &StrBytes) -> bool {
        self.members.values().any(|member| member.regex.as_ref() == Some(expression))
    }
    /// The topics that a member's expression matched last.
    pub(super) fn matches_of(&self, member: &Member) -> Option<&BTreeSet<StrBytes>> {
        self.resolution.matches.get(member.regex.as_ref()?)
    }
    /// Looks, after somebody was heard, who may have brought a new expression, whether they are to be resolved, and forgets those that nobody has
    /// any more.
    pub(super) fn review_expressions(&mut self, brings_new: bool, ctx: &Context<'_>) {
        let used = self.expressions();
        self.resolution.is_due = !used.is_empty() && self.is_resolution_due(&used, brings_new, ctx);
        self.resolution.keep(&used);
    }
    /// Forgets what the expressions matched that nobody has any more.
    pub(super) fn forget_expressions(&mut self) {
        let used = self.expressions();
        self.resolution.keep(&used);
    }
    fn expressions(&self) -> BTreeSet<StrBytes> {
        self.members.values().filter_map(|member| member.regex.clone()).collect()
    }
    fn is_resolution_due(&self, used: &BTreeSet<StrBytes>, brings_new: bool, ctx: &Context<'_>) -> bool {
        let last = &self.resolution;
        if last.matches.is_empty() {
            return true;
        }
        // Kafka counts: one that is given up and one that was never resolved are as many as before.
        let is_unlike = brings_new || used.len() != last.matches.len();
        let is_old = ctx.now > last.at + Duration::from_millis(ctx.settings.regex_refresh_interval_ms);
        ctx.now > last.at + LEAST_INTERVAL && (is_unlike || last.created < ctx.topics.created() || is_old)
    }
    /// The expressions that are to be resolved now.
    fn poll_expressions(&mut self) -> Option<BTreeSet<StrBytes>> {
        std::mem::take(&mut self.resolution.is_due).then(|| self.expressions())
    }
    /// Takes in what the expressions match now. If that is something else, or not all that is subscribed to any more, an epoch begins, whose
    /// target a later heartbeat makes.
    fn handle_matches(&mut self, matches: Matches, ctx: &Context<'_>) {
        let nothing = BTreeSet::new();
        let before = |expression| self.resolution.matches.get(expression).unwrap_or(&nothing);
        let is_new = matches.iter().any(|(expression, topics)| before(expression) != topics);
        self.resolution = Resolution { matches, at: ctx.now, created: ctx.topics.created(), is_due: false };
        if is_new || self.image != self.subscribed_image(ctx.topics) {
            self.bump(ctx);
        }
    }
}

impl Broker {
    /// Resolves a group's expressions if that is due: they match topics that whoever was heard last may see.
    pub(crate) fn resolve_expressions(&mut self, id: &str, call: &Call) {
        let group = self.groups.find_mut(id).and_then(Group::consumer_mut);
        let Some(expressions) = group.and_then(ConsumerGroup::poll_expressions) else { return };
        let rights = Rights::new(self, call, ConsumerGroupHeartbeatRequest::NEEDS);
        let visible = self.topics.all().map(|topic| &topic.name);
        let visible: Vec<&StrBytes> = visible.filter(|name| rights.may_topic(Operation::Describe, name)).collect();
        let mut compiled = std::mem::take(&mut self.groups.expressions);
        let matches = expressions.into_iter().map(|expression| {
            let matched = compiled.matching(&expression, &visible);
            (expression, matched)
        });
        let matches: Matches = matches.collect();
        self.groups.expressions = compiled;
        self.with_consumer(id, |group, ctx| group.handle_matches(matches, ctx));
    }
}

/// Expressions that are ready to be used, those of all groups that were used last: to make them ready takes longer than to use them.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// Each with when it was used; none where it cannot be read.
    by_text: BTreeMap<StrBytes, (u64, Option<Regex>)>,
    uses: u64,
}
impl Compiled {
    /// Which of these names an expression matches.
    fn matching(&mut self, expression: &StrBytes, names: &[&StrBytes]) -> BTreeSet<StrBytes> {
        let Some(regex) = self.find(expression) else { return BTreeSet::new() };
        names.iter().filter(|name| regex.is_match(name.as_bytes())).map(|name| (*name).clone()).collect()
    }
    fn find(&mut self, expression: &StrBytes) -> Option<&Regex> {
        if self.by_text.len() >= MOST_KEPT && !self.by_text.contains_key(expression) {
            let oldest = self.by_text.iter().min_by_key(|(_, (used, _))| *used).map(|(text, _)| text.clone());
            oldest.map(|text| self.by_text.remove(&text));
        }
        self.uses += 1;
        let entry = self.by_text.entry(expression.clone()).or_insert_with(|| (0, compile(expression).ok()));
        entry.0 = self.uses;
        entry.1.as_ref()
    }
}
/// Reads a member's expression.
fn compile(expression: &str) -> Result<Regex, Refusal> {
    whole(expression).map_err(|reason| {
        let shown: String = expression.chars().take(MOST_SHOWN).collect();
        let sentence = format!("SubscribedTopicRegex `{shown}` is not a valid regular expression: {reason}.");
        (ErrorCode::INVALID_REGULAR_EXPRESSION, sentence)
    })
}
/// Reads an expression that has to match from a name's beginning to its end.
pub(crate) fn whole(expression: &str) -> Result<Regex, String> {
    let translated = re2::translated(expression).map_err(str::to_owned)?;
    build(expression, &format!("^(?:{translated})$"))
}
/// Names of topics are ASCII, and so are the classes of Kafka's library. What speaks of other characters is read with all of Unicode.
fn build(expression: &str, translated: &str) -> Result<Regex, String> {
    let of = |has_unicode| {
        let mut builder = RegexBuilder::new(translated);
        builder.unicode(has_unicode).size_limit(MOST_COMPILED).dfa_size_limit(MOST_COMPILED).build()
    };
    let built = match of(false) {
        Err(error) if speaks_of_unicode(&error) => check_cost_of_unicode(expression).map(|()| of(true))?,
        built => built,
    };
    built.map_err(|error| reason(&error))
}
fn speaks_of_unicode(error: &regex::Error) -> bool {
    matches!(error, regex::Error::Syntax(reason) if reason.contains("Unicode not allowed here"))
}
/// A class of Unicode's has hundreds of ranges. They are copied, and with `(?i)` each is looked up, before the size of what comes of them is
/// looked at: eight thousand of them took a minute, in which nobody was answered.
fn check_cost_of_unicode(expression: &str) -> Result<(), String> {
    let classes = [r"\p", r"\P", "["].map(|begin| expression.matches(begin).count()).iter().sum::<usize>();
    if expression.len() <= MOST_OF_UNICODE && classes <= MOST_CLASSES {
        return Ok(());
    }
    Err(format!(
        "it speaks of Unicode, has {classes} classes and {} bytes, and may have {MOST_CLASSES} and {MOST_OF_UNICODE} then; be shorter, or \
         speak of ASCII, of which names of topics are",
        expression.len()
    ))
}
// Kafka's library names the common mistakes so.
fn reason(error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(most) = error {
        return format!(
            "it repeats so much that it takes more than {most} bytes; repeat less, or subscribe to topics by their names"
        );
    }
    let error = error.to_string();
    let known = [
        ("repetition operator missing expression", "missing argument to repetition operator"),
        ("Unicode property", "invalid character class range"),
    ];
    let named = known.iter().find(|(ours, _)| error.contains(ours)).map(|(_, kafkas)| (*kafkas).to_owned());
    named.unwrap_or_else(|| error.lines().last().unwrap_or_default().to_owned())
}

/// Kafka's least time between two resolutions in a group, whatever asks for one; no option changes it.
const LEAST_INTERVAL: Duration = Duration::from_secs(10);
/// How much of an expression that is refused is told.
const MOST_SHOWN: usize = 256;
/// How large an expression may be once it is compiled. Each of its states may be looked at for each character of each topic's name, while all
/// clients wait.
const MOST_COMPILED: usize = 128 << 10;
/// How many are kept compiled, in all. Each takes up to some times [`MOST_COMPILED`].
const MOST_KEPT: usize = 512;
/// How long an expression may be that is read with all of Unicode.
const MOST_OF_UNICODE: usize = 1024;
/// How many classes it may have.
const MOST_CLASSES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_expression_that_is_refused_is_told_in_part() {
        let (code, sentence) = compile(&("a".repeat(30_000) + "(")).expect_err("it has no end");
        assert_eq!(code, ErrorCode::INVALID_REGULAR_EXPRESSION);
        assert!(sentence.ends_with("missing closing )."), "{sentence}");
        assert!(sentence.len() < 2 * MOST_SHOWN, "{sentence}");
    }
    /// Kafka's RE2/J knows Unicode's categories and scripts. Without their tables they were refused.
    #[test]
    fn classes_of_unicode_are_known() {
        let names = ["alpha", "été", "7", "a.b"].map(StrBytes::from_static_str);
        let names: Vec<&StrBytes> = names.iter().collect();
        // (expression, what it matches)
        let cases = [
            (r"\p{L}+", &["alpha", "été"][..]),
            (r"\pL\PL\p{Ll}", &["a.b"]),
            (r"\p{Latin}*", &["alpha", "été"]),
            (r"\p{Greek}+", &[]),
            (r"[^\p{L}]", &["7"]),
            (r"\p{Nd}", &["7"]),
        ];
        for (expression, expected) in cases {
            compile(expression).expect(expression);
            let matched = Compiled::default().matching(&StrBytes::from_static_str(expression), &names);
            assert_eq!(matched.iter().map(StrBytes::as_str).collect::<Vec<_>>(), expected, "{expression}");
        }
    }
    /// Each class was made, and its cases looked up, before anything was refused.
    #[test]
    fn many_classes_of_unicode_are_refused_before_they_are_made() {
        let many = |class: &str| class.repeat(30_000 / class.len());
        let cases = [
            format!("(?i){}", many(r"\pL")),
            format!("(?i){}", many(r"\PL{0}")),
            format!(r"(?i)[\x{{100}}]{}", many("[^a]")),
            format!("(?i)[\u{e9}{}]", many("[^a]")),
        ];
        for expression in cases {
            let (code, sentence) = compile(&expression).expect_err("it is too much");
            assert_eq!(code, ErrorCode::INVALID_REGULAR_EXPRESSION);
            assert!(sentence.contains("it speaks of Unicode, has "), "{sentence}");
        }
        // Without Unicode a class is small.
        compile(&"(?i)[a-z]?|".repeat(200)).expect("ASCII");
    }
    /// Four hundred expressions took a second every ten seconds, in which nobody was answered.
    #[test]
    fn an_expression_is_compiled_once_while_it_is_used() {
        let mut compiled = Compiled::default();
        let expression = |index: usize| StrBytes::from_string(format!("a{{{index}}}"));
        let is_kept = |compiled: &Compiled, index| compiled.by_text.contains_key(&expression(index));
        for index in 0..MOST_KEPT {
            compiled.find(&expression(index));
        }
        compiled.find(&expression(0));
        compiled.find(&expression(MOST_KEPT));
        assert!(is_kept(&compiled, 0) && !is_kept(&compiled, 1) && is_kept(&compiled, MOST_KEPT));
        assert_eq!(compiled.by_text.len(), MOST_KEPT);
    }
}
