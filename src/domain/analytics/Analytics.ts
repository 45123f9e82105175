import { Context, DateTime, Effect, Layer } from "effect"
import { type Actor, CurrentActor, holds, isSignedIn, refusalOf } from "../access/Actor.ts"
import { Customers } from "../customers/Customers.ts"
import type { Forbidden, Unauthorized } from "../errors/ApiErrors.ts"
import { forbidden } from "../errors/ErrorKinds.ts"
import { type AnalyticsModel, AnalyticsModels, membersOf, type ScopeRule } from "./AnalyticsModel.ts"
import type { AnalyticsMeta, AnalyticsQuery } from "./AnalyticsQuery.ts"
import { AnalyticsRepo } from "./AnalyticsRepo.ts"
import { planOf } from "./QueryPlan.ts"

class ModelHidden extends forbidden("ModelHidden", (name: string) => `The model ${name} is not for you.`) {}

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

/** Analytics of a store: counts, sums and averages by groups (spec §4 Analytics; contract, platform §11). */
export class Analytics extends Context.Service<Analytics>()("stoa/domain/analytics/Analytics", {
  make: Effect.gen(function*() {
    const models = yield* AnalyticsModels
    const customers = yield* Customers
    const repo = yield* AnalyticsRepo
    const visibleIn = (scope: Scope) => models.filter(({ model }) => rulesFor(model, scope) !== undefined)

    /**
     * The models in the caller's scope, with their members. 401 without credentials, 403 for a caller without a scope.
     */
    const meta = Effect.map(Effect.flatMap(CurrentActor, scopeFor), (scope): AnalyticsMeta => {
      const recorded = visibleIn(scope).map(({ model, source }) => ({
        name: model.name,
        source,
        measures: membersOf(model, model.measures),
        dimensions: membersOf(model, model.dimensions),
        segments: membersOf(model, model.segments ?? {})
      }))
      return {
        models: recorded,
        measures: recorded.flatMap(({ measures }) => measures),
        dimensions: recorded.flatMap(({ dimensions }) => dimensions),
        segments: recorded.flatMap(({ segments }) => segments)
      }
    })

    /**
     * The rows of a query, limited to the caller's organization and scope. 422 lists every unknown name with the valid
     * ones; 403 for a model outside of the scope; 503 for a timeout. Amounts are in minor units.
     */
    const query = Effect.fn("Analytics.query")(function*(asked: AnalyticsQuery) {
      const actor = yield* CurrentActor
      const scope = yield* scopeFor(actor)
      const visible = visibleIn(scope).map(({ model }) => model)
      yield* mustSee(models.map(({ model }) => model), visible, asked.measures)
      const plan = yield* Effect.fromResult(planOf(asked, visible, DateTime.toDateUtc(yield* DateTime.now)))
      // Filter by profile, not login: orders reference the profile. A login without a profile has no rows.
      const profile = scope._tag === "Customer" ? yield* customers.existingProfile : null
      const rows = yield* repo.rows(plan, {
        organizationId: actor.organizationId,
        rules: rulesFor(plan.model, scope) ?? [],
        vendorId: scope._tag === "Vendor" ? scope.vendorId : null,
        customerId: profile?.id ?? null
      })
      return { query: asked, rows, source: plan.model.name }
    })

    return { meta, query }
  })
}) {
  static readonly layer = Layer.effect(Analytics, Analytics.make)
}

const scopeFor = (actor: Actor): Effect.Effect<Scope, Unauthorized | Forbidden> => {
  const scope = scopeOf(actor)
  return scope === undefined ? Effect.fail(refusalOf(actor, readsAll)) : Effect.succeed(scope)
}

/** 403 for an existing model outside of the caller's scope. */
const mustSee = (
  all: ReadonlyArray<AnalyticsModel>,
  visible: ReadonlyArray<AnalyticsModel>,
  measures: ReadonlyArray<string>
): Effect.Effect<void, ModelHidden> => {
  const hidden = all.find((model) =>
    !visible.includes(model) && measures.some((measure) => measure.startsWith(`${model.name}.`))
  )
  return hidden === undefined ? Effect.void : Effect.fail(new ModelHidden(hidden.name))
}
