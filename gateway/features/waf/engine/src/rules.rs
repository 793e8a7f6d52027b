//! Rules as the engine runs them, with all that they share: patterns, phrases, and names of TX.

use crate::meter::Meter;
use crate::pattern::Pattern;
use crate::proofs;
use crate::scanner::Scanner;
pub use crate::vocabulary::{Switch, Transform, Variable};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::rc::Rc;

pub const VARIABLES: usize = Variable::ALL.len();

impl Variable {
    /// Collections whose values, or whose names, are those of the variable; none for a single value.
    pub fn sources(self) -> &'static [(Variable, bool)] {
        use Variable::*;
        match self {
            Args => &[(ArgsGet, false), (ArgsPost, false)],
            ArgsNames => &[(ArgsGet, true), (ArgsPost, true)],
            ArgsGet => &[(ArgsGet, false)],
            ArgsGetNames => &[(ArgsGet, true)],
            ArgsPost => &[(ArgsPost, false)],
            ArgsPostNames => &[(ArgsPost, true)],
            Files => &[(Files, false)],
            FilesNames => &[(FilesNames, false)],
            FilesSizes => &[(FilesSizes, false)],
            MatchedVars => &[(MatchedVars, false)],
            MatchedVarsNames => &[(MatchedVars, true)],
            MultipartFilename => &[(MultipartFilename, false)],
            MultipartName => &[(MultipartName, false)],
            MultipartPartHeaders => &[(MultipartPartHeaders, false)],
            RequestCookies => &[(RequestCookies, false)],
            RequestCookiesNames => &[(RequestCookies, true)],
            RequestHeaders => &[(RequestHeaders, false)],
            RequestHeadersNames => &[(RequestHeaders, true)],
            ResponseHeaders => &[(ResponseHeaders, false)],
            ResponseHeadersNames => &[(ResponseHeaders, true)],
            Rule => &[(Rule, false)],
            Xml => &[(Xml, false)],
            _ => &[],
        }
    }

    /// Its values stay as they are through a phase.
    fn is_stable(self) -> bool {
        use Variable::*;
        let changes = [Tx, MatchedVar, MatchedVarName, MatchedVars, MatchedVarsNames, Rule, ReqbodyProcessor, HighestSeverity];
        !changes.contains(&self)
    }
}

#[derive(Clone)]
pub enum Key {
    /// In lower case.
    Name(Vec<u8>),
    Pattern(Rc<Pattern>, String),
    /// A path with dots; `*` stands for one name.
    Path(Vec<u8>),
}

impl Key {
    pub fn matches(&self, name: &[u8], meter: &Meter) -> bool {
        match self {
            Key::Name(known) => known.eq_ignore_ascii_case(name),
            Key::Pattern(pattern, _) => pattern.is_match(name, meter),
            Key::Path(path) => is_on_path(name, path),
        }
    }

    fn text(&self) -> String {
        match self {
            Key::Name(name) => format!("{name:?}"),
            Key::Pattern(_, source) => format!("/{source}/"),
            Key::Path(path) => format!("path {path:?}"),
        }
    }
}

/// Reports whether a name such as `json.items.0.id` is on a path such as `json.items.*.id`.
fn is_on_path(name: &[u8], path: &[u8]) -> bool {
    let mut parts = name.split(|&byte| byte == b'.');
    let mut expected = path.split(|&byte| byte == b'.');
    loop {
        match (parts.next(), expected.next()) {
            (None, None) => return true,
            (Some(part), Some(other)) if other == b"*" || other.eq_ignore_ascii_case(part) => {}
            _ => return false,
        }
    }
}

pub struct Target {
    pub variable: Variable,
    pub key: Option<Key>,
    /// The number of values counts, not the values.
    pub count: bool,
    pub except: Vec<Key>,
}

impl Target {
    /// Reports whether proved values can be left out: where a rule names a parameter, it wants its value.
    pub fn may_omit(&self) -> bool {
        self.key.is_none() && !self.count && proofs::is_provable(self.variable)
    }

