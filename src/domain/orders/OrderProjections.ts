import { Context, Data, Effect, Layer, Option } from "effect"
import { CurrentActor, systemActor } from "../platform/access/Actor.ts"
import type { StatementParts } from "../platform/database/DatabaseRepo.ts"
import type { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import {
  type EntitySet,
  type EntityTable,
  type EntityTables,
  entityTables,
  hasRow,
  type InTables,
  quoted,
  withRowIn
} from "../platform/hooks/EntityTables.ts"
import type { OrderId, OrderLineId } from "../platform/ids/Id.ts"
import type { Order } from "./Order.ts"

/** A refund that is about to be requested; minor units. */
export interface RequestedRefund {
  readonly orderId: OrderId
  readonly lines: ReadonlyArray<{
    readonly lineItemId: OrderLineId
    readonly quantity: number
    readonly amount: number
  }>
  readonly isAll: boolean
}

/**
 * Data of a plugin that must stay consistent with orders. All functions get orders of one organization, sorted by id,
 * and act as the system. A failure or defect rolls back the change of the order. `R` is what they need of the plugin's services.
 */
export interface OrderProjection<R = never> {
  /**
   * Orders with a line of an entity in the table or type, or with a row in `ordersIn`. For others `created` is not
   * called, nor `changed` when a checkout captures. Absent: all orders.
   */
  readonly only?: { readonly entitiesIn: EntityTable | EntityType; readonly ordersIn?: OrderTable }
  /**
   * Returns CTEs for the statement that creates orders in checkout, or undefined. They may read `created (id,
   * organization_id)`, the orders really created, and must write nothing for others. Names begin with `prefix`. Runs
   * outside a transaction: a crash leaves no lock behind.
   */
  readonly created: (
    orders: ReadonlyArray<Order>,
    prefix: string
  ) => Effect.Effect<StatementParts | undefined, never, R | CurrentActor>
  /** Runs in the transaction of every later change of an order's lines, money or status. Must be idempotent. */
  readonly changed: (orderIds: ReadonlyArray<OrderId>) => Effect.Effect<void, never, R | CurrentActor>
  /**
   * Runs in the transaction of a requested refund or a cancellation, before it is written. A failure refuses it with
   * 422. Refunds that a provider reports do not call it.
   */
  readonly refunding?: (refund: RequestedRefund) => Effect.Effect<void, ValidationFailed, R | CurrentActor>
}

/** A table of a plugin with rows about orders; an index begins with `orderId`. */
export interface OrderTable {
  readonly name: string
  readonly kind: "organization"
  readonly columns: { readonly orderId: object }
}

export interface EntityType {
  readonly type: string
}

const setOf = (of: EntityTable | EntityType): EntitySet =>
  "name" in of ? withRowIn(of) : {
    name: `type ${of.type}`,
    has: (organization, entityIds) =>
      `coalesce((select true from catalog_entities_read a where a.organization_id = ${organization}
        and a.id = any(${entityIds}) and a.type = ${quoted(of.type)} limit 1), false)`
  }

export type ChangedOrder = Pick<Order, "id" | "organizationId">

export class ProjectionFailed extends Data.TaggedError("ProjectionFailed")<{ readonly cause: unknown }> {}

const emptyProjections = (tables: EntityTables["Service"]) => {
  const projections: Array<OrderProjection & { readonly set: EntitySet | undefined }> = []

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
    register: (projection: OrderProjection) =>
      Effect.sync(() => {
        const set = projection.only && setOf(projection.only.entitiesIn)
        if (set !== undefined) tables.declare(set)
        projections.push({ ...projection, set })
      }),
    any: () => projections.length > 0,
    ignore: (inTables: InTables): boolean =>
      projections.every(({ set }) => set !== undefined && inTables?.includes(set.name) === false),
    concernedBy: (organization: string, entityIds: string, orderId: string): string | undefined =>
      projections.length === 0 ? undefined : projections.map(({ only, set }) =>
        set === undefined ? "true" : [
          set.has(organization, entityIds),
          ...(only?.ordersIn === undefined
            ? []
            : [hasRow(only.ordersIn.name, organization, "order_id", `array[${orderId}]`)])
        ].join(" or ")
      ).join(" or "),
    created: (orders: ReadonlyArray<Order>) =>
      Effect.map(
        forEachProjection(orders, (projection, own, n) => projection.created(own, `f${n}_`)),
        (parts) => parts.filter((part) => part !== undefined)
      ),
    refunding: (refund: RequestedRefund) =>
      Effect.flatMap(
        CurrentActor,
        ({ organizationId }) =>
          Effect.forEach(projections, ({ refunding }) => refunding?.(refund) ?? Effect.void, { discard: true }).pipe(
            Effect.provideService(CurrentActor, systemActor(organizationId))
          )
      ),
    tell: (changed: ReadonlyArray<ChangedOrder>) =>
      Effect.asVoid(forEachProjection(changed, (projection, own) => projection.changed(own.map(({ id }) => id))))
  }
}

/**
 * Projections of orders (docs/plugins.md). Every repository that creates, settles, changes, cancels or refunds an order
 * calls them before the commit, with the order's row locked; checkouts put their parts into the statement.
 */
export class OrderProjections extends Context.Service<OrderProjections>()("stoa/domain/orders/OrderProjections", {
  make: Effect.map(entityTables, emptyProjections)
}) {
  static readonly layer = Layer.effect(OrderProjections, OrderProjections.make)
}

export const orderProjections: Effect.Effect<OrderProjections["Service"]> = Effect.flatMap(
  Effect.serviceOption(OrderProjections),
  Option.match({ onNone: () => OrderProjections.make, onSome: Effect.succeed })
)

/** A failure is a defect of the change. */
export const updateProjections = (
  projections: OrderProjections["Service"],
  orderId: OrderId
): Effect.Effect<void, never, CurrentActor> =>
  projections.any()
    ? Effect.flatMap(CurrentActor, ({ organizationId }) => projections.tell([{ organizationId, id: orderId }])).pipe(
      Effect.catchTag("ProjectionFailed", ({ cause }) => Effect.die(cause))
    )
    : Effect.void
