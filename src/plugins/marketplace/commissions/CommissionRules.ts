import { Context, Effect, Layer } from "effect"
import {
  type ChangeOf,
  type Conflict,
  type CurrentActor,
  type NewRowOf,
  type NotFound,
  type PageOf,
  type PageRequest,
  PluginDatabase,
  ValidationFailed
} from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import type { CommissionRule } from "./CommissionChoice.ts"
import { flawOf, type RuleToCheck } from "./CommissionRuleChecks.ts"
import { commissionRules } from "./CommissionTables.ts"

type RuleError = NotFound | Conflict | ValidationFailed

/** The rules by which the store takes its share (contract, plugins §1.4, §1.6). */
export class CommissionRules extends Context.Service<CommissionRules, {
  /** Highest priority first, of these the newest. */
  readonly page: (page: PageRequest) => Effect.Effect<PageOf<CommissionRule>, never, CurrentActor>
  readonly create: (
    rule: NewRowOf<typeof commissionRules>
  ) => Effect.Effect<CommissionRule, Conflict | ValidationFailed, CurrentActor>
  /** Type and vendor stay; what it is after the change has to fit together. */
  readonly update: (
    id: string,
    change: ChangeOf<typeof commissionRules>
  ) => Effect.Effect<CommissionRule, RuleError, CurrentActor>
  /** 404 for an unknown one. Lines that were sold under it keep their terms. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | Conflict, CurrentActor>
}>()("stoa/plugins/marketplace/commissions/CommissionRules") {
  static readonly layer = Layer.effect(
    CommissionRules,
    Effect.gen(function*() {
      const db = yield* PluginDatabase
      const rules = db.table(commissionRules)

      const checked = (rule: RuleToCheck) => {
        const flaw = flawOf(rule)
        return flaw === undefined ? Effect.void : Effect.fail(flaw)
      }

      return {
        page: Effect.fn("CommissionRules.page")((page: PageRequest) =>
          rules.page({}, page, ["-priority", "-createdAt"])
        ),
        create: Effect.fn("CommissionRules.create")(function*(rule) {
          yield* checked(rule)
          // The reference of the database does not know whose vendor it is.
          if (typeof rule.vendorId === "string" && (yield* db.table(vendors).find(rule.vendorId)) === undefined) {
            return yield* ValidationFailed.of("vendorId", "is no vendor")
          }
          return yield* rules.insert(rule)
        }),
        update: Effect.fn("CommissionRules.update")(function*(id, change) {
          const before = yield* rules.lock(id)
          const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
          yield* checked({ ...before, ...given })
          return yield* rules.update(id, change)
        }, db.transaction),
        remove: Effect.fn("CommissionRules.remove")((id: string) => Effect.asVoid(rules.delete(id)))
      }
    })
  )
}
