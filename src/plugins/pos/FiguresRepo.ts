import { Effect, Schema } from "effect"
import { about, MinorUnits, rowsOf, statement } from "stoa/plugin"

const Minor = MinorUnits

/** What happened at a till, in minor units (contract-tills-channels §A.6). */
export const Figures = Schema.Struct({
  salesCount: Schema.Int,
  salesTotal: Minor,
  refundsCount: Schema.Int,
  refundsTotal: Minor,
  voidsCount: Schema.Int,
  voidsTotal: Minor,
  discountTotal: Minor,
  taxByRate: Schema.Array(Schema.Struct({
    rateBps: Schema.Finite.pipe(about("Rate in hundredths of a per cent.")),
    net: Minor,
    tax: Minor
  })).pipe(about("Taxes by rate.")),
  methods: Schema.Array(
    Schema.Struct({
      method: Schema.String.pipe(about("Means of the payments, such as cash.")),
      type: Schema.Literals(["sale", "refund"]).pipe(about("Direction of the money.")),
      total: Minor,
      count: Schema.Int
    })
  ).pipe(about("Payments by means and direction.")),
  tips: Minor,
  rounding: Minor,
  cash: Schema.Struct({
    float: Minor,
    sales: Minor,
    refunds: Minor,
    paidIn: Minor,
    paidOut: Minor,
    pickups: Minor,
    drops: Minor,
    expected: Minor
  }),
  noSaleCount: Schema.Int,
  firstReceipt: Schema.NullOr(Schema.String),
  lastReceipt: Schema.NullOr(Schema.String)
})
export type Figures = typeof Figures.Type

const figures = rowsOf(Figures)

/**
 * Counts what belongs to a shift, or to a closing (`of`). Sales that came after their shift was closed count in the closing
 * only. Cash: float + sales + tips - refunds + paid in + pickups - drops - paid out.
 */
export const figuresOf = statement(
  "Figures.of",
  function*(sql, organizationId, of: "shift_id" | "closing_id", id: string) {
    const isShift = of === "shift_id"
    const [row] = yield* figures(sql`with done as (
        select * from pos_transactions where organization_id = ${organizationId}
          and ${sql.literal(of)} = ${id}::uuid ${sql.literal(isShift ? "and not is_late" : "")}),
      sold as (select * from done where status = 'completed'),
      paid as (
        select p.*, case when p.status = 'refunded' then 'refund' else 'sale' end as kind
        from pos_payments p join sold on sold.id = p.transaction_id
        where p.organization_id = ${organizationId} and p.status in ('collected', 'refunded')),
      drawers as (
        select * from pos_shifts where organization_id = ${organizationId}
          and ${sql.literal(isShift ? "id" : "closing_id")} = ${id}::uuid),
      moved as (
        select e.* from pos_cash_events e join drawers on drawers.id = e.shift_id),
      cash as (
        select coalesce((select sum(opening_float) from drawers), 0)::float8 as float,
          coalesce(sum(amount - change_given + tip) filter (where kind = 'sale'), 0)::float8 as sales,
          coalesce(sum(amount) filter (where kind = 'refund'), 0)::float8 as refunds,
          coalesce((select sum(amount) from moved where type = 'paid_in'), 0)::float8 as "paidIn",
          coalesce((select sum(amount) from moved where type = 'paid_out'), 0)::float8 as "paidOut",
          coalesce((select sum(amount) from moved where type = 'pickup'), 0)::float8 as pickups,
          coalesce((select sum(amount) from moved where type = 'drop'), 0)::float8 as drops
        from paid where method = 'cash')
      select count(*) filter (where status = 'completed' and type <> 'return')::int as "salesCount",
        coalesce(sum(total) filter (where status = 'completed' and type <> 'return'), 0)::float8 as "salesTotal",
        count(*) filter (where status = 'completed' and type <> 'sale')::int as "refundsCount",
        coalesce((select sum(r.refund_amount) from pos_return_items r join sold on sold.id = r.transaction_id), 0)::float8
          as "refundsTotal",
        count(*) filter (where status = 'voided')::int as "voidsCount",
        coalesce(sum(total) filter (where status = 'voided'), 0)::float8 as "voidsTotal",
        coalesce(sum(discount_total) filter (where status = 'completed'), 0)::float8 as "discountTotal",
        coalesce((select jsonb_agg(jsonb_build_object('rateBps', rate, 'net', net, 'tax', tax) order by rate)
          from (select (part->>'rateBps')::float8 as rate, sum((part->>'net')::bigint)::float8 as net,
              sum((part->>'tax')::bigint)::float8 as tax
            from sold, jsonb_array_elements(sold.taxes) part group by 1) by_rate), '[]') as "taxByRate",
        coalesce((select jsonb_agg(jsonb_build_object('method', method, 'type', kind, 'total', total, 'count', count)
            order by method, kind)
          from (select method, kind, sum(amount - change_given)::float8 as total, count(*)::int as count
            from paid group by 1, 2) by_method), '[]') as methods,
        coalesce((select sum(tip) from paid), 0)::float8 as tips,
        coalesce((select sum(case kind when 'refund' then -rounding else rounding end) from paid), 0)::float8 as rounding,
        (select jsonb_build_object('float', float, 'sales', sales, 'refunds', refunds, 'paidIn', "paidIn",
          'paidOut', "paidOut", 'pickups', pickups, 'drops', drops,
          'expected', float + sales - refunds + "paidIn" + pickups - drops - "paidOut") from cash) as cash,
        coalesce((select sum(no_sale_count) from drawers), 0)::int as "noSaleCount",
        (array_agg(receipt_number order by business_date, length(receipt_number), receipt_number))[1] as "firstReceipt",
        (array_agg(receipt_number order by business_date desc, length(receipt_number) desc, receipt_number desc))[1]
          as "lastReceipt"
      from done`)
    return row ?? (yield* Effect.die(new Error("An aggregate gave no row.")))
  }
)
