/** The API's MicroTime: RFC 3339 with exactly six digits, which the API server insists on in Leases and Events. */
export function microTime(date: Date): string {
  return date.toISOString().replace(/Z$/, '000Z');
}
