/** The course of one request, stage by stage: the answer of `/trace` on the admin port. */

export interface TraceStage {
  /** `limits`, `route`, `headers`, `validate parameters`, `middleware NAME request`, `dispatch NAME`, `call`, `request`, … */
  readonly stage: string;
  /** How it decided: `passed`, `refused`, `matched`, `continue`, `answered`, `valid`, a status, … */
  readonly outcome: string;
  /** Reason or effect: names of headers and context keys, never values. */
  readonly detail?: string;
  /** Milliseconds since the request began; absent for stages that are not timed. */
  readonly at_ms?: number;
  readonly duration_ms?: number;
  /** 0 for the stages of a request's life, 1 for steps within one; of a request within the request, 1 more. */
  readonly depth: number;
}

export interface TraceReport {
  readonly artifact_hash: string;
  readonly request_id: string;
  readonly trace_id: string;
  /** Null if no operation matched. */
  readonly operation: { readonly path: string; readonly operation_id: string | null; readonly api: string } | null;
  readonly stages: readonly TraceStage[];
  /** The response that the client would have received. */
  readonly response: {
    readonly status: number;
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** Its first bytes, as text. */
    readonly body: string;
    readonly body_bytes: number;
    /** The body went on when the time was up, or was longer than the shown part. */
    readonly truncated: boolean;
  };
  readonly duration_ms: number;
}
