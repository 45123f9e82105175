import { type Actor, holds, isSignedIn } from "../access/Actor.ts"
import type { AnalyticsModel, ScopeRule } from "./AnalyticsModel.ts"

/** What a caller sees: all models and rows of his organization, or those of his own that a model's rules allow. */
export type Scope =
  | { readonly _tag: "All" }
  | { readonly _tag: "Vendor"; readonly vendorId: string }
  | { readonly _tag: "Customer" }

/** Whoever holds it sees all models and rows of his organization. */
export const readsAll = "analytics:read"

/** Of people these roles see all models and rows (spec §4 Analytics); others may by their permission. */
const seesAll: ReadonlySet<string> = new Set(["owner", "admin", "staff", "ai_agent"])

/**
 * The scope of a caller; undefined for whoever sees nothing. Keys of the API go by their permissions alone: a key that
 * bears a role may be narrowed to less than the role may (contract, platform §11).
 */
export const scopeOf = (actor: Actor): Scope | undefined => {
  if (holds(actor, readsAll)) return { _tag: "All" }
  if (!isSignedIn(actor)) return undefined
  if (seesAll.has(actor.role)) return { _tag: "All" }
  if (actor.vendorId !== null) return { _tag: "Vendor", vendorId: actor.vendorId }
  return actor.role === "customer" ? { _tag: "Customer" } : undefined
}

const roleOf = { Vendor: "vendor", Customer: "customer" } as const

/** The rules that a scope puts on a model; undefined where it does not see the model at all. */
export const rulesFor = (model: AnalyticsModel, scope: Scope): ReadonlyArray<ScopeRule> | undefined => {
  if (scope._tag === "All") return []
  const own = (model.scopeRules ?? []).filter(({ role }) => role === roleOf[scope._tag])
  return own.length === 0 ? undefined : own
}
