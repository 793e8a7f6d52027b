/**
 * Labels of internationalized host names: which characters they may hold (RFC 5892), in which direction they are
 * written (RFC 5893), and how they are encoded (RFC 5891). Node.js has Punycode and the rules for joiners.
 */
import { domainToASCII, domainToUnicode } from 'node:url';

/** RFC 5892, section 2.6: exceptions to the rules by property. */
const ALLOWED = '\u00df\u03c2\u06fd\u06fe\u0f0b\u3007';
const IN_CONTEXT = '\u00b7\u0375\u05f3\u05f4\u30fb\u0660-\u0669\u06f0-\u06f9\u200c\u200d';
const REFUSED = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u;
/** Letters, digits and marks that stay as they are if case and compatible forms are folded; no conjoining jamo. */
const REGULAR =
  '[[\\p{Ll}\\p{Lu}\\p{Lo}\\p{Nd}\\p{Lm}\\p{Mn}\\p{Mc}\\-]--[\\p{Changes_When_NFKC_Casefolded}\\p{Default_Ignorable_Code_Point}' +
  '\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u20d0-\u20ff\u{1d100}-\u{1d24f}]]';
/** One class, so that a character is tried in one way. */
const CHARACTERS = new RegExp(`^[${ALLOWED}${IN_CONTEXT}${REGULAR}]+$`, 'v');
/** RFC 5892, appendix A: characters with wrong neighbours. */
const WRONG_CONTEXT = [
  /(?<!l)\u00b7|\u00b7(?!l)/u,
  /\u0375(?!\p{Script=Greek})/u,
  /(?<!\p{Script=Hebrew})[\u05f3\u05f4]/u,
  /^(?!.*[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]).*\u30fb/u,
  /[\u0660-\u0669].*[\u06f0-\u06f9]|[\u06f0-\u06f9].*[\u0660-\u0669]/u,
];
const JOINERS = /[\u200c\u200d]/;
const BEGINS_WITH_MARK = /^\p{M}/u;

/** Blocks of right-to-left letters. */
const RIGHT = '\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}';
const RIGHT_TO_LEFT = new RegExp(`[[${RIGHT}]--[\\p{Mn}\u06f0-\u06f9]]`, 'v');
const ARABIC_DIGITS = /[\u0660-\u0669\u{10d30}-\u{10d39}]/u;
const EUROPEAN_DIGITS = /[0-9\u06f0-\u06f9]/u;
/** RFC 5893, section 2, rules 1 to 3: right-to-left labels begin with a letter, and end with a letter or a digit. */
const RIGHT_LABEL = new RegExp(`^[[${RIGHT}]--[\\p{Mn}\\p{Nd}]][${RIGHT}0-9\\-\u00b7\u200c\u200d\\p{Mn}]*$`, 'v');
const ENDS_IN_LETTER_OR_DIGIT = new RegExp(`(?:[[${RIGHT}]--\\p{Mn}]|[0-9])\\p{Mn}*$`, 'v');

/**
 * Reports whether a label in Unicode is one that is registered and encoded; `isBidi`: some label of its name is
 * right-to-left.
 */
export function isUnicodeLabel(label: string, isBidi: boolean): boolean {
  if (label.startsWith('-') || label.endsWith('-') || label.slice(2, 4) === '--') return false;
  if (BEGINS_WITH_MARK.test(label) || REFUSED.test(label) || !CHARACTERS.test(label)) return false;
  if (label.normalize('NFC') !== label || WRONG_CONTEXT.some((wrong) => wrong.test(label))) return false;
  return isJoined(label) && (!isBidi || hasOneDirection(label)) && isShort(domainToASCII(label));
}

/** Reports whether an A-label is the encoding of a label in Unicode. */
export function isEncodedLabel(label: string): boolean {
  const lower = label.toLowerCase();
  const decoded = domainToUnicode(lower);
  if (!/[\u0080-\uffff]/.test(decoded) || domainToASCII(decoded) !== lower) return false;
  return isUnicodeLabel(decoded, isRightToLeft(decoded));
}

export function isRightToLeft(label: string): boolean {
  return RIGHT_TO_LEFT.test(label);
}

/** Octets of an encoded label. */
function isShort(encoded: string): boolean {
  return encoded.length > 0 && encoded.length <= 63;
}

/** Checks each joiner by itself, with the text up to the next: Node.js checks the first one of a name. */
function isJoined(label: string): boolean {
  if (!JOINERS.test(label)) return true;
  const parts = label.split(/([\u200c\u200d])/);
  for (let i = 1; i < parts.length; i += 2) {
    const before = parts[i - 1] ?? '';
    if (before === '') return false;
    // A name cannot begin with a mark; this letter does not join.
    const start = BEGINS_WITH_MARK.test(before) ? `${isRightToLeft(label) ? '\u0627' : 'a'}${before}` : before;
    if (domainToASCII(`${start}${parts[i]}${parts[i + 1]}`) === '') return false;
  }
  return true;
}

/** RFC 5893, section 2, of a name with right-to-left labels. */
function hasOneDirection(label: string): boolean {
  if (!isRightToLeft(label)) return !/^[0-9\u06f0-\u06f9-]/u.test(label);
  if (!RIGHT_LABEL.test(label) || !ENDS_IN_LETTER_OR_DIGIT.test(label)) return false;
  return !(ARABIC_DIGITS.test(label) && EUROPEAN_DIGITS.test(label));
}
