/** Why a control plane ends the link: the closed set of WebSocket close codes of `gw.data-plane.v1`. */

export interface CloseCode {
  readonly code: number;
  /** `backoff`: reconnect as after any failure. `slow`: once a minute, since a person must act first. */
  readonly retry: 'backoff' | 'slow';
  /** When it is sent. */
  readonly when: string;
}

const table = {
  malformed: {
    code: 4400,
    retry: 'slow',
    when: 'a message is longer than 16 KiB, not JSON, not what its type says, or not expected then',
  },
  'bad-key': { code: 4401, retry: 'slow', when: 'no project has this API key' },
  revoked: { code: 4403, retry: 'slow', when: 'the API key was revoked, also while connected' },
  'unknown-project': { code: 4404, retry: 'slow', when: 'the key is not one of this project, or the project is gone' },
  timeout: { code: 4408, retry: 'backoff', when: 'no hello within 10 s, or no heartbeat for three intervals' },
  'unsupported-version': {
    code: 4409,
    retry: 'slow',
    when: 'the data plane reads no artifact format that the control plane has',
  },
  disconnected: { code: 4410, retry: 'backoff', when: 'someone disconnected this data plane; nothing is revoked' },
  replaced: { code: 4411, retry: 'slow', when: 'another connection came with the same instance id' },
  'too-many': {
    code: 4429,
    retry: 'backoff',
    when: 'too many data planes, messages of this one, or connections without a hello',
  },
  'too-slow': { code: 4430, retry: 'backoff', when: 'the data plane does not read its messages' },
  unavailable: { code: 4503, retry: 'backoff', when: 'the control plane cannot answer now, its database for one' },
} as const satisfies Record<string, CloseCode>;

export type CloseReason = keyof typeof table;
export const CLOSE_CODES: Readonly<Record<CloseReason, CloseCode>> = table;
export const CLOSE_REASONS: readonly CloseReason[] = Object.keys(table).filter(isCloseReason);

/** Close code after `goodbye` (RFC 6455, section 7.4.1). */
export const GOING_AWAY = 1001;

function isCloseReason(name: string): name is CloseReason {
  return Object.hasOwn(table, name);
}

/** Returns undefined for codes of WebSocket itself. */
export function closeReasonOf(code: number): CloseReason | undefined {
  return CLOSE_REASONS.find((each) => CLOSE_CODES[each].code === code);
}
