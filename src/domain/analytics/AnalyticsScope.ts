import { type Actor, holds, isSignedIn } from "../access/Actor.ts"
import type { AnalyticsModel, ScopeRule } from "./AnalyticsModel.ts"

/** The rows that a caller sees: all of their organization, or those that a model's rules allow. */
export type Scope =
  | { readonly _tag: "All" }
  | { readonly _tag: "Vendor"; readonly vendorId: string }
  | { readonly _tag: "Customer" }

/** The permission to see all models and rows of the organization. */
export const readsAll = "analytics:read"

/** Users with these roles see all models and rows (spec §4 Analytics); others need the permission. */
const seesAll: ReadonlySet<string> = new Set(["owner", "admin", "staff", "ai_agent"])

/**
 * The scope of a caller; undefined for a caller who sees nothing. API keys need the permission: a key with a role may
 * be narrowed to less than the role (contract, platform §11).
 */
export const scopeOf = (actor: Actor): Scope | undefined => {
  if (holds(actor, readsAll)) return { _tag: "All" }
  if (!isSignedIn(actor)) return undefined
  if (seesAll.has(actor.role)) return { _tag: "All" }
  if (actor.vendorId !== null) return { _tag: "Vendor", vendorId: actor.vendorId }
  return actor.role === "customer" ? { _tag: "Customer" } : undefined
}

const roleOf = { Vendor: "vendor", Customer: "customer" } as const

/** The rules of a scope for a model; undefined where the model is outside of it. */
export const rulesFor = (model: AnalyticsModel, scope: Scope): ReadonlyArray<ScopeRule> | undefined => {
  if (scope._tag === "All") return []
  const own = (model.scopeRules ?? []).filter(({ role }) => role === roleOf[scope._tag])
  return own.length === 0 ? undefined : own
}
