import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import type { SpentIn } from "./CustomerTotals.ts"

/** What ties orders to customers. */
export class CustomerOrderRepo extends Context.Service<CustomerOrderRepo, {
  /** What a customer has spent in each currency, that of most orders first, in one statement. */
  readonly spent: (customerId: string) => Effect.Effect<ReadonlyArray<SpentIn>, never, CurrentActor>
  /** Whether guests of the organization created orders under an e-mail address that belong to no customer yet. */
  readonly hasGuestOrders: (email: string) => Effect.Effect<boolean, never, CurrentActor>
  /**
   * Assigns the guest orders of an e-mail address to a customer and records each in the change log, in one statement.
   * Returns the count. Orders with an owner keep it, so repeating the call changes nothing.
   */
  readonly claim: (customerId: string, email: string) => Effect.Effect<number, never, CurrentActor>
}>()("stoa/domain/orders/CustomerOrderRepo") {}

interface SpentRow {
  readonly currency: string
  readonly count: number
  readonly spent: bigint
}

const ownerOf = (column: string) => `jsonb_build_object('orderId', claimed.id, 'customerId', ${column})`

/** `CustomerOrderRepo` over the database of the process. */
export const customerOrderRepoLayer = Layer.effect(
  CustomerOrderRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const spent = Effect.fn("CustomerOrderRepo.spent")(function*(customerId: string) {
      const rows = yield* sql<SpentRow>`select currency, count(*)::int as count,
          sum(grand_total - refunded_total)::bigint as spent
        from orders where organization_id = ${yield* currentOrganization} and customer_id = ${customerId}::uuid
          and status <> 'cancelled'
        group by currency order by count desc, currency`
      return rows.map((row) => ({ ...row, spent: Number(row.spent) }))
    }, Effect.orDie)

    const hasGuestOrders = Effect.fn("CustomerOrderRepo.hasGuestOrders")(function*(email: string) {
      const rows = yield* sql`select 1 from orders where organization_id = ${yield* currentOrganization}
        and lower(email) = lower(${email}) and customer_id is null and email is not null limit 1`
      return rows.length > 0
    }, Effect.orDie)

    const claim = Effect.fn("CustomerOrderRepo.claim")(function*(customerId: string, email: string) {
      const actor = yield* CurrentActor
      const entries = changeLogRows(sql, actor, {
        type: "orders.claim",
        entityType: "order",
        entityId: "claimed.id::text",
        payload: ownerOf("claimed.customer_id"),
        before: ownerOf("null"),
        from: "claimed"
      })
      const rows = yield* sql`with claimed as (
          update orders set customer_id = ${customerId}::uuid, updated_at = now()
          where organization_id = ${actor.organizationId} and lower(email) = lower(${email}) and customer_id is null
            and email is not null
          returning id, customer_id),
        entries as (${entries})
        select id from claimed`
      return rows.length
    }, Effect.orDie)

    return CustomerOrderRepo.of({ spent, hasGuestOrders, claim })
  })
)
