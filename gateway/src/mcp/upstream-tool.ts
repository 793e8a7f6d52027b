/** Calls a tool of an upstream. */
import type { Answer } from '../exchange.ts';
import { get, type Obj } from '../spec/json.ts';
import { type ClientSide, passOn, withoutProtocolMeta } from './pass-on.ts';
import type { RpcRequest } from './protocol/json-rpc.ts';
import type { McpRequest, STREAMS, UpstreamCall } from './tool-methods.ts';
import { headersOfArguments } from './upstreams/parameter-headers.ts';

/** Throws RpcError. */
export function callUpstreamTool(
  request: McpRequest,
  message: RpcRequest,
  { upstream: { server, tool }, args }: UpstreamCall,
  side: ClientSide,
): Promise<Answer | null | typeof STREAMS> {
  const { params } = message;
  const { authorize } = server.settings;
  const question = {
    method: 'tools/call',
    name: tool.own,
    params: { ...withoutProtocolMeta(params), name: tool.own, arguments: args.exact },
    headers: headersOfArguments(tool.headers, args.exact),
  };
  const authorizer = authorize === undefined ? null : request.toolbox.operation(authorize);
  return passOn(request, message, { server, question, about: tool.name, authorizer, fault }, side);
}

function fault(result: Obj): string | null {
  if ((get(result, 'resultType') ?? 'complete') !== 'complete') return null;
  const content = get(result, 'content');
  return Array.isArray(content) && content.every((each) => typeof get(each, 'type') === 'string')
    ? null
    : 'gave a result without content';
}
