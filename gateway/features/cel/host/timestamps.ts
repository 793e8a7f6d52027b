/**
 * The parts of timestamps. The library reads them off clocks of the host's own time zone, which skip an hour in spring;
 * these do not depend on the gateway's time zone.
 */
import { type CelFunc, CelScalar, celMethod } from '@bufbuild/cel';
import { isMessage } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import { TIMESTAMP } from './request-types.ts';

const { INT, STRING } = CelScalar;
const DAY_MS = 86_400_000;
const FIXED = /^([+-]?)(\d\d):(\d\d)$/;
/** Formatters are dear to make; most expressions name one zone. */
const MOST_FORMATS = 100;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Each part of a date, read from a date whose UTC is the time of the wanted clock. */
const PARTS: Readonly<Record<string, (clock: Date) => number>> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: (clock) => Math.floor((clock.getTime() - yearStart(clock)) / DAY_MS),
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
  getMilliseconds: (clock) => clock.getUTCMilliseconds(),
};

function yearStart(clock: Date): number {
  return new Date(0).setUTCFullYear(clock.getUTCFullYear(), 0, 1);
}

export function timestampParts(): CelFunc[] {
  return Object.entries(PARTS).flatMap(([name, part]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return BigInt(part(dateOf(this.message)));
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      return BigInt(part(clockIn(zone, dateOf(this.message))));
    }),
  ]);
}

function dateOf(message: unknown): Date {
  if (!isMessage(message, TimestampSchema)) throw new Error('this is not a timestamp');
  return timestampDate(message);
}

/** Throws if the zone does not exist: `UTC`, `+02:00`, or a name of the IANA database. */
function clockIn(zone: string, date: Date): Date {
  const [, sign, hours, minutes] = FIXED.exec(zone) ?? [];
  if (hours !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(date.getTime() + (sign === '-' ? -offset : offset));
  }
  const parts = new Map(
    formatIn(zone)
      .formatToParts(date)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const clock = new Date(
    Date.UTC(2000, of('month') - 1, 1, of('hour'), of('minute'), of('second'), date.getUTCMilliseconds()),
  );
  clock.setUTCFullYear(of('year'), of('month') - 1, of('day'));
  return clock;
}

function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    hourCycle: 'h23',
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formats.size < MOST_FORMATS) formats.set(zone, format);
  return format;
}
