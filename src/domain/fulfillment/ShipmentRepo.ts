import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import { OrderStock } from "../inventory/OrderStock.ts"
import type { StockAllocation } from "../inventory/StockRules.ts"
import type { Fulfillment } from "./Fulfillment.ts"
import { fulfillmentColumns, type FulfillmentRow, toFulfillment } from "./FulfillmentRows.ts"
import type { OrderGoods } from "./OrderGoods.ts"
import { lockOrder, readGoods } from "./OrderGoodsRepo.ts"
import type { ChangePlan, StoredShipment } from "./ShipmentChanges.ts"
import type { ShipmentPlan } from "./ShipmentRules.ts"
import { insertShipment, updateShipment } from "./ShipmentStatementRepo.ts"

type StoredRow = FulfillmentRow & { readonly taken: ReadonlyArray<StockAllocation> }

/** Locks an order and reads its goods. */
const locked = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, organization: string, orderId: string) {
  yield* lockOrder(sql, organization, orderId)
  const goods = yield* readGoods(sql, organization, orderId)
  return goods ?? (yield* NotFound.of("Order not found."))
})

const stored = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organization: string, orderId: string, fulfillmentId: string) {
    const [row] = yield* sql<StoredRow>`select ${sql.literal(fulfillmentColumns)}, f.taken
    from fulfillments f join orders_read o on o.id = f.order_id
    where f.id = ${fulfillmentId}::uuid and f.order_id = ${orderId}::uuid and f.organization_id = ${organization}`
    if (row === undefined) return yield* NotFound.of("Fulfillment not found.")
    const { taken, ...fulfillment } = row
    return { record: toFulfillment(fulfillment), taken }
  }
)

/**
 * Fulfillments by staff. Each write is one transaction that locks the order, then its hold, then its stock, in the
 * order of a status change. So concurrent writes see each other's result and cannot deadlock. The number of statements
 * does not depend on the number of lines.
 */
export class ShipmentRepo extends Context.Service<ShipmentRepo>()("stoa/domain/fulfillment/ShipmentRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const stock = yield* OrderStock

    /** The goods of an order; undefined when the organization has no such order. */
    const goodsOf = Effect.fn("ShipmentRepo.goodsOf")(function*(orderId: string) {
      return yield* readGoods(sql, yield* currentOrganization, orderId)
    }, Effect.orDie)

    const transacted = <A, E, R>(body: Effect.Effect<A, E | SqlError.SqlError, R>) =>
      sql.withTransaction(body).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.catchIf(SqlError.isSqlError, Effect.die)
      )

    const written = Effect.fnUntraced(
      function*<E, R>(decided: ShipmentPlan, move: Effect.Effect<void, E, R>, marked: boolean) {
        const taken = yield* stock.handOver(decided.record.orderId, decided.demand)
        yield* insertShipment(sql, yield* CurrentActor, decided, taken, marked)
        yield* move
        return decided.record
      }
    )

    return {
      goodsOf,
      /**
       * The same for a plan that may be empty, with the caller's work in the same transaction. The work gets the
       * fulfillment, or undefined where nothing was sent, and alone writes the request's idempotency record.
       */
      makeBeside: Effect.fn("ShipmentRepo.makeBeside")(<A, E, E2, E3, R, R3>(
        orderId: string,
        plan: (goods: OrderGoods) => Effect.Effect<ShipmentPlan | undefined, E>,
        move: Effect.Effect<void, E2, R>,
        beside: (made: Fulfillment | undefined) => Effect.Effect<A, E3, R3>
      ) =>
        transacted(Effect.gen(function*() {
          const { organizationId } = yield* CurrentActor
          const decided = yield* plan(yield* locked(sql, organizationId, orderId))
          const made = decided === undefined ? undefined : yield* written(decided, move, false)
          return { made, result: yield* beside(made) }
        }))
      ),
      /**
       * Writes what `plan` returns for the locked order: takes the stock, then writes the fulfillment with its lines and
       * event, then runs `move`, which changes the order's status. Any failure rolls back everything. 404 without such an
       * order.
       */
      make: Effect.fn("ShipmentRepo.make")(<E, E2, R>(
        orderId: string,
        plan: (goods: OrderGoods) => Effect.Effect<ShipmentPlan, E>,
        move: Effect.Effect<void, E2, R>
      ) =>
        transacted(Effect.gen(function*() {
          const actor = yield* CurrentActor
          const decided = yield* plan(yield* locked(sql, actor.organizationId, orderId))
          return yield* written(decided, move, true)
        }))
      ),
      /**
       * Writes what `plan` returns for a fulfillment and its locked order; returned units go back to the stock they came
       * from. Writes nothing for an empty plan. 404 without such a fulfillment of such an order.
       */
      change: Effect.fn("ShipmentRepo.change")(<E>(
        orderId: string,
        fulfillmentId: string,
        plan: (goods: OrderGoods, stored: StoredShipment) => Effect.Effect<ChangePlan | undefined, E>
      ) =>
        transacted(Effect.gen(function*() {
          const actor = yield* CurrentActor
          const goods = yield* locked(sql, actor.organizationId, orderId)
          const before = yield* stored(sql, actor.organizationId, orderId, fulfillmentId)
          const decided = yield* plan(goods, before)
          if (decided === undefined) return before.record
          yield* stock.returnToHold(goods.orderId, decided.back)
          yield* updateShipment(sql, actor, before.record, decided)
          return decided.record
        }))
      )
    }
  })
}) {}

/** `ShipmentRepo` over the database of the process. */
export const shipmentRepoLayer = Layer.effect(ShipmentRepo, ShipmentRepo.make)
