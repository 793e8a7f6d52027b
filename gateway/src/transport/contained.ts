/** Contains defects in listeners of node:http, node:http2 and sockets: nothing else catches what these throw. */

/** Runs a step for one connection; a failure is reported and ends that connection, and others go on. */
export function contained(step: () => void, end: () => void, crashed: (error: unknown) => void): void {
  try {
    step();
  } catch (error) {
    crashed(error);
    end();
  }
}
