/** What another program uses that asks a gateway for traces. */
export { addTraceOptions, type TraceFlags, traceRequestOf } from './options.ts';
export { renderTrace } from './render.ts';
export type { TraceReport } from './report.ts';
