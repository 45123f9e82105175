import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"
import { Figures } from "./Score.ts"

const figures = rowsOf(Schema.Struct({ ...Figures.fields, vendorId: Schema.String }))

/** Days back in which sub-orders count. */
const windowDays = 90

/**
 * Figures of all vendors of the organization, or of one, in one statement: from orders, disputes, returns and reviews. Unpaid
 * orders, and orders that were cancelled as a whole, do not count.
 */
export const vendorFigures = statement(
  "PerformanceRepo.figures",
  function*(sql, organizationId, shipWithinDays: number, vendorId?: string) {
    const one = (column: string) =>
      vendorId === undefined ? sql.literal("") : sql`and ${sql.literal(column)} = ${vendorId}::uuid`
    return yield* figures(sql`with sold as (
          select s.vendor_id, s.status = 'cancelled' as cancelled,
            s.status <> 'cancelled' and coalesce(s.shipped_at, s.delivered_at, now()) > s.created_at
              + make_interval(days => ${shipWithinDays}::int4) as late,
            exists (select 1 from marketplace_disputes d where d.organization_id = ${organizationId}
              and d.sub_order_id = s.id
              and d.resolution in ('refund_full', 'refund_partial', 'replacement', 'buyer_favor'))
            or exists (select 1 from marketplace_return_requests r where r.organization_id = ${organizationId}
              and r.sub_order_id = s.id and r.reason in ('defective', 'wrong_item', 'not_as_described')
              and r.status not in ('requested', 'vendor_rejected', 'cancelled')) as defective
          from marketplace_vendor_sub_orders s
          join plugin_orders o on o.id = s.order_id and o.organization_id = s.organization_id
            and o.status not in ('pending', 'cancelled')
          where s.organization_id = ${organizationId} ${one("s.vendor_id")}
            and s.created_at > now() - make_interval(days => ${windowDays}::int4)),
        counted as (
          select vendor_id, count(*)::int4 as total, count(*) filter (where cancelled)::int4 as cancelled,
            count(*) filter (where late)::int4 as late, count(*) filter (where defective)::int4 as defects
          from sold group by vendor_id),
        rated as (
          select vendor_id, count(*)::int4 as reviews, avg(rating)::float8 as average
          from marketplace_vendor_reviews w
          where w.organization_id = ${organizationId} and w.status = 'published' ${one("w.vendor_id")}
          group by vendor_id)
        select v.id as "vendorId", coalesce(c.total, 0) as "subOrders", coalesce(c.late, 0) as late,
          coalesce(c.cancelled, 0) as cancelled, coalesce(c.defects, 0) as defects,
          coalesce(r.reviews, 0) as reviews, r.average as "averageRating"
        from marketplace_vendors v left join counted c on c.vendor_id = v.id left join rated r on r.vendor_id = v.id
        where v.organization_id = ${organizationId} ${one("v.id")}`)
  }
)

/** Writes the scores that are different, in one statement; gives how many. They are figures, not recorded as changes. */
export const writeScores = statement(
  "PerformanceRepo.writeScores",
  function*(sql, organizationId, scores: ReadonlyArray<{ readonly vendorId: string; readonly score: number }>) {
    const rows = yield* sql`update marketplace_vendors v set performance_score = i.score, updated_at = now()
        from jsonb_to_recordset(${JSON.stringify(scores)}::jsonb) as i("vendorId" uuid, score int4)
        where v.id = i."vendorId" and v.organization_id = ${organizationId} and v.performance_score <> i.score
        returning v.id`
    return rows.length
  }
)
