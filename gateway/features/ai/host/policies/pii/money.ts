/** Cards and accounts, by their check digits. */
import { type Detector, endsWord, isAlphanumeric, isDigit, isLetter, NONE, readGroups, UNDECIDED } from './detector.ts';

const [LEAST_CARD, MOST_CARD] = [13, 19];

/** ISO/IEC 7812: of the networks that issue to people, with a check digit (Luhn). */
export const card: Detector = (reading, at, before) => {
  if (!isDigit(reading.text.charCodeAt(at)) || endsWord(before) || (before !== '' && '.-+'.includes(before)))
    return NONE;
  // No network's numbers begin so.
  if (!'23456'.includes(reading.text.charAt(at))) return NONE;
  const { digits, ends, isOpen } = readGroups(reading, at, ' -', MOST_CARD);
  if (isOpen) return UNDECIDED;
  // The longest that ends with a group: a year or a code may follow it.
  for (const { count, at: end } of ends.toReversed()) {
    if (count < LEAST_CARD || count > MOST_CARD || endsWord(reading.text.charAt(end))) continue;
    const number = digits.slice(0, count);
    if (isNetwork(number) && luhn(number)) return end - at;
  }
  return NONE;
};

/** Visa; Mastercard; American Express; Discover, UnionPay, Maestro and Diners Club; JCB. */
function isNetwork(number: string): boolean {
  const { length } = number;
  if (number.startsWith('4')) return length === 13 || length === 16 || length === 19;
  if (/^(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))/.test(number)) return length === 16;
  if (/^3[47]/.test(number)) return length === 15;
  if (/^(?:30[0-5]|3[689])/.test(number)) return length >= 14;
  if (/^35(?:2[89]|[3-8])/.test(number)) return length >= 16;
  return /^(?:6011|6[245]|50|5[6-9]|6[3789])/.test(number) && length >= 16;
}

function luhn(number: string): boolean {
  let sum = 0;
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number.charAt(number.length - 1 - i));
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0 && !/^(\d)\1+$/.test(number);
}

/** Characters of an account's number by its country (SWIFT's registry). */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 ' +
    'FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 ' +
    'LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ' +
    'ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/** ISO 13616, in one piece or in groups with a blank between them. */
export const iban: Detector = ({ text, isWhole }, at, before) => {
  if (!isLetter(text.charCodeAt(at)) || endsWord(before)) return NONE;
  const begin = text.slice(at, at + 4);
  if (begin.length < 4 && !isWhole && /^[a-z]{1,2}\d?$/i.test(begin)) return UNDECIDED;
  const length = LENGTHS[begin.slice(0, 2).toUpperCase()];
  if (length === undefined || !/^..\d\d$/.test(begin)) return NONE;
  let [compact, end] = ['', at];
  for (; end < text.length && compact.length < length; end++) {
    if (isAlphanumeric(text.charCodeAt(end))) compact += text.charAt(end);
    else if (text.charAt(end) !== ' ' || text.charAt(end - 1) === ' ') return NONE;
  }
  if (end >= text.length && !isWhole) return UNDECIDED;
  return compact.length === length && !endsWord(text.charAt(end)) && mod97(compact.toUpperCase()) === 1
    ? end - at
    : NONE;
};

/** ISO/IEC 7064, MOD 97-10, with the first four characters last. */
function mod97(account: string): number {
  let remainder = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    for (const digit of Number.parseInt(character, 36).toString()) remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder;
}
