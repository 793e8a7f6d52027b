/** Numbers that states give to people: of the USA, the United Kingdom, France, Spain and Italy. */
import { type Detector, endsWord, isAlphanumeric, NONE, UNDECIDED } from './detector.ts';

/** The longest is French, with blanks: `1 84 12 76 451 089 46`. */
const MOST = 22;
const SHAPES: readonly { readonly shape: RegExp; holds(compact: string): boolean }[] = [
  // Social Security number: never area 000, 666 or 900 and above.
  { shape: /^(?!000|666|9)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\w-])/, holds: () => true },
  // National Insurance number.
  {
    shape: /^(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D](?!\w)/i,
    holds: () => true,
  },
  // Numéro de sécurité sociale.
  {
    shape: /^[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-4]\d|[5-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d(?!\w)/i,
    holds: (compact) => {
      const number = compact.toUpperCase().slice(0, 13).replace('2A', '19').replace('2B', '18');
      return 97 - Number(BigInt(number) % 97n) === Number(compact.slice(13));
    },
  },
  // DNI and NIE.
  {
    shape: /^(?:\d{8}|[XYZ]-?\d{7})-?[A-HJ-NP-TV-Z](?!\w)/i,
    holds: (compact) => {
      const number = compact.toUpperCase().replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
      return 'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(number.slice(0, 8)) % 23) === number.charAt(8);
    },
  },
  // Codice fiscale.
  {
    shape: /^[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?!\w)/i,
    holds: (compact) => fiscalCode(compact.toUpperCase()),
  },
];

export const nationalId: Detector = ({ text, isWhole }, at, before) => {
  if (!isAlphanumeric(text.charCodeAt(at)) || endsWord(before) || before === '-' || before === '.') return NONE;
  const seen = text.slice(at, at + MOST);
  for (const { shape, holds } of SHAPES) {
    const [found] = shape.exec(seen) ?? [];
    if (found === undefined || !holds(found.replace(/[- ]/g, ''))) continue;
    // The text that follows may change its kind.
    return at + found.length === text.length && !isWhole ? UNDECIDED : found.length;
  }
  return !isWhole && at + seen.length === text.length && mayBegin(seen) ? UNDECIDED : NONE;
};

/** Reports whether the text may be the start of one: digits, and letters at their places. */
function mayBegin(seen: string): boolean {
  if (seen.length >= MOST) return false;
  if (/^(?:[12] ?)?\d[\d -]*[A-Z]?(?:[\d ]*)$/i.test(seen)) return true;
  return /^[A-Z]{1,2} ?(?:\d[\d ]*[A-D]?)?$|^[XYZ]-?\d*-?[A-Z]?$|^[A-Z]{1,6}(?:\d{1,2}(?:[A-Z](?:\d{1,2}(?:[A-Z]\d{0,3}[A-Z]?)?)?)?)?$/i.test(
    seen,
  );
}

/** Values of characters at odd places, of 0 to 9 and A to Z. */
const ODD = [
  ...[1, 0, 5, 7, 9, 13, 15, 17, 19, 21],
  ...[1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23],
];

function fiscalCode(code: string): boolean {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const value = Number.parseInt(code.charAt(i), 36);
    sum += i % 2 === 0 ? (ODD[value] ?? 0) : value > 9 ? value - 10 : value;
  }
  return String.fromCharCode(0x41 + (sum % 26)) === code.charAt(15);
}
