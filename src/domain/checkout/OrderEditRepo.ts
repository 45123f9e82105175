import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { CheckoutFailed } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { AuditedType } from "../events/Event.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { EditedStock } from "../inventory/EditedStock.ts"
import type { HoldChange, UnitsShort } from "../inventory/HoldChange.ts"
import type { Order } from "../orders/Order.ts"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import type { ClaimedLine } from "./Basket.ts"
import type { PricedCart } from "./Checkout.ts"
import { usageRefusal } from "./CreateOrderRepo.ts"
import { orderUpdated, promotionsReturned, promotionsUsed } from "./OrderEditStatementRepo.ts"
import { catalogOf, sellableSnapshot } from "./SellableSnapshotRepo.ts"

/** The data that an edit needs besides the order. */
export interface EditedOrder {
  /** Number of edits; an edit applies only to the revision that it read. */
  readonly revision: number
  readonly customerGroupIds: ReadonlyArray<string>
  readonly email: string | null
  /** Ids of the promotions that the order uses. */
  readonly used: ReadonlyArray<string>
  /** Current catalog data of its lines, in their order. */
  readonly snapshots: ReadonlyArray<ClaimedLine>
}

/** An edit: the order before and after it, its new prices and the change of its hold. */
export interface OrderEdit {
  readonly type: Extract<AuditedType, `orders.${string}Line`>
  readonly before: Order
  readonly after: Order
  readonly revision: number
  readonly pricedCart: PricedCart
  readonly used: ReadonlyArray<string>
  readonly hold: HoldChange
}

/** Writes edits of unpaid orders. */
export class OrderEditRepo extends Context.Service<OrderEditRepo, {
  /** In one statement. Undefined when the organization has no such order. */
  readonly find: (orderId: string) => Effect.Effect<EditedOrder | undefined, never, CurrentActor>
  /**
   * Writes order, lines, stock, promotion usage and event in one transaction, with a constant number of statements. False
   * when the order was edited, paid or left pending meanwhile, and nothing is written. Locks the order, then its stock,
   * then promotions, as a change of status does.
   */
  readonly write: (edit: OrderEdit) => Effect.Effect<boolean, CheckoutFailed | UnitsShort, CurrentActor>
}>()("stoa/domain/checkout/OrderEditRepo") {}

interface EditedRow {
  readonly revision: number
  readonly email: string | null
  readonly group_ids: ReadonlyArray<string> | null
  readonly used: ReadonlyArray<string>
  readonly snapshots: ReadonlyArray<ClaimedLine>
}

/** `OrderEditRepo` over the database of the process. */
export const orderEditRepoLayer = Layer.effect(
  OrderEditRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const stock = yield* EditedStock
    const projections = yield* orderProjections

    const find = Effect.fn("OrderEditRepo.find")(function*(orderId: string) {
      const [row] = yield* sql<EditedRow>`select c.revision, c.email,
          (select group_ids from customers u where u.id = c.customer_id) as group_ids,
          coalesce((select array_agg(p.promotion_id::text) from promotion_usages p where p.order_id = c.id), '{}') as used,
          coalesce((select jsonb_agg(${sql.literal(sellableSnapshot)} order by l.position)
            from order_lines l ${sql.literal(catalogOf)} where l.order_id = c.id), '[]') as snapshots
        from orders c where c.id = ${orderId}::uuid and c.organization_id = ${yield* currentOrganization}`
      return row && {
        revision: row.revision,
        email: row.email,
        customerGroupIds: row.group_ids ?? [],
        used: row.used,
        snapshots: row.snapshots
      }
    }, Effect.orDie)

    const write = Effect.fn("OrderEditRepo.write")(
      function*({ after, before, pricedCart, hold, revision, type, used }: OrderEdit) {
        const actor = yield* CurrentActor
        const updated = yield* orderUpdated(sql, actor, after, revision, pricedCart.taxProvider ?? null)
        if (updated.length === 0) return false
        yield* stock.change(hold)
        const applied = pricedCart.promotions.map(({ promotionId }) => promotionId)
        const removed = used.filter((id) => !applied.includes(id))
        const added = pricedCart.promotions.filter(({ promotionId }) => !used.includes(promotionId))
        if (removed.length > 0) yield* promotionsReturned(sql, actor, after.id, removed)
        if (added.length > 0) yield* promotionsUsed(sql, actor, after, added)
        const change = { type, entityType: "order", entityId: after.id, payload: after, before } as const
        yield* sql`with event as (${changeLogInsert(sql, actor, [change])})${idempotencyRecord(sql, actor)} select 1`
        yield* updateProjections(projections, after.id)
        return true
      },
      sql.withTransaction,
      Effect.catchTag("SqlError", usageRefusal)
    )

    return OrderEditRepo.of({ find, write })
  })
)
