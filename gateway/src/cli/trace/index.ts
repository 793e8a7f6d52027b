/** Functions for other programs that ask a gateway for traces. */

export type { TraceReport } from '../../trace/report.ts';
export { addTraceOptions, type TraceFlags, traceRequestOf } from './trace-options.ts';
export { renderTrace } from './trace-report.ts';
