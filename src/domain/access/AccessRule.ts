import { Context, Effect } from "effect"
import { type Forbidden, Unauthorized } from "../errors/ApiErrors.ts"
import { type Actor, isSignedIn, refusalOf, requireAnyOf } from "./Actor.ts"

/** What a route asks of its caller. */
export type AccessRule =
  /** Anyone, with or without credentials. */
  | { readonly _tag: "Open" }
  /** Any of these permissions; the first one is named in the refusal. */
  | { readonly _tag: "AnyOf"; readonly permissions: readonly [string, ...ReadonlyArray<string>] }
  /** All of these permissions; the first one that is missing is named in the refusal. */
  | { readonly _tag: "AllOf"; readonly permissions: readonly [string, ...ReadonlyArray<string>] }
  /** A signed-in user, who holds all of these permissions where any are named. Others are asked to sign in. */
  | { readonly _tag: "SignedIn"; readonly permissions: ReadonlyArray<string> }
  /** Whoever a rule of the domain lets in; what he sees then depends on who he is. `missing` is named in the refusal. */
  | { readonly _tag: "Judged"; readonly admits: (actor: Actor) => boolean; readonly missing: string }

/**
 * The access rule of an endpoint, as an annotation on it. The `Access` middleware enforces it before anything of the
 * request is decoded; an endpoint without one is refused to everybody, and a test names it.
 */
export class Access extends Context.Service<Access, AccessRule>()("stoa/domain/access/Access") {}

/** Open to everyone; what the route does decides for itself. */
export const open: AccessRule = { _tag: "Open" }

/** Any of the permissions suffices (spec §5, required permission per endpoint group; contract §0.3 for the aliases). */
export const anyOf = (...permissions: readonly [string, ...ReadonlyArray<string>]): AccessRule => ({
  _tag: "AnyOf",
  permissions
})

/** All of the permissions are needed. */
export const allOf = (...permissions: readonly [string, ...ReadonlyArray<string>]): AccessRule => ({
  _tag: "AllOf",
  permissions
})

/**
 * A route about the caller himself (spec §4, `/me`): 401 for visitors without credentials and for API keys, who are
 * nobody, 403 for a user without one of the permissions.
 */
export const signedIn = (...permissions: ReadonlyArray<string>): AccessRule => ({ _tag: "SignedIn", permissions })

/** A route whose answer depends on who asks: `admits` says who sees anything at all; the permission is named to others. */
export const judgedBy = (admits: (actor: Actor) => boolean, missing: string): AccessRule => ({
  _tag: "Judged",
  admits,
  missing
})

const requireAll = (actor: Actor, permissions: ReadonlyArray<string>) =>
  Effect.forEach(permissions, (permission) => requireAnyOf(actor, [permission]), { discard: true })

/** Holds an actor to a rule: 401 where credentials of another kind would help, 403 where they would not (contract §0.3). */
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

/** Annotation of an endpoint that serves no organization in particular: it answers also where none can be found. */
export class Storeless extends Context.Service<Storeless, true>()("stoa/domain/access/Storeless") {}
