//! Reads the program that the gateway's compiler writes (`encodeProgram` in `seclang/program-format.ts`). Numbers are
//! unsigned LEB128; a string is its number in a table, which stands before the value; a list is its length and its
//! members; a variant is its number and its members.

use crate::rules::*;
use crate::vocabulary::OperatorName;
use std::fmt::Display;

const MAGIC: &[u8] = b"gw-waf\n";
/// That of `seclang/program-format.ts`.
const VERSION: u64 = 1;
/// Names of the files of the Core Rule Set begin with it (`compile/core-rules.ts`).
const CORE: &[u8] = b"@owasp_crs/";

/// Reads a program. Fails if the bytes are damaged or name a rule past the last one, or if a pattern does not compile.
pub fn read(bytes: &[u8]) -> Result<RuleSet, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("the bytes are no program of rules")?;
    let mut input = Input { bytes: rest, strings: Vec::new() };
    let version = input.number()?;
    if version != VERSION {
        return Err(format!("the rules have format {version}, and this engine reads {VERSION}"));
    }
    input.strings = input.list(|input| {
        let length = input.length()?;
        input.take(length)
    })?;
    let mut program = Program { input, set: RuleSet::default() };
    program.read()?;
    Ok(program.set)
}

type Read<T> = Result<T, String>;

fn fault<T>(what: impl Display) -> Read<T> {
    Err(format!("the rules are damaged: {what}"))
}

struct Input<'a> {
    bytes: &'a [u8],
    strings: Vec<&'a [u8]>,
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let Some((taken, rest)) = self.bytes.split_at_checked(length) else { return fault("they end too early") };
        self.bytes = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Read<u64> {
        /// Numbers are exact in JavaScript up to here.
        const MOST: u64 = (1 << 53) - 1;
        let mut value = 0;
        for shift in (0..=49).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 && value <= MOST {
                return Ok(value);
            }
        }
        fault("a number is too large")
    }

    fn number_below(&mut self, bound: usize) -> Read<usize> {
        match usize::try_from(self.number()?) {
            Ok(number) if number < bound => Ok(number),
            _ => fault("a number is past its bound"),
        }
    }

    /// Length of something whose members take a byte each, or more.
    fn length(&mut self) -> Read<usize> {
        self.number_below(self.bytes.len().saturating_add(1))
    }

    /// A number of bytes or members.
    fn size(&mut self) -> Read<usize> {
        Ok(usize::try_from(self.number()?).unwrap_or(usize::MAX))
    }

    /// `Reject` or `ProcessPartial`.
    fn rejects(&mut self) -> Read<bool> {
        Ok(!self.boolean()?)
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        (0..self.length()?).map(|_| each(self)).collect()
    }

    fn boolean(&mut self) -> Read<bool> {
        Ok(self.number_below(2)? == 1)
    }

    fn nullable<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.boolean()? { read(self).map(Some) } else { Ok(None) }
    }

    fn string(&mut self) -> Read<&'a [u8]> {
        let index = self.number_below(self.strings.len())?;
        Ok(self.strings[index])
    }

    /// A string of ASCII, such as a pattern.
    fn ascii(&mut self) -> Read<&'a str> {
        match std::str::from_utf8(self.string()?) {
            Ok(text) if text.is_ascii() => Ok(text),
            _ => fault("a text has characters outside ASCII"),
        }
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> Read<T> {
        Ok(values[self.number_below(values.len())?])
    }

    /// Pairs of numbers in order, both ends included.
    fn ranges(&mut self) -> Read<RuleRanges> {
        let read = |input: &mut Self| {
            let ends = (usize::try_from(input.number()?), usize::try_from(input.number()?));
            match ends {
                (Ok(from), Ok(to)) if from <= to => Ok(from..=to),
                _ => fault("a range is empty"),
            }
        };
        let ranges = self.list(read)?;
        match ranges.is_sorted_by(|a, b| a.end() < b.start()) {
            true => Ok(ranges),
            false => fault("ranges overlap"),
        }
    }
}

