import { DateTime, Effect, Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Actor, CurrentActor } from "../domain/access/Actor.ts"
import { CartLine, type CartState } from "../domain/carts/Cart.ts"
import { CartRepo } from "../domain/carts/CartRepo.ts"
import { admit, changeable, withAdded, without, withQuantity } from "../domain/carts/CartRules.ts"
import { Conflict, Forbidden, NotFound, Unavailable, ValidationFailed } from "../domain/errors/ApiErrors.ts"
import { Uuid } from "../domain/ids/Id.ts"
import { unlessPast } from "./EntityCall.ts"

/** Every message says who asks and until when the answer is wanted (milliseconds since 1970). */
const envelope = {
  actor: Actor,
  customerId: Schema.NullOr(Uuid),
  secretHash: Schema.NullOr(Schema.String),
  until: Schema.Number
}

const error = Schema.Union([NotFound, Forbidden, ValidationFailed, Conflict, Unavailable])

/**
 * The actor of one cart (ARCHITECTURE §3): changes apply one at a time, whoever sends them. Its memory is a copy; the
 * table is the truth and its version column tells when the copy is old.
 */
export const CartEntity = Entity.make("Cart", [
  Rpc.make("addLine", {
    payload: {
      ...envelope,
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
    payload: { ...envelope, lineId: Uuid, quantity: Schema.Int },
    success: Schema.Struct({ line: CartLine, before: CartLine }),
    error
  }),
  Rpc.make("removeLine", { payload: { ...envelope, lineId: Uuid }, success: CartLine, error })
])

type Change<A> = { readonly state: CartState; readonly line: CartLine; readonly answer: A }

interface Visit {
  readonly actor: Actor
  readonly customerId: string | null
  readonly secretHash: string | null
  readonly until: number
}

/** How often a change is decided anew because another writer (a checkout, the expiry) moved the cart meanwhile. */
const rounds = 3

export const cartEntityLayer = CartEntity.toLayer(
  Effect.gen(function*() {
    const repo = yield* CartRepo
    const { entityId } = yield* Entity.CurrentAddress
    let known: CartState | undefined

    /**
     * Decides on the state in memory, writes, and only then remembers: a failed write leaves memory as it was. A write
     * that the fence refused means memory is old, so it is read again and the change decided anew.
     */
    const change = <A>(
      visit: Visit,
      decide: (state: CartState) => Change<A> | undefined,
      write: (from: CartState, change: Change<A>) => Effect.Effect<boolean, never, CurrentActor>
    ) =>
      Effect.gen(function*() {
        yield* unlessPast(visit.until)
        for (let round = 0; round < rounds; round++) {
          known ??= yield* repo.find(String(entityId))
          const admitted = yield* Effect.fromResult(admit(known, visit, "cart:update"))
          const now = DateTime.toDateUtc(yield* DateTime.now)
          const open = changeable(admitted, now)
          // A refusal is not given from memory alone: the cart may have been given back by a failed checkout.
          if (open._tag === "Failure" && round === 0) {
            known = undefined
            continue
          }
          const current = yield* Effect.fromResult(open)
          const next = decide(current)
          if (next === undefined) return yield* NotFound.of("Cart item not found.")
          if (yield* Effect.onError(write(current, next), () => forget)) {
            known = next.state
            return next.answer
          }
          known = undefined
        }
        return yield* Conflict.of("The cart is being changed by another request. Try again.")
      }).pipe(Effect.provideService(CurrentActor, visit.actor))

    const forget = Effect.sync(() => {
      known = undefined
    })

    return CartEntity.of({
      addLine: ({ payload }) =>
        change(payload, (state) => {
          const next = withAdded(state, payload.line)
          return { ...next, answer: next.line }
        }, (from, { line }) => repo.addLine(from, line, payload.line.quantity)),
      setQuantity: ({ payload }) =>
        change(payload, (state) => {
          const before = state.lines.find((line) => line.id === payload.lineId)
          const next = withQuantity(state, payload.lineId, payload.quantity)
          return next && before && { ...next, answer: { line: next.line, before } }
        }, (from, { line }) => repo.setQuantity(from, line)),
      removeLine: ({ payload }) =>
        change(payload, (state) => {
          const next = without(state, payload.lineId)
          return next && { ...next, answer: next.line }
        }, (from, { line }) => repo.removeLine(from, line))
    })
  }),
  { maxIdleTime: "2 minutes", disableFatalDefects: true }
)
