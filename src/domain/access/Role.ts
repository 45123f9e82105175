import type { Permission } from "./Permission.ts"

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
    "customers:update:self"
  ]
}
