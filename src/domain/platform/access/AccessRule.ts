import { Context, Effect } from "effect"
import { type Forbidden, Unauthorized } from "../errors/ApiErrors.ts"
import { forbidden } from "../errors/ErrorKinds.ts"
import { type Actor, isSignedIn, refusalOf, requireAnyOf } from "./Actor.ts"

export type AccessRule =
  | { readonly _tag: "Open" }
  /** Any of these permissions; a refusal names the first one. */
  | { readonly _tag: "AnyOf"; readonly permissions: readonly [string, ...ReadonlyArray<string>] }
  /** All of these permissions; a refusal names the first missing one. */
  | { readonly _tag: "AllOf"; readonly permissions: readonly [string, ...ReadonlyArray<string>] }
  /** A signed-in user with all of these permissions. Other callers get 401. */
  | { readonly _tag: "SignedIn"; readonly permissions: ReadonlyArray<string> }
  /** Callers that a domain rule admits; the response depends on the caller. A refusal names `missing`. */
  | { readonly _tag: "Judged"; readonly admits: (actor: Actor) => boolean; readonly missing: string }

/**
 * The access rule of an endpoint, enforced before the request is decoded. An endpoint without a rule refuses all callers.
 */
export class Access extends Context.Service<Access, AccessRule>()("stoa/domain/platform/access/Access") {}

export class NoAccessRule
  extends forbidden("NoAccessRule", (of: "route" | "call") => `This ${of} has no access rule.`)
{}

export const open: AccessRule = { _tag: "Open" }

/** Any of the permissions suffices (spec §5, required permission per endpoint group; contract §0.3 for the aliases). */
export const anyOf = (...permissions: readonly [string, ...ReadonlyArray<string>]): AccessRule => ({
  _tag: "AnyOf",
  permissions
})

export const allOf = (...permissions: readonly [string, ...ReadonlyArray<string>]): AccessRule => ({
  _tag: "AllOf",
  permissions
})

/**
 * A route about the caller (spec §4, `/me`): 401 for visitors without credentials and for API keys, which have no user;
 * 403 for a user without one of the permissions.
 */
export const signedIn = (...permissions: ReadonlyArray<string>): AccessRule => ({ _tag: "SignedIn", permissions })

export const judgedBy = (admits: (actor: Actor) => boolean, missing: string): AccessRule => ({
  _tag: "Judged",
  admits,
  missing
})

const requireAll = (actor: Actor, permissions: ReadonlyArray<string>) =>
  Effect.forEach(permissions, (permission) => requireAnyOf(actor, [permission]), { discard: true })

/** Checks an actor against a rule: 401 where other credentials would help, 403 where they would not (contract §0.3). */
export const admit = (actor: Actor, rule: AccessRule): Effect.Effect<void, Unauthorized | Forbidden> => {
  switch (rule._tag) {
    case "Open":
      return Effect.void
    case "AnyOf":
      return requireAnyOf(actor, rule.permissions)
    case "AllOf":
      return requireAll(actor, rule.permissions)
    case "SignedIn":
      return isSignedIn(actor) ? requireAll(actor, rule.permissions) : Effect.fail(Unauthorized.of())
    case "Judged":
      return rule.admits(actor) ? Effect.void : Effect.fail(refusalOf(actor, rule.missing))
  }
}

/** Annotation of an endpoint that belongs to no organization: it also responds where none can be resolved. */
export class Storeless extends Context.Service<Storeless, true>()("stoa/domain/platform/access/Storeless") {}
