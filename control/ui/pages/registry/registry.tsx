/** All plugins that the server knows. */
import { useState } from 'preact/hooks';
import type { Plugin } from '../../api/types.ts';
import { Choice, Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListView } from '../../components/table.tsx';
import { bytes, Command, Empty } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';

export function Registry() {
  const [part, setPart] = useState('');
  const [type, setType] = useState<Plugin['type'] | ''>('');
  const query = { name: part || undefined, type: type || undefined, limit: 100 };
  const list = useList('plugins.list', { query });
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title="Plugins" />
      <div class="toolbar">
        <Filter label="Find by name" value={part} onInput={setPart} />
        <Choice
          label="Type"
          compact
          value={type}
          onChange={setType}
          options={[
            { value: '', label: 'Any type' },
            { value: 'middleware', label: 'Middlewares' },
            { value: 'dispatcher', label: 'Dispatchers' },
          ]}
        />
      </div>
      <ListView
        caption="Plugins"
        list={list}
        rowKey={({ id }) => id}
        unmatched={(part !== '' || type !== '') && 'No plugin fits the filter.'}
        empty={
          <Empty title="No plugin is registered">
            <p>Those that come with gw are registered when the server starts, or by:</p>
            <Command text="gw-control seed-plugins --plugins-dir plugins" />
          </Empty>
        }
        columns={({ name }) => [
          name(({ name: text, version, description: below }) => ({
            text,
            href: `/ui/plugins/${text}/${encodeURIComponent(version)}`,
            below,
          })),
          { label: 'Version', cell: ({ version }) => version },
          { label: 'Type', cell: ({ type }) => type },
          { label: 'From', cell: ({ builtin }) => (builtin ? 'gw' : <span class="status quiet">registered</span>) },
          { label: 'Size', kind: 'number', cell: ({ size }) => bytes(size) },
        ]}
      />
    </main>
  );
}
