/** An error as the problem document tells it: what is wrong, where, and what to do. */
import { ApiError, type Fault } from '../api/problem.ts';

export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === undefined || error === null) return null;
  const { title, detail, faults, requestId } = described(error);
  return (
    <div class="notice error" role="alert">
      <p>
        <strong>{title}.</strong> {detail}
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

function described(error: unknown) {
  if (error instanceof ApiError) {
    const { title, message, faults, status } = error;
    const sentence = message.charAt(0).toUpperCase() + message.slice(1);
    // Of what the caller did, the document says enough.
    return { title, detail: sentence, faults, requestId: status >= 500 ? error.requestId : null };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'The console failed', detail, faults: [], requestId: null };
}

function placeOf({ code, file, line, pointer }: Fault): string {
  const place = line === undefined ? (file ?? pointer) : `${file ?? 'line'}:${line}`;
  return [code, place].filter((each) => each !== undefined && each !== '').join(' ');
}
