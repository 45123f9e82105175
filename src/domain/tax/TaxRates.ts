import { Context, DateTime, Effect, Equal, Layer } from "effect"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { type Conflict, NotFound } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { over } from "../pricing/Bounds.ts"
import type { NewTaxRate, TaxRate, TaxRateChange } from "./TaxRate.ts"
import { TaxRateRepo } from "./TaxRateRepo.ts"
import { TaxRuleCache } from "./TaxRuleCache.ts"

const unknown = NotFound.of("Tax rate not found.")

/** Taxes of regions (contract §3.5, §3.8). A change reaches every process within moments. */
export class TaxRates extends Context.Service<TaxRates, {
  readonly get: (id: string) => Effect.Effect<TaxRate, NotFound, CurrentActor>
  /** A page by priority. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<TaxRate>, never, CurrentActor>
  /** A new rate; 409 when its country and state have one of this name. */
  readonly create: (sent: NewTaxRate) => Effect.Effect<TaxRate, Conflict, CurrentActor>
  readonly change: (id: string, sent: TaxRateChange) => Effect.Effect<TaxRate, NotFound | Conflict, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/tax/TaxRates") {
  static readonly layer = Layer.effect(
    TaxRates,
    Effect.gen(function*() {
      const repo = yield* TaxRateRepo
      // This process sees the change with its response; the others are notified a moment later.
      const { forget } = yield* TaxRuleCache
      return {
        list: repo.list,
        get: Effect.fn("TaxRates.get")(function*(id: string) {
          return (yield* repo.find(id)) ?? (yield* unknown)
        }),
        create: Effect.fn("TaxRates.create")(function*(sent: NewTaxRate) {
          const now = DateTime.toDateUtc(yield* DateTime.now)
          const made: TaxRate = {
            id: newId(),
            organizationId: yield* currentOrganization,
            name: sent.name,
            country: sent.country,
            state: sent.state ?? null,
            rateBps: sent.rateBps,
            appliesToShipping: sent.appliesToShipping ?? true,
            priority: sent.priority ?? 100,
            isActive: sent.isActive ?? true,
            metadata: sent.metadata ?? {},
            createdAt: now,
            updatedAt: now
          }
          yield* repo.insert(made)
          yield* forget
          return made
        }),
        change: Effect.fn("TaxRates.change")(function*(id: string, sent: TaxRateChange) {
          const now = DateTime.toDateUtc(yield* DateTime.now)
          const changed = yield* repo.change(id, (before) => {
            const after: TaxRate = {
              ...before,
              name: sent.name ?? before.name,
              country: sent.country ?? before.country,
              state: over(sent.state, before.state),
              rateBps: sent.rateBps ?? before.rateBps,
              appliesToShipping: sent.appliesToShipping ?? before.appliesToShipping,
              priority: sent.priority ?? before.priority,
              isActive: sent.isActive ?? before.isActive,
              metadata: sent.metadata === undefined ? before.metadata : sent.metadata ?? {}
            }
            return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
          })
          yield* forget
          return changed ?? (yield* unknown)
        }),
        remove: Effect.fn("TaxRates.remove")(function*(id: string) {
          if (!(yield* repo.remove(id))) return yield* unknown
          yield* forget
        })
      }
    })
  )
}
