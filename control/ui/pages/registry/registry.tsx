/** All plugins that the server knows. */
import { useState } from 'preact/hooks';
import type { Plugin } from '../../api/types.ts';
import { Choice, Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListTable } from '../../components/table.tsx';
import { bytes, Command, Empty } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';

export function Registry() {
  const [name, setName] = useState('');
  const [type, setType] = useState<Plugin['type'] | ''>('');
  const query = { name: name || undefined, type: type || undefined, limit: 100 };
  const list = useList('plugins.list', { query });
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title="Plugins" />
      <div class="toolbar">
        <Filter label="Find by name" value={name} onInput={setName} />
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
      <section class="card" aria-label="Plugins">
        <ListTable
          caption="Plugins"
          list={list}
          rowKey={({ id }) => id}
          empty={
            name === '' && type === '' ? (
              <Empty title="No plugin is registered">
                <p>Those that come with gw are registered when the server starts, or by:</p>
                <Command text="gw-control seed-plugins --plugins-dir plugins" />
              </Empty>
            ) : (
              <p class="muted pad">No plugin fits the filter.</p>
            )
          }
          columns={[
            {
              label: 'Name',
              kind: 'grow',
              cell: ({ name, version, description }) => (
                <>
                  <a class="strong" href={`/ui/plugins/${name}/${encodeURIComponent(version)}`}>
                    {name}
                  </a>
                  <div class="muted clamp">{description}</div>
                </>
              ),
            },
            { label: 'Version', cell: ({ version }) => version },
            { label: 'Type', cell: ({ type }) => type },
            { label: 'From', cell: ({ builtin }) => (builtin ? 'gw' : <span class="status quiet">registered</span>) },
            { label: 'Size', kind: 'number', cell: ({ size }) => bytes(size) },
          ]}
        />
      </section>
    </main>
  );
}
