/** Dates as text and as milliseconds since the epoch, which `now()` returns. All are UTC. */
import { Text, text, TextBuilder } from "./text";

const DAY_MS: f64 = 86_400_000;
const DAYS = text("SunMonTueWedThuFriSat");
const FULL_DAYS = text("Sunday   Monday   Tuesday  WednesdayThursday Friday   Saturday ");
const MONTHS = text("JanFebMarAprMayJunJulAugSepOctNovDec");
/** The years that both forms can write: 0000-01-01 to 9999-12-31. */
const FIRST_MS: f64 = -62_167_219_200_000;
const LAST_MS: f64 = 253_402_300_799_999;

/**
 * Reads a date and time of RFC 3339, such as `2026-11-27T04:06:00.5+01:00`. Returns NaN if it is not valid, such as
 * without an offset. Digits beyond milliseconds are cut off; a leap second counts as the one before it.
 *
 * @example
 * const at = parseRfc3339(text("2026-11-27T04:06:00.5+01:00"));
 * if (isNaN(at) || at < now()) return ANSWERED;
 */
export function parseRfc3339(value: Text): f64 {
  if (value.length < 20) return NaN;
  const year = digits(value, 0, 4);
  const month = digits(value, 5, 2);
  const day = digits(value, 8, 2);
  const letter: u8 = value.byteAt(10) | 0x20;
  if (value.byteAt(4) != 0x2d || value.byteAt(7) != 0x2d || (letter != 0x74 && value.byteAt(10) != 0x20)) return NaN;
  const time = timeAt(value, 11);
  let at = 19;
  let ms: f64 = 0;
  if (value.byteAt(at) == 0x2e) {
    let unit: f64 = 100;
    const first = ++at;
    for (; at < value.length && isDigit(value.byteAt(at)); at++) {
      ms += unit * <f64>(value.byteAt(at) - 0x30);
      unit = unit > 1 ? unit / 10 : 0;
    }
    if (at == first) return NaN;
  }
  const offset = offsetAt(value, at);
  return dateOf(year, month, day) + time + ms - offset;
}

/**
 * Writes a date and time of RFC 3339 in UTC, with milliseconds if there are any: `2026-11-27T04:06:00Z`. Empty for NaN
 * and for years outside 0000 to 9999.
 *
 * @example
 * const sentAt = formatRfc3339(now()); // 2026-11-27T04:06:00.123Z
 */
export function formatRfc3339(ms: f64): Text {
  const out = new TextBuilder(32);
  if (!(ms >= FIRST_MS && ms < LAST_MS + 1)) return out.take();
  const date = new CivilDate(ms);
  padded(out, date.year, 4).byte(0x2d);
  padded(out, date.month, 2).byte(0x2d);
  padded(out, date.day, 2).byte(0x54);
  time(out, date);
  if (date.millisecond > 0) padded(out.byte(0x2e), date.millisecond, 3);
  return out.byte(0x5a).take();
}

/**
 * Reads a date of HTTP headers, such as `Last-Modified` (RFC 9110, section 5.6.7), also in its two obsolete forms.
 * Returns NaN if it is not valid. A year of two digits that would be more than 50 years after `now` is of the past.
 *
 * @example const modified = parseHttpDate(text("Fri, 27 Nov 2026 04:06:00 GMT"));
 */
export function parseHttpDate(value: Text, now: f64 = 1_790_000_000_000): f64 {
  if (value.length == 29 && value.byteAt(3) == 0x2c) return imfFixdate(value);
  if (value.length == 24 && value.byteAt(3) == 0x20) return asctime(value);
  return rfc850(value, now);
}

/**
 * Writes a date as HTTP headers have it: `Fri, 27 Nov 2026 04:06:00 GMT`. Empty as `formatRfc3339` is.
 *
 * @example
 * Response.setHeader(text("last-modified"), formatHttpDate(now()));
 */
export function formatHttpDate(ms: f64): Text {
  const out = new TextBuilder(32);
  if (!(ms >= FIRST_MS && ms < LAST_MS + 1)) return out.take();
  const date = new CivilDate(ms);
  out.add(DAYS.slice(date.weekday * 3, date.weekday * 3 + 3)).byte(0x2c).byte(0x20);
  padded(out, date.day, 2).byte(0x20);
  out.add(MONTHS.slice(date.month * 3 - 3, date.month * 3)).byte(0x20);
  padded(out, date.year, 4).byte(0x20);
  time(out, date);
  return out.add(text(" GMT")).take();
}

/** `Sun, 06 Nov 1994 08:49:37 GMT`. */
function imfFixdate(value: Text): f64 {
  if (nameAt(DAYS, value, 0) < 0 || value.byteAt(4) != 0x20 || value.byteAt(7) != 0x20 || value.byteAt(11) != 0x20 || value.byteAt(16) != 0x20 || !value.endsWith(text(" GMT"))) return NaN;
  return dateOf(digits(value, 12, 4), nameAt(MONTHS, value, 8) + 1, digits(value, 5, 2)) + timeAt(value, 17);
}

/** `Sun Nov  6 08:49:37 1994`. */
function asctime(value: Text): f64 {
  if (nameAt(DAYS, value, 0) < 0 || value.byteAt(7) != 0x20 || value.byteAt(10) != 0x20 || value.byteAt(19) != 0x20) return NaN;
  const day = value.byteAt(8) == 0x20 ? digits(value, 9, 1) : digits(value, 8, 2);
  return dateOf(digits(value, 20, 4), nameAt(MONTHS, value, 4) + 1, day) + timeAt(value, 11);
}

