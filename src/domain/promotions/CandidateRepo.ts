import { DateTime, Effect } from "effect"
import { currentOrganization } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { columnsOf } from "../records/Columns.ts"
import { buyerKeys } from "./BuyerKey.ts"
import { Promotion } from "./Promotion.ts"
import { normalizeCodes, type PromotionUsage } from "./PromotionRules.ts"

/** A promotion that may apply to an order, with its total usage and that of this customer. */
export interface PromotionCandidate {
  readonly promotion: Promotion
  readonly usage: PromotionUsage
}

/** The input of one checkout: normalized codes, and the buyer whose usage counts. */
interface Question {
  readonly organization: string
  readonly named: ReadonlyArray<string>
  readonly customer: string | null
  readonly email: string | null
  readonly now: Date
}

const columns = columnsOf(Promotion.fields, "p", { value: "p.value::float8" })

/** A candidate of the checkout of this number. */
type CandidateRow = Promotion & { readonly n: number; readonly byCustomer: number }

const toCandidate = ({ byCustomer, n: _, ...promotion }: CandidateRow): PromotionCandidate => ({
  promotion,
  usage: { total: promotion.usedCount, byCustomer }
})

/** Finds the promotions of a checkout, in one statement for all concurrent checkouts. */
export const findCandidates = Effect.gen(function*() {
  const lookup = yield* lookupSql

  const findAll = (questions: ReadonlyArray<Question>) =>
    Effect.map(
      // Two arms, each with a separate index; a promotion that is both named and automatic comes from the first.
      lookup<CandidateRow>`select i.n, ${lookup.literal(columns)},
          coalesce((select max(u.used_count) from promotion_buyer_usages u
            where u.organization_id = i.organization and u.promotion_id = p.id and u.buyer = any(b.keys)), 0) as "byCustomer"
        from jsonb_to_recordset(${JSON.stringify(questions.map((one, n) => ({ ...one, n })))}::jsonb)
          as i(n int, organization text, named text[], customer uuid, email text, now timestamptz)
        cross join lateral (select ${lookup.literal(buyerKeys("i.customer", "i.email"))} as keys) b
        cross join lateral (
          select * from promotions where organization_id = i.organization and code = any(i.named)
          union all
          select * from promotions where organization_id = i.organization and is_automatic and is_active
            and (valid_until is null or valid_until >= i.now) and (code is null or code <> all(i.named))) p
        order by i.n, p.priority, p.id`,
      (rows) => {
        const found = Map.groupBy(rows, ({ n }) => n)
        return questions.map((_, n) => (found.get(n) ?? []).map(toCandidate))
      }
    )

  const finding = yield* GroupCommit.make<Question, ReadonlyArray<PromotionCandidate>>({
    name: "promotions.candidates",
    together: findAll,
    alone: (question) => Effect.map(findAll([question]), ([found]) => found ?? [])
  })

  return Effect.fn("PromotionRepo.candidates")(
    function*(codes: ReadonlyArray<string>, customer: string | null, email: string | null) {
      const now = DateTime.toDateUtc(yield* DateTime.now)
      return yield* finding({
        organization: yield* currentOrganization,
        named: normalizeCodes(codes),
        customer,
        email,
        now
      })
    },
    Effect.orDie
  )
})
