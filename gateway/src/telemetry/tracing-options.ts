/** The destination of traces, from options and OpenTelemetry's variables. */

const OTLP_PROTOCOLS = ['http/protobuf', 'grpc'] as const;
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** Plain data, so that it can be handed to another process. */
export interface TracingOptions {
  /** The URL that spans are sent to. */
  readonly url: string;
  readonly protocol: OtlpProtocol;
  /** Share of the traces begun here that is recorded, above 0, at most 1. */
  readonly sampling: number;
  /** Resource attributes of all spans: `service.name` and those of OTEL_RESOURCE_ATTRIBUTES. */
  readonly resource: Readonly<Record<string, string>>;
}

/** An option or variable that cannot be used; the message names it and the expected value. */
class TracingOptionsError extends Error {}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns null if tracing is off: no endpoint, or a sampling of 0. Honours OTEL_EXPORTER_OTLP_ENDPOINT (after
 * `endpoint`), OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES; headers, time-outs and
 * certificates are read by the exporter from its own variables.
 */
export function tracingOptions(
  endpoint: string | undefined,
  sampling: number,
  env: Env,
  serviceName = 'gw',
): TracingOptions | null {
  const text = endpoint || env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!text || sampling === 0) return null;
  const url = parseEndpoint(text);
  const protocol = protocolOf(url, env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL']);
  const resource = {
    'service.name': serviceName,
    ...keyValues(env['OTEL_RESOURCE_ATTRIBUTES'] ?? ''),
    ...(env['OTEL_SERVICE_NAME'] ? { 'service.name': env['OTEL_SERVICE_NAME'] } : {}),
  };
  return { url: protocol === 'grpc' ? grpcTarget(url) : tracesUrl(url), protocol, sampling, resource };
}

function parseEndpoint(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TracingOptionsError('--otlp-endpoint is not a URL: give one such as http://collector:4318');
  }
  if (!['http:', 'https:', 'grpc:', 'grpcs:'].includes(url.protocol)) {
    throw new TracingOptionsError('--otlp-endpoint must begin with http://, https://, grpc:// or grpcs://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TracingOptionsError(
      '--otlp-endpoint holds credentials: give them in OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20…',
    );
  }
  return url;
}

/** The scheme decides, then the variable, then the port that is gRPC's by custom. */
function protocolOf(url: URL, wanted: string | undefined): OtlpProtocol {
  if (url.protocol.startsWith('grpc')) return 'grpc';
  if (!wanted) return url.port === '4317' ? 'grpc' : 'http/protobuf';
  const known = OTLP_PROTOCOLS.find((each) => each === wanted);
  if (known) return known;
  throw new TracingOptionsError(`OTEL_EXPORTER_OTLP_PROTOCOL must be ${OTLP_PROTOCOLS.join(' or ')}`);
}

/** The endpoint is a base URL, as OpenTelemetry has it; one that names the path already is left alone. */
function tracesUrl(url: URL): string {
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith('/v1/traces') ? path : `${path}/v1/traces`}${url.search}`;
}

function grpcTarget({ protocol, host }: URL): string {
  return `${protocol === 'https:' || protocol === 'grpcs:' ? 'https' : 'http'}://${host}`;
}

/** Reads `a=1,b=2`, values percent-encoded (W3C Baggage); malformed entries are left out. */
function keyValues(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of text.split(',')) {
    const at = entry.indexOf('=');
    const name = entry.slice(0, Math.max(at, 0)).trim();
    if (name !== '') found[name] = decoded(entry.slice(at + 1).trim());
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
