//! Runs a rule: its links over the values of their targets.

use crate::injection;
use crate::proofs::Proved;
use crate::rules::*;
use crate::targets::{Entry, Item};
use crate::transaction::{Gathered, Match, Transaction};
use crate::transform::class;
use crate::values::ValueId;
use memchr::memmem;
use std::net::IpAddr;

/// Values of a match that the verdict tells of.
const MOST_FOUND: usize = 5;

impl<'a> Transaction<'a> {
    /// Reports whether a rule that only compares a variable of TX with a number does not match.
    pub fn is_shut(&self, link: &Link) -> bool {
        let Some(Gate { slot, comparison, number }) = link.gate else { return false };
        match self.tx[slot as usize] {
            Some(id) => !comparison.holds(integer(self.values.get(id)), number),
            None => true,
        }
    }

    /// Reports whether no value can match, by the literals of all of them together.
    pub fn is_surely_unmatched(&mut self, link: &Link, index: usize) -> bool {
        let (Some(group), false) = (self.group_of(link), link.negated) else { return false };
        let Some(bit) = self.bit_of(link) else { return false };
        // Of counts there is another number without what is removed; values without the removed ones have no more literals.
        if link.targets.iter().any(|target| target.count) && self.removed_targets.iter().any(|removed| removed.concerns(index)) {
            return false;
        }
        let gathered = self.gather_group(link, group);
        gathered.bits[bit / 64] & 1 << (bit % 64) == 0
    }

    /// Bit of a literal that a value must have to match, if there is one.
    fn bit_of(&self, link: &Link) -> Option<usize> {
        match link.operator {
            Some(Operator::Rx(pattern)) => self.rules.patterns[pattern].literals.is_some().then_some(pattern),
            Some(Operator::Pm(list)) => Some(self.rules.patterns.len() + list),
            _ => None,
        }
    }

    /// Whether proved values make a difference to the link.
    fn omits(&self, link: &Link) -> bool {
        link.omits && !self.options.proofs.is_empty()
    }

    fn group_of(&self, link: &Link) -> Option<usize> {
        if self.omits(link) { link.omitting_group } else { link.group }
    }

    fn gather_group(&mut self, link: &Link, group: usize) -> &Gathered {
        if self.gathered[group].is_none() {
            let mut items = Vec::new();
            let omits = self.omits(link);
            for target in &link.targets {
                self.gather(target, &[], omits, &mut items);
            }
            let mut bits = vec![0; self.rules.words()];
            for item in &mut items {
                item.value = self.values.transform_all(item.value, &link.transforms);
                for (all, word) in bits.iter_mut().zip(self.values.scan(self.rules, item.value)) {
                    *all |= word;
                }
            }
            self.gathered[group] = Some(Gathered { items, bits });
        }
        self.gathered[group].as_ref().expect("just set")
    }

    /// Runs a rule; returns whether it matched.
    pub fn run(&mut self, rule: &'a Rule, index: usize) -> bool {
        self.found.clear();
        for link in &rule.links {
            if !self.evaluate(rule, link, index) {
                return false;
            }
        }
        self.capturing = false;
        self.disrupt(rule);
        if let Some(severity) = rule.severity {
            self.note_severity(severity);
        }
        let message = match &rule.links[0].message {
            Some(text) if rule.log => self.expand(text),
            _ => Vec::new(),
        };
        let items = self.found.clone();
        self.matches.push(Match { rule: index as u32, id: rule.id, log: rule.log, audit: rule.audit, message, items });
        true
    }

    fn evaluate(&mut self, rule: &'a Rule, link: &'a Link, index: usize) -> bool {
        self.capturing = link.capture;
        self.current = Some((rule, link));
        let Some(operator) = &link.operator else {
            self.make_effects(link);
            return true;
        };
        let removed: Vec<&RemovedTarget> = self.removed_targets.iter().copied().filter(|each| each.concerns(index)).collect();
        let mut items = Vec::new();
        match self.group_of(link) {
            Some(group) if removed.is_empty() => items.extend_from_slice(&self.gather_group(link, group).items),
            _ => {
                let omits = self.omits(link);
                for target in &link.targets {
                    self.gather(target, &removed, omits, &mut items);
                }
                if !link.multi_match {
                    for item in &mut items {
                        item.value = self.values.transform_all(item.value, &link.transforms);
                    }
                }
            }
        }
        let mut matched = false;
        for item in items {
            if self.values.meter.is_spent() {
                return false;
            }
            matched |= self.check(operator, link, item);
            if link.multi_match {
                let mut value = item.value;
                for &transform in &link.transforms {
                    let next = self.values.transform(value, transform);
                    if next != value {
                        value = next;
                        matched |= self.check(operator, link, Item { value, ..item });
                    }
                }
            }
        }
        matched
    }

    fn check(&mut self, operator: &'a Operator, link: &'a Link, item: Item) -> bool {
        self.values.meter.charge(1);
        // Where the budget ran out, the answer of the operator means nothing.
        if self.matches_value(operator, item.value) == link.negated || self.values.meter.is_spent() {
            return false;
        }
        let name = item.variable.name().as_bytes();
        let key = self.values.get(item.key);
        let full = if key.is_empty() { name.to_vec() } else { [name, b":", key].concat() };
        let full = self.values.add(&full);
        self.collections[Variable::MatchedVars as usize].push(Entry { key: full, value: item.value, proved: Proved::default() });
        self.singles[Variable::MatchedVar as usize] = item.value;
        self.singles[Variable::MatchedVarName as usize] = full;
        if self.found.len() < MOST_FOUND {
            self.found.push(item);
        }
        self.make_effects(link);
        true
    }