/** `Sunday, 06-Nov-94 08:49:37 GMT`. */
function rfc850(value: Text, now: f64): f64 {
  const comma = value.indexOf(0x2c);
  if (comma < 6 || comma > 9 || value.length != comma + 24 || !value.endsWith(text(" GMT"))) return NaN;
  let known = false;
  for (let i = 0; i < 7; i++) if (FULL_DAYS.slice(i * 9, i * 9 + 9).trim().equals(value.slice(0, comma))) known = true;
  const at = comma + 2;
  if (!known || value.byteAt(comma + 1) != 0x20 || value.byteAt(at + 2) != 0x2d || value.byteAt(at + 6) != 0x2d || value.byteAt(at + 9) != 0x20) return NaN;
  const currentYear = new CivilDate(now).year;
  let year = digits(value, at + 7, 2);
  if (year < 0) return NaN;
  year += currentYear - (currentYear % 100);
  if (year > currentYear + 50) year -= 100;
  return dateOf(year, nameAt(MONTHS, value, at + 3) + 1, digits(value, at, 2)) + timeAt(value, at + 10);
}

/** Index of the name of three letters, or -1. */
function nameAt(names: Text, value: Text, at: i32): i32 {
  const name = value.slice(at, at + 3);
  for (let i = 0; i < names.length; i += 3) if (names.slice(i, i + 3).equals(name)) return i / 3;
  return -1;
}

@inline function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}

/** The number of `count` digits, or -1. */
function digits(value: Text, at: i32, count: i32): i32 {
  let number = 0;
  for (let i = at; i < at + count; i++) {
    if (i >= value.length || !isDigit(value.byteAt(i))) return -1;
    number = number * 10 + <i32>(value.byteAt(i) - 0x30);
  }
  return number;
}

/** Milliseconds of `08:49:37`, or NaN. */
function timeAt(value: Text, at: i32): f64 {
  const hour = digits(value, at, 2);
  const minute = digits(value, at + 3, 2);
  const second = digits(value, at + 6, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return NaN;
  if (value.byteAt(at + 2) != 0x3a || value.byteAt(at + 5) != 0x3a) return NaN;
  return <f64>(hour * 3_600_000 + minute * 60_000 + min(second, 59) * 1000);
}

/** Milliseconds of `Z` or `+01:00` at the end of a text, or NaN. */
function offsetAt(value: Text, at: i32): f64 {
  if (at >= value.length) return NaN;
  const sign = value.byteAt(at);
  if ((sign | 0x20) == 0x7a) return at + 1 == value.length ? 0 : NaN;
  if ((sign != 0x2b && sign != 0x2d) || value.length != at + 6 || value.byteAt(at + 3) != 0x3a) return NaN;
  const hour = digits(value, at + 1, 2);
  const minute = digits(value, at + 4, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return NaN;
  const offset = <f64>(hour * 3_600_000 + minute * 60_000);
  return sign == 0x2d ? -offset : offset;
}

/** Milliseconds since the epoch at the start of a day of the Gregorian calendar, or NaN. */
function dateOf(year: i32, month: i32, day: i32): f64 {
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return NaN;
  // Years that begin in March: the day that leap years add is their last.
  const shifted = month > 2 ? year : year - 1;
  const era = (shifted >= 0 ? shifted : shifted - 399) / 400;
  const yearOfEra = shifted - era * 400;
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return <f64>(era * 146_097 + dayOfEra - 719_468) * DAY_MS;
}

function daysOf(year: i32, month: i32): i32 {
  if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/** The inverse of `dateOf`, with the time of the day. */
class CivilDate {
  year: i32;
  month: i32;
  day: i32;
  /** 0 is Sunday. */
  weekday: i32;
  /** Time of the day, in whole milliseconds. */
  private time: i32;

  constructor(ms: f64) {
    const days = Math.floor(ms / DAY_MS);
    this.time = <i32>Math.floor(ms - days * DAY_MS);
    const day = <i32>days;
    this.weekday = (((day + 4) % 7) + 7) % 7;
    const shifted = day + 719_468;
    const era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097;
    const dayOfEra = shifted - era * 146_097;
    const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
    const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    const month = (5 * dayOfYear + 2) / 153;
    this.day = dayOfYear - (153 * month + 2) / 5 + 1;
    this.month = month < 10 ? month + 3 : month - 9;
    this.year = yearOfEra + era * 400 + (this.month <= 2 ? 1 : 0);
  }

  get hour(): i32 {
    return this.time / 3_600_000;
  }

  get minute(): i32 {
    return (this.time / 60_000) % 60;
  }

  get second(): i32 {
    return (this.time / 1000) % 60;
  }

  get millisecond(): i32 {
    return this.time % 1000;
  }
}

function time(out: TextBuilder, date: CivilDate): void {
  padded(out, date.hour, 2).byte(0x3a);
  padded(out, date.minute, 2).byte(0x3a);
  padded(out, date.second, 2);
}

function padded(out: TextBuilder, value: i32, width: i32): TextBuilder {
  let unit = 1;
  for (let i = 1; i < width; i++) unit *= 10;
  for (; unit > 1 && value < unit; unit /= 10) out.byte(0x30);
  return out.integer(value);
}
