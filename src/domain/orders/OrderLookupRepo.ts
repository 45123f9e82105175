import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { OrderHit } from "./OrderHit.ts"

/** Maximum number of orders a look-up returns. */
export const lookupSize = 50

/** How a text can match: full order numbers, their last digits, or the beginning of a word. */
export interface LookupWords {
  /** In upper case. */
  readonly number: string
  /** Digits filled up to six; null when the text is something else. */
  readonly digits: string | null
  /** In lower case. */
  readonly beginning: string
}

/** Finds orders by number, e-mail address or name. */
export class OrderLookupRepo extends Context.Service<OrderLookupRepo, {
  /** In one statement, newest first, at most 50. */
  readonly find: (words: LookupWords) => Effect.Effect<ReadonlyArray<OrderHit>, never, CurrentActor>
}>()("stoa/domain/orders/OrderLookupRepo") {}

interface HitRow extends Omit<OrderHit, "grandTotal"> {
  readonly grandTotal: bigint
}

/** Upper bound of a prefix range: no text with the prefix sorts after the prefix followed by this character. */
const last = "\u{10FFFF}"

/** `OrderLookupRepo` over the database of the process. */
export const orderLookupRepoLayer = Layer.effect(
  OrderLookupRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    OrderLookupRepo.of({
      find: Effect.fn("OrderLookupRepo.find")(function*({ beginning, digits, number }: LookupWords) {
        const organization = yield* currentOrganization
        // The indexes are sorted by bytes, so the comparison uses bytes as well, independent of the database's
        // collation.
        const begins = (column: string) =>
          sql`${sql.literal(column)} ~>=~ ${beginning} and ${sql.literal(column)} ~<~ ${beginning + last}`
        const rows = yield* sql<HitRow>`with people as materialized (
            (select id from customers where organization_id = ${organization} and erased_at is null
              and ${begins("lower(email)")} limit ${lookupSize})
            union (select id from customers where organization_id = ${organization} and erased_at is null
              and ${begins("lower(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))")} limit ${lookupSize})
            union (select id from customers where organization_id = ${organization} and erased_at is null
              and ${begins("lower(last_name)")} limit ${lookupSize})),
          found as materialized (
            select id from orders where organization_id = ${organization} and order_number = ${number}
            union select o.id from order_counters c join orders o on o.organization_id = c.organization_id
              and o.order_number = 'ORD-' || lpad(c.year::text, 4, '0') || '-' || ${digits}::text
              where c.organization_id = ${organization} and ${digits}::text is not null
            union (select id from orders where organization_id = ${organization} and email is not null
              and ${begins("lower(email)")} limit ${lookupSize})
            union select theirs.id from people p cross join lateral (select o.id from orders o
              where o.organization_id = ${organization} and o.customer_id = p.id and o.customer_id is not null
              order by o.placed_at desc, o.id desc limit ${lookupSize}) theirs)
          select o.id, o.order_number as "orderNumber", o.status, o.currency, o.grand_total as "grandTotal",
            o.customer_id as "customerId", nullif(trim(concat_ws(' ', c.first_name, c.last_name)), '') as "customerName",
            coalesce(nullif(o.email, ''), c.email) as email, o.placed_at as "placedAt"
          from orders o left join customers c on c.id = o.customer_id and c.organization_id = o.organization_id
          where o.id = any(array(select id from found)) and o.organization_id = ${organization}
          order by o.placed_at desc, o.id desc limit ${lookupSize}`
        return rows.map((row) => ({ ...row, grandTotal: Number(row.grandTotal) }))
      }, Effect.orDie)
    }))
)
