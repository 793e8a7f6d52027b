import { Agent, request } from 'undici';

export interface Load {
  readonly sent: number;
  /** What went wrong, in a word each. */
  readonly failures: readonly string[];
  /** Sends no more, and waits for the answers of what was sent. */
  stop(): Promise<void>;
}

/** Sends so many requests a second, evenly; whatever is not the expected status is a failure. */
export function startLoad(
  url: string,
  perSecond: number,
  headers: { readonly [name: string]: string },
  expected = 200,
  method: 'GET' | 'POST' = 'GET',
): Load {
  // Gone long before a pod that drains takes no more: a request on a connection that just ends is lost.
  const agent = new Agent({ connections: 20, keepAliveTimeout: 1000 });
  const failures: string[] = [];
  const running = new Set<Promise<void>>();
  let sent = 0;
  const timer = setInterval(() => {
    sent++;
    const one = request(url, { dispatcher: agent, method, headers, signal: AbortSignal.timeout(60_000) })
      .then(async (answer) => {
        await answer.body.dump();
        if (answer.statusCode !== expected) failures.push(String(answer.statusCode));
      })
      .catch((error: unknown) => {
        failures.push(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      })
      .finally(() => running.delete(one));
    running.add(one);
  }, 1000 / perSecond);
  return {
    get sent() {
      return sent;
    },
    failures,
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      await agent.close();
    },
  };
}
