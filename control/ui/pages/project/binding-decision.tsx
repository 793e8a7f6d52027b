/** Asks whether to keep bindings whose operation an upload changes or leaves out. */
import { ApiError } from '../../../src/client/api-error.ts';
import { faultsOf } from '../../api/describe-error.ts';
import type { BindingDecision } from '../../api/types.ts';
import { Problem } from '../../components/problem.tsx';

/** Whether the server wants a decision. */
export function wantsDecision(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && faultsOf(error).some((fault) => 'state' in fault);
}

interface BindingDecisionProps {
  readonly error: unknown;
  readonly busy: boolean;
  readonly onDecide: (decision: BindingDecision) => void;
}

export function BindingQuestion({ error, busy, onDecide }: BindingDecisionProps) {
  return (
    <div class="notice warning">
      <Problem error={error} />
      <div class="toolbar">
        <button type="button" class="button small" aria-disabled={busy} onClick={() => onDecide('keep')}>
          Keep the bindings
        </button>
        <button type="button" class="button small" aria-disabled={busy} onClick={() => onDecide('discard')}>
          Discard these bindings
        </button>
      </div>
    </div>
  );
}
