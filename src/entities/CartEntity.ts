import { DateTime, Effect, Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Actor, CurrentActor } from "../domain/access/Actor.ts"
import { CartLine, CartState } from "../domain/carts/Cart.ts"
import { CartLineRepo, type LineWrite } from "../domain/carts/CartLineRepo.ts"
import { CartRepo } from "../domain/carts/CartRepo.ts"
import { admit, afterWrite, changeable, newer } from "../domain/carts/CartRules.ts"
import { Conflict, NotFound, Unavailable, ValidationFailed } from "../domain/errors/ApiErrors.ts"
import { Uuid } from "../domain/ids/Id.ts"
import { orUnavailable, unlessPast } from "./EntityCall.ts"

/** The sender of a message and its deadline (milliseconds since 1970). */
const envelope = {
  actor: Actor,
  customerId: Schema.NullOr(Uuid),
  secretHash: Schema.NullOr(Schema.String),
  until: Schema.Number
}

/** The cart as the sender read it: saves a cold entity a read. Absent in messages of older processes. */
const seen = Schema.optional(CartState)

const error = Schema.Union([NotFound, ValidationFailed, Conflict, Unavailable])

/**
 * Applies changes of one cart one at a time (ARCHITECTURE §3). Its state is a cache; the table is the truth, and its
 * version column reveals a stale cache.
 */
export const CartEntity = Entity.make("Cart", [
  Rpc.make("addLine", {
    payload: {
      ...envelope,
      seen,
      line: Schema.Struct({
        id: Uuid,
        entityId: Uuid,
        variantId: Schema.NullOr(Uuid),
        quantity: Schema.Int,
        unitPriceSnapshot: Schema.Int,
        addedAt: Schema.Date
      })
    },
    success: CartLine,
    error
  }),
  Rpc.make("setQuantity", {
    payload: { ...envelope, seen, lineId: Uuid, quantity: Schema.Int },
    success: CartLine,
    error
  }),
  Rpc.make("removeLine", { payload: { ...envelope, seen, lineId: Uuid }, success: CartLine, error })
])

interface Sender {
  readonly actor: Actor
  readonly customerId: string | null
  readonly secretHash: string | null
  readonly until: number
}

type Write = (from: CartState) => Effect.Effect<LineWrite, never, CurrentActor>

const maxAttempts = 3

export const cartEntityLayer = CartEntity.toLayer(
  Effect.gen(function*() {
    const carts = yield* CartRepo
    const lines = yield* CartLineRepo
    const { entityId } = yield* Entity.CurrentAddress
    let cached: CartState | undefined
    const clear = Effect.sync(() => {
      cached = undefined
    })

    /** Applies a change to the cached state, and updates the cache only after the write. A stale cache is read again. */
    const change = (sender: Sender, seen: CartState | undefined, write: Write) =>
      Effect.gen(function*() {
        yield* unlessPast(sender.until)
        cached = newer(cached, seen)
        for (let attempt = 0; attempt < maxAttempts; attempt++) {
          const state = cached ?? (yield* carts.state(String(entityId)))
          const admitted = yield* Effect.fromResult(admit(state, sender, "cart:update"))
          const open = changeable(admitted, DateTime.toDateUtc(yield* DateTime.now))
          // Refuse only from the table: a failed checkout may have released the cart.
          if (open._tag === "Failure" && attempt === 0) {
            cached = undefined
            continue
          }
          const current = yield* Effect.fromResult(open)
          const outcome = yield* Effect.onError(write(current), () => clear)
          if (outcome === "too-many") {
            return yield* ValidationFailed.of("quantity", "The cart cannot hold so many of this item.", "too_many")
          }
          if (outcome === "no-line") return yield* NotFound.of("Cart item not found.")
          cached = outcome === "stale" ? undefined : afterWrite(current)
          if (outcome !== "stale") return outcome
        }
        return yield* Conflict.of("The cart is being changed by another request. Try again.")
      }).pipe(Effect.provideService(CurrentActor, sender.actor), orUnavailable)

    return CartEntity.of({
      addLine: ({ payload }) =>
        change(payload, payload.seen, (from) =>
          lines.add(from, {
            ...payload.line,
            cartId: from.cart.id,
            currency: from.cart.currency,
            notes: null,
            metadata: {}
          })),
      setQuantity: ({ payload }) =>
        change(payload, payload.seen, (from) => lines.setQuantity(from, payload.lineId, payload.quantity)),
      removeLine: ({ payload }) => change(payload, payload.seen, (from) => lines.remove(from, payload.lineId))
    })
  }),
  // Short: an idle entity costs 20 KB, and starting one costs a statement that it shares with others.
  { maxIdleTime: "10 seconds", disableFatalDefects: true }
)
