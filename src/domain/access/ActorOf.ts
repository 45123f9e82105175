import type { Actor } from "./Actor.ts"
import type { KeyFacts, SessionFacts } from "./CredentialRepo.ts"
import { narrowed } from "./KeyPermissions.ts"
import type { Permission } from "./Permission.ts"
import type { Roles } from "./Role.ts"

/** What the deployment says of roles. */
export interface AccessPolicy {
  readonly roles: Roles
  readonly defaultOrganizationId: string
  /** Of visitors and of signed-in shoppers who are members of nothing. */
  readonly customerPermissions: ReadonlyArray<Permission>
  /** Of keys that have neither a role nor permissions. */
  readonly keyPermissions: ReadonlyArray<Permission>
}

/** The actor without what the request itself adds. */
export type BareActor = Omit<Actor, "cartSecret" | "requestId" | "ip" | "userAgent" | "source" | "workId">

const permissionsOfRole = ({ roles }: AccessPolicy, role: string): ReadonlyArray<Permission> =>
  Object.hasOwn(roles, role) ? roles[role] ?? [] : []

/**
 * The organization a session is in by itself (contract, platform §2): the one its user chose, else the default one where
 * he is a member there. Undefined where only the request can say.
 */
export const organizationOfSession = (
  { activeOrganizationId, memberships }: SessionFacts,
  { defaultOrganizationId }: AccessPolicy
): string | undefined =>
  activeOrganizationId ?? (Object.hasOwn(memberships, defaultOrganizationId) ? defaultOrganizationId : undefined)

/** His role in an organization; undefined for whoever is no member there. */
export const membershipIn = ({ memberships }: SessionFacts, organizationId: string): string | undefined =>
  Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined

/** A signed-in user: a member has the permissions of his role, an unknown role none; everybody else is a customer. */
export const actorOfSession = (session: SessionFacts, organizationId: string, policy: AccessPolicy): BareActor => {
  const role = membershipIn(session, organizationId)
  return {
    type: "user",
    userId: session.userId,
    email: session.email,
    name: session.name,
    vendorId: session.vendorId,
    organizationId,
    role: role ?? "customer",
    permissions: role === undefined ? policy.customerPermissions : permissionsOfRole(policy, role)
  }
}

/** An API key: the permissions of its role as the role is now, narrowed to its own, or its own alone (contract §4). */
export const actorOfKey = (key: KeyFacts, organizationId: string, policy: AccessPolicy): BareActor => ({
  type: "api_key",
  userId: key.userId,
  email: null,
  name: key.name ?? "API key",
  vendorId: null,
  organizationId,
  role: key.role ?? "api_key",
  permissions: key.role === null
    ? key.permissions ?? policy.keyPermissions
    : narrowed(permissionsOfRole(policy, key.role), key.permissions),
  keyId: key.id
})
