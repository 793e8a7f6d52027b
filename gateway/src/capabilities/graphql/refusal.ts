/** Why a GraphQL request is refused; texts for its client, codes as GraphQL servers use them. */

export type RefusalStatus = 400 | 405 | 413 | 415;

export interface Refusal {
  readonly status: RefusalStatus;
  /** Member `extensions.code` of a GraphQL error. */
  readonly code: string;
  readonly detail: string;
}

/** Thrown where a request is refused. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(code: string, detail: string, status: RefusalStatus = 400) {
    super(detail);
    this.refusal = { status, code, detail };
  }
}

/** What came is no request of GraphQL over HTTP, or readers of it could differ. */
export function badRequest(detail: string): Refused {
  return new Refused('BAD_REQUEST', detail);
}
