import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import type { Locking } from "../batching/GroupCommitRepo.ts"
import { CheckoutFailed } from "../errors/ApiErrors.ts"
import type { Order } from "../orders/Order.ts"
import {
  type OrderProjections,
  orderProjections,
  type ProjectionFailed,
  updateProjections
} from "../orders/OrderProjections.ts"
import {
  type CreatedOrderRow,
  createManualOrderStatement,
  createOrderStatement,
  type NewManualOrder,
  type NewOrder,
  type OrderCreation,
  type SettledRow,
  type Settlement,
  settleStatement
} from "./CreateOrderStatementRepo.ts"

/** How a placing ended: now, in an earlier run, or not at all since the reservation had run out. */
export type CreateOrderResult = "created" | "exists" | "reservation-expired"

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
export class CreateOrderRepo extends Context.Service<CreateOrderRepo, {
  /** Writes the order. Fails when a promotion reached its limit meanwhile: the constraints count, not this process. */
  readonly create: (newOrder: NewOrder) => Effect.Effect<CreateOrderResult, CheckoutFailed, CurrentActor>
  /**
   * The same for an order of staff, by a statement of its own, and `also` in the same transaction. Repeating it is
   * `reservation-gone`: its hold is sold.
   */
  readonly createManual: (
    newOrder: NewManualOrder,
    also: Effect.Effect<void, CheckoutFailed, CurrentActor>
  ) => Effect.Effect<CreateOrderResult, CheckoutFailed, CurrentActor>
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
}>()("stoa/domain/checkout/CreateOrderRepo") {}

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
const unlessProjectionFails = <A>(work: Effect.Effect<A, SqlError.SqlError | ProjectionFailed>) =>
  Effect.catchTag(
    work,
    "ProjectionFailed",
    ({ cause }) => Effect.as(Effect.logError("a plugin that follows orders failed", cause), undefined)
  )

/** A settlement and what the followers of its orders do, in one transaction; the statement alone where nobody follows. */
const followedBy =
  (sql: SqlClient.SqlClient, projections: OrderProjections["Service"]) =>
  (settlements: ReadonlyArray<Settlement>, locking: Locking) => {
    const statement = settleStatement(sql, settlements, locking)
    // Of the orders that it locked: others are left for `alone`.
    const changed = (rows: ReadonlyArray<SettledRow>) =>
      rows.flatMap(({ n }) => settlements.slice(n, n + 1)).map(({ id, organization }) => ({
        id,
        organizationId: organization
      }))
    return projections.any()
      ? unlessProjectionFails(sql.withTransaction(Effect.tap(statement, (rows) => projections.tell(changed(rows)))))
      : statement
  }

/** The same for one order: a follower that fails is a defect of the change. */
const followedAlone = <Row>(rows: Effect.Effect<ReadonlyArray<Row> | undefined, SqlError.SqlError>) =>
  Effect.flatMap(
    rows,
    (found) =>
      found === undefined ? Effect.die(new Error("A plugin that follows orders failed.")) : Effect.succeed(found)
  )

/** `CreateOrderRepo` over the database of the process. */
export const createOrderRepoLayer = Layer.effect(
  CreateOrderRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const projections = yield* orderProjections
    const followed = followedBy(sql, projections)

    const outcomeOf = (row: CreatedOrderRow | undefined) =>
      row?.created === true ? "created" as const : row?.existed === true ? "exists" as const : undefined

    const created = (creations: ReadonlyArray<OrderCreation>, locking: Locking) =>
      projections.created(creations.map(({ newOrder }) => newOrder.order)).pipe(
        Effect.flatMap((parts) => createOrderStatement(sql, creations, locking, parts)),
        unlessProjectionFails
      )

    const creating = yield* GroupCommit.make<OrderCreation, CreateOrderResult>({
      name: "checkout.create",
      together: (creations) =>
        Effect.map(created(creations, "skip locked"), (rows) => {
          const found = new Map((rows ?? []).map((row) => [row.n, outcomeOf(row)]))
          return creations.map((_, n) => found.get(n))
        }),
      alone: Effect.fnUntraced(function*(one) {
        const [row] = yield* followedAlone(created([one], ""))
        const outcome = outcomeOf(row)
        if (outcome !== undefined) return outcome
        // Two runs may place at once (a partition): the later one waits for the hold and then sees it sold, but not the
        // order, which is younger than its snapshot. Taking that for a lost reservation would void a paid order.
        const { order } = one.newOrder
        const found = yield* sql`select 1 from orders
          where id = ${order.id}::uuid and organization_id = ${order.organizationId}`
        return found.length > 0 ? "exists" : "reservation-expired"
      })
    })

    const create = Effect.fn("CreateOrderRepo.create")(
      function*(newOrder: NewOrder) {
        return yield* creating({ newOrder, actor: yield* CurrentActor })
      },
      Effect.catchTag("SqlError", usageRefusal)
    )

    const createManual = Effect.fn("CreateOrderRepo.createManual")(
      function*(newOrder: NewManualOrder, also: Effect.Effect<void, CheckoutFailed, CurrentActor>) {
        const [row] = yield* createManualOrderStatement(sql, yield* CurrentActor, newOrder)
        if (row?.created !== true) return "reservation-expired" as const
        yield* also
        yield* updateProjections(projections, newOrder.order.id)
        return "created" as const
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

    const settle = Effect.fn("CreateOrderRepo.settle")(function*(id: string, intent: string, captured: number) {
      const actor = yield* CurrentActor
      return (yield* settling({ id, organization: actor.organizationId, intent, captured, actor })).settled
    }, Effect.orDie)

    return CreateOrderRepo.of({ create, createManual, settle })
  })
)
