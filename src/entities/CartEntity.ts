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

/** Every message says who asks and until when the answer is wanted (milliseconds since 1970). */
const envelope = {
  actor: Actor,
  customerId: Schema.NullOr(Uuid),
  secretHash: Schema.NullOr(Schema.String),
  until: Schema.Number
}

/** The cart as the sender has just read it, which spares a cold actor its own read; older processes send none. */
const seen = Schema.optional(CartState)

const error = Schema.Union([NotFound, ValidationFailed, Conflict, Unavailable])

/**
 * The actor of one cart (ARCHITECTURE §3): changes apply one at a time, whoever sends them. Its memory is a copy; the
 * table is the truth and its version column tells when the copy is old.
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

interface Visit {
  readonly actor: Actor
  readonly customerId: string | null
  readonly secretHash: string | null
  readonly until: number
}

type Write = (from: CartState) => Effect.Effect<LineWrite, never, CurrentActor>

/** How often a change is decided anew because another writer (a checkout, the expiry) moved the cart meanwhile. */
const rounds = 3

export const cartEntityLayer = CartEntity.toLayer(
  Effect.gen(function*() {
    const carts = yield* CartRepo
    const lines = yield* CartLineRepo
    const { entityId } = yield* Entity.CurrentAddress
    let known: CartState | undefined
    const forget = Effect.sync(() => {
      known = undefined
    })

    /**
     * Decides on the state in memory, writes, and only then remembers: a failed write leaves memory as it was. A write
     * that the fence refused means memory is old, so it is read again and the change decided anew.
     */
    const change = (visit: Visit, seen: CartState | undefined, write: Write) =>
      Effect.gen(function*() {
        yield* unlessPast(visit.until)
        known = newer(known, seen)
        for (let round = 0; round < rounds; round++) {
          const state = known ?? (yield* carts.state(String(entityId)))
          const admitted = yield* Effect.fromResult(admit(state, visit, "cart:update"))
          const open = changeable(admitted, DateTime.toDateUtc(yield* DateTime.now))
          // A refusal is not given from memory alone: the cart may have been given back by a failed checkout.
          if (open._tag === "Failure" && round === 0) {
            known = undefined
            continue
          }
          const current = yield* Effect.fromResult(open)
          const outcome = yield* Effect.onError(write(current), () => forget)
          if (outcome === "too-many") {
            return yield* ValidationFailed.of("quantity", "The cart cannot hold so many of this item.", "too_many")
          }
          if (outcome === "no-line") return yield* NotFound.of("Cart item not found.")
          known = outcome === "stale" ? undefined : afterWrite(current)
          if (outcome !== "stale") return outcome
        }
        return yield* Conflict.of("The cart is being changed by another request. Try again.")
      }).pipe(Effect.provideService(CurrentActor, visit.actor), orUnavailable)

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
  // Short: an actor at rest costs 20 KB, and the one who comes back costs a statement that is shared with others.
  { maxIdleTime: "10 seconds", disableFatalDefects: true }
)
