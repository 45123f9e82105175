import { Context, Effect, Layer } from "effect"
import { invalid, type PageRequest, PluginDatabase } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { flawOf, type RuleToCheck } from "./CommissionRuleChecks.ts"
import { commissionRules } from "./CommissionTables.ts"

class UnknownVendor extends invalid("UnknownVendor", "vendorId", "is no vendor") {}

/** The rules by which the store takes its share (contract, plugins §1.4, §1.6). */
export class CommissionRules
  extends Context.Service<CommissionRules>()("stoa/plugins/marketplace/commissions/CommissionRules", {
    make: Effect.gen(function*() {
      const db = yield* PluginDatabase
      const rules = db.table(commissionRules)

      const checked = (rule: RuleToCheck) => {
        const flaw = flawOf(rule)
        return flaw === undefined ? Effect.void : Effect.fail(flaw)
      }

      return {
        /** Highest priority first, of these the newest. */
        page: Effect.fn("CommissionRules.page")((page: PageRequest) =>
          rules.page({}, page, ["-priority", "-createdAt"])
        ),
        create: Effect.fn("CommissionRules.create")(function*(rule) {
          yield* checked(rule)
          // The reference of the database does not know whose vendor it is.
          if (typeof rule.vendorId === "string" && (yield* db.table(vendors).find(rule.vendorId)) === undefined) {
            return yield* new UnknownVendor()
          }
          return yield* rules.insert(rule)
        }),
        /** Type and vendor stay; what it is after the change has to fit together. */
        update: Effect.fn("CommissionRules.update")(function*(id, change) {
          const before = yield* rules.lock(id)
          const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
          yield* checked({ ...before, ...given })
          return yield* rules.update(id, change)
        }, db.transaction),
        /** 404 for an unknown one. Lines that were sold under it keep their terms. */
        remove: Effect.fn("CommissionRules.remove")((id: string) => Effect.asVoid(rules.delete(id)))
      }
    })
  })
{
  static readonly layer = Layer.effect(CommissionRules, CommissionRules.make)
}