/// Argument of an operator, by its kind.
enum Argument {
    None,
    Pattern(String),
    Text(Text),
    Phrases(Vec<Vec<u8>>),
    Bytes(RuleRanges),
    Networks(Vec<Network>),
}

/// Values that a link does not look at.
struct Exclusion {
    variable: Variable,
    key: Option<Key>,
}

struct Program<'a> {
    input: Input<'a>,
    set: RuleSet,
}

impl Program<'_> {
    fn read(&mut self) -> Read<()> {
        let files = self.list(|program| Ok(program.input.string()?.starts_with(CORE)))?;
        self.set.settings = self.settings()?;
        for index in 0..self.input.length()? {
            let rule = self.rule(&files).map_err(|error| format!("{error} (rule {index} of the program)"))?;
            self.set.rules.push(rule);
        }
        if !self.input.bytes.is_empty() {
            return fault("bytes follow them");
        }
        self.check()?;
        self.set.finish()
    }

    /// Checks the indexes of rules.
    fn check(&self) -> Read<()> {
        let rules = &self.set.rules;
        let ends = |ranges: &RuleRanges| ranges.last().is_none_or(|last| *last.end() < rules.len());
        for (index, rule) in rules.iter().enumerate() {
            if rule.jump.is_some_and(|to| to <= index || to > rules.len()) {
                return fault(format!("rule {} jumps back, or too far", rule.id));
            }
            for effect in rule.links.iter().flat_map(|link| &link.effects) {
                let known = match effect {
                    Effect::RemoveRules(ranges) => ends(ranges),
                    Effect::RemoveTarget(target) => ends(&target.rules),
                    Effect::SetVar { .. } | Effect::Switch(..) => true,
                };
                if !known {
                    return fault(format!("rule {} removes rules that there are not", rule.id));
                }
            }
        }
        Ok(())
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        (0..self.input.length()?).map(|_| each(self)).collect()
    }

    fn nullable<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.input.boolean()? { read(self).map(Some) } else { Ok(None) }
    }

    fn settings(&mut self) -> Read<Settings> {
        let input = &mut self.input;
        let mut settings = Settings::default();
        for _ in 0..input.length()? {
            match input.number()? {
                // On, Off or DetectionOnly.
                0 => settings.runs = Some(input.number_below(3)? != 1),
                // The host writes the audit log.
                1 => drop(input.number_below(3)?),
                2 => drop(input.string()?),
                3 => settings.request_body = Some(input.boolean()?),
                4 => settings.request_limit = Some(input.size()?),
                // The host holds bodies, with files or without.
                5 => drop(input.number()?),
                6 => settings.request_limit_rejects = Some(input.rejects()?),
                // Depth of JSON and number of arguments are settings of each call.
                7 | 8 => drop(input.number()?),
                9 => settings.response_body = Some(input.boolean()?),
                10 => settings.response_limit = Some(input.size()?),
                11 => settings.response_limit_rejects = Some(input.rejects()?),
                12 => settings.response_types = Some(input.list(|input| input.string().map(<[u8]>::to_vec))?),
                13 => drop(input.list(|input| input.string().map(drop))?),
                _ => return fault("there is an unknown setting"),
            }
        }
        Ok(settings)
    }

    /// `files`: whether each is of the Core Rule Set.
    fn rule(&mut self, files: &[bool]) -> Read<Rule> {
        let Ok(id) = u32::try_from(self.input.number()?) else { return fault("an id is too large") };
        if id > MAX_ID {
            return fault("an id is too large");
        }
        let phase = self.input.number_below(5)? as u8 + 1;
        let is_core = self.input.one_of(files)?;
        let links = self.list(Self::link).map_err(|error| format!("rule {id}: {error}"))?;
        if links.is_empty() {
            return fault("a rule has no condition");
        }
        let disruptive = self.disruptive()?;
        let rule = Rule {
            id,
            is_core,
            phase,
            links,
            disruptive,
            status: self.input.number_below(1000)? as u16,
            log: self.input.boolean()?,
            audit: self.input.boolean()?,
            severity: self.input.nullable(|input| Ok(input.number_below(8)? as u8))?,
            version: self.input.nullable(|input| input.string().map(<[u8]>::to_vec))?,
            revision: self.input.nullable(|input| input.string().map(<[u8]>::to_vec))?,
            jump: {
                // The host knows the tags.
                self.input.list(|input| input.string().map(drop))?;
                self.input.nullable(|input| input.number_below(usize::MAX))?
            },
        };
        Ok(rule)
    }

    fn disruptive(&mut self) -> Read<Disruptive> {
        Ok(match self.input.number()? {
            0 => Disruptive::Pass,
            2 => Disruptive::Deny,
            3 => Disruptive::Drop,
            4 => Disruptive::Allow(Allowance::All),
            5 => Disruptive::Allow(Allowance::Phase),
            6 => Disruptive::Allow(Allowance::Request),
            7 => Disruptive::Redirect(self.text()?),
            // 1 is `block`, in place of which the default action stands.
            _ => return fault("a rule has an unknown action"),
        })
    }

    fn link(&mut self) -> Read<Link> {
        let line = self.input.number()?;
        self.link_at().map_err(|error| format!("line {line}: {error}"))
    }

    fn link_at(&mut self) -> Read<Link> {
        let targets = self.list(Self::target)?;
        let exclusions = self.list(Self::exclusion)?;
        let operator = self.nullable(Self::operator)?;
        let transforms = self.input.list(|input| input.one_of(Transform::ALL))?;
        let multi_match = self.input.boolean()?;
        let capture = self.input.boolean()?;
        let (operator, negated) = match operator {
            Some((name, negated, argument)) => (Some(self.operator_of(name, argument, capture)?), negated),
            None => (None, false),
        };
        Ok(Link {
            targets: remaining(targets, &exclusions),
            operator,
            negated,
            transforms,
            multi_match,
            capture,
            message: self.nullable(Self::text)?,
            data: self.nullable(Self::text)?,
            effects: self.list(Self::effect)?,
            group: None,
            omitting_group: None,
            omits: false,
            gate: None,
        })
    }

    fn variable(&mut self) -> Read<Variable> {
        self.input.one_of(Variable::ALL)
    }

    fn key(&mut self, variable: Variable) -> Read<Option<Key>> {
        if !self.input.boolean()? {
            return Ok(None);
        }
        Ok(Some(match self.input.number_below(2)? {
            // The names in XML are paths.
            0 if variable == Variable::Xml => Key::Name(self.input.string()?.to_vec()),
            0 => Key::Name(self.input.string()?.to_ascii_lowercase()),
            _ => {
                let source = self.input.ascii()?;
                self.set.key_pattern(source)?
            }
        }))
    }

    fn target(&mut self) -> Read<Target> {
        let variable = self.variable()?;
        Ok(Target { variable, key: self.key(variable)?, count: self.input.boolean()?, except: Vec::new() })
    }

    fn exclusion(&mut self) -> Read<Exclusion> {
        let variable = self.variable()?;
        Ok(Exclusion { variable, key: self.key(variable)? })
    }

    fn text(&mut self) -> Read<Text> {
        let tokens = self.list(|program| {
            if !program.input.boolean()? {
                return Ok(Token::Text(program.input.string()?.to_vec()));
            }
            let variable = program.variable()?;
            let key = program.input.nullable(|input| input.string().map(<[u8]>::to_ascii_lowercase))?;
            Ok(match (variable, key) {
                (Variable::Tx, Some(name)) => Token::Tx(program.set.slot(&name)),
                (variable, key) => Token::Variable(variable, key),
            })
        })?;
        Ok(Text(tokens))
    }

    fn operator(&mut self) -> Read<(OperatorName, bool, Argument)> {
        let name = self.input.one_of(OperatorName::ALL)?;
        let negated = self.input.boolean()?;
        let argument = match self.input.number()? {
            0 => Argument::None,
            1 => Argument::Pattern(self.input.ascii()?.to_owned()),
            2 => Argument::Text(self.text()?),
            3 => Argument::Phrases(self.input.list(|input| input.string().map(<[u8]>::to_ascii_lowercase))?),
            4 => Argument::Bytes(self.input.ranges()?),
            5 => Argument::Networks(self.input.list(|input| match Network::read(input.ascii()?) {
                Some(network) => Ok(network),
                None => fault("a text is no network"),
            })?),
            _ => return fault("an operator has an unknown argument"),
        };
        Ok((name, negated, argument))
    }

    fn operator_of(&mut self, name: OperatorName, argument: Argument, capture: bool) -> Read<Operator> {
        use OperatorName::*;
        Ok(match (name, argument) {
            (Rx, Argument::Pattern(source)) => Operator::Rx(self.set.pattern(&source, capture)?),
            (Pm, Argument::Phrases(phrases)) => {
                if phrases.iter().any(Vec::is_empty) {
                    return fault("a phrase is empty");
                }
                self.set.phrases.push(phrases);
                Operator::Pm(self.set.phrases.len() - 1)
            }
            (Eq, Argument::Text(text)) => Operator::Compare(Comparison::Equal, text),
            (Ge, Argument::Text(text)) => Operator::Compare(Comparison::AtLeast, text),
            (Gt, Argument::Text(text)) => Operator::Compare(Comparison::Above, text),
            (Le, Argument::Text(text)) => Operator::Compare(Comparison::AtMost, text),
            (Lt, Argument::Text(text)) => Operator::Compare(Comparison::Below, text),
            (Contains | Strmatch, Argument::Text(text)) => Operator::Contains(text),
            (ContainsWord, Argument::Text(text)) => Operator::ContainsWord(text),
            (Within, Argument::Text(text)) => Operator::Within(text),
            (Streq, Argument::Text(text)) => Operator::Equals(text),
            (BeginsWith, Argument::Text(text)) => Operator::BeginsWith(text),
            (EndsWith, Argument::Text(text)) => Operator::EndsWith(text),
            (IpMatch, Argument::Networks(networks)) => Operator::IpMatch(networks),
            (ValidateByteRange, Argument::Bytes(ranges)) => Operator::ByteRange(byte_set(&ranges)?),
            (ValidateUrlEncoding, Argument::None) => Operator::UrlEncoding,
            (ValidateUtf8Encoding, Argument::None) => Operator::Utf8Encoding,
            (DetectSqli, Argument::None) => Operator::DetectSqli,
            (DetectXss, Argument::None) => Operator::DetectXss,
            (UnconditionalMatch, Argument::None) => Operator::Always,
            (NoMatch, Argument::None) => Operator::Never,
            _ => return fault(format!("@{} has a wrong argument", name.name())),
        })
    }

    fn effect(&mut self) -> Read<Effect> {
        Ok(match self.input.number()? {
            0 => Effect::SetVar {
                name: self.text()?,
                change: self.input.one_of(&[Change::Set, Change::Add, Change::Subtract, Change::Unset])?,
                value: self.text()?,
            },
            1 => Effect::Switch(self.input.one_of(Switch::ALL)?, self.input.string()?.to_vec()),
            2 => Effect::RemoveRules(self.input.ranges()?),
            3 => {
                let rules = self.input.ranges()?;
                let Exclusion { variable, key } = self.exclusion()?;
                Effect::RemoveTarget(RemovedTarget { rules, variable, key, of_collection: false })
            }
            _ => return fault("a rule has an unknown effect"),
        })
    }
}

