import { Schema } from "effect"
import { decoderOf } from "../platform/records/Rows.ts"
import { jsonOf } from "../platform/records/Table.ts"
import { Promotion } from "./Promotion.ts"
import type { PromotionUsage } from "./PromotionRules.ts"
import { buyerKeys } from "./UsageStatements.ts"

export interface PromotionCandidate {
  readonly promotion: Promotion
  readonly usage: PromotionUsage
}

export interface PromotionQuestion {
  readonly organization: string
  readonly codes: ReadonlyArray<string>
  readonly customer: string | null
  readonly email: string | null
  readonly now: Date
}

const CandidateJson = Schema.Struct({ ...Promotion.fields, byCustomer: Schema.Int })

const shown = jsonOf(CandidateJson.fields, "p", {
  value: "p.value::float8",
  byCustomer: `coalesce((select max(u.used_count) from promotion_buyer_usages u
    where u.organization_id = p.organization_id and u.promotion_id = p.id and u.buyer = any(b.keys)), 0)`
})

/**
 * SQL of the candidates as JSON; all of `of` is SQL. Two arms, each with a separate index; a promotion that is both
 * named and automatic comes from the first.
 */
export const promotionsSql = (of: { readonly [Fact in keyof PromotionQuestion]: string }) =>
  `coalesce((select jsonb_agg(${shown} order by p.priority, p.id)
    from (select ${buyerKeys(of.customer, of.email)} as keys) b
    cross join lateral (
      select * from promotions where organization_id = ${of.organization} and code = any(${of.codes})
      union all
      select * from promotions where organization_id = ${of.organization} and is_automatic and is_active
        and (valid_until is null or valid_until > ${of.now}) and (code is null or code <> all(${of.codes}))) p), '[]')`

const decode = decoderOf(CandidateJson)

export const toPromotions = (json: unknown): ReadonlyArray<PromotionCandidate> =>
  decode(json).map(({ byCustomer, ...promotion }) => ({
    promotion,
    usage: { total: promotion.usedCount, byCustomer }
  }))
