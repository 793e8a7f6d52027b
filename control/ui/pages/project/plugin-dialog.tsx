/** Adds a plugin to a project, or changes its version and config; the server checks the config. */
import { useState } from 'preact/hooks';
import { client, ifMatch } from '../../api/client.ts';
import type { Plugin, ProjectPlugin, ProjectPluginInput } from '../../api/types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { Check, Choice } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { Loading } from '../../components/table.tsx';
import { useAction } from '../../data/use-action.ts';
import { useAll } from '../../data/use-list.ts';
import { DocumentEditor } from '../../editor/editor.tsx';
import { announce } from '../../shell/announcer.tsx';
import { SchemaTable } from '../registry/schema-table.tsx';
import { useProject } from './project-context.ts';

interface PluginDialogProps {
  /** Null for one that is added. */
  readonly plugin: ProjectPlugin | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function PluginDialog(props: PluginDialogProps) {
  const { data, error, reload } = useAll('plugins.list', {});
  const [first] = data ?? [];
  if (data !== undefined && first !== undefined) return <PluginForm {...props} registry={data} first={first} />;
  return (
    <FormDialog title="Plugin" action="Save" busy error={error} onSubmit={reload} onClose={props.onClose}>
      {data ? (
        <Problem error={new Error('no plugin is registered: run gw-control seed-plugins')} />
      ) : (
        <Loading what="plugins" />
      )}
    </FormDialog>
  );
}

interface PluginFormProps extends PluginDialogProps {
  readonly registry: readonly Plugin[];
  readonly first: Plugin;
}

function PluginForm({ plugin, registry, first, onClose, onSaved }: PluginFormProps) {
  const { project } = useProject();
  const [name, setName] = useState(plugin?.plugin_name ?? first.name);
  const versions = registry.filter((each) => each.name === name);
  const [wanted, setVersion] = useState(plugin?.plugin_version);
  const chosen = versions.find(({ version }) => version === wanted) ?? versions[0];
  const [enabled, setEnabled] = useState(plugin?.enabled ?? true);
  const [begun] = useState(() => JSON.stringify(plugin?.config ?? {}, null, 2));
  const [config, setConfig] = useState(begun);
  const changePlugin = (to: string) => {
    setName(to);
    // The editor begins anew with another plugin.
    setConfig(begun);
  };
  const { run, busy, error } = useAction(async () => {
    const params = { id: project.id };
    const body = {
      plugin_name: name,
      plugin_version: chosen?.version ?? '',
      enabled,
      config: parsed(config),
    };
    if (plugin === null) await client.call('projectPlugins.add', { params, body });
    else await client.call('projectPlugins.update', { params: { ...params, name }, body }, ifMatch(plugin.etag));
    announce(`Saved ${name}.`);
    onSaved();
  });
  const names = [...new Set(registry.map((each) => each.name))].map((value) => ({ value, label: value }));
  return (
    <FormDialog
      wide
      title={plugin === null ? 'Add a plugin' : `Configure ${name}`}
      action={plugin === null ? 'Add' : 'Save'}
      busy={busy}
      error={error}
      onSubmit={run}
      onClose={onClose}
    >
      <div class="pair">
        {plugin === null && <Choice label="Plugin" value={name} options={names} onChange={changePlugin} />}
        <Choice
          label="Version"
          value={chosen?.version ?? ''}
          options={versions.map(({ version }) => ({ value: version, label: version }))}
          onChange={setVersion}
        />
      </div>
      {chosen?.description && <p class="muted">{chosen.description}</p>}
      <Check label="Operations can use it" checked={enabled} onChange={setEnabled} />
      <p class="label">Config, below that of operations</p>
      <DocumentEditor short filename={`Config of ${name}.json`} text={begun} findings={[]} onChange={setConfig} />
      {chosen?.config_schema && (
        <details>
          <summary>Allowed properties</summary>
          <SchemaTable schema={chosen.config_schema} />
        </details>
      )}
    </FormDialog>
  );
}

/** Throws with instructions if the text is not a JSON object. */
function parsed(text: string): NonNullable<ProjectPluginInput['config']> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text);
  } catch (error) {
    throw new Error(`The config is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The config must be a JSON object.');
  return { ...value };
}