    fn text(&self) -> String {
        let key = self.key.as_ref().map(Key::text);
        let except: Vec<String> = self.except.iter().map(Key::text).collect();
        format!("{:?}:{key:?}:{}:{except:?}", self.variable, self.count)
    }
}

pub enum Token {
    Text(Vec<u8>),
    Tx(Slot),
    /// The first value of a variable, or of its member with this name in lower case.
    Variable(Variable, Option<Vec<u8>>),
}

/// A text with values in it.
pub struct Text(pub Vec<Token>);

impl Text {
    pub fn constant(&self) -> Option<&[u8]> {
        match self.0.as_slice() {
            [] => Some(b""),
            [Token::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Place of a variable of TX.
pub type Slot = u32;
/// Slots 0 to 9 are what a match has captured.
pub const CAPTURES: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

impl Comparison {
    pub fn holds(self, value: i64, other: i64) -> bool {
        match self {
            Comparison::Equal => value == other,
            Comparison::AtLeast => value >= other,
            Comparison::Above => value > other,
            Comparison::AtMost => value <= other,
            Comparison::Below => value < other,
        }
    }
}

/// The condition of a rule that compares a variable of TX with a number.
#[derive(Clone, Copy)]
pub struct Gate {
    pub slot: Slot,
    pub comparison: Comparison,
    pub number: i64,
}

/// Addresses with the same first bits.
pub struct Network {
    bits: u128,
    length: u32,
    is_v4: bool,
}

/// Bits of an address, from the highest one.
fn address_bits(address: IpAddr) -> (u128, bool) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, true),
        IpAddr::V6(address) => (u128::from(address), false),
    }
}

impl Network {
    /// Reads one such as `10.0.0.0/8`.
    pub fn read(text: &str) -> Option<Network> {
        let (address, length) = text.split_once('/')?;
        let (bits, is_v4) = address_bits(address.parse().ok()?);
        let length = length.parse().ok().filter(|&length| length <= if is_v4 { 32 } else { 128 })?;
        Some(Network { bits, length, is_v4 })
    }

    pub fn has(&self, address: IpAddr) -> bool {
        let (bits, is_v4) = address_bits(address);
        is_v4 == self.is_v4 && (self.length == 0 || (bits ^ self.bits) >> (128 - self.length) == 0)
    }
}

pub enum Operator {
    /// Index of the pattern.
    Rx(usize),
    /// Index of the list of phrases.
    Pm(usize),
    Compare(Comparison, Text),
    Contains(Text),
    ContainsWord(Text),
    Within(Text),
    Equals(Text),
    BeginsWith(Text),
    EndsWith(Text),
    IpMatch(Vec<Network>),
    ByteRange(Box<[bool; 256]>),
    UrlEncoding,
    Utf8Encoding,
    DetectSqli,
    DetectXss,
    Always,
    Never,
}

pub enum Disruptive {
    Pass,
    Deny,
    Drop,
    Allow(Allowance),
    Redirect(Text),
}

/// Rules that do not run any more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    All,
    /// Those of the current phase.
    Phase,
    /// Those of the phases 1 and 2.
    Request,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Set,
    Add,
    Subtract,
    Unset,
}

pub type RuleRanges = Vec<RangeInclusive<usize>>;

pub enum Effect {
    SetVar { name: Text, change: Change, value: Text },
    Switch(Switch, Vec<u8>),
    RemoveRules(RuleRanges),
    RemoveTarget(RemovedTarget),
}

/// Values that some rules do not look at.
pub struct RemovedTarget {
    pub rules: RuleRanges,
    pub variable: Variable,
    /// None: all values of the variable.
    pub key: Option<Key>,
    /// The variable is a collection, and its values are left out wherever rules see them: of ARGS_GET also in ARGS.
    pub of_collection: bool,
}

