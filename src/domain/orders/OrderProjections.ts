import { Context, Data, Effect, Layer, Option } from "effect"
import { CurrentActor, systemActor } from "../access/Actor.ts"
import type { OrderId } from "../ids/Id.ts"
import type { StatementParts } from "../modules/DatabaseRepo.ts"
import type { Order } from "./Order.ts"

/**
 * Data of a plugin that must stay consistent with orders. Both functions get orders of one organization, sorted by id,
 * and act as the system. A failure or defect rolls back the change of the order.
 */
export interface OrderProjection {
  /**
   * Returns the CTEs for the statement that creates orders in checkout, or undefined if the projection ignores these
   * orders. They may read the CTE `created (id, organization_id)` with the orders really created, and must write
   * nothing for others. CTE names begin with `prefix`. Runs before the statement and outside a transaction: a checkout
   * is one round trip, so a crash in the middle leaves no lock behind.
   */
  readonly created: (
    orders: ReadonlyArray<Order>,
    prefix: string
  ) => Effect.Effect<StatementParts | undefined, never, CurrentActor>
  /**
   * Runs in the transaction of every later change of an order's lines, money or status, and updates the projection to
   * the current state. Must be idempotent.
   */
  readonly changed: (orderIds: ReadonlyArray<OrderId>) => Effect.Effect<void, never, CurrentActor>
}

/** Id and organization of a changed order. */
export type ChangedOrder = Pick<Order, "id" | "organizationId">

/** A projection failed; the transaction must roll back. */
export class ProjectionFailed extends Data.TaggedError("ProjectionFailed")<{ readonly cause: unknown }> {}

/** An empty registry of projections. */
export const emptyProjections = () => {
  const projections: Array<OrderProjection> = []

  /** One lock order for all projections: organizations by name, orders by id. */
  const forEachProjection = <A extends ChangedOrder, B>(
    orders: ReadonlyArray<A>,
    call: (projection: OrderProjection, own: ReadonlyArray<A>, n: number) => Effect.Effect<B, never, CurrentActor>
  ) => {
    const sorted = [...new Map(orders.map((order) => [order.id, order])).values()].sort((a, b) => a.id < b.id ? -1 : 1)
    const calls = [...new Set(orders.map(({ organizationId }) => organizationId))].sort().flatMap((organizationId) => {
      const own = sorted.filter((order) => order.organizationId === organizationId)
      return projections.map((projection) => ({ projection, own, actor: systemActor(organizationId) }))
    })
    return Effect.forEach(
      calls,
      ({ actor, projection, own }, n) => Effect.provideService(call(projection, own, n), CurrentActor, actor)
    ).pipe(
      Effect.catchDefect((cause) => Effect.fail(new ProjectionFailed({ cause })))
    )
  }

  return {
    /** Adds one while the process starts. */
    register: (projection: OrderProjection) => Effect.sync(() => void projections.push(projection)),
    /** Whether any projection is registered. Without one, a single statement needs no transaction. */
    any: () => projections.length > 0,
    /** The CTEs of all projections for the statement that creates these orders. */
    created: (orders: ReadonlyArray<Order>) =>
      Effect.map(
        forEachProjection(orders, (projection, own, n) => projection.created(own, `f${n}_`)),
        (parts) => parts.filter((part) => part !== undefined)
      ),
    tell: (changed: ReadonlyArray<ChangedOrder>) =>
      Effect.asVoid(forEachProjection(changed, (projection, own) => projection.changed(own.map(({ id }) => id))))
  }
}

/**
 * Who follows orders (docs/plugins.md). Every repository that creates an order, settles, changes, cancels or refunds it
 * calls them before its transaction commits, with the order's row locked; checkouts put their parts into the statement.
 */
export class OrderProjections extends Context.Service<OrderProjections>()("stoa/domain/orders/OrderProjections", {
  make: Effect.sync(emptyProjections)
}) {
  static readonly layer = Layer.effect(OrderProjections, OrderProjections.make)
}

/** The projections of this process; none if a repository is built alone, as in some tests. */
export const orderProjections: Effect.Effect<OrderProjections["Service"]> = Effect.map(
  Effect.serviceOption(OrderProjections),
  Option.getOrElse(emptyProjections)
)

/** Updates the projections of an order of the actor's organization; a failure is a defect of the change. */
export const updateProjections = (
  projections: OrderProjections["Service"],
  orderId: OrderId
): Effect.Effect<void, never, CurrentActor> =>
  projections.any()
    ? Effect.flatMap(CurrentActor, ({ organizationId }) => projections.tell([{ organizationId, id: orderId }])).pipe(
      Effect.catchTag("ProjectionFailed", ({ cause }) => Effect.die(cause))
    )
    : Effect.void
