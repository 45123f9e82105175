import type { Actor } from "./Actor.ts"
import type { KeyFacts, SessionFacts } from "./CredentialRepo.ts"
import { type KeyScopes, narrowed, scopeNamed } from "./KeyScope.ts"
import type { Permission, Roles } from "./Permission.ts"

/** The roles of the deployment. */
export interface AccessPolicy {
  readonly roles: Roles
  readonly defaultOrganizationId: string
  /** Permissions of visitors and of signed-in shoppers without a membership. */
  readonly customerPermissions: ReadonlyArray<Permission>
  /** Permissions of keys without a role, scope or permissions. */
  readonly keyPermissions: ReadonlyArray<Permission>
  readonly keyScopes: KeyScopes
}

/** The actor without the fields that the request adds. */
export type BareActor = Omit<Actor, "cartSecret" | "requestId" | "ip" | "userAgent" | "source" | "executionId">

const permissionsOfRole = ({ roles }: AccessPolicy, role: string): ReadonlyArray<Permission> =>
  Object.hasOwn(roles, role) ? roles[role] ?? [] : []

/**
 * The default organization of a session (contract, platform §2): the one its user chose, else the deployment's default
 * one if they are a member there. Undefined where only the request can decide.
 */
export const organizationOfSession = (
  { activeOrganizationId, memberships }: SessionFacts,
  { defaultOrganizationId }: AccessPolicy
): string | undefined =>
  activeOrganizationId ?? (Object.hasOwn(memberships, defaultOrganizationId) ? defaultOrganizationId : undefined)

/** The user's role in an organization; undefined without a membership. */
export const membershipIn = (
  { memberships }: Pick<SessionFacts, "memberships">,
  organizationId: string
): string | undefined => Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined

/** Permissions of a member, or of a customer for a user without a role there. */
const permissionsOfMember = (
  memberships: Readonly<Record<string, string>>,
  organizationId: string,
  policy: AccessPolicy
): ReadonlyArray<Permission> => {
  const role = membershipIn({ memberships }, organizationId)
  return role === undefined ? policy.customerPermissions : permissionsOfRole(policy, role)
}

/** A signed-in user: a member has the permissions of their role, an unknown role none; other users are customers. */
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

/** Permissions of a key: those of its current role or scope, narrowed to its list; else its list or the default. */
const permissionsGiven = (key: KeyFacts, policy: AccessPolicy): ReadonlyArray<Permission> => {
  if (key.role !== null) return narrowed(permissionsOfRole(policy, key.role), key.permissions)
  if (key.scope !== null) return narrowed(scopeNamed(policy.keyScopes, key.scope)?.permissions ?? [], key.permissions)
  return key.permissions ?? policy.keyPermissions
}

/** An API key. A user's key never has more permissions than the user has in its organization (contract §4, §23.14). */
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
