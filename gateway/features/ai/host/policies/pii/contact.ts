/** Addresses of mail, and telephone numbers. */
import {
  type Detector,
  endsWord,
  isAlphanumeric,
  isDigit,
  isLetter,
  NONE,
  type Reading,
  readGroups,
  runEnd,
  UNDECIDED,
} from './detector.ts';

const isLocal = (code: number) => isAlphanumeric(code) || "._%+-'".includes(String.fromCharCode(code));
const isDomain = (code: number) => isAlphanumeric(code) || code === 0x2d || code === 0x2e;
/** RFC 5321, section 4.5.3.1. */
const [MOST_LOCAL, MOST_DOMAIN] = [64, 255];

/** RFC 5322 as people write it: no comments, no quotes; letters of the domain are ASCII, or Punycode. */
export const email: Detector = ({ text, isWhole }, at, before) => {
  if (!isAlphanumeric(text.charCodeAt(at)) && text.charAt(at) !== '_') return NONE;
  if (endsWord(before) || (before !== '' && '.+-%'.includes(before))) return NONE;
  const local = runEnd(text, at, MOST_LOCAL + 1, isLocal);
  if (local - at > MOST_LOCAL) return NONE;
  if (local === text.length) return isWhole ? NONE : UNDECIDED;
  if (text.charAt(local) !== '@') return NONE;
  const domain = runEnd(text, local + 1, MOST_DOMAIN, isDomain);
  if (domain === text.length && !isWhole) return UNDECIDED;
  const name = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})/i.exec(
    text.slice(local + 1, domain),
  );
  return name === null ? NONE : local + 1 + name[0].length - at;
};

const SEPARATORS = ' .-/';
/** ITU-T E.164. */
const [LEAST_INTERNATIONAL, MOST_INTERNATIONAL] = [8, 15];

export const phone: Detector = (reading, at, before) => {
  const first = reading.text.charAt(at);
  if (endsWord(before) || (before !== '' && '.-/+:=#&'.includes(before))) return NONE;
  if (first === '+') return international(reading, at);
  if (first === '(') return inBrackets(reading, at);
  if (!isDigit(first.charCodeAt(0))) return NONE;
  return national(reading, at);
};

/** `+49 30 1234567`, `+44 (0)20 7946 0958` */
function international({ text, isWhole }: Reading, at: number): number {
  let [digits, end, next, bracket] = [0, at, at + 1, false];
  for (; next < text.length && digits <= MOST_INTERNATIONAL; next++) {
    const character = text.charAt(next);
    if (isDigit(character.charCodeAt(0))) {
      digits++;
      end = next + 1;
    } else if (character === '(' && !bracket) bracket = true;
    else if (character === ')' && bracket) bracket = false;
    else if (!SEPARATORS.includes(character) || next - end > 1) break;
  }
  if (next >= text.length && !isWhole && digits <= MOST_INTERNATIONAL) return UNDECIDED;
  const isOne = digits >= LEAST_INTERNATIONAL && digits <= MOST_INTERNATIONAL && text.charAt(at + 1) !== '0';
  return isOne && !isLetter(text.charCodeAt(end)) ? end - at : NONE;
}

/** `(415) 555-0132`, `(030) 1234567` */
function inBrackets(reading: Reading, at: number): number {
  const { text, isWhole } = reading;
  const area = runEnd(text, at + 1, 6, isDigit);
  if (area >= text.length) return isWhole ? NONE : UNDECIDED;
  if (area - at - 1 < 2 || text.charAt(area) !== ')') return NONE;
  const from = text.charAt(area + 1) === ' ' ? area + 2 : area + 1;
  if (from >= text.length) return isWhole ? NONE : UNDECIDED;
  const { digits, ends, isOpen } = readGroups(reading, from, ' -.', 12);
  if (isOpen) return UNDECIDED;
  const end = ends.at(-1)?.at ?? at;
  const total = digits.length + area - at - 1;
  return total >= 9 && total <= 12 && digits.length >= 6 ? end - at : NONE;
}

/** Recognises numbers by the sizes of groups: of North America, of France, and others that begin with 0. */
function national(reading: Reading, at: number): number {
  const { digits, ends, isOpen } = readGroups(reading, at, SEPARATORS, 13);
  if (isOpen) return UNDECIDED;
  const last = ends.at(-1);
  if (last === undefined || digits.length > 13 || ends.length < 2) return NONE;
  if (endsWord(reading.text.charAt(last.at))) return NONE;
  const sizes = ends.map(({ count }, i) => count - (ends[i - 1]?.count ?? 0)).join('');
  const isAmerican = (sizes === '334' && /^[2-9]..[2-9]/.test(digits)) || (sizes === '1334' && digits.startsWith('1'));
  const isFrench = sizes === '22222' && /^0[1-9]/.test(digits);
  const isOther = digits.length >= 9 && /^0[1-9]/.test(digits) && /^[3-6][3-9]/.test(sizes);
  return isAmerican || isFrench || isOther ? last.at - at : NONE;
}