impl RemovedTarget {
    pub fn concerns(&self, rule: usize) -> bool {
        let after = self.rules.partition_point(|range| *range.start() <= rule);
        after > 0 && self.rules[after - 1].contains(&rule)
    }
}

/// A condition of a rule. The rule matches if all of its links match, one after the other.
pub struct Link {
    pub targets: Vec<Target>,
    /// None: always matches.
    pub operator: Option<Operator>,
    pub negated: bool,
    pub transforms: Vec<Transform>,
    pub multi_match: bool,
    pub capture: bool,
    pub message: Option<Text>,
    pub data: Option<Text>,
    /// Made for each value that matches, whether or not the next links match.
    pub effects: Vec<Effect>,
    /// Group of values that it looks at, if they are stable.
    pub group: Option<usize>,
    /// The group of the same values without proved ones.
    pub omitting_group: Option<usize>,
    /// Proved values have nothing that the link could find.
    pub omits: bool,
    pub gate: Option<Gate>,
}

impl Link {
    fn may_omit(&self) -> bool {
        let finds_nothing = self.operator.as_ref().is_some_and(proofs::looks_for_content) && !self.negated;
        finds_nothing
            && self.transforms.iter().all(|&transform| proofs::keeps_harmless(transform))
            && self.targets.iter().any(Target::may_omit)
    }

    fn gate(&self, slots: &BTreeMap<Vec<u8>, Slot>) -> Option<Gate> {
        let [Target { variable: Variable::Tx, key: Some(Key::Name(name)), count: false, except }] = self.targets.as_slice() else {
            return None;
        };
        let Some(Operator::Compare(comparison, text)) = &self.operator else { return None };
        if self.negated || !except.is_empty() || !self.transforms.is_empty() {
            return None;
        }
        let number = std::str::from_utf8(text.constant()?).ok()?.parse().ok()?;
        Some(Gate { slot: *slots.get(name)?, comparison: *comparison, number })
    }
}

pub struct Rule {
    pub id: u32,
    /// The rule is of the Core Rule Set. Rules of a project look at all values.
    pub is_core: bool,
    pub phase: u8,
    /// At least one.
    pub links: Vec<Link>,
    pub disruptive: Disruptive,
    pub status: u16,
    pub log: bool,
    pub audit: bool,
    pub severity: Option<u8>,
    pub version: Option<Vec<u8>>,
    pub revision: Option<Vec<u8>>,
    /// Index of the rule to go on with if the rule matches; past the last one the phase ends.
    pub jump: Option<usize>,
}

/// Settings of the files of rules; none where they do not say anything.
#[derive(Default)]
pub struct Settings {
    /// False: no rule runs. Whether rules deny is the mode of a call.
    pub runs: Option<bool>,
    pub request_body: Option<bool>,
    pub request_limit: Option<usize>,
    pub request_limit_rejects: Option<bool>,
    pub response_body: Option<bool>,
    pub response_limit: Option<usize>,
    pub response_limit_rejects: Option<bool>,
    /// In lower case.
    pub response_types: Option<Vec<Vec<u8>>>,
}

#[derive(Default)]
pub struct RuleSet {
    pub rules: Vec<Rule>,
    pub settings: Settings,
    pub patterns: Vec<Pattern>,
    /// Empty once the scanner has them.
    pub phrases: Vec<Vec<Vec<u8>>>,
    /// Number of groups: values after transformations that several links look at.
    pub groups: usize,
    slots: BTreeMap<Vec<u8>, Slot>,
    pattern_index: BTreeMap<(String, bool), usize>,
    key_patterns: BTreeMap<String, Rc<Pattern>>,
    pub scanner: Option<Scanner>,
    /// Indexes of rules, for each of the phases 1 to 5.
    pub phases: [Vec<usize>; 6],
}

impl RuleSet {
    pub fn slot(&mut self, name: &[u8]) -> Slot {
        let name = name.to_ascii_lowercase();
        if let [digit @ b'0'..=b'9'] = name[..] {
            return Slot::from(digit - b'0');
        }
        let next = (self.slots.len() + CAPTURES) as Slot;
        *self.slots.entry(name).or_insert(next)
    }

