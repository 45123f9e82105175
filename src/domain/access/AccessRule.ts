import { Context } from "effect"

/** What a route asks of its caller. */
export type AccessRule =
  /** Anyone, with or without credentials. */
  | { readonly _tag: "Open" }
  /** Any of these permissions; the first one is named in the refusal. */
  | { readonly _tag: "AnyOf"; readonly permissions: readonly [string, ...ReadonlyArray<string>] }

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

/** Annotation of an endpoint that serves no organization in particular: it answers also where none can be found. */
export class Storeless extends Context.Service<Storeless, true>()("stoa/domain/access/Storeless") {}
