import { Context, DateTime, Effect, Layer } from "effect"
import { Customers } from "../customers/Customers.ts"
import { type Actor, CurrentActor, refusalOf } from "../platform/access/Actor.ts"
import type { Forbidden, Unauthorized } from "../platform/errors/ApiErrors.ts"
import { forbidden } from "../platform/errors/ErrorKinds.ts"
import {
  type AnalyticsModel,
  AnalyticsModels,
  membersOf,
  readsAll,
  rulesFor,
  type Scope,
  scopeOf
} from "../platform/modules/AnalyticsModel.ts"
import { LocalTimeZone } from "../platform/text/Time.ts"
import type { AnalyticsMeta, AnalyticsQuery } from "./AnalyticsQuery.ts"
import { AnalyticsRepo } from "./AnalyticsRepo.ts"
import { planOf } from "./QueryPlan.ts"

class ModelHidden extends forbidden("ModelHidden", (name: string) => `The model ${name} is not for you.`) {}

/** Counts, sums and averages of a store by groups (spec §4 Analytics; contract, platform §11). */
export class Analytics extends Context.Service<Analytics>()("stoa/domain/analytics/Analytics", {
  make: Effect.gen(function*() {
    const models = yield* AnalyticsModels
    const customers = yield* Customers
    const repo = yield* AnalyticsRepo
    const visibleIn = (scope: Scope) => models.filter(({ model }) => rulesFor(model, scope) !== undefined)

    /** The models in the caller's scope. 401 without credentials, 403 without a scope. */
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
     * Rows in the caller's scope; amounts in minor units. 422 for unknown names, 403 for a model outside of the scope,
     * 503 for a timeout.
     */
    const query = Effect.fn("Analytics.query")(function*(asked: AnalyticsQuery) {
      const actor = yield* CurrentActor
      const scope = yield* scopeFor(actor)
      const visible = visibleIn(scope).map(({ model }) => model)
      yield* mustSee(models.map(({ model }) => model), visible, asked.measures)
      const zone = asked.timezone === undefined ? yield* LocalTimeZone : DateTime.zoneMakeNamedUnsafe(asked.timezone)
      const plan = yield* Effect.fromResult(planOf(asked, visible, { zone, now: yield* DateTime.nowAsDate }))
      // Orders reference the profile, not the login. A login without a profile has no rows.
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
