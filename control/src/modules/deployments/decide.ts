/**
 * Decides the state of a deployment from the reports of its data planes (docs/reference/control-plane.md#deployments).
 */

/** A deployment in progress and its targets, as they are now. */
export interface Progress {
  /** Targets, counted by their result. */
  readonly applied: number;
  readonly refused: number;
  /** Connected targets that have not answered. */
  readonly waiting: number;
  /** Targets that have disconnected. */
  readonly away: number;
  /** Milliseconds since the last of those went. */
  readonly awayMs: number;
  /** Whether its time is over. */
  readonly expired: boolean;
  /** Share of the targets that may refuse; null: all. */
  readonly threshold: number | null;
  /** Whether there is an artifact to return to, and this is not itself an automatic rollback. */
  readonly canRollBack: boolean;
  /** Whether nothing was deployed before it. */
  readonly isFirst: boolean;
  /** Why it was refused, and by how many. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
}

export type Decision =
  | { readonly status: 'in_progress' }
  | {
      readonly status: 'succeeded' | 'failed' | 'timed_out' | 'rolled_back';
      /** There is no artifact to return to, and nobody serves this one: the desired artifact becomes null. */
      readonly withdrawn?: true;
      /** A text for people; null if there is nothing to add. */
      readonly reason: string | null;
    };

/** Milliseconds in which a data plane may reconnect, to any replica, before deployments stop waiting for it. */
export const AWAY_MS = 15_000;

export function decide(progress: Progress): Decision {
  const { applied, refused, waiting, away, expired, threshold } = progress;
  const targets = applied + refused + waiting + away;
  if (targets === 0) return { status: 'succeeded', reason: null };
  const tooMany = threshold !== null && refused / targets > threshold;
  if (tooMany && progress.canRollBack) return { status: 'rolled_back', reason: refusal(progress, targets) };
  const mayComeBack = away > 0 && progress.awayMs < AWAY_MS;
  if (!expired && (waiting > 0 || mayComeBack)) return { status: 'in_progress' };
  if (refused > 0) {
    const reason = also(refusal(progress, targets), waiting);
    if (!tooMany || applied > 0 || !progress.isFirst) return { status: 'failed', reason };
    return {
      status: 'failed',
      withdrawn: true,
      reason: `${reason}; nothing was deployed before, so nothing is deployed now`,
    };
  }
  if (waiting > 0) return { status: 'timed_out', reason: silent(waiting, targets) };
  if (applied === 0) return { status: 'failed', reason: 'all data planes disconnected before they answered' };
  return { status: 'succeeded', reason: away === 0 ? null : `${away} of ${targets} disconnected meanwhile` };
}

function refusal({ refused, reasons }: Progress, targets: number): string {
  const each = reasons.map(({ reason, count }) => `${reason} (${count})`).join(', ');
  return `${refused} of ${targets} data planes refused it: ${each}`;
}

const silent = (waiting: number, targets: number) => `${waiting} of ${targets} data planes did not answer in time`;

const also = (text: string, waiting: number) => (waiting === 0 ? text : `${text}; ${waiting} did not answer in time`);
