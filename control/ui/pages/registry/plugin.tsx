/** One version of a plugin: what it does, may do, and takes. */
import { useRoute } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import type { Plugin as PluginVersion } from '../../api/types.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Pending } from '../../components/table.tsx';
import { bytes, Hash, Time } from '../../components/values.tsx';
import { useAnswer } from '../../data/use-answer.ts';
import { SchemaTable } from './schema-table.tsx';

export function Plugin() {
  const { name = '', version = '' } = useRoute().params;
  const params = { name, version };
  const { data, error, reload } = useAnswer('plugins.get', { params });
  const save = async () => saveFile(await client.response('plugins.download', { params }), `${name}.wasm`);
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title={name} above={{ href: '/ui/plugins', label: 'Plugins' }}>
        {data && (
          <button type="button" class="button" onClick={save}>
            Download
          </button>
        )}
      </PageHead>
      {data === undefined ? <Pending what="the plugin" error={error} reload={reload} /> : <Described plugin={data} />}
    </main>
  );
}

function Described({ plugin }: { readonly plugin: PluginVersion }) {
  return (
    <>
      {plugin.description && <p class="lead">{plugin.description}</p>}
      <section class="card pad" aria-label="Facts">
        <dl class="facts">
          <dt>Version</dt>
          <dd>{plugin.version}</dd>
          <dt>Type</dt>
          <dd>{plugin.type}</dd>
          <dt>Host functions</dt>
          <dd>
            {plugin.capabilities.length === 0 ? (
              <span class="muted">none</span>
            ) : (
              <ul class="chain">
                {plugin.capabilities.map((each) => (
                  <li key={each} class="chip">
                    {each}
                  </li>
                ))}
              </ul>
            )}
          </dd>
          <dt>Request bodies</dt>
          <dd>{plugin.request_body}</dd>
          <dt>Response bodies</dt>
          <dd>{plugin.response_body}</dd>
          <dt>Authenticates</dt>
          <dd>{plugin.authenticates ? 'yes' : 'no'}</dd>
          <dt>Module</dt>
          <dd>
            <Hash value={plugin.sha256} /> {bytes(plugin.size)}
          </dd>
          <dt>Registered</dt>
          <dd>
            <Time at={plugin.updated_at} />
          </dd>
        </dl>
      </section>
      <section class="card" aria-label="Config">
        <h2 class="card-title">Config</h2>
        {plugin.config_schema ? (
          <SchemaTable schema={plugin.config_schema} />
        ) : (
          <p class="muted pad">It has no schema.</p>
        )}
      </section>
    </>
  );
}