    /// Returns the place of a name in lower case, if a rule has it.
    pub fn known_slot(&self, name: &[u8]) -> Option<Slot> {
        match name {
            [digit @ b'0'..=b'9'] => Some(Slot::from(digit - b'0')),
            _ => self.slots.get(name).copied(),
        }
    }

    pub fn slot_count(&self) -> usize {
        self.slots.len() + CAPTURES
    }

    pub fn slot_names(&self) -> impl Iterator<Item = (&[u8], Slot)> {
        self.slots.iter().map(|(name, slot)| (name.as_slice(), *slot))
    }

    pub fn pattern(&mut self, source: &str, captures: bool) -> Result<usize, String> {
        if let Some(&index) = self.pattern_index.get(&(source.to_owned(), captures)) {
            return Ok(index);
        }
        let index = self.patterns.len();
        self.patterns.push(Pattern::new(source, captures, false)?);
        self.pattern_index.insert((source.to_owned(), captures), index);
        Ok(index)
    }

    pub fn key_pattern(&mut self, source: &str) -> Result<Key, String> {
        let known = self.key_patterns.get(source).cloned();
        let pattern = match known {
            Some(pattern) => pattern,
            None => Rc::new(Pattern::new(source, false, true)?),
        };
        self.key_patterns.insert(source.to_owned(), pattern.clone());
        Ok(Key::Pattern(pattern, source.to_owned()))
    }

    /// Prepares what the rules share, when all are there.
    pub fn finish(&mut self) -> Result<(), String> {
        // Rules that do not log note facts for other rules, such as how often a name occurs.
        for rule in self.rules.iter_mut().filter(|rule| rule.is_core && rule.log) {
            rule.links.iter_mut().for_each(|link| link.omits = link.may_omit());
        }
        self.make_groups();
        let names: Vec<Vec<u8>> = self.links().flat_map(|link| &link.targets).filter_map(tx_name).collect();
        for name in names {
            self.slot(&name);
        }
        let slots = std::mem::take(&mut self.slots);
        for link in self.rules.iter_mut().flat_map(|rule| &mut rule.links) {
            link.gate = link.gate(&slots);
        }
        self.slots = slots;
        for (index, rule) in self.rules.iter().enumerate() {
            self.phases[usize::from(rule.phase)].push(index);
        }
        self.scanner = Some(Scanner::new(&self.patterns, &std::mem::take(&mut self.phrases))?);
        self.pattern_index = BTreeMap::new();
        self.key_patterns = BTreeMap::new();
        Ok(())
    }

    fn links(&self) -> impl Iterator<Item = &Link> {
        self.rules.iter().flat_map(|rule| &rule.links)
    }

    fn make_groups(&mut self) {
        let mut known = BTreeMap::new();
        for link in self.rules.iter_mut().flat_map(|rule| &mut rule.links) {
            let stable = link.targets.iter().all(|target| target.variable.is_stable());
            if link.operator.is_none() || link.multi_match || !stable {
                continue;
            }
            let targets: Vec<String> = link.targets.iter().map(Target::text).collect();
            let mut group = |omits| {
                let next = known.len();
                Some(*known.entry((targets.clone(), link.transforms.clone(), omits)).or_insert(next))
            };
            link.group = group(false);
            link.omitting_group = if link.omits { group(true) } else { None };
        }
        self.groups = known.len();
    }

    /// Words of 64 bits that a scan sets bits in.
    pub fn words(&self) -> usize {
        self.scanner.as_ref().map_or(0, |scanner| scanner.words)
    }
}

fn tx_name(target: &Target) -> Option<Vec<u8>> {
    match (target.variable, &target.key) {
        (Variable::Tx, Some(Key::Name(name))) => Some(name.clone()),
        _ => None,
    }
}
