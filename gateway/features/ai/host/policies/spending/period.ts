/** Periods of the calendar, in UTC. Weeks begin on Monday (ISO 8601). */

export const PERIODS = ['hour', 'day', 'week', 'month', 'year'] as const;
export type PeriodName = (typeof PERIODS)[number];

export interface Period {
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

const DAY = 86_400_000;
const HOUR = 3_600_000;

export function periodAt(name: PeriodName, now: number): Period {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  switch (name) {
    case 'hour':
      return lasting(now - (now % HOUR), HOUR);
    case 'day':
      return lasting(now - (now % DAY), DAY);
    case 'week': {
      const today = now - (now % DAY);
      return lasting(today - ((date.getUTCDay() + 6) % 7) * DAY, 7 * DAY);
    }
    case 'month':
      return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
    case 'year':
      return { start: Date.UTC(year), end: Date.UTC(year + 1) };
  }
}

function lasting(start: number, ms: number): Period {
  return { start, end: start + ms };
}
