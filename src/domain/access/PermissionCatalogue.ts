import { Context, Layer, Schema } from "effect"

const Scope = Schema.Struct({ scope: Schema.String, description: Schema.String })

/** All permissions that a role can have (contract, platform §14, `GET /api/admin/permissions`). */
export const Permissions = Schema.Struct({
  core: Schema.Array(Schema.String),
  plugin: Schema.Array(Schema.Struct({ ...Scope.fields, plugin: Schema.String })),
  /** The same by module, with a description of each for the admin. */
  modules: Schema.Array(Schema.Struct({ module: Schema.String, permissions: Schema.Array(Scope) }))
}).annotate({ identifier: "PermissionCatalogue" })
export type Permissions = typeof Permissions.Type

/** The permissions that a module or plugin declares. */
export interface Declaring {
  readonly id: string
  readonly permissions: ReadonlyArray<typeof Scope.Type>
}

/** The catalogue of the permissions that core modules and plugins declare. */
export const catalogueOf = (core: ReadonlyArray<Declaring>, plugins: ReadonlyArray<Declaring>): Permissions => ({
  core: [...new Set(core.flatMap(({ permissions }) => permissions.map(({ scope }) => scope)))],
  plugin: plugins.flatMap(({ id, permissions }) => permissions.map((scope) => ({ ...scope, plugin: id }))),
  modules: [...core, ...plugins].filter(({ permissions }) => permissions.length > 0)
    .map(({ id, permissions }) => ({ module: id, permissions }))
})

/** The permissions of this deployment's modules, from their manifests. */
export class PermissionCatalogue
  extends Context.Service<PermissionCatalogue, Permissions>()("stoa/domain/access/PermissionCatalogue")
{
  static readonly layerOf = (permissions: Permissions) => Layer.succeed(PermissionCatalogue, permissions)
}
