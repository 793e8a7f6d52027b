/** The base of the plugin SDK's testing kit: the gateway's own runtime and reader of plugins. */
export { standaloneCapabilities } from '../../features/standalone.ts';
export { marksOf } from '../artifact/config-marks.ts';
export type { ArtifactPlugin, JsonObject } from '../artifact/format.ts';
export { configValidator } from '../compiler/plugins/config-schema.ts';
export { artifactPlugin } from '../compiler/plugins/plugins.ts';
export { HttpCallError, type HttpCallFailure } from '../egress/http-call-error.ts';
export type { HttpAnswer, HttpCall, HttpCaller } from '../egress/http-client.ts';
export { type BodyStream, changeHeader, Exchange, type HeaderList, type Responder } from '../exchange.ts';
export { readPluginPackage, wasmFileOf } from '../plugins/package.ts';
export { renderProblem } from '../problems.ts';
export { type BindOptions, type BoundPlugin, createPluginRuntime, type Outcome } from '../wasm/index.ts';
