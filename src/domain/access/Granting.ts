import type { Actor } from "./Actor.ts"
import { grants, type Permission } from "./Permission.ts"
import type { Roles } from "./Role.ts"

const rankOf = (role: string, permissions: ReadonlyArray<Permission>): number =>
  !permissions.includes("*:*") ? 1 : role === "owner" || role === "system" ? 3 : 2

/** Is there such a role? A comma joins several into one, which no role's name can be. */
export const isRole = (roles: Roles, role: string): boolean => Object.hasOwn(roles, role)

/** May this actor give permissions: does he hold every one of them? */
export const mayGive = (actor: Pick<Actor, "permissions">, permissions: ReadonlyArray<Permission>): boolean =>
  permissions.every((permission) => grants(actor.permissions, permission))

/**
 * May this actor give a role, or take it away (contract, platform §6)? He holds every permission of it, and does not stand
 * below it: an owner stands above whoever may do everything, and these above all others.
 */
export const mayGrant = (actor: Pick<Actor, "role" | "permissions">, roles: Roles, role: string): boolean => {
  const permissions = isRole(roles, role) ? roles[role] ?? [] : []
  return rankOf(actor.role, actor.permissions) >= rankOf(role, permissions) && mayGive(actor, permissions)
}
