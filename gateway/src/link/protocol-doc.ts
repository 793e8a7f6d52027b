/** docs/data-plane-protocol.md: the tables come from the schemas of the messages. */
import type { TSchema } from 'typebox';
import { get, isObject, type Obj } from '../spec/json.ts';
import { CLOSE_CODES, CLOSE_REASONS } from './close-codes.ts';
import { LINK_PATH, MAX_MESSAGE_BYTES, REFUSALS, SUBPROTOCOL, TO_CONTROL, TO_DATA_PLANE } from './messages.ts';

/** Meaning and time of each message. */
const WHEN: Readonly<Record<string, string>> = {
  hello: 'The first message, within 10 s.',
  status: 'Result of a notice. The last one about a notice counts: `applied` may follow a refusal.',
  'heartbeat to control': 'Sent each interval: the data plane is alive, with the artifact that it serves.',
  welcome: 'The answer to `hello`: it is let in.',
  refused: 'It is not, or not any longer; a close code follows.',
  artifact: 'Another artifact is wanted from now on. A newer notice takes the place of those before it.',
  'heartbeat to data plane': 'The answer to each heartbeat.',
  drift: 'The served artifact differs from the wanted one while no deployment is in progress, or equals it again.',
  goodbye: 'A planned close: close code 1001 follows.',
};

export function renderProtocol(): string {
  const closes = CLOSE_REASONS.map((name) => {
    const { code, retry, when } = CLOSE_CODES[name];
    return `| ${code} | \`${name}\` | ${when} | ${retry === 'slow' ? 'once a minute' : 'with backoff'} |`;
  });
  const refusals = Object.entries(REFUSALS).map(([name, when]) => `| \`${name}\` | ${when} |`);
  return `# The data-plane protocol

Generated from the schemas in the gateway. How \`gw serve --control-plane\` and a control plane talk: \`gw-control\`, or the operator ([why](decisions.md#later-artifacts-over-link)). Version \`${SUBPROTOCOL}\`.

## The connection

A data plane opens a WebSocket (RFC 6455) at \`${LINK_PATH}\` of the control plane, \`wss://\` but for tests, and offers the subprotocol \`${SUBPROTOCOL}\`. A control plane that supports none of the offered versions answers the upgrade with 400. A version gains messages and members, and never loses or changes any: **each side ignores what it does not know**, types of messages and members alike.

Messages are text, each a JSON object with a \`type\`, of at most ${MAX_MESSAGE_BYTES >> 10} KiB. One that is longer, not JSON, or not valid for its type, ends the connection with 4400. There is no compression.

1. The data plane sends \`hello\`. The control plane answers \`welcome\`, which contains the desired artifact, or \`refused\` and closes. It handles messages that the data plane sends meanwhile after \`welcome\`: every \`heartbeat\`, and the last \`status\`.
2. The control plane sends \`artifact\` whenever the desired artifact changes. The data plane fetches it, verifies it, serves it, and then sends \`status\`. If it cannot, it keeps serving the previous artifact, and reports the reason.
3. The data plane sends \`heartbeat\` each interval, and the control plane answers each. After three intervals without a message either side ends the connection.
4. A control plane that closes sends \`goodbye\` first.

## Data plane to control plane

${sections(TO_CONTROL, 'control')}
Reasons of a refusal:

| reason | when |
|---|---|
${refusals.join('\n')}

## Control plane to data plane

${sections(TO_DATA_PLANE, 'data plane')}
## Fetching an artifact

\`GET\` of the notice's \`path\`, under the address that \`${LINK_PATH}\` is under (\`wss://host/gw${LINK_PATH}\` and \`/artifacts/1\` make \`https://host/gw/artifacts/1\`), with the same API key as \`Authorization: Bearer\`. A path that leads elsewhere is refused, redirects are not followed, content codings are not asked for. The data plane takes at most 256 MiB and never more than \`size\`, waits 30 s for a byte, and retries with backoff for as long as the notice is current; after three failures it reports \`download-failed\` and continues.

With a strong \`ETag\`, an interrupted download continues with \`Range\` and \`If-Range\`. The received part is in memory, so that a restart begins anew.

Before it serves the artifact, the data plane checks the size, the sha256, everything that \`gw serve\` checks of any artifact (hashes, the signature if \`GW_TRUSTED_PUBKEY\` is set), and that its \`artifact_hash\` is that of the notice. It fetches a different file up to three times. It does not fetch an artifact that it serves already. It sends \`applied\` when all workers serve the artifact.

## Reconnecting

A data plane waits a random time of up to 1 s, then up to twice as long each time, to 30 s; after a minute of connection it begins anew. If somebody must act first, it waits a minute. It keeps serving meanwhile. \`goodbye\` says when to come back.

| code | \`refused\` | when | comes again |
|---|---|---|---|
${closes.join('\n')}
| 1001 | | after \`goodbye\`; also the data plane's own when it stops | after \`after_ms\` |

Upgrades may be answered with 503 (too many connections, or closing).

Connections that have said no hello, or were refused and have not gone, are 2,000 at most. Past that, each new one cuts off the oldest of the address that has most of them (IPv6: of the /64) with 4429, so a data plane sends hello as soon as it is connected. Hellos are answered 16 at once: addresses, and keys that were let in before, take turns. Of 10,000 data planes no project keeps the others out: if all places are taken, the latest of the project that has most of them is cut off, also with 4429.

## Drift

The control plane compares the artifact that a data plane reports with the desired one. If they differ for longer than a grace (60 s by default) and no deployment is in progress, that is drift: an entry in the audit log there, and here \`drift\`, which shows as \`drift_detected\` in [/provenance](production.md) and as \`gw_artifact_drift\` in the [metrics](metrics.md).

## The cache

With \`--cache-dir\` a data plane keeps the last artifact that it served from the control plane, and its instance id. At its next start it serves that at once, verified as if it had just been fetched, and gets a newer one from the control plane. An artifact that is damaged, is of another project, or is not signed by a trusted key is not used, and the log says why. A project whose id is a UUID is known at any address of the control plane. If \`--artifact\` is also given and differs from the one given when the cache was written, it is newer than the cache. Two instances must not share a folder: the later one replaces the earlier (4411).

Without a cache and without \`--artifact\` a data plane is not ready and answers 503 until its first artifact is there ([connected mode](reference/gateway.md#connected-mode)).
`;
}

