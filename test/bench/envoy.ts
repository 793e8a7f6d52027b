/** Envoy as it is measured beside gw, in several forms. */
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';

/** Null where there is none. */
export const ENVOY: string | null = (() => {
  const program = process.env['GW_BENCH_ENVOY'] ?? 'envoy';
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0 ? program : null;
})();

/** Of the endpoint of its MCP filter, which has no other. */
export const ENVOY_MCP = '/mcp';

/** `plain`: a bare proxy. `own filters`: its own key, rate limit and CORS. `wasm`: one WebAssembly filter. */
export type EnvoyForm = 'plain' | 'mcp' | 'own filters' | 'wasm' | 'tls';

const FILTERS = 'type.googleapis.com/envoy.extensions.filters.http';
const MANAGER = 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const DOWNSTREAM_TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${FILTERS}.router.v3.Router` },
};
/** A limit that no run reaches. */
const BUCKET = { max_tokens: 1_000_000_000, tokens_per_fill: 1_000_000_000, fill_interval: '60s' };
const ALWAYS = { default_value: { numerator: 100 } };

export interface EnvoySettings {
  readonly form: EnvoyForm;
  readonly listen: number;
  readonly upstream: number;
  readonly certificate: string;
  readonly key: string;
  /** Path of the WebAssembly filter. */
  readonly filter: string;
}

/** Builds the filter with cargo in a folder and returns its path. Returns null if cargo or its target is missing. */
export function buildKeyFilter(folder: string): string | null {
  const sources = join(folder, 'envoy-key-filter');
  cpSync(join(import.meta.dirname, 'envoy-key-filter'), sources, { recursive: true });
  const target = 'wasm32-wasip1';
  const built = spawnSync('cargo', ['build', '--release', '--target', target], { cwd: sources, stdio: 'ignore' });
  return built.status === 0 ? join(sources, 'target', target, 'release', 'key_filter.wasm') : null;
}

export function envoyConfig(settings: EnvoySettings): string {
  const at = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const cors = { '@type': `${FILTERS}.cors.v3.CorsPolicy`, allow_origin_string_match: [{ exact: ORIGIN }] };
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'upstream', timeout: '0s' } }];
  const host = { name: 'all', domains: ['*'], routes };
  const withCors = { ...host, typed_per_filter_config: { 'envoy.filters.http.cors': cors } };
  const connections = {
    '@type': MANAGER,
    stat_prefix: 'bench',
    route_config: { virtual_hosts: [settings.form === 'own filters' ? withCors : host] },
    http_filters: [...filtersOf(settings), ROUTER],
  };
  const filters = [{ name: 'envoy.filters.network.http_connection_manager', typed_config: connections }];
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: at(settings.upstream) } }] }];
  const load_assignment = { cluster_name: 'upstream', endpoints };
  return JSON.stringify({
    static_resources: {
      listeners: [{ address: at(settings.listen), filter_chains: [{ filters, ...transport(settings) }] }],
      clusters: [{ name: 'upstream', type: 'STATIC', load_assignment }],
    },
  });
}

/** The origin that the project of the benchmark admits. */
const ORIGIN = 'https://shop.example';

function filtersOf({ form, filter }: EnvoySettings): object[] {
  switch (form) {
    case 'plain':
    case 'tls':
      return [];
    case 'mcp': {
      const tools = [{ name: 'proxied', http_rule: { get: '/proxy' } }];
      const name = 'mcp_json_rest_bridge';
      const typed_config = { '@type': `${FILTERS}.${name}.v3.McpJsonRestBridge`, tool_config: { tools } };
      return [{ name: `envoy.filters.http.${name}`, typed_config }];
    }
    case 'own filters':
      return [
        { name: 'envoy.filters.http.cors', typed_config: { '@type': `${FILTERS}.cors.v3.Cors` } },
        {
          name: 'envoy.filters.http.api_key_auth',
          typed_config: {
            '@type': `${FILTERS}.api_key_auth.v3.ApiKeyAuth`,
            key_sources: [{ header: 'X-API-Key' }],
            credentials: [{ key: 'bench-key', client: 'bench' }],
          },
        },
        {
          name: 'envoy.filters.http.local_ratelimit',
          typed_config: {
            '@type': `${FILTERS}.local_ratelimit.v3.LocalRateLimit`,
            stat_prefix: 'limit',
            token_bucket: BUCKET,
            filter_enabled: ALWAYS,
            filter_enforced: ALWAYS,
          },
        },
      ];
    case 'wasm': {
      const vm_config = { vm_id: 'key', runtime: 'envoy.wasm.runtime.v8', code: { local: { filename: filter } } };
      const config = { name: 'key', root_id: 'key', vm_config };
      return [{ name: 'key', typed_config: { '@type': `${FILTERS}.wasm.v3.Wasm`, config } }];
    }
  }
}

function transport({ form, certificate, key }: EnvoySettings): object {
  if (form !== 'tls') return {};
  const tls_certificates = [{ certificate_chain: { filename: certificate }, private_key: { filename: key } }];
  const common_tls_context = { alpn_protocols: ['h2', 'http/1.1'], tls_certificates };
  const typed_config = { '@type': DOWNSTREAM_TLS, common_tls_context };
  return { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config } };
}
