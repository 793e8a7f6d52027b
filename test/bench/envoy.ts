/** Envoy as it is measured beside gw: a bare proxy whose filter makes calls of MCP into requests. */
import { spawnSync } from 'node:child_process';

/** Null where there is none. */
export const ENVOY: string | null = (() => {
  const program = process.env['GW_BENCH_ENVOY'] ?? 'envoy';
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0 ? program : null;
})();

/** Of the endpoint; the filter has no other. */
export const ENVOY_MCP = '/mcp';

const FILTERS = 'type.googleapis.com/envoy.extensions.filters.http';

/** `tool` is `GET path` of the upstream. */
export function envoyConfig(listen: number, upstream: number, tool: string, path: string): string {
  const at = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'upstream' } }];
  const connections = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'bench',
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    http_filters: [
      {
        name: 'envoy.filters.http.mcp_json_rest_bridge',
        typed_config: {
          '@type': `${FILTERS}.mcp_json_rest_bridge.v3.McpJsonRestBridge`,
          tool_config: { tools: [{ name: tool, http_rule: { get: path } }] },
        },
      },
      { name: 'envoy.filters.http.router', typed_config: { '@type': `${FILTERS}.router.v3.Router` } },
    ],
  };
  const filters = [{ name: 'envoy.filters.network.http_connection_manager', typed_config: connections }];
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: at(upstream) } }] }];
  const load_assignment = { cluster_name: 'upstream', endpoints };
  return JSON.stringify({
    static_resources: {
      listeners: [{ address: at(listen), filter_chains: [{ filters }] }],
      clusters: [{ name: 'upstream', type: 'STATIC', load_assignment }],
    },
  });
}
