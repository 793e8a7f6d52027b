/** The plugins that a project uses, each with its config. */
import { useState } from 'preact/hooks';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import type { ProjectPlugin } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListView } from '../../components/table.tsx';
import { Command, Empty } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';
import { PluginDialog } from './plugin-dialog.tsx';
import { useProject } from './project-context.ts';

export function ProjectPlugins() {
  const { project } = useProject();
  const params = { id: project.id };
  const list = useList('projectPlugins.list', { params });
  const [dialog, setDialog] = useState<{ readonly plugin: ProjectPlugin | null } | null>(null);
  return (
    <>
      <PageHead title="Plugins">
        {may('editor') && (
          <button
            type="button"
            class="button primary"
            aria-haspopup="dialog"
            onClick={() => setDialog({ plugin: null })}
          >
            Add a plugin
          </button>
        )}
      </PageHead>
      <ListView
        caption="Plugins of the project"
        list={list}
        rowKey={({ plugin_name }) => plugin_name}
        empty={
          <Empty title="The project uses no plugin yet">
            <p>Operations may name only plugins that are added here (E1040).</p>
            <Command text={`gw-control project-plugins add http-upstream VERSION --project ${project.name}`} />
          </Empty>
        }
        columns={({ actions, name, status, time }) => [
          name(
            ({ plugin_name, plugin_version }) => ({
              text: plugin_name,
              href: `/ui/plugins/${plugin_name}/${encodeURIComponent(plugin_version)}`,
              note: <span class="muted">{plugin_version}</span>,
            }),
            'Plugin',
          ),
          status(({ enabled }) => (enabled ? 'enabled' : 'disabled')),
          { label: 'Config', cell: ({ config }) => <ConfigSummary config={config} /> },
          time('Changed', ({ updated_at }) => updated_at),
          actions((plugin) =>
            may('editor') ? (
              <div class="row end">
                <button type="button" class="button small" aria-haspopup="dialog" onClick={() => setDialog({ plugin })}>
                  Configure
                </button>
                <ConfirmButton
                  label="Remove"
                  title={`Remove ${plugin.plugin_name}?`}
                  action="Remove"
                  act={() => client.call('projectPlugins.remove', { params: { ...params, name: plugin.plugin_name } })}
                  done={`Removed ${plugin.plugin_name}.`}
                  onDone={list.reload}
                >
                  <p>Operations that name it will not compile any more.</p>
                </ConfirmButton>
              </div>
            ) : null,
          ),
        ]}
      />
      {dialog && (
        <PluginDialog
          plugin={dialog.plugin}
          onClose={() => setDialog(null)}
          onSaved={() => {
            setDialog(null);
            list.reload();
          }}
        />
      )}
    </>
  );
}

function ConfigSummary({ config }: { readonly config: Readonly<Record<string, unknown>> }) {
  const names = Object.keys(config);
  if (names.length === 0) return <span class="muted">defaults</span>;
  return (
    <span title={JSON.stringify(config, null, 2)}>
      {names.length > 3 ? `${names.length} properties` : names.join(', ')}
    </span>
  );
}
