/**
 * The tools of search mode: those of operations and of upstreams, whose index is rebuilt when upstreams change theirs.
 */
import { toolDefinition } from '../tools/definition.ts';
import { type IndexedTool, indexedTool, ToolIndex } from '../tools/search.ts';
import type { SchemaLookup } from '../tools/standalone-schema.ts';
import type { SearchableTools } from './search-mode.ts';
import type { ServedTool } from './toolbox.ts';
import type { UpstreamSet } from './upstreams/upstream-set.ts';

export function searchableTools(
  own: readonly ServedTool[],
  lookup: SchemaLookup,
  upstreams: UpstreamSet | null,
): SearchableTools {
  const byName = new Map(own.map(({ tool }) => [tool.name, tool]));
  const indexed = own.map(({ tool, operation }) => indexedTool(tool, operation));
  let index: ToolIndex | undefined;
  let of: UpstreamSet['tools'] | undefined;
  return {
    index: {
      search(query, most, tells) {
        if (index === undefined || of !== upstreams?.tools) {
          of = upstreams?.tools;
          const others = [...(of?.values() ?? [])].map(
            ({ tool }): IndexedTool => ({ ...tool, input: tool.inputSchema }),
          );
          index = new ToolIndex([...indexed, ...others]);
        }
        return index.search(query, most, tells);
      },
    },
    describe(name) {
      const tool = byName.get(name);
      if (tool) return toolDefinition(tool, lookup);
      const found = upstreams?.tools.get(name);
      return found && JSON.parse(found.tool.listed.stateless);
    },
  };
}
