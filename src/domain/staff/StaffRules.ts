import { Result } from "effect"
import type { Actor } from "../access/Actor.ts"
import { isRole, mayGrant } from "../access/Granting.ts"
import type { Roles } from "../access/Role.ts"
import { Forbidden, ValidationFailed } from "../errors/ApiErrors.ts"

/** 422 for a role that the deployment does not have, 403 for one that may more than the actor. */
export const grantable = (
  actor: Actor,
  roles: Roles,
  role: string
): Result.Result<string, ValidationFailed | Forbidden> => {
  if (!isRole(roles, role)) {
    const known = Object.keys(roles).join(", ")
    return Result.fail(ValidationFailed.of("role", `must be one of ${known}`, "unknown_role"))
  }
  return mayGrant(actor, roles, role)
    ? Result.succeed(role)
    : Result.fail(Forbidden.of(`The role '${role}' may more than you: you cannot give it.`))
}

/** The member before a change. */
export interface MemberState {
  readonly role: string
  /** Number of owners of the organization, including this member if they are one. */
  readonly owners: number
}

/**
 * Whether the actor can change this member's role or remove them (null). 403 for a member above the actor; 422 for the
 * last owner, because every organization needs one (contract, platform §6).
 */
export const changeable = (
  actor: Actor,
  roles: Roles,
  { owners, role }: MemberState,
  to: string | null
): Result.Result<string | null, ValidationFailed | Forbidden> => {
  if (!mayGrant(actor, roles, role)) {
    return Result.fail(Forbidden.of(`The role '${role}' may more than you: you cannot take it away.`))
  }
  if (role === "owner" && to !== "owner" && owners <= 1) {
    return Result.fail(ValidationFailed.of("role", "The last owner stays: name another owner first.", "last_owner"))
  }
  return to === null ? Result.succeed(null) : grantable(actor, roles, to)
}
