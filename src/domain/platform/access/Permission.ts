import { Context, Effect, Layer, Schema } from "effect"
import { forbidden, invalid } from "../errors/ErrorKinds.ts"
import { about } from "../hints/Hints.ts"

/** A permission: `module:action` or `module:action:scope`; `*:*` and `module:*` are wildcards (spec §5). */
export type Permission = string

const form = /^(\*:\*|[\w-]+(:\*|(:[\w-]+){0,2}))$/

/** Whether a permission is well formed. `*:read` is not: a wildcard cannot precede a name (contract, platform §5). */
export const isPermission = (text: string): text is Permission => form.test(text)

/** Scopes that extend their action instead of narrowing it; the action alone does not grant them. */
const widening = new Set<Permission>(["catalog:read:unpublished", "orders:create:on-behalf"])

/**
 * The only permission check (contract §0.3). Granted by `*:*`, by `module:*`, by the exact string, and by the unscoped
 * form of a scoped requirement: `orders:read` covers `orders:read:own`, never the reverse, and never a scope that
 * widens.
 */
export const grants = (held: ReadonlyArray<Permission>, required: Permission): boolean => {
  const [module, action] = required.split(":")
  const unscoped = widening.has(required) ? required : `${module}:${action}`
  return held.some((one) => one === "*:*" || one === required || one === `${module}:*` || one === unscoped)
}

/** True when any of the alternatives is granted; routes list aliases this way. */
export const grantsAny = (held: ReadonlyArray<Permission>, anyOf: ReadonlyArray<Permission>): boolean =>
  anyOf.some((required) => grants(held, required))

/** Permissions of a role by name; a deployment's `auth.roles` is merged over these key by key (spec §5). */
export type Roles = Readonly<Record<string, ReadonlyArray<Permission>>>

/** The default roles of every deployment (spec §5). */
export const defaultRoles: Roles = {
  owner: ["*:*"],
  admin: ["*:*"],
  staff: [
    "catalog:create",
    "catalog:update",
    "catalog:read",
    "inventory:adjust",
    "inventory:read",
    "orders:create",
    "orders:read",
    "orders:update",
    "returns:manage",
    "customers:read",
    "cart:create",
    "cart:update"
  ],
  customer: [
    "catalog:read",
    "cart:create",
    "cart:read",
    "cart:update",
    "orders:create",
    "orders:read:own",
    "customers:read:self",
    "customers:update:self",
    "media:write:own"
  ]
}

interface Holder {
  readonly permissions: ReadonlyArray<Permission>
}

const rankOf = (role: string, permissions: ReadonlyArray<Permission>): number =>
  !permissions.includes("*:*") ? 1 : role === "owner" || role === "system" ? 3 : 2

/** Whether the role exists. A comma joins several roles, so no role name contains one. */
export const isRole = (roles: Roles, role: string): boolean => Object.hasOwn(roles, role)

/** Whether the actor holds all of these permissions and so may grant them. */
export const mayGive = (actor: Holder, permissions: ReadonlyArray<Permission>): boolean =>
  permissions.every((permission) => grants(actor.permissions, permission))

/**
 * Whether the actor may grant or revoke a role (contract, platform §6). They hold all its permissions and do not rank
 * below it: owners rank above holders of `*:*`, and those above all others.
 */
export const mayGrant = (actor: Holder & { readonly role: string }, roles: Roles, role: string): boolean => {
  const permissions = isRole(roles, role) ? roles[role] ?? [] : []
  return rankOf(actor.role, actor.permissions) >= rankOf(role, permissions) && mayGive(actor, permissions)
}

export class UnknownRole extends invalid(
  "UnknownRole",
  "role",
  (roles: Roles) => `must be one of ${Object.keys(roles).join(", ")}.`,
  "unknown_role"
) {}

/** 403: the role or scope has permissions that the actor has not, or ranks above them. */
export class TooPowerful extends forbidden(
  "TooPowerful",
  (kind: "role" | "scope", name: string, act: "give it" | "take it away") =>
    `The ${kind} '${name}' may more than you: you cannot ${act}.`
) {}

/** Fails unless the role exists and the actor may grant it. */
export const requireGrantable = Effect.fnUntraced(
  function*(actor: Holder & { readonly role: string }, roles: Roles, role: string) {
    if (!isRole(roles, role)) return yield* new UnknownRole(roles)
    if (!mayGrant(actor, roles, role)) return yield* new TooPowerful("role", role, "give it")
  }
)

const Declared = Schema.Struct({
  scope: Schema.String.pipe(about("Permission, such as orders:read.")),
  description: Schema.String
})

/** All permissions that a role can have (contract, platform §14, `GET /api/admin/permissions`). */
export const Permissions = Schema.Struct({
  core: Schema.Array(Schema.String).pipe(about("Permissions of the core, without descriptions.")),
  plugin: Schema.Array(Schema.Struct({ ...Declared.fields, plugin: Schema.String.pipe(about("Id of the plugin.")) }))
    .pipe(
      about("Permissions of plugins.")
    ),
  modules: Schema.Array(Schema.Struct({
    module: Schema.String.pipe(about("Id of a module of the core or of a plugin.")),
    permissions: Schema.Array(Declared).pipe(about("Permissions that it declares."))
  })).pipe(about("Permissions of core and plugins, by module."))
}).annotate({ identifier: "PermissionCatalogue" })
export type Permissions = typeof Permissions.Type

export interface Declaring {
  readonly id: string
  readonly permissions: ReadonlyArray<typeof Declared.Type>
}

export const catalogueOf = (core: ReadonlyArray<Declaring>, plugins: ReadonlyArray<Declaring>): Permissions => ({
  core: [...new Set(core.flatMap(({ permissions }) => permissions.map(({ scope }) => scope)))],
  plugin: plugins.flatMap(({ id, permissions }) => permissions.map((scope) => ({ ...scope, plugin: id }))),
  modules: [...core, ...plugins].filter(({ permissions }) => permissions.length > 0)
    .map(({ id, permissions }) => ({ module: id, permissions }))
})

export class PermissionCatalogue
  extends Context.Service<PermissionCatalogue, Permissions>()("stoa/domain/platform/access/PermissionCatalogue")
{
  static readonly layerOf = (permissions: Permissions) => Layer.succeed(PermissionCatalogue, permissions)
}
