import type { Actor } from "./Actor.ts"
import { grants, type Permission } from "./Permission.ts"
import type { Roles } from "./Role.ts"

const rankOf = (role: string, permissions: ReadonlyArray<Permission>): number =>
  !permissions.includes("*:*") ? 1 : role === "owner" || role === "system" ? 3 : 2

/** Whether the role exists. A comma joins several roles, so no role name contains one. */
export const isRole = (roles: Roles, role: string): boolean => Object.hasOwn(roles, role)

/** Whether the actor holds all of these permissions and so may grant them. */
export const mayGive = (actor: Pick<Actor, "permissions">, permissions: ReadonlyArray<Permission>): boolean =>
  permissions.every((permission) => grants(actor.permissions, permission))

/**
 * Whether the actor may grant or revoke a role (contract, platform §6). They hold all its permissions and do not rank
 * below it: owners rank above holders of `*:*`, and those above all others.
 */
export const mayGrant = (actor: Pick<Actor, "role" | "permissions">, roles: Roles, role: string): boolean => {
  const permissions = isRole(roles, role) ? roles[role] ?? [] : []
  return rankOf(actor.role, actor.permissions) >= rankOf(role, permissions) && mayGive(actor, permissions)
}
