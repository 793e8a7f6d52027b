/**
 * Logs a call of a tool in the access log: its tool, caller, outcome, and a hash of its arguments
 * (docs/mcp.md#call-log).
 */
import { createHmac } from 'node:crypto';
import { canonicalJson } from '../artifact/canonical-json.ts';
import { RequestSlot } from '../capability/request-slot.ts';
import type { Exchange, RequestPart } from '../exchange.ts';
import { get, type JsonObject, type Obj } from '../spec/json.ts';
import type { ToolOutcome } from '../telemetry/metric-table.ts';

const slot = new RequestSlot<LoggedCall>();
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
/** Characters of a name that a client gives. */
const MOST_NAME = 128;

class LoggedCall implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #agent: string | null;
  readonly #key: string | null;
  tool: string;
  args: Obj | null = null;
  /** `unknown`: the tool does not exist. */
  outcome: ToolOutcome | 'unknown' = 'unknown';
  upstream: string | null = null;
  consumer: string | null = null;

  constructor(tool: string, agent: string | null, key: string | null) {
    this.tool = tool;
    this.#agent = agent;
    this.#key = key;
  }

  /** Called only if the line is written. */
  get logged(): string {
    const members = {
      tool: this.tool,
      mcp_upstream: this.upstream,
      agent: this.#agent,
      tool_outcome: this.outcome,
      arguments_hmac: this.#key === null || this.args === null ? null : argumentsHash(this.args, this.#key),
      consumer: this.consumer,
    };
    const present = Object.entries(members).filter(([, value]) => value !== null);
    return present.map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('');
  }

  finished(): void {}
}

/** `key`: for hashes of arguments; null: arguments are not logged. */
export function logCall(exchange: Exchange, params: Obj, key: string | null): void {
  const tool = String(get(params, 'name')).slice(0, MOST_NAME);
  slot.set(exchange, new LoggedCall(tool, agentOf(params), key));
}

/** Notes the called tool. The outcome is `cancelled`, as if its client had left, until another is set. */
export function logTool(exchange: Exchange, tool: string, args: Obj): void {
  const call = slot.of(exchange);
  if (call !== null) Object.assign(call, { tool, args, outcome: 'cancelled' });
}

export function logOutcome(
  exchange: Exchange,
  outcome: ToolOutcome,
  more: { readonly upstream?: string; readonly consumer?: string | undefined } = {},
): void {
  const call = slot.of(exchange);
  if (call === null) return;
  call.outcome = outcome;
  call.upstream = more.upstream ?? null;
  call.consumer = more.consumer ?? null;
}

/**
 * Returns the HMAC-SHA-256 of the arguments as canonical JSON (RFC 8785), in hex. Without a key, a reader of the log
 * could guess most arguments: they are ids, dates and words.
 */
function argumentsHash(args: Obj, key: string): string {
  return createHmac('sha256', key)
    .update(canonicalJson(args as JsonObject))
    .digest('hex');
}

/** Name and version, as the client gives them; clients with sessions say so at their beginning alone. */
function agentOf(params: Obj): string | null {
  const info = get(get(params, '_meta'), CLIENT_INFO);
  const [name, version] = [get(info, 'name'), get(info, 'version')];
  if (typeof name !== 'string') return null;
  return `${name.slice(0, MOST_NAME)}${typeof version === 'string' ? `/${version.slice(0, MOST_NAME)}` : ''}`;
}
