/**
 * Every limit that several clients share (docs/reference/gateway.md#shared-limits, docs/decisions.md#shared-limits), one
 * row each; docs/shared-limits.md is generated from it. A row says what is so today: `owner` is null where a limit has no
 * shares yet, and one client can take all of it. shared-limits.test.ts holds it together with options, metrics and code.
 */
import type { SERVE_OPTIONS } from './options/options.ts';

export interface SharedLimit {
  /** What there is so much of. */
  readonly what: string;
  readonly unit: 'connections' | 'streams' | 'bytes' | 'characters' | 'calls' | 'entries' | 'messages' | 'clients';
  /** How much: an option, or a constant of the code, with its value, which each file of `files` may hold. */
  readonly most:
    | { readonly option: keyof typeof SERVE_OPTIONS }
    | { readonly constant: string; readonly value: number };
  /** What has so much: all clients of a process, of all workers, of a config; or a connection. */
  readonly scope: 'process' | 'workers' | 'config' | 'issuer' | 'connection';
  /** Whose shares are: `client network` is an IPv4 address, or an IPv6 /64, those of a /48 together. Null: nobody's. */
  readonly owner: string | null;
  /** Who gives way when it is reached. */
  readonly yields: string;
  /** What whoever gives way gets. */
  readonly answer: string;
  /** Where that is counted; null: nowhere. */
  readonly metric: string | null;
  /** Where it is kept, from gateway/src. */
  readonly files: readonly [string, ...string[]];
}

const CLIENT = 'client network';
const NEWCOMER = 'the newcomer';
const OLDEST = 'what was used longest ago';
const YIELDS = 'gw_shared_limit_yields_total';
const DECISIONS = 'gw_plugin_decisions_total';
const REQUESTS = 'gw_requests_total';

