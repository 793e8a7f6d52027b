/** Plugin configuration of projects in the REST API (docs/reference/control-plane.md#project-plugins). */
import Type, { type Static } from 'typebox';
import { AnyObject, Closed, type JsonObject, Name, Named, pageQuery, Timestamp } from '../../api/schema-types.ts';
import { Version } from '../plugins/schemas.ts';

const Config = (description: string) => Type.Unsafe<JsonObject>(AnyObject(description));

export const ProjectPlugin = Named(
  'ProjectPlugin',
  {
    plugin_name: Name('Of the plugin.'),
    plugin_version: Version('Of the plugin.'),
    enabled: Type.Boolean({ description: 'Operations can use it: one that does while it is disabled is E1040.' }),
    config: Config(
      'Below the config of operations, above the defaults of the schema. To viewers, secrets in plain text are `[redacted]`.',
    ),
    etag: Type.String({ description: 'For `If-Match` of an update or a removal.' }),
    created_at: Timestamp('When it was added.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  'A plugin that a project uses.',
);
export type ProjectPlugin = Static<typeof ProjectPlugin>;

export const ProjectPluginInput = Named(
  'ProjectPluginInput',
  {
    plugin_name: Name('Of a registered plugin; in an update the same as in the path.'),
    plugin_version: Version('Of the plugin.'),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'Operations can use it.' })),
    config: Type.Optional(
      Config("Checked against the plugin's schema, property by property: operations can add to it. Default: empty."),
    ),
  },
  'Properties of a plugin of a project; an update replaces all of them.',
);
export type ProjectPluginInput = Static<typeof ProjectPluginInput>;

export const ProjectPluginQuery = Closed(pageQuery(['plugin_name', 'created_at'], 'plugin_name'));
export type ProjectPluginQuery = Static<typeof ProjectPluginQuery>;