    fn matches_value(&mut self, operator: &'a Operator, id: ValueId) -> bool {
        let length = self.values.get(id).len();
        match operator {
            Operator::Rx(index) => return self.matches_pattern(*index, id),
            Operator::Pm(list) => return self.matches_phrases(*list, id),
            Operator::DetectSqli => return self.detects_sqli(id),
            Operator::DetectXss => return self.detects_xss(id),
            Operator::Always => return true,
            Operator::Never => return false,
            _ => {}
        }
        if !self.values.meter.charge(length) {
            return false;
        }
        let value = self.values.get(id);
        match operator {
            Operator::Compare(comparison, text) => {
                let expected = match text.constant() {
                    Some(constant) => integer(constant),
                    None => integer(&self.expand(text)),
                };
                comparison.holds(integer(value), expected)
            }
            Operator::Contains(text) => contains(value, &self.expand(text)),
            Operator::ContainsWord(text) => contains_word(value, &self.expand(text)),
            Operator::Within(text) => contains(&self.expand(text), value),
            Operator::Equals(text) => self.expand(text) == value,
            Operator::BeginsWith(text) => value.starts_with(&self.expand(text)),
            Operator::EndsWith(text) => value.ends_with(&self.expand(text)),
            Operator::IpMatch(networks) => {
                let address = std::str::from_utf8(value).ok().and_then(|text| text.parse::<IpAddr>().ok());
                self.values.meter.charge(networks.len());
                address.is_some_and(|address| networks.iter().any(|network| network.has(address.to_canonical())))
            }
            Operator::ByteRange(allowed) => value.iter().any(|&byte| !allowed[byte as usize]),
            Operator::UrlEncoding => !is_url_encoded(value),
            Operator::Utf8Encoding => std::str::from_utf8(value).is_err(),
            _ => false,
        }
    }

    fn matches_pattern(&mut self, index: usize, id: ValueId) -> bool {
        let pattern = &self.rules.patterns[index];
        if pattern.literals.is_some() && !self.has_bit(id, index) {
            return false;
        }
        if !pattern.is_match(self.values.get(id), &self.values.meter) {
            return false;
        }
        if self.capturing {
            let groups = pattern.captures(self.values.get(id), &self.values.meter);
            for (slot, group) in groups.into_iter().take(CAPTURES - 1).enumerate() {
                self.capture(slot, id, group.unwrap_or_default());
            }
        }
        true
    }

    fn matches_phrases(&mut self, list: usize, id: ValueId) -> bool {
        let bit = self.rules.patterns.len() + list;
        if !self.has_bit(id, bit) {
            return false;
        }
        if let (true, Some(scanner)) = (self.capturing, &self.rules.scanner) {
            let places = scanner.phrases(self.values.get(id), bit, CAPTURES, &self.values.meter);
            for (slot, place) in places.into_iter().enumerate() {
                self.capture(slot, id, place);
            }
        }
        true
    }

    fn capture(&mut self, slot: usize, id: ValueId, (start, end): (usize, usize)) {
        let text = self.values.get(id)[start..end].to_vec();
        self.tx[slot] = Some(self.values.add(&text));
    }

    fn detects_xss(&self, id: ValueId) -> bool {
        // Without a tag or an attribute there is no script.
        let classes = self.values.classes(id);
        if classes & (class::LESS | class::EQUALS) == 0 {
            return false;
        }
        let value = self.values.get(id);
        self.values.meter.charge(injection::xss_cost(value, classes)) && injection::detect_xss(value)
    }

    fn detects_sqli(&mut self, id: ValueId) -> bool {
        // One word is no statement.
        let classes = self.values.classes(id);
        if classes & !class::WORD == 0 {
            return false;
        }
        let meter = &self.values.meter;
        let value = self.values.get(id);
        if !meter.charge(injection::sqli_cost(value, classes)) || !meter.allows(4 * value.len()) {
            return false;
        }
        let Some(fingerprint) = injection::detect_sqli(value) else { return false };
        if self.capturing {
            self.tx[0] = Some(self.values.add(fingerprint.as_str().as_bytes()));
        }
        true
    }

    fn has_bit(&mut self, id: ValueId, bit: usize) -> bool {
        self.values.scan(self.rules, id)[bit / 64] & 1 << (bit % 64) != 0
    }
}

pub fn parse_integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// 0 for a text that is no integer.
pub fn integer(text: &[u8]) -> i64 {
    parse_integer(text).unwrap_or(0)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memmem::find(text, part).is_some()
}

/// The part stands between characters that are no letters.
fn contains_word(text: &[u8], part: &[u8]) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    memmem::find_iter(text, part).any(|start| {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        !is_letter(before) && !is_letter(text.get(start + part.len()))
    })
}

pub fn is_url_encoded(text: &[u8]) -> bool {
    text.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(at, _)| {
        text.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
