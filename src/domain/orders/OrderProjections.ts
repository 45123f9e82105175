import { Context, Data, Effect, Layer, Option } from "effect"
import { CurrentActor, systemActor } from "../access/Actor.ts"
import type { StatementParts } from "../modules/DatabaseRepo.ts"
import type { Order } from "./Order.ts"

/**
 * What a plugin keeps of orders and must be true together with them. Both functions get orders of one organization, sorted
 * by id, and act as the service itself. What they fail or die with undoes the change of the order.
 */
export interface OrderProjection {
  /**
   * Gives the parts of the statement that creates the orders of checkouts, or undefined if nothing is kept of these. They
   * may read the part `created (id, organization_id)`, which has the orders that were really created, and must write
   * nothing for others. Names of parts begin with `prefix`. Runs before the statement, without a transaction: a
   * checkout is one round trip, so that a process that stops in the middle of it leaves no lock behind.
   */
  readonly created: (
    orders: ReadonlyArray<Order>,
    prefix: string
  ) => Effect.Effect<StatementParts | undefined, never, CurrentActor>
  /**
   * Runs in the transaction of every other change of an order's lines, money or status, and brings what is kept into
   * line with the orders as they are by then. Running it twice must change nothing.
   */
  readonly changed: (orderIds: ReadonlyArray<string>) => Effect.Effect<void, never, CurrentActor>
}

/** An order that was changed, and whose it is. */
export type ChangedOrder = Pick<Order, "id" | "organizationId">

/** A follower did not do its part; the transaction has to be taken back. */
export class ProjectionFailed extends Data.TaggedError("ProjectionFailed")<{ readonly cause: unknown }> {}

/**
 * Who follows orders (docs/plugins.md). Every repository that creates an order, settles, changes, cancels or refunds it
 * calls them before its transaction commits, with the order's row locked; checkouts put their parts into the statement.
 */
export class OrderProjections extends Context.Service<OrderProjections, {
  /** Adds one while the process starts. */
  readonly register: (projection: OrderProjection) => Effect.Effect<void>
  /** Whether anybody follows: a statement that nobody follows needs no transaction around it. */
  readonly any: () => boolean
  /** The parts of all followers for the statement that creates these orders. */
  readonly created: (orders: ReadonlyArray<Order>) => Effect.Effect<ReadonlyArray<StatementParts>, ProjectionFailed>
  readonly tell: (changed: ReadonlyArray<ChangedOrder>) => Effect.Effect<void, ProjectionFailed>
}>()("stoa/domain/orders/OrderProjections") {
  static readonly layer = Layer.sync(OrderProjections, () => emptyProjections())
}

/** Followers of which there are none yet. */
export const emptyProjections = (): OrderProjections["Service"] => {
  const projections: Array<OrderProjection> = []

  /** One order of locks for everybody: organizations by name, orders by id. */
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
    register: (projection) => Effect.sync(() => void projections.push(projection)),
    any: () => projections.length > 0,
    created: (orders) =>
      Effect.map(
        forEachProjection(orders, (projection, own, n) => projection.created(own, `f${n}_`)),
        (parts) => parts.filter((part) => part !== undefined)
      ),
    tell: (changed) =>
      Effect.asVoid(forEachProjection(changed, (projection, own) => projection.changed(own.map(({ id }) => id))))
  }
}

/** The followers of this process; none where a repository is built by itself, as some tests do. */
export const orderProjections: Effect.Effect<OrderProjections["Service"]> = Effect.map(
  Effect.serviceOption(OrderProjections),
  Option.getOrElse(emptyProjections)
)

/** Tells of an order of the actor's organization; what a follower fails with is a defect of the change. */
export const updateProjections = (
  projections: OrderProjections["Service"],
  orderId: string
): Effect.Effect<void, never, CurrentActor> =>
  projections.any()
    ? Effect.flatMap(CurrentActor, ({ organizationId }) => projections.tell([{ organizationId, id: orderId }])).pipe(
      Effect.catchTag("ProjectionFailed", ({ cause }) => Effect.die(cause))
    )
    : Effect.void