function sections(messages: Readonly<Record<string, TSchema>>, to: string): string {
  return Object.entries(messages)
    .map(([name, schema]) => `### ${name}\n\n${WHEN[name] ?? WHEN[`${name} to ${to}`]}\n\n${table(schema)}`)
    .join('\n');
}

function table(schema: TSchema): string {
  const members = Object.entries(membersOf(schema)).filter(([name]) => name !== 'type');
  if (members.length === 0) return '';
  const rows = members.map(
    ([name, member]) => `| \`${name}\` | ${kindOf(member)} | ${get(member, 'description') ?? ''} |`,
  );
  return `| member | type | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function membersOf(schema: unknown): Obj {
  const members = get(schema, 'properties');
  return isObject(members) ? members : {};
}

/** The type in words. */
function kindOf(schema: unknown): string {
  const either = get(schema, 'anyOf');
  if (Array.isArray(either)) return either.map(kindOf).join(' or ');
  const constant = get(schema, 'const');
  if (constant !== undefined) return `\`${String(constant)}\``;
  const choices = get(schema, 'enum');
  if (Array.isArray(choices)) return 'string, one of those below';
  if (get(schema, 'type') === 'array')
    return `list of ${kindOf(get(schema, 'items'))}s, 1 to ${get(schema, 'maxItems')}`;
  if (get(schema, 'patternProperties') !== undefined) {
    return `object of strings, up to ${get(schema, 'maxProperties')}`;
  }
  if (get(schema, 'type') === 'object') return 'object, as `artifact` below';
  const most = get(schema, 'maxLength');
  const pattern = get(schema, 'pattern');
  if (typeof pattern === 'string' && pattern.includes('sha256:')) return '`sha256:<hex>`';
  return `${String(get(schema, 'type'))}${most === undefined ? '' : `, up to ${most}`}`;
}
