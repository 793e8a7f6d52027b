//! Changes that a rule makes when it matches.

use crate::matching::{integer, parse_integer};
use crate::rules::*;
use crate::transaction::{Denial, DenialKind, Transaction};

/// Severity of a transaction without a match.
const NO_SEVERITY: i64 = 255;

impl<'a> Transaction<'a> {
    pub fn make_effects(&mut self, link: &'a Link) {
        for effect in &link.effects {
            match effect {
                Effect::SetVar { name, change, value } => self.set_tx(name, *change, value),
                Effect::Switch(switch, value) => self.switch(*switch, value),
                Effect::RemoveRules(ranges) => self.remove_rules(ranges),
                Effect::RemoveTarget(removed) => {
                    self.values.meter.charge(self.removed_targets.len());
                    // A rule makes its effects for each value that matches.
                    if !self.removed_targets.iter().any(|known| std::ptr::eq(*known, removed)) {
                        self.removed_targets.push(removed);
                    }
                }
            }
        }
    }

    fn set_tx(&mut self, name: &Text, change: Change, value: &Text) {
        let key = self.expand(name).to_ascii_lowercase();
        if change == Change::Unset {
            self.store_tx(&key, None);
            return;
        }
        let mut text = self.expand(value);
        if change != Change::Set {
            let sign = if change == Change::Add { b'+' } else { b'-' };
            match parse_integer(&text).or(text.is_empty().then_some(0)) {
                Some(number) => {
                    let before = self.load_tx(&key).map_or(&b""[..], |id| self.values.get(id));
                    let before = if before.is_empty() { Some(0) } else { parse_integer(before) };
                    // A text is not changed by a number.
                    let Some(before) = before else { return };
                    let sum = if change == Change::Add { before.wrapping_add(number) } else { before.wrapping_sub(number) };
                    text = sum.to_string().into_bytes();
                }
                None => text.insert(0, sign),
            }
        }
        let id = self.values.add(&text);
        self.store_tx(&key, Some(id));
    }

    fn switch(&mut self, switch: Switch, value: &[u8]) {
        let is_on = value == b"On";
        let size = || std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
        match switch {
            Switch::AuditEngine => self.audits = value != b"Off",
            Switch::ForceRequestBodyVariable => self.force_request_body = is_on,
            Switch::ForceResponseBodyVariable => self.force_response_body = is_on,
            Switch::RequestBodyAccess => self.reads_request_body = is_on,
            Switch::RequestBodyLimit => self.request_limit = size().unwrap_or(usize::MAX),
            Switch::RequestBodyProcessor => self.set(Variable::ReqbodyProcessor, value),
            Switch::ResponseBodyAccess => self.reads_response_body = is_on,
            Switch::ResponseBodyLimit => self.response_limit = size().unwrap_or(usize::MAX),
            // Responses are inspected as text.
            Switch::ResponseBodyProcessor => {}
            Switch::RuleEngine => {
                self.runs = value != b"Off";
                // The call decides whether anything may be denied.
                self.blocks = self.options.blocks && is_on;
            }
        }
    }

    pub fn disrupt(&mut self, rule: &'a Rule) {
        let kind = match &rule.disruptive {
            Disruptive::Pass => return,
            Disruptive::Allow(allowance) => {
                if self.blocks {
                    self.allowance = Some(*allowance);
                }
                return;
            }
            Disruptive::Deny => DenialKind::Deny,
            Disruptive::Drop => DenialKind::Drop,
            Disruptive::Redirect(location) => DenialKind::Redirect(self.expand(location)),
        };
        self.deny(Denial { status: rule.status, rule: rule.id, kind });
    }

    /// Denies, or notes what would have been denied.
    pub fn deny(&mut self, denial: Denial) {
        let place = if self.blocks && self.runs { &mut self.denied } else { &mut self.undenied };
        place.get_or_insert(denial);
    }

    pub fn note_severity(&mut self, severity: u8) {
        let before = self.single(Variable::HighestSeverity);
        let before = if before.is_empty() { NO_SEVERITY } else { integer(before) };
        if i64::from(severity) < before {
            self.set(Variable::HighestSeverity, severity.to_string().as_bytes());
        }
    }
}
