import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import type { Locking } from "../batching/GroupCommitRepo.ts"
import { CheckoutFailed } from "../errors/ApiErrors.ts"
import type { Order } from "../orders/Order.ts"
import { type FollowerFailed, type OrderFollowers, orderFollowers, tellFollowers } from "../orders/OrderFollowers.ts"
import {
  type ManualPlacement,
  manualPlaceStatement,
  type PlacedRow,
  type Placement,
  placeStatement,
  type Placing,
  type SettledRow,
  type Settlement,
  settleStatement
} from "./PlaceStatementRepo.ts"

/** How a placing ended: now, in an earlier run, or not at all since the reservation had run out. */
export type Placed = "placed" | "already" | "reservation-gone"

/** What a settlement may have changed of an order, and its status as it is by then. */
export type Settled = Pick<Order, "status" | "amountCaptured" | "updatedAt">

const toSettled = (row: SettledRow): Settled | undefined =>
  row.status === null || row.updated_at === null
    ? undefined
    : { status: row.status, amountCaptured: Number(row.amount_captured), updatedAt: row.updated_at }

/**
 * Places orders and writes down that they were paid. The one place where several modules' tables are written, because
 * one statement is what makes an order, its stock, its usage, its cart and its announcement one event.
 */
export class PlaceRepo extends Context.Service<PlaceRepo, {
  /** Writes the order. Fails when a promotion reached its limit meanwhile: the constraints count, not this process. */
  readonly place: (placement: Placement) => Effect.Effect<Placed, CheckoutFailed, CurrentActor>
  /**
   * The same for an order of staff, by a statement of its own, and `also` in the same transaction. Repeating it is
   * `reservation-gone`: its hold is sold.
   */
  readonly placeManual: (
    placement: ManualPlacement,
    also: Effect.Effect<void, CheckoutFailed, CurrentActor>
  ) => Effect.Effect<Placed, CheckoutFailed, CurrentActor>
  /**
   * Records the captured amount, once, and gives the order's row as it is then. `intentId` is the provider's payment;
   * `captured` in minor units. Undefined when the order was cancelled meanwhile: that cancellation saw no money to give
   * back, so whoever took it must.
   */
  readonly settle: (
    orderId: string,
    intentId: string,
    captured: number
  ) => Effect.Effect<Settled | undefined, never, CurrentActor>
}>()("stoa/domain/checkout/PlaceRepo") {}

/** The driver tells the class of a violated constraint but keeps its name in the cause. */
const usageExhausted = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConstraintError" &&
  /promotions_(usage|customer)_limit/.test(`${JSON.stringify(reason.cause)} ${String(reason.cause)}`)

/** A promotion that reached its limit while the order was being decided is a refusal, and anything else a defect. */
export const usageRefusal = (error: SqlError.SqlError): Effect.Effect<never, CheckoutFailed> =>
  usageExhausted(error)
    ? Effect.fail(CheckoutFailed.of("A promotion code has reached its usage limit."))
    : Effect.die(error)

/** Undefined when a follower failed: nothing happened, and each order is to be tried alone. */
const unlessFollowerFails = <A>(work: Effect.Effect<A, SqlError.SqlError | FollowerFailed>) =>
  Effect.catchTag(
    work,
    "FollowerFailed",
    ({ cause }) => Effect.as(Effect.logError("a plugin that follows orders failed", cause), undefined)
  )

/** A settlement and what the followers of its orders do, in one transaction; the statement alone where nobody follows. */
const followedBy =
  (sql: SqlClient.SqlClient, followers: OrderFollowers["Service"]) =>
  (settlements: ReadonlyArray<Settlement>, locking: Locking) => {
    const statement = settleStatement(sql, settlements, locking)
    // Of the orders that it locked: others are left for `alone`.
    const changed = (rows: ReadonlyArray<SettledRow>) =>
      rows.flatMap(({ n }) => settlements.slice(n, n + 1)).map(({ id, organization }) => ({
        id,
        organizationId: organization
      }))
    return followers.any()
      ? unlessFollowerFails(sql.withTransaction(Effect.tap(statement, (rows) => followers.tell(changed(rows)))))
      : statement
  }

/** The same for one order: a follower that fails is a defect of the change. */
const followedAlone = <Row>(rows: Effect.Effect<ReadonlyArray<Row> | undefined, SqlError.SqlError>) =>
  Effect.flatMap(
    rows,
    (found) =>
      found === undefined ? Effect.die(new Error("A plugin that follows orders failed.")) : Effect.succeed(found)
  )

/** `PlaceRepo` over the database of the process. */
export const placeRepoLayer = Layer.effect(
  PlaceRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const followers = yield* orderFollowers
    const followed = followedBy(sql, followers)

    const outcomeOf = (row: PlacedRow | undefined) =>
      row?.placed === true ? "placed" as const : row?.existed === true ? "already" as const : undefined

    const created = (placings: ReadonlyArray<Placing>, locking: Locking) =>
      followers.created(placings.map(({ placement }) => placement.order)).pipe(
        Effect.flatMap((parts) => placeStatement(sql, placings, locking, parts)),
        unlessFollowerFails
      )

    const placing = yield* GroupCommit.make<Placing, Placed>({
      name: "checkout.place",
      together: (placings) =>
        Effect.map(created(placings, "skip locked"), (rows) => {
          const found = new Map((rows ?? []).map((row) => [row.n, outcomeOf(row)]))
          return placings.map((_, n) => found.get(n))
        }),
      alone: Effect.fnUntraced(function*(one) {
        const [row] = yield* followedAlone(created([one], ""))
        const outcome = outcomeOf(row)
        if (outcome !== undefined) return outcome
        // Two runs may place at once (a partition): the later one waits for the hold and then sees it sold, but not the
        // order, which is younger than its snapshot. Taking that for a lost reservation would void a paid order.
        const { order } = one.placement
        const placed = yield* sql`select 1 from orders
          where id = ${order.id}::uuid and organization_id = ${order.organizationId}`
        return placed.length > 0 ? "already" : "reservation-gone"
      })
    })

    const place = Effect.fn("PlaceRepo.place")(
      function*(placement: Placement) {
        return yield* placing({ placement, actor: yield* CurrentActor })
      },
      Effect.catchTag("SqlError", usageRefusal)
    )

    const placeManual = Effect.fn("PlaceRepo.placeManual")(
      function*(placement: ManualPlacement, also: Effect.Effect<void, CheckoutFailed, CurrentActor>) {
        const [row] = yield* manualPlaceStatement(sql, yield* CurrentActor, placement)
        if (row?.placed !== true) return "reservation-gone" as const
        yield* also
        yield* tellFollowers(followers, placement.order.id)
        return "placed" as const
      },
      sql.withTransaction,
      Effect.catchTag("SqlError", usageRefusal)
    )

    const settling = yield* GroupCommit.make<Settlement, { readonly settled: Settled | undefined }>({
      name: "checkout.settle",
      together: (settlements) =>
        Effect.map(followed(settlements, "skip locked"), (rows) => {
          const found = new Map((rows ?? []).map((row) => [row.n, { settled: toSettled(row) }]))
          return settlements.map((_, n) => found.get(n))
        }),
      alone: (one) => Effect.map(followedAlone(followed([one], "")), ([row]) => ({ settled: row && toSettled(row) }))
    })

    const settle = Effect.fn("PlaceRepo.settle")(function*(id: string, intent: string, captured: number) {
      const actor = yield* CurrentActor
      return (yield* settling({ id, organization: actor.organizationId, intent, captured, actor })).settled
    }, Effect.orDie)

    return PlaceRepo.of({ place, placeManual, settle })
  })
)