/// Largest id: the verdict has two bits beside it.
const MAX_ID: u32 = (1 << 30) - 1;

/// Gives exclusions to the targets of their variables; those of a whole variable leave its targets out.
fn remaining(targets: Vec<Target>, exclusions: &[Exclusion]) -> Vec<Target> {
    let mut targets = targets;
    for Exclusion { variable, key } in exclusions {
        match key {
            None => targets.retain(|target| target.variable != *variable),
            Some(key) => {
                for target in targets.iter_mut().filter(|target| target.variable == *variable) {
                    target.except.push(key.clone());
                }
            }
        }
    }
    targets
}

fn byte_set(ranges: &RuleRanges) -> Read<Box<[bool; 256]>> {
    let mut set = Box::new([false; 256]);
    for range in ranges {
        match set.get_mut(range.clone()) {
            Some(part) => part.fill(true),
            None => return fault("a byte is above 255"),
        }
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of rules that are given as the bytes behind `files`, settings and the number of rules. Its strings are
    /// `a` and `tx`.
    fn program(rules: &[&[u8]]) -> Vec<u8> {
        let strings: &[u8] = &[1, 2, 1, b'a', 2, b't', b'x'];
        let head: &[u8] = &[1, 0, 0, rules.len() as u8];
        [MAGIC, strings, head, &rules.concat()].concat()
    }

    /// Id 5, phase 2: `SecRule &ARGS:a|!ARGS:tx "!@rx a"` with `setvar:tx.tx=+a` and a jump to the end.
    const RULE: &[u8] = &[
        5, 1, 0, 1, // id, phase, file, links
        7, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, // line, target, exclusion
        1, 14, 1, 1, 0, // operator
        1, 12, 0, 1, 0, 0, // lowercase, multiMatch, capture, msg, logdata
        1, 0, 1, 0, 1, 1, 1, 0, 0, // effect
        2, 0x93, 3, 1, 0, 1, 2, 0, 0, 1, 0, // deny, status, log, audit, severity, ver, rev, tags
        1, 1, // jump
    ];

    #[test]
    fn reads_a_rule() {
        let set = read(&program(&[RULE])).expect("a program");
        let [rule] = set.rules.as_slice() else { panic!("{} rules", set.rules.len()) };
        assert_eq!((rule.id, rule.phase, rule.status, rule.jump), (5, 2, 403, Some(1)));
        assert_eq!((rule.log, rule.audit, rule.severity), (true, false, Some(2)));
        let link = &rule.links[0];
        assert!(link.negated && link.capture && !link.multi_match);
        assert_eq!(link.transforms, [Transform::Lowercase]);
        assert_eq!((link.targets[0].variable, link.targets[0].count, link.targets[0].except.len()), (Variable::Args, true, 1));
        assert!(matches!(link.operator, Some(Operator::Rx(0))));
        assert!(matches!(link.effects.as_slice(), [Effect::SetVar { change: Change::Add, .. }]));
    }

    #[test]
    fn refuses_other_formats() {
        let mut bytes = program(&[]);
        bytes[MAGIC.len()] = 2;
        assert_eq!(read(&bytes).err().as_deref(), Some("the rules have format 2, and this engine reads 1"));
        assert!(read(b"gw-wax\n\x01").is_err());
    }

    #[test]
    fn refuses_what_is_cut_off_or_goes_on() {
        let bytes = program(&[RULE]);
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length} bytes");
        }
        assert!(read(&[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn survives_any_change_of_a_byte() {
        let bytes = program(&[RULE]);
        for at in 0..bytes.len() {
            for byte in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = byte;
                // An error or a program: what it says is of no matter.
                let _ = read(&changed);
            }
        }
    }

    #[test]
    fn refuses_jumps_that_do_not_go_on() {
        let jumps = |to: u8| [&RULE[..RULE.len() - 1], &[to]].concat();
        assert!(read(&program(&[&jumps(0)])).is_err());
        assert!(read(&program(&[&jumps(2)])).is_err());
    }
}
