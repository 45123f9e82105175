import { Context, Data, Effect, Layer, Option } from "effect"
import { CurrentActor, systemActor } from "../access/Actor.ts"

/**
 * Work of a plugin that belongs into the transaction of every change of an order's lines, money or status: it is told of
 * orders of one organization, in the order of their ids, and acts as the service itself. It looks at the orders as they
 * are by then and brings what it keeps of them into line; being told twice must change nothing. What it fails or dies
 * with takes the change of the order back.
 */
export type OrderFollower = (orderIds: ReadonlyArray<string>) => Effect.Effect<void, never, CurrentActor>

/** An order that was changed, and whose it is. */
export interface ChangedOrder {
  readonly organizationId: string
  readonly orderId: string
}

/** A follower did not do its part; the transaction has to be taken back. */
export class FollowerFailed extends Data.TaggedError("FollowerFailed")<{ readonly cause: unknown }> {}

/**
 * Who follows orders (docs/plugins.md). Every repository that places an order, settles, changes, cancels or refunds it
 * tells them before its transaction commits, with the order's row locked.
 */
export class OrderFollowers extends Context.Service<OrderFollowers, {
  /** Adds one while the process starts. */
  readonly register: (follower: OrderFollower) => Effect.Effect<void>
  /** Whether anybody follows: a statement that nobody follows needs no transaction around it. */
  readonly any: () => boolean
  readonly tell: (changed: ReadonlyArray<ChangedOrder>) => Effect.Effect<void, FollowerFailed>
}>()("stoa/domain/orders/OrderFollowers") {
  static readonly layer = Layer.sync(OrderFollowers, () => emptyFollowers())
}

/** Followers of which there are none yet. */
export const emptyFollowers = (): OrderFollowers["Service"] => {
  const followers: Array<OrderFollower> = []

  const tellOf = (organizationId: string, orderIds: ReadonlyArray<string>) =>
    Effect.forEach(followers, (follower) => follower(orderIds), { discard: true }).pipe(
      Effect.provideService(CurrentActor, systemActor(organizationId))
    )

  return {
    register: (follower) => Effect.sync(() => void followers.push(follower)),
    any: () => followers.length > 0,
    tell: (changed) => {
      if (followers.length === 0 || changed.length === 0) return Effect.void
      const organizations = [...new Set(changed.map(({ organizationId }) => organizationId))].sort()
      // One order of locks for everybody: organizations by name, orders by id.
      return Effect.forEach(organizations, (organization) => {
        const own = changed.filter(({ organizationId }) => organizationId === organization)
        return tellOf(organization, [...new Set(own.map(({ orderId }) => orderId))].sort())
      }, { discard: true }).pipe(
        Effect.catchDefect((cause) => Effect.fail(new FollowerFailed({ cause })))
      )
    }
  }
}

/** The followers of this process; none where a repository is built by itself, as some tests do. */
export const orderFollowers: Effect.Effect<OrderFollowers["Service"]> = Effect.map(
  Effect.serviceOption(OrderFollowers),
  Option.getOrElse(emptyFollowers)
)

/** Tells of an order of the actor's organization; what a follower fails with is a defect of the change. */
export const tellFollowers = (
  followers: OrderFollowers["Service"],
  orderId: string
): Effect.Effect<void, never, CurrentActor> =>
  followers.any()
    ? Effect.flatMap(CurrentActor, ({ organizationId }) => followers.tell([{ organizationId, orderId }])).pipe(
      Effect.catchTag("FollowerFailed", ({ cause }) => Effect.die(cause))
    )
    : Effect.void
