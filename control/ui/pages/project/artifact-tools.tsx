/** The tools that agents are offered of one artifact, with their size. */
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import type { ArtifactTools as Listing } from '../../api/types.ts';
import { Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pending, ShowMore } from '../../components/table.tsx';
import { Empty } from '../../components/values.tsx';
import { useAnswer } from '../../data/use-answer.ts';
import { useProject } from './project-context.ts';
import { ToolDetails } from './tool-details.tsx';

/** More are shown when they are asked for. */
const STEP = 100;

export function ArtifactTools() {
  const { base } = useProject();
  const { artifact = '' } = useRoute().params;
  const { data, error, reload } = useAnswer('artifacts.tools', { params: { id: artifact } });
  return (
    <>
      <PageHead title="Tools" above={{ href: `${base}/artifacts`, label: 'Artifacts' }} />
      {data !== undefined ? <Listed listing={data} /> : <Pending what="tools" error={error} reload={reload} />}
    </>
  );
}

function Listed({ listing: { enabled, tools, count, tokens, upstreams, warnings } }: { readonly listing: Listing }) {
  const [filter, setFilter] = useState('');
  const [shown, setShown] = useState(STEP);
  if (!enabled) {
    return (
      <Empty title="Agents are offered no tools">
        <p>
          No document of the artifact has <code>{'x-gw-mcp: {enabled: true}'}</code>.
        </p>
      </Empty>
    );
  }
  const words = filter.toLowerCase().split(/\s+/);
  const found = tools.filter((tool) => {
    const text = textOf(tool);
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <p class="lead">
        {count} {count === 1 ? 'tool' : 'tools'}, about {tokens} tokens
        {upstreams.length > 0 && `, and those of MCP upstreams: ${upstreams.join(', ')}`}
      </p>
      {warnings.map((warning) => (
        <p key={warning}>
          <span class="status warn">warning</span> {warning}
        </p>
      ))}
      <div class="toolbar">
        <Filter label="Filter by name, text or path" value={filter} onInput={setFilter} />
        <span class="muted" role="status">
          {found.length} of {count}
        </span>
      </div>
      <section class="card pad" aria-label="Tools">
        {found.length === 0 && (
          <p class="muted">{count === 0 ? 'This artifact offers no tools.' : 'Nothing fits the filter.'}</p>
        )}
        {found.slice(0, shown).map((tool) => (
          <ToolDetails key={String(tool.definition['name'])} tool={tool} />
        ))}
        {found.length > shown && <ShowMore onClick={() => setShown((last) => last + STEP)} />}
      </section>
    </>
  );
}

function textOf({ definition, method, path }: Listing['tools'][number]): string {
  const { name, title, description } = definition;
  return [name, title, description, method, path].join(' ').toLowerCase();
}
