import { DateTime, Effect, Layer, Schema, Struct } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { admit, CartLine, CartState, type CartVisitor, CartWrite, changeable, newer } from "../domain/carts/Cart.ts"
import { CartActor, type LineToAdd } from "../domain/carts/CartActor.ts"
import { CartRepo, type LineWrite } from "../domain/carts/CartRepo.ts"
import { LineNotFound } from "../domain/carts/Carts.ts"
import { Actor, CurrentActor } from "../domain/platform/access/Actor.ts"
import { Conflict, NotFound, Unavailable, ValidationFailed } from "../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../domain/platform/errors/ErrorKinds.ts"
import { CartId, CartLineId, CustomerId } from "../domain/platform/ids/Id.ts"
import { StoreSettings } from "../domain/platform/settings/StoreSettings.ts"
import { call, deadline, orUnavailable, unlessPast } from "./EntityCall.ts"

class TooMany
  extends invalid("TooMany", "quantity", "quantity is more than the cart can hold of this item.", "too_many")
{}
class CartFull extends invalid(
  "CartFull",
  "",
  (most: number) => `A cart can have at most ${most} lines. Remove one, or put the item into another cart.`,
  "too_many_lines"
) {}
class CartBusy
  extends conflict("CartBusy", "The cart is being changed by another request. Try again.", { retryable: true })
{}

/** The deadline is in milliseconds since 1970; the cart is as the sender read it. */
const message = {
  actor: Actor,
  customerId: Schema.NullOr(CustomerId),
  secretHash: Schema.NullOr(Schema.String),
  until: Schema.Number,
  seen: Schema.optional(CartState)
}

const error = Schema.Union([NotFound, ValidationFailed, Conflict, Unavailable])

/**
 * Applies changes of one cart one at a time (ARCHITECTURE §3). Its state is a cache; the table's version column reveals
 * a stale one. An add comes here only when another request changes the cart meanwhile.
 */
export const CartEntity = Entity.make("Cart", [
  Rpc.make("addLine", {
    payload: {
      ...message,
      line: Schema.Struct(Struct.omit(CartLine.fields, ["cartId", "currency"]))
    },
    success: CartLine,
    error
  }),
  Rpc.make("setQuantity", {
    payload: {
      ...message,
      lineId: CartLineId,
      // Not `optional`: in a message, undefined would become null, which clears the notes.
      quantity: Schema.optionalKey(Schema.Int),
      notes: Schema.optionalKey(Schema.NullOr(Schema.String)),
      unitPrice: Schema.optionalKey(Schema.Int)
    },
    success: CartLine,
    error
  }),
  Rpc.make("removeLine", { payload: { ...message, lineId: CartLineId }, success: CartLine, error }),
  Rpc.make("change", { payload: { ...message, write: CartWrite }, success: Schema.Void, error })
])

interface Sender extends CartVisitor {
  readonly until: number
  readonly seen?: CartState | undefined
}

type Write<A> = (from: CartState) => Effect.Effect<A | "stale", never, CurrentActor>

/** Each lost attempt means that an add outside of the entity was made. */
const maxAttempts = 10

const outcomes = Effect.map(
  StoreSettings,
  ({ cartMaxLines }) =>
  (outcome: Exclude<LineWrite, "stale">): Effect.Effect<CartLine, TooMany | CartFull | LineNotFound> => {
    if (outcome === "too-many") return Effect.fail(new TooMany())
    if (outcome === "full") return Effect.fail(new CartFull(cartMaxLines))
    return outcome === "no-line" ? Effect.fail(new LineNotFound()) : Effect.succeed(outcome)
  }
)

