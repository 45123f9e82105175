import type { Actor } from "./Actor.ts"
import type { KeyFacts, SessionFacts } from "./CredentialRepo.ts"
import { narrowed } from "./KeyPermissions.ts"
import { type KeyScopes, scopeNamed } from "./KeyScope.ts"
import type { Permission } from "./Permission.ts"
import type { Roles } from "./Role.ts"

/** What the deployment says of roles. */
export interface AccessPolicy {
  readonly roles: Roles
  readonly defaultOrganizationId: string
  /** Of visitors and of signed-in shoppers who are members of nothing. */
  readonly customerPermissions: ReadonlyArray<Permission>
  /** Of keys that have neither a role, nor a scope, nor permissions. */
  readonly keyPermissions: ReadonlyArray<Permission>
  readonly keyScopes: KeyScopes
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
export const membershipIn = (
  { memberships }: Pick<SessionFacts, "memberships">,
  organizationId: string
): string | undefined => Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined

/** What a member may do, or a customer: whoever has no role there. */
const permissionsOfMember = (
  memberships: Readonly<Record<string, string>>,
  organizationId: string,
  policy: AccessPolicy
): ReadonlyArray<Permission> => {
  const role = Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined
  return role === undefined ? policy.customerPermissions : permissionsOfRole(policy, role)
}

/** A signed-in user: a member has the permissions of his role, an unknown role none; everybody else is a customer. */
export const actorOfSession = (session: SessionFacts, organizationId: string, policy: AccessPolicy): BareActor => {
  const role = membershipIn(session, organizationId)
  return {
    type: "user",
    userId: session.userId,
    email: session.email,
    name: session.name,
    vendorId: session.vendorId,
    vendorRole: session.vendorRole,
    organizationId,
    role: role ?? "customer",
    permissions: permissionsOfMember(session.memberships, organizationId, policy)
  }
}

/** What a key was given: by its role or its scope as these are now, narrowed to its own; else its own alone. */
const permissionsGiven = (key: KeyFacts, policy: AccessPolicy): ReadonlyArray<Permission> => {
  if (key.role !== null) return narrowed(permissionsOfRole(policy, key.role), key.permissions)
  if (key.scope !== null) return narrowed(scopeNamed(policy.keyScopes, key.scope)?.permissions ?? [], key.permissions)
  return key.permissions ?? policy.keyPermissions
}

/** An API key; one that somebody made for himself never may more than he may in its organization (contract §4, §23.14). */
export const actorOfKey = (key: KeyFacts, organizationId: string, policy: AccessPolicy): BareActor => ({
  type: "api_key",
  userId: key.userId,
  email: null,
  name: key.name ?? "API key",
  vendorId: null,
  organizationId,
  role: key.role ?? "api_key",
  permissions: key.userId === null
    ? permissionsGiven(key, policy)
    : narrowed(permissionsOfMember(key.memberships, organizationId, policy), permissionsGiven(key, policy)),
  keyId: key.id
})
