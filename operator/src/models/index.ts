/**
 * `@gw/operator/models`: the four kinds of gw.dev for those who write manifests in TypeScript. An object is plain data
 * that any serialiser of YAML or JSON takes; a field that its kind does not have, or of another type, does not compile.
 *
 * @example
 * const books = new ApiSpec({ metadata: { name: 'books' }, spec: { source: { inline: document } } });
 * const shop = new GatewayProject({
 *   metadata: { name: 'shop' },
 *   spec: { specs: { names: ['books'] }, plugins: [{ name: 'http-upstream' }], pods: { replicas: 3 } },
 * });
 * console.log([books, shop].map((each) => stringify(each)).join('---\n'));
 */
export { ApiSpec, type ApiSpecSpec } from './api-spec.gen.ts';
export { Deployment, type DeploymentSpec } from './deployment.gen.ts';
export { GatewayProject, type GatewayProjectSpec } from './gateway-project.gen.ts';
export type { ManifestMetadata } from './metadata.ts';
export { PluginRef, type PluginRefSpec } from './plugin-ref.gen.ts';
