/** The specs of a project, and the place where new ones are dropped. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { may } from '../../api/session.ts';
import type { Spec, SpecUpload } from '../../api/types.ts';
import { Choice, Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListView } from '../../components/table.tsx';
import { Command, Empty } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';
import { draftOf, ofNewSpec, ofSpec } from '../../editor/drafts.ts';
import { announce } from '../../shell/announcer.tsx';
import { CompileButton } from './compile-button.tsx';
import type { Draft, Refused } from './draft.ts';
import { useProject } from './project-context.ts';
import { SpecDraft } from './spec-draft.tsx';
import { SpecUploadZone } from './spec-upload.tsx';

export function Specs() {
  const { project, base } = useProject();
  const { route } = useLocation();
  const [part, setPart] = useState('');
  const [type, setType] = useState<Spec['type'] | ''>('');
  const [draft, setDraft] = useState<Draft | Refused | null>(() => {
    const kept = draftOf(ofNewSpec(project.id));
    return kept && { ...kept, specId: null, isKept: true };
  });
  const query = { name: part || undefined, type: type || undefined };
  const list = useList('specs.listOfProject', { params: { id: project.id }, query });
  const uploaded = ({ id, name, revision }: SpecUpload) => {
    announce(`Uploaded ${name}, revision ${revision}.`);
    route(`${base}/specs/${id}`);
  };
  if (draft) {
    return (
      <>
        <PageHead title={draft.filename} above={{ href: `${base}/specs`, label: 'Specs' }} />
        <SpecDraft key={draft.filename} draft={draft} onSaved={uploaded} onClose={() => setDraft(null)} />
      </>
    );
  }
  return (
    <>
      <PageHead title="Specs">
        <CompileButton />
      </PageHead>
      {may('editor') && <SpecUploadZone onUploaded={uploaded} onRefused={setDraft} />}
      <div class="toolbar">
        <Filter label="Find by name" value={part} onInput={setPart} />
        <Choice
          label="Type"
          compact
          value={type}
          onChange={setType}
          options={[
            { value: '', label: 'Any type' },
            { value: 'openapi', label: 'OpenAPI' },
            { value: 'asyncapi', label: 'AsyncAPI' },
          ]}
        />
      </div>
      <ListView
        caption="Specs"
        list={list}
        rowKey={({ id }) => id}
        unmatched={(part !== '' || type !== '') && 'No spec fits the filter.'}
        empty={
          <Empty title="There is no spec yet">
            <p>Upload an OpenAPI or AsyncAPI document: its operations become the routes of the gateway.</p>
            <Command text={`gw-control specs push openapi.yaml --name ${project.name} --project ${project.name}`} />
          </Empty>
        }
        columns={({ name, time }) => [
          name(({ id, name: text, title: below }) => ({
            text,
            href: `${base}/specs/${id}`,
            note: draftOf(ofSpec(id)) && <span class="status warn">not uploaded yet</span>,
            below,
          })),
          { label: 'Type', cell: ({ type }) => (type === 'openapi' ? 'OpenAPI' : 'AsyncAPI') },
          { label: 'Version', cell: ({ version }) => version },
          { label: 'Revision', kind: 'number', cell: ({ revision }) => revision },
          time('Changed', ({ updated_at }) => updated_at),
        ]}
      />
    </>
  );
}
