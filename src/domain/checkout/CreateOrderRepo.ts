import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  type OrderProjections,
  orderProjections,
  type ProjectionFailed,
  updateProjections
} from "../orders/OrderProjections.ts"
import { UndoCreateOrder } from "../orders/OrderStatus.ts"
import type { CapturedPart } from "../orders/Tender.ts"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import * as GroupCommit from "../platform/batching/GroupCommitRepo.ts"
import type { Locking } from "../platform/batching/GroupCommitRepo.ts"
import { CheckoutFailed } from "../platform/errors/ApiErrors.ts"
import type { InTables } from "../platform/hooks/EntityTables.ts"
import type { OrderId, PaymentId } from "../platform/ids/Id.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { usageReturned } from "../promotions/UsageStatements.ts"
import { RunLost, type RunOwner } from "./CheckoutRunRepo.ts"
import {
  type CheckoutOrderRow,
  createManualOrderStatement,
  createOrderStatement,
  type NewManualOrder,
  type NewOrder,
  type OrderCreation,
  type Settled,
  type SettledRow,
  type Settlement,
  settleStatement,
  toSettled
} from "./CreateOrderStatements.ts"

export type CreateOrderResult = "created" | "exists" | "reservation-expired"

type Creation = CreateOrderResult | "lost"

interface InformedRun extends RunOwner {
  readonly inTables?: InTables
}

interface Captured {
  readonly total: number
  readonly parts: ReadonlyArray<CapturedPart>
}

const limitReached = () =>
  CheckoutFailed.of("A promotion code has reached its usage limit.", {
    reason: "promotion_rejected",
    field: "promotionCodes"
  })

export const usageRefusal = refusedBy({
  promotions_usage_limit: limitReached,
  promotions_customer_limit: limitReached
})

/** Undefined when a projection failed and nothing was written; each order is then tried alone. */
const unlessProjectionFails = <A>(work: Effect.Effect<A, SqlError.SqlError | ProjectionFailed>) =>
  Effect.catchTag(
    work,
    "ProjectionFailed",
    ({ cause }) => Effect.as(Effect.logError("an order projection of a plugin failed", cause), undefined)
  )

const settleWith =
  (sql: SqlClient.SqlClient, projections: OrderProjections["Service"]) =>
  (settlements: ReadonlyArray<Settlement>, locking: Locking) => {
    if (settlements.every(({ isPlain }) => isPlain)) return settleStatement(sql, settlements, locking, projections)
    const changed = (rows: ReadonlyArray<SettledRow>) =>
      rows.flatMap(({ n }) => settlements.slice(n, n + 1)).map(({ id, organization }) => ({
        id,
        organizationId: organization
      }))
    const statement = settleStatement(sql, settlements, locking)
    return unlessProjectionFails(sql.withTransaction(Effect.tap(statement, (rows) => projections.tell(changed(rows)))))
  }

const orDieAlone = <Row>(rows: Effect.Effect<ReadonlyArray<Row> | undefined, SqlError.SqlError>) =>
  Effect.flatMap(
    rows,
    (found) =>
      found === undefined ? Effect.die(new Error("An order projection of a plugin failed.")) : Effect.succeed(found)
  )

const makeSettling = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  projections: OrderProjections["Service"]
) {
  const settleAll = settleWith(sql, projections)
  const settling = yield* GroupCommit.make<Settlement, { readonly settled: Settled | undefined } | "lost">({
    name: "checkout.settle",
    together: (settlements) =>
      Effect.map(settleAll(settlements, "skip locked"), (rows) => {
        const results = new Map((rows ?? []).map((row) => [row.n, { settled: toSettled(row) }]))
        return settlements.map((_, n) => results.get(n))
      }),
    alone: (one) =>
      Effect.map(
        orDieAlone(settleAll([{ ...one, isPlain: !projections.any() }], "")),
        ([row]) => row === undefined && one.run !== undefined ? "lost" : { settled: row && toSettled(row) }
      )
  })

  const settleBy = Effect.fnUntraced(function*(
    id: OrderId,
    intent: string,
    { parts, total }: Captured,
    { inTables, payment = null, run }: {
      readonly inTables?: InTables
      readonly payment?: PaymentId | null
      readonly run?: Settlement["run"]
    } = {}
  ) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const isPlain = projections.ignore(inTables)
    return yield* settling({
      id,
      organization,
      intent,
      payment,
      captured: total,
      parts,
      actor,
      isPlain,
      ...(run && { run })
    })
  }, Effect.orDie)

  /**
   * Records a payment and its captured amount (minor units) once. Undefined when the order was cancelled or another
   * payment has replaced this one: the caller must then undo the payments.
   */
  const settle = Effect.fn("CreateOrderRepo.settle")((
    id: OrderId,
    intent: string,
    captured: Captured,
    payment: PaymentId | null = null
  ) =>
    Effect.map(
      settleBy(id, intent, captured, { payment }),
      (outcome) => outcome === "lost" ? undefined : outcome.settled
    )
  )

  const settleCheckout = Effect.fn("CreateOrderRepo.settleCheckout")(
    function*({ checkoutId, inTables, owner }: InformedRun, ends: boolean, intent: string, captured: Captured) {
      const outcome = yield* settleBy(checkoutId, intent, captured, { inTables, run: { owner, ends } })
      return outcome === "lost" ? yield* new RunLost() : outcome.settled
    }
  )

  return { settle, settleCheckout }
})

