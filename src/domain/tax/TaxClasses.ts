import { Context, DateTime, Effect, Equal, Layer } from "effect"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { type Conflict, NotFound } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { NewTaxClass, TaxClass, TaxClassChange } from "./TaxClass.ts"
import { TaxClassRepo } from "./TaxClassRepo.ts"
import { TaxRuleCache } from "./TaxRuleCache.ts"

const unknown = NotFound.of("Tax class not found.")

/** Classes of goods with the same tax (contract §3.5, §3.8). A change reaches every process within moments. */
export class TaxClasses extends Context.Service<TaxClasses, {
  readonly get: (id: string) => Effect.Effect<TaxClass, NotFound, CurrentActor>
  /** A page by name. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<TaxClass>, never, CurrentActor>
  /** Creates a class; a new default replaces the previous one. 409 if its name is in use. */
  readonly create: (sent: NewTaxClass) => Effect.Effect<TaxClass, Conflict, CurrentActor>
  readonly change: (id: string, sent: TaxClassChange) => Effect.Effect<TaxClass, NotFound | Conflict, CurrentActor>
  /** What names it is taxed like the default class from now on. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/tax/TaxClasses") {
  static readonly layer = Layer.effect(
    TaxClasses,
    Effect.gen(function*() {
      const repo = yield* TaxClassRepo
      // This process sees the change with its response; the others are notified a moment later.
      const { forget } = yield* TaxRuleCache
      return {
        list: repo.list,
        get: Effect.fn("TaxClasses.get")(function*(id: string) {
          return (yield* repo.find(id)) ?? (yield* unknown)
        }),
        create: Effect.fn("TaxClasses.create")(function*(sent: NewTaxClass) {
          const now = DateTime.toDateUtc(yield* DateTime.now)
          const made: TaxClass = {
            id: newId(),
            organizationId: yield* currentOrganization,
            name: sent.name,
            rateBps: sent.rateBps,
            isDefault: sent.isDefault ?? false,
            isActive: sent.isActive ?? true,
            metadata: sent.metadata ?? {},
            createdAt: now,
            updatedAt: now
          }
          yield* repo.insert(made)
          yield* forget
          return made
        }),
        change: Effect.fn("TaxClasses.change")(function*(id: string, sent: TaxClassChange) {
          const now = DateTime.toDateUtc(yield* DateTime.now)
          const changed = yield* repo.change(id, (before) => {
            const after: TaxClass = {
              ...before,
              name: sent.name ?? before.name,
              rateBps: sent.rateBps ?? before.rateBps,
              isDefault: sent.isDefault ?? before.isDefault,
              isActive: sent.isActive ?? before.isActive,
              metadata: sent.metadata === undefined ? before.metadata : sent.metadata ?? {}
            }
            return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
          })
          yield* forget
          return changed ?? (yield* unknown)
        }),
        remove: Effect.fn("TaxClasses.remove")(function*(id: string) {
          if (!(yield* repo.remove(id))) return yield* unknown
          yield* forget
        })
      }
    })
  )
}
