/** An error as the problem document tells it: what is wrong, where, and what to do. */
import { describeError, type Fault } from '../api/describe-error.ts';

export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === undefined || error === null) return null;
  const { title, detail, faults, requestId } = describeError(error);
  return (
    <div class="notice error" role="alert">
      <p>
        <strong>{title}.</strong> {detail.charAt(0).toUpperCase() + detail.slice(1)}
      </p>
      {faults.length > 0 && (
        <ul>
          {faults.map((fault, index) => (
            <li key={index}>
              {placeOf(fault) && <code>{placeOf(fault)}</code>} {fault.message}
              {fault.hint && <span class="muted"> {fault.hint}</span>}
            </li>
          ))}
        </ul>
      )}
      {requestId && (
        <p class="muted small">
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

function placeOf({ code, file, line, pointer }: Fault): string {
  const place = line === undefined ? (file ?? pointer) : `${file ?? 'line'}:${line}`;
  return [code, place].filter((each) => each !== undefined && each !== '').join(' ');
}
