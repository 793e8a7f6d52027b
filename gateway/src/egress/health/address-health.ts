/** The circuit and the load of an address, as a process has seen them. */
import { CircuitBreaker } from './breaker.ts';

export class AddressHealth {
  readonly breaker: CircuitBreaker;
  /** Requests under way. */
  inFlight = 0;

  constructor(breaker = new CircuitBreaker()) {
    this.breaker = breaker;
  }

  /** There was no connection for a request that the circuit admitted. */
  unreachable(client: string): void {
    this.breaker.failed(client);
  }
}
