/** `Retry-After` (RFC 9110, section 10.2.3), as other servers send it. */

/** Longest delay that clients are told, in milliseconds. */
const MOST = 86_400_000;
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Milliseconds from now on, at most a day; null if the value is absent, or neither seconds nor a date. */
export function retryAfterMs(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,32}$/.test(value)) return Math.min(Number(value) * 1000, MOST);
  const at = DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - Date.now()), MOST);
}
