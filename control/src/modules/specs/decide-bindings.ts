/** Decides about bindings in an upload, as its sender requests (docs/reference/control-plane.md#kept-bindings). */
import { ControlError } from '../../errors.ts';
import { type BindingOutcome, isNews } from './bound-document.ts';
import { presentOutcome } from './record.ts';
import type { BindingDecision } from './schemas.ts';

/** Throws a conflict with each changed or lost binding about which the sender has not decided. */
export function mustBeDecided(outcomes: readonly BindingOutcome[], decision: BindingDecision | undefined): void {
  const news = outcomes.filter(isNews);
  if (news.length === 0 || decision !== undefined) return;
  const count = (state: string) => news.filter((each) => each.state === state).length;
  const counts = ['changed', 'lost'].filter((state) => count(state) > 0).map((state) => `${count(state)} ${state}`);
  const detail = `the upload changes operations that have plugins bound to them here (${counts.join(', ')}): send it again with bindings=keep to apply the changed bindings and to keep the lost ones until their operation is there again, or with bindings=discard to delete both (gw-control specs push --bindings keep|discard)`;
  const errors = news.map((each) => {
    const { state, reason, was, operation_id } = presentOutcome(each);
    return { pointer: was, message: `${state}: ${reason}`, state, operation_id };
  });
  throw new ControlError('conflict', detail, { errors });
}
