/**
 * Calls a tool: its arguments become a request, which goes through the pipeline as any other would
 * (docs/decisions.md#tool-calls).
 */

import type { Exchange } from '../exchange.ts';
import type { Holding } from '../memory/buffer-budget.ts';
import { holdFor } from '../memory/request-holding.ts';
import { CapturedResponse } from '../own-request/captured-response.ts';
import type { Obj } from '../spec/json.ts';
import { ownExchange } from './own-exchange.ts';
import type { ServedTool } from './result.ts';
import { ToolFault } from './tool-fault.ts';
import { type ToolRequest, toolRequest } from './tool-request.ts';

/** Bytes of an answer: more would fill a model's context, and the gateway's memory. */
const MOST_ANSWER = 1 << 20;

/** The pipeline's functions for tools. */
export interface OwnRequests {
  /** Sends a request through the pipeline. */
  serve(exchange: Exchange): void;
  /** Returns the index of the operation that would serve it; undefined if none would. */
  operationOf(method: string, path: string): number | undefined;
}

export interface ToolAnswer {
  readonly exchange: Exchange;
  readonly response: CapturedResponse;
  /** Memory of the response, which yields to other clients with the call; null if it is not counted. */
  readonly held: Holding | null;
}

/** Throws ToolFault if the arguments make no request of the operation. */
export function callTool(outer: Exchange, served: ServedTool, args: Obj, requests: OwnRequests): ToolAnswer {
  const { tool, operation } = served;
  const request = written(() => toolRequest(tool, operation, args));
  const held = outer.responseMemory && holdFor(outer.responseMemory, outer);
  const response = new CapturedResponse({
    most: MOST_ANSWER,
    cutsOff: true,
    holds: (bytes) => {
      const hasRoom = held === null || held.take(bytes);
      if (!hasRoom) outer.giveWay();
      return hasRoom;
    },
  });
  const exchange = ownExchange(outer, request, response);
  // An empty segment, or one that is another operation's own, leads elsewhere.
  if (requests.operationOf(exchange.method, exchange.path) !== operation.index) {
    held?.release();
    throw new ToolFault(`The arguments make the path ${exchange.path}, which is not one of ${operation.path}.`);
  }
  outer.onClose(() => held?.release());
  requests.serve(exchange);
  return { exchange, response, held };
}

function written(write: () => ToolRequest): ToolRequest {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) throw new ToolFault('The arguments are nested too deeply.');
    throw error;
  }
}
