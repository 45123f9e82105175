import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { CheckoutFailed } from "../errors/ApiErrors.ts"
import type { Order } from "../orders/Order.ts"
import { type Placement, placeStatement } from "./PlaceStatementRepo.ts"
import { unflushed } from "./UnflushedRepo.ts"

/** How a placing ended: now, in an earlier run, or not at all since the reservation had run out. */
export type Placed = "placed" | "already" | "reservation-gone"

/**
 * Places orders and writes down that they were paid. The one place where several modules' tables are written, because
 * one statement is what makes an order, its stock, its usage, its cart and its announcement one event.
 */
export class PlaceRepo extends Context.Service<PlaceRepo, {
  /** Writes the order. Fails when a promotion reached its limit meanwhile: the constraints count, not this process. */
  readonly place: (placement: Placement) => Effect.Effect<Placed, CheckoutFailed, CurrentActor>
  /**
   * Records the captured amount, once, and gives the order's row as it is then. `intentId` is the provider's payment;
   * `captured` in minor units. Undefined when the order was cancelled meanwhile: that cancellation saw no money to give
   * back, so whoever took it must.
   */
  readonly settle: (
    orderId: string,
    intentId: string,
    captured: number
  ) => Effect.Effect<Pick<Order, "status" | "amountCaptured" | "updatedAt"> | undefined, never, CurrentActor>
}>()("stoa/domain/checkout/PlaceRepo") {}

/** The driver tells the class of a violated constraint but keeps its name in the cause. */
const usageExhausted = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConstraintError" &&
  /promotions_(usage|customer)_limit/.test(`${JSON.stringify(reason.cause)} ${String(reason.cause)}`)

export const placeRepoLayer = Layer.effect(
  PlaceRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const place = Effect.fn("PlaceRepo.place")(
      function*(placement: Placement) {
        const [row] = yield* placeStatement(sql, yield* CurrentActor, placement)
        if (row?.placed === true) return "placed" as const
        if (row?.existed === true) return "already" as const
        // Two runs may place at once (a partition): the later one waits for the hold and then sees it sold, but not the
        // order, which is younger than its snapshot. Taking that for a lost reservation would void a paid order.
        const placed = yield* sql`select 1 from orders
          where id = ${placement.order.id}::uuid and organization_id = ${placement.order.organizationId}`
        return placed.length > 0 ? "already" as const : "reservation-gone" as const
      },
      Effect.catchTag("SqlError", (error) =>
        usageExhausted(error)
          ? Effect.fail(CheckoutFailed.of("A promotion code has reached its usage limit."))
          : Effect.die(error))
    )

    const settle = Effect.fn("PlaceRepo.settle")(function*(orderId: string, intentId: string, captured: number) {
      const { organizationId } = yield* CurrentActor
      const rows = yield* sql<
        { readonly status: Order["status"]; readonly amount_captured: bigint; readonly updated_at: Date }
      >`update orders set amount_captured = coalesce(amount_captured, ${captured}::bigint),
          payment_intent_id = ${intentId}, updated_at = now()
        where id = ${orderId}::uuid and organization_id = ${organizationId}
          and (status <> 'cancelled' or amount_captured is not null)
        returning status, amount_captured, updated_at, ${unflushed(sql)}`
      const [row] = rows
      return row && { status: row.status, amountCaptured: Number(row.amount_captured), updatedAt: row.updated_at }
    }, Effect.orDie)

    return PlaceRepo.of({ place, settle })
  })
)