const table = {
  connections: {
    what: 'client connections',
    unit: 'connections',
    most: { option: 'maxConnections' },
    scope: 'workers',
    owner: `${CLIENT}; \`--trusted-proxies\` own none`,
    yields: 'silent and idle connections of the client that holds most; a busy one for a client below its share',
    answer: 'the connection is closed (GOAWAY in HTTP/2)',
    metric: YIELDS,
    files: ['transport/connection-shares.ts', 'transport/connection-slots.ts', 'transport/open-connections.ts'],
  },
  'http2-streams': {
    what: 'open streams of an HTTP/2 connection; clients behind one proxy share them',
    unit: 'streams',
    most: { option: 'http2MaxStreams' },
    scope: 'connection',
    owner: null,
    yields: NEWCOMER,
    answer: 'the stream is reset (REFUSED_STREAM)',
    metric: null,
    files: ['transport/http2.ts'],
  },
  'header-memory': {
    what: 'headers of open requests, as decoded',
    unit: 'bytes',
    most: { option: 'maxHeldHeaderBytes' },
    scope: 'process',
    owner: `${CLIENT}, behind \`--trusted-proxies\` the forwarded one`,
    yields: 'the largest request of the client that holds most',
    answer: '429 `rate-limited`',
    metric: YIELDS,
    files: ['transport/header-memory.ts'],
  },
  'request-bodies': {
    what: 'request bodies in memory',
    unit: 'bytes',
    most: { option: 'maxBufferedBytes' },
    scope: 'process',
    owner: CLIENT,
    yields: 'the slowest unfinished body of the client that holds most',
    answer: '408 `request-timeout`; 503 `overloaded` for a newcomer that holds as much',
    metric: REQUESTS,
    files: ['traffic/traffic.ts'],
  },
  'held-responses': {
    what: 'responses in memory, informational ones (1xx) too',
    unit: 'bytes',
    most: { option: 'maxHeldResponseBytes' },
    scope: 'process',
    owner: CLIENT,
    yields: 'the response that its client reads most slowly, of the client that holds most',
    answer: 'the response is cut off; 503 `overloaded` for a newcomer',
    metric: REQUESTS,
    files: ['traffic/traffic.ts'],
  },
  'plugin-instances': {
    what: 'plugin instances whose calls wait for something',
    unit: 'calls',
    most: { constant: 'instances', value: 2000 },
    scope: 'process',
    owner: `module, and ${CLIENT}`,
    yields: 'the oldest waiting call of whoever is furthest above its share',
    answer: '503 `overloaded`',
    metric: DECISIONS,
    files: ['wasm/call/plugin.ts', 'wasm/pool.ts', 'wasm/shares.ts'],
  },
  'plugin-queue': {
    what: 'calls that wait for a plugin instance; those below their share are served first',
    unit: 'calls',
    most: { constant: 'queue', value: 10_000 },
    scope: 'process',
    owner: null,
    yields: NEWCOMER,
    answer: '503 `overloaded`',
    metric: DECISIONS,
    files: ['wasm/call/plugin.ts', 'wasm/pool.ts'],
  },
  'password-checks': {
    what: 'passwords that wait to be verified',
    unit: 'calls',
    most: { constant: 'mostWaiting', value: 64 },
    scope: 'process',
    owner: null,
    yields: `${NEWCOMER}, and who has waited for 5 s`,
    answer: '503 `overloaded`',
    metric: DECISIONS,
    files: ['capabilities/passwords/verification-queue.ts', 'capabilities/passwords/password-table.ts'],
  },
  'remembered-passwords': {
    what: 'passwords that were verified',
    unit: 'entries',
    most: { constant: 'MOST_REMEMBERED', value: 10_000 },
    scope: 'config',
    owner: null,
    yields: OLDEST,
    answer: 'none: it is verified again',
    metric: null,
    files: ['capabilities/passwords/password-table.ts'],
  },
  'directory-checks': {
    what: 'users that wait for a directory',
    unit: 'calls',
    most: { constant: 'mostWaiting', value: 256 },
    scope: 'config',
    owner: null,
    yields: `${NEWCOMER}, and who has waited for 5 s`,
    answer: '503 `ldap-unavailable`',
    metric: DECISIONS,
    files: ['capabilities/directory/directory.ts'],
  },
  introspections: {
    what: 'tokens that wait for an introspection endpoint',
    unit: 'calls',
    most: { constant: 'MOST_ASKING', value: 500 },
    scope: 'config',
    owner: null,
    yields: NEWCOMER,
    answer: '503 `issuer-unavailable`',
    metric: DECISIONS,
    files: ['capabilities/tokens/introspector.ts'],
  },
  'key-fetches': {
    what: 'requests that wait for keys of an issuer',
    unit: 'calls',
    most: { constant: 'MOST_WAITING', value: 500 },
    scope: 'issuer',
    owner: null,
    yields: NEWCOMER,
    answer: 'the keys that are known count: 401 for a key that is none of them',
    metric: DECISIONS,
    files: ['capabilities/tokens/remote-keys.ts'],
  },
  'verified-tokens': {
    what: 'tokens that were verified or introspected',
    unit: 'characters',
    most: { constant: 'MOST_CHARACTERS', value: 8 << 20 },
    scope: 'config',
    owner: null,
    yields: OLDEST,
    answer: 'none: it is verified again',
    metric: null,
    files: ['capabilities/tokens/verified-tokens.ts'],
  },
  'token-exchanges': {
    what: 'tokens that wait to be exchanged',
    unit: 'calls',
    most: { constant: 'MOST_EXCHANGING', value: 500 },
    scope: 'config',
    owner: null,
    yields: NEWCOMER,
    answer: '503 `issuer-unavailable`',
    metric: 'gw_token_exchanges_total',
    files: ['capabilities/token-exchange/token-exchanger.ts'],
  },
  'exchanged-tokens': {
    what: 'tokens that were exchanged',
    unit: 'characters',
    most: { constant: 'MOST_CHARACTERS', value: 8 << 20 },
    scope: 'config',
    owner: null,
    yields: OLDEST,
    answer: 'none: it is exchanged again',
    metric: 'gw_token_exchanges_total',
    files: ['capabilities/token-exchange/token-exchanger.ts'],
  },
  cache: {
    what: 'stored responses and other cached values, without `--state`',
    unit: 'bytes',
    most: { constant: 'maxBytes', value: 64 << 20 },
    scope: 'workers',
    owner: null,
    yields: OLDEST,
    answer: 'none: it is fetched again',
    metric: 'gw_cache_requests_total',
    files: ['state/memory-cache-store.ts'],
  },
  'unstorable-responses': {
    what: 'requests whose responses are known not to be storable',
    unit: 'entries',
    most: { constant: 'MOST_UNSTORABLE', value: 10_000 },
    scope: 'process',
    owner: null,
    yields: 'what was noted first',
    answer: 'none: later requests of it wait for one another once more',
    metric: null,
    files: ['capabilities/cache/flights.ts'],
  },
  'graphql-documents': {
    what: 'verdicts on GraphQL documents',
    unit: 'bytes',
    most: { constant: 'MOST_BYTES', value: 16 << 20 },
    scope: 'process',
    owner: null,
    yields: OLDEST,
    answer: 'none: it is read again',
    metric: null,
    files: ['capabilities/graphql/capability.ts'],
  },
  'rate-limit-counters': {
    what: 'counters of `rate-limit`, of all policies, without `--state`',
    unit: 'entries',
    most: { constant: 'maxBuckets', value: 100_000 },
    scope: 'workers',
    owner: null,
    yields: OLDEST,
    answer: 'none: its quota begins anew',
    metric: null,
    files: ['state/memory-rate-limit-store.ts'],
  },
  'spending-counters': {
    what: 'counters of tokens and cost (AI policies), without `--state`',
    unit: 'entries',
    most: { constant: 'maxBuckets', value: 100_000 },
    scope: 'workers',
    owner: null,
    yields: OLDEST,
    answer: 'none: its budget begins anew',
    metric: null,
    files: ['state/memory-budget-store.ts'],
  },
  'idempotency-keys': {
    what: 'idempotency keys and what became of them, without `--state`',
    unit: 'bytes',
    most: { constant: 'maxBytes', value: 32 << 20 },
    scope: 'workers',
    owner: null,
    yields: OLDEST,
    answer: 'none: the key counts as a new one',
    metric: null,
    files: ['state/memory-reservation-store.ts'],
  },
  nonces: {
    what: 'nonces of signatures, without `--state`',
    unit: 'entries',
    most: { constant: 'MAX_NONCES', value: 500_000 },
    scope: 'workers',
    owner: 'credential',
    yields: 'the oldest nonces of the credential that has most',
    answer: '401 for signatures as old as those',
    metric: DECISIONS,
    files: ['state/nonce-store.ts', 'state/memory-nonce-store.ts'],
  },
  'mcp-sessions': {
    what: 'sessions of MCP, without `--state`',
    unit: 'entries',
    most: { constant: 'MOST_SESSIONS', value: 50_000 },
    scope: 'workers',
    owner: CLIENT,
    yields: 'the oldest session of the client that has most',
    answer: '404 for its next request',
    metric: null,
    files: ['state/session-store.ts', 'state/memory-session-store.ts'],
  },
  'mcp-subscriptions': {
    what: 'open streams of MCP that tell of changed tools',
    unit: 'streams',
    most: { constant: 'MOST_STREAMS', value: 10_000 },
    scope: 'process',
    owner: CLIENT,
    yields: 'the oldest stream of the client that has most',
    answer: 'the stream ends',
    metric: null,
    files: ['mcp/subscriptions.ts'],
  },
  'broker-messages': {
    what: 'messages that wait for a broker',
    unit: 'messages',
    most: { constant: 'messages', value: 20_000 },
    scope: 'process',
    owner: 'broker: each may hold as much as is left free',
    yields: NEWCOMER,
    answer: '503 `overloaded`',
    metric: DECISIONS,
    files: ['capability/in-flight.ts', 'capabilities/kafka/capability.ts', 'capabilities/nats/capability.ts'],
  },
  deliveries: {
    what: 'entries and copies that wait for a server (`http-log`, `fire-and-forget`)',
    unit: 'messages',
    most: { constant: 'messages', value: 100_000 },
    scope: 'process',
    owner: 'config: each may hold as much as is left free',
    yields: NEWCOMER,
    answer: 'none: it is dropped',
    metric: 'gw_deliveries_total',
    files: ['capabilities/deliveries/deliveries.ts'],
  },
  'event-streams': {
    what: 'clients of streams of events (`max_clients` of a config)',
    unit: 'clients',
    most: { constant: 'max_clients', value: 1000 },
    scope: 'config',
    owner: null,
    yields: NEWCOMER,
    answer: '503 `overloaded`',
    metric: DECISIONS,
    files: ['capabilities/subscribing/subscription-settings.ts', 'capabilities/subscribing/subscribers.ts'],
  },
  'backlog-reads': {
    what: 'streams of events that catch up with a broker at once; the others wait',
    unit: 'streams',
    most: { constant: 'MOST_BACKLOG_READS', value: 8 },
    scope: 'process',
    owner: null,
    yields: 'nobody: they wait',
    answer: 'none',
    metric: null,
    files: ['capabilities/subscribing/topics.ts'],
  },
} as const satisfies Record<string, SharedLimit>;

export type SharedLimitName = keyof typeof table;
export const SHARED_LIMITS: Readonly<Record<SharedLimitName, SharedLimit>> = table;
