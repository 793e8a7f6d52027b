/** The properties that a plugin's config may have, by its JSON Schema. */
import { Table } from '../../components/table.tsx';

type Json = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? { ...value } : {});

export function SchemaTable({ schema }: { readonly schema: Json }) {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const rows = Object.entries(objectOf(schema['properties'])).map(([name, value]) => ({ name, of: objectOf(value) }));
  if (rows.length === 0) return <p class="muted">Its config has no properties.</p>;
  return (
    <Table
      caption="Properties of the config"
      rows={rows}
      rowKey={({ name }) => name}
      columns={() => [
        {
          label: 'Property',
          cell: ({ name }) => (
            <>
              <code class="strong">{name}</code> {required.includes(name) && <span class="status warn">required</span>}
              {objectOf(schema['properties'])[name] !== undefined &&
                objectOf(objectOf(schema['properties'])[name])['writeOnly'] === true && (
                  <span class="status quiet">secret</span>
                )}
            </>
          ),
        },
        { label: 'Type', cell: ({ of }) => <code>{typeOf(of)}</code> },
        { label: 'Default', cell: ({ of }) => ('default' in of ? <code>{JSON.stringify(of['default'])}</code> : '') },
        {
          label: 'Meaning',
          kind: 'grow',
          cell: ({ of }) => (typeof of['description'] === 'string' ? of['description'] : ''),
        },
      ]}
    />
  );
}

function typeOf(schema: Json): string {
  if (Array.isArray(schema['enum'])) return schema['enum'].map((each) => JSON.stringify(each)).join(' | ');
  const { type } = schema;
  if (type === 'array') return `array of ${typeOf(objectOf(schema['items']))}`;
  return Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : 'any';
}