/**
 * Creates orders and settles payments. Writes tables of several modules: an order changes together with its stock,
 * promotion usage, cart and event.
 */
export class CreateOrderRepo extends Context.Service<CreateOrderRepo>()("stoa/domain/checkout/CreateOrderRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const projections = yield* orderProjections

    const outcomeOf = (row: CheckoutOrderRow | undefined) =>
      row?.created === true
        ? "created" as const
        : row?.owned === true && row.existed
        ? "exists" as const
        : undefined

    const created = (creations: ReadonlyArray<OrderCreation>, locking: Locking) =>
      projections.created(creations.flatMap(({ isPlain, newOrder }) => isPlain ? [] : [newOrder.order])).pipe(
        Effect.flatMap((parts) => createOrderStatement(sql, creations, locking, parts, projections)),
        unlessProjectionFails
      )

    const creating = yield* GroupCommit.make<OrderCreation, Creation>({
      name: "checkout.create",
      together: (creations) =>
        Effect.map(created(creations, "skip locked"), (rows) => {
          const results = new Map((rows ?? []).map((row) => [row.n, outcomeOf(row)]))
          return creations.map((_, n) => results.get(n))
        }),
      alone: Effect.fnUntraced(function*(one) {
        const [row] = yield* orDieAlone(created([{ ...one, isPlain: !projections.any() }], ""))
        const outcome = outcomeOf(row)
        if (outcome !== undefined) return outcome
        if (row?.owned !== true) return "lost"
        // A concurrent run may have created the order after this statement's snapshot. Reporting an expired reservation
        // would void a paid order, so look again.
        const { order } = one.newOrder
        const existing = yield* sql`select 1 from orders
          where id = ${order.id}::uuid and organization_id = ${order.organizationId}`
        return existing.length > 0 ? "exists" : "reservation-expired"
      })
    })

    const create = Effect.fn("CreateOrderRepo.create")(
      function*(newOrder: NewOrder, inTables?: InTables) {
        const isPlain = projections.ignore(inTables)
        const outcome = yield* creating({ newOrder, isPlain, actor: yield* CurrentActor })
        return outcome === "lost" ? yield* new RunLost() : outcome
      },
      Effect.catchTag("SqlError", usageRefusal)
    )

    /** Runs `also` in the same transaction. Repeating it returns `reservation-expired`, because its hold is sold. */
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

    return { create, createManual, ...yield* makeSettling(sql, projections) }
  })
}) {}

export const createOrderRepoLayer = Layer.effect(CreateOrderRepo, CreateOrderRepo.make)

export const undoCreateOrderRepoLayer = Layer.effect(
  UndoCreateOrder,
  Effect.map(SqlClient.SqlClient, (sql) =>
    UndoCreateOrder.of({
      undo: Effect.fn("UndoCreateOrder.undo")(function*(orderId: OrderId) {
        const organization = yield* currentOrganization
        yield* sql`with cancelled as (select id, cart_id, amount_captured from orders where id = ${orderId}::uuid
            and organization_id = ${organization} and status = 'cancelled'),
          cart as (update carts set status = 'active', checkout_id = null, version = version + 1, updated_at = now()
            where id = (select cart_id from cancelled where amount_captured is null)
              and organization_id = ${organization} and checkout_id = ${orderId}::uuid and status = 'checked_out'),
          usages as (delete from promotion_usages where order_id = (select id from cancelled)
            returning promotion_id, buyers),
          ${usageReturned(sql, organization)}
          select 1`
      }, Effect.orDie)
    }))
)
