/** Reasons for refusing a GraphQL request; texts for its client, codes as GraphQL servers use them. */

export type RefusalStatus = 400 | 405 | 413 | 415;

export interface Refusal {
  readonly status: RefusalStatus;
  /** Member `extensions.code` of a GraphQL error. */
  readonly code: string;
  readonly detail: string;
}

/** Thrown if a request is refused. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(code: string, detail: string, status: RefusalStatus = 400) {
    super(detail);
    this.refusal = { status, code, detail };
  }
}

/** Refuses a request that is not GraphQL over HTTP, or that readers could understand differently. */
export function badRequest(detail: string): Refused {
  return new Refused('BAD_REQUEST', detail);
}