export const cartEntityLayer = CartEntity.toLayer(
  Effect.gen(function*() {
    const carts = yield* CartRepo
    const written = yield* outcomes
    const { entityId } = yield* Entity.CurrentAddress
    let cached: CartState | undefined
    const clear = Effect.sync(() => {
      cached = undefined
    })

    /** Updates the cache only after the write. A stale cache is read again. */
    const change = <A, B, E>(sender: Sender, write: Write<A>, done: (outcome: A) => Effect.Effect<B, E>) =>
      Effect.gen(function*() {
        yield* unlessPast(sender.until)
        cached = newer(cached, sender.seen)
        for (let attempt = 0; attempt < maxAttempts; attempt++) {
          const state = cached ?? (yield* carts.state(CartId.make(String(entityId))))
          const admitted = yield* Effect.fromResult(admit(state, sender, "cart:update"))
          const open = changeable(admitted, DateTime.toDateUtc(yield* DateTime.now))
          // Refuse only from the table: a failed checkout may have released the cart.
          if (open._tag === "Failure" && attempt === 0) {
            cached = undefined
            continue
          }
          const current = yield* Effect.fromResult(open)
          // Prices of the change are in the currency that its sender saw.
          if (sender.seen !== undefined && sender.seen.cart.currency !== current.cart.currency) {
            return yield* new CartBusy()
          }
          const outcome = yield* Effect.onError(write(current), () => clear)
          cached = undefined
          if (outcome === "stale") continue
          const result = yield* done(outcome)
          cached = { ...current, version: current.version + 1 }
          return result
        }
        return yield* new CartBusy()
      }).pipe(Effect.provideService(CurrentActor, sender.actor), orUnavailable)

    const changeLines = (sender: Sender, write: Write<Exclude<LineWrite, "stale">>) => change(sender, write, written)

    return CartEntity.of({
      addLine: ({ payload }) =>
        changeLines(
          payload,
          (from) => carts.addLine(from, { ...payload.line, cartId: from.cart.id, currency: from.cart.currency })
        ),
      setQuantity: ({ payload }) => changeLines(payload, (from) => carts.changeLine(from, payload.lineId, payload)),
      removeLine: ({ payload }) => changeLines(payload, (from) => carts.removeLine(from, payload.lineId)),
      change: ({ payload }) =>
        Effect.ensuring(change(payload, (from) => carts.change(from, payload.write), () => Effect.void), clear)
    })
  }),
  // Short: an idle entity costs 20 KB, and starting one costs a statement that it shares with others.
  { maxIdleTime: "10 seconds", disableFatalDefects: true }
)

/** Adds lines, and calls the entity of a cart for changes that take turns. */
export const cartActorLayer = Layer.effect(
  CartActor,
  Effect.map(Effect.all([CartEntity.client, CartRepo, outcomes]), ([clientOf, carts, written]) => {
    // The cluster compares ids as text, so normalize the case: a cart must have one entity.
    const entityOf = (cartId: CartId) => clientOf(cartId.toLowerCase())
    /** The deadline is computed last, so that hooks do not use up the entity's time. */
    const from = (visitor: CartVisitor, seen: CartState) =>
      Effect.map(deadline, (until) => ({ ...visitor, seen, until }))
    /** Adds of this process that wait for the entity: later ones must not overtake them for ever. */
    const waiting = new Map<CartId, number>()
    const count = (cartId: CartId, change: number) => {
      const now = (waiting.get(cartId) ?? 0) + change
      if (now === 0) waiting.delete(cartId)
      else waiting.set(cartId, now)
    }
    const addInTurn = (cartId: CartId, visitor: CartVisitor, seen: CartState, line: LineToAdd) =>
      Effect.suspend(() => {
        count(cartId, 1)
        return Effect.flatMap(from(visitor, seen), (sender) => call(entityOf(cartId).addLine({ ...sender, line })))
          .pipe(
            Effect.ensuring(Effect.sync(() => count(cartId, -1)))
          )
      })
    const addAtOnce = (visitor: CartVisitor, seen: CartState, line: LineToAdd) =>
      carts.addLineUnlessBusy(seen, { ...line, cartId: seen.cart.id, currency: seen.cart.currency }).pipe(
        Effect.provideService(CurrentActor, visitor.actor),
        orUnavailable
      )
    return CartActor.of({
      addLine: (cartId, visitor, seen, line) =>
        Effect.suspend(() =>
          waiting.has(cartId)
            ? addInTurn(cartId, visitor, seen, line)
            : Effect.flatMap(
              addAtOnce(visitor, seen, line),
              (outcome) => outcome === "stale" ? addInTurn(cartId, visitor, seen, line) : written(outcome)
            )
        ),
      change: (cartId, visitor, seen, write) =>
        Effect.flatMap(from(visitor, seen), (sender) => call(entityOf(cartId).change({ ...sender, write }))),
      changeLine: (cartId, visitor, seen, lineId, { notes, quantity, unitPrice }) =>
        Effect.flatMap(from(visitor, seen), (sender) =>
          call(
            entityOf(cartId).setQuantity({
              ...sender,
              lineId,
              ...(quantity === undefined ? {} : { quantity }),
              ...(notes === undefined ? {} : { notes }),
              ...(unitPrice === undefined ? {} : { unitPrice })
            })
          )),
      removeLine: (cartId, visitor, seen, lineId) =>
        Effect.flatMap(from(visitor, seen), (sender) => call(entityOf(cartId).removeLine({ ...sender, lineId })))
    })
  })
)
