import { Schema } from "effect"
import { MinorUnits, rowsOf, statement, Time } from "stoa/plugin"

/** Tips of an operator in a currency, in minor units. */
export const OperatorTips = Schema.Struct({
  operatorId: Schema.String,
  currency: Schema.String,
  count: Schema.Int,
  total: MinorUnits,
  cash: MinorUnits
})

const tips = rowsOf(OperatorTips)

/** Adds up the tips of completed transactions of these business days, by operator. */
export const tipsOf = statement("Totals.tips", function*(sql, organizationId, from: string, to: string) {
  return yield* tips(sql`select t.operator_id as "operatorId", t.currency, count(*)::int as count,
      sum(p.tip)::float8 as total, coalesce(sum(p.tip) filter (where p.method = 'cash'), 0)::float8 as cash
    from pos_transactions t join pos_payments p on p.organization_id = t.organization_id and p.transaction_id = t.id
    where t.organization_id = ${organizationId} and t.business_date between ${from}::date and ${to}::date
      and t.status = 'completed' and p.status = 'collected' and p.tip > 0
    group by t.operator_id, t.currency order by t.operator_id, t.currency`)
})

const bought = rowsOf(
  Schema.Struct({ entityId: Schema.String, title: Schema.String, count: Schema.Int, lastAt: Time })
)

/** Counts the completed sales of a customer, who was not erased, with each thing of this one. */
export const boughtWith = statement(
  "Totals.boughtWith",
  function*(sql, organizationId, customerId: string, transactionId: string) {
    return yield* bought(sql`select i.entity_id as "entityId", count(distinct t.id)::int as count,
        (array_agg(i.title order by t.completed_at desc))[1] as title, max(t.completed_at) as "lastAt"
      from plugin_customers customer
      join pos_transactions t on t.organization_id = customer.organization_id and t.customer_id = customer.id
      join pos_transaction_items i on i.transaction_id = t.id and i.removed_at is null
      where customer.organization_id = ${organizationId} and customer.id = ${customerId}::uuid
        and customer.erased_at is null and t.status = 'completed' and t.type <> 'return' and i.entity_id in (
          select entity_id from pos_transaction_items
          where transaction_id = ${transactionId}::uuid and removed_at is null)
      group by i.entity_id`)
  }
)
