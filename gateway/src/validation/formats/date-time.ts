/** `format: date-time` and `time`: those of RFC 3339, section 5.6. The library's take spaces and `+0530`, too. */

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const DATE_LENGTH = 10;
const MINUTES_A_DAY = 1440;

export function isDateTime(text: string): boolean {
  const separator = text.charAt(DATE_LENGTH);
  return (
    (separator === 'T' || separator === 't') &&
    isDate(text.slice(0, DATE_LENGTH)) &&
    isTime(text.slice(DATE_LENGTH + 1))
  );
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

export function isTime(text: string): boolean {
  const [, hours, minutes, seconds, sign, zoneHours = '0', zoneMinutes = '0'] = TIME.exec(text) ?? [];
  if (hours === undefined) return false;
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  const [zoneHour, zoneMinute] = [Number(zoneHours), Number(zoneMinutes)];
  if (hour > 23 || minute > 59 || zoneHour > 23 || zoneMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is the last one of a day in UTC.
  const zone = (sign === '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  const utc = (hour * 60 + minute - zone + MINUTES_A_DAY) % MINUTES_A_DAY;
  return second === 60 && utc === MINUTES_A_DAY - 1;
}
