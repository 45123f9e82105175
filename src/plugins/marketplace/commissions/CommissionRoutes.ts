import { Effect, Schema } from "effect"
import { about, Amount, group, inputOf, resource, Uuid } from "stoa/plugin"
import { inTransaction, Market, permission } from "../Market.ts"
import { checkRule, commissionRules } from "./CommissionRule.ts"
import { ImaginedSale, previewCommission } from "./Commissions.ts"

const open = Schema.optional(Schema.NullOr(Amount))

/** What may be changed of a rule; null is open. */
const RuleChange = Schema.Struct({
  ...inputOf(commissionRules, {
    optional: ["name", "rateBps", "categorySlug", "vendorTier", "validFrom", "validUntil", "priority", "isActive"]
  }).fields,
  minVolumeCents: open,
  maxVolumeCents: open,
  fixedFeeCents: Schema.optional(Amount),
  minFeeCents: open,
  maxFeeCents: open
})
const NewRule = Schema.Struct({
  ...RuleChange.fields,
  ...inputOf(commissionRules, { required: ["name", "type", "rateBps"], optional: ["vendorId"] }).fields
})

const create = Effect.fn("CommissionRules.create")(function*(rule: typeof NewRule.Type) {
  const { db } = yield* Market
  yield* checkRule(rule)
  return yield* db.table(commissionRules).insert(rule)
})

/** Type and vendor stay; what it is after the change has to fit together. */
const update = Effect.fn("CommissionRules.update")(function*(id: string, change: typeof RuleChange.Type) {
  const rules = (yield* Market).db.table(commissionRules)
  const before = yield* rules.lock(id)
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  yield* checkRule({ ...before, ...given })
  return yield* rules.update(id, change)
}, (work) => inTransaction(work))

const g = group("Marketplace commissions", "/marketplace")

/** The rules by which the store takes its share (contract, plugins §1.4, §1.6). */
export const commissionRoutes = [
  ...resource(g, "/commission-rules", commissionRules, {
    noun: "commission rule",
    read: permission,
    write: permission,
    order: ["-priority", "-createdAt"],
    list: { summary: "List commission rules, the highest priority first" },
    get: false,
    create: { summary: "Create a commission rule", input: NewRule, answer: ({ input }) => create(input) },
    patch: {
      summary: "Change a commission rule; null opens a bound",
      input: RuleChange,
      answer: ({ input, params }) => update(params.id, input)
    },
    remove: {
      description: "Lines that were sold under it keep their terms.",
      success: Schema.Struct({ deleted: Schema.Literal(true) }),
      answer: ({ db, which }) => Effect.as(db.table(commissionRules).delete(which), { deleted: true as const })
    }
  }),
  g.post("/commission-rules/preview", {
    summary: "Preview the commission of a sale",
    permission,
    input: ImaginedSale,
    success: Schema.Struct({
      rateBps: Schema.Int.pipe(about("Share of the marketplace, in hundredths of a per cent.")),
      ratePercent: Schema.Number.pipe(about("The same in per cent.")),
      ruleId: Schema.NullOr(Uuid)
    })
  }).handle(({ input }) =>
    Effect.map(previewCommission(input), ({ rateBps, ruleId }) => ({ rateBps, ratePercent: rateBps / 100, ruleId }))
  )
]
