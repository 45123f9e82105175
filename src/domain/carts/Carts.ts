import { Context, DateTime, Duration, Effect, Layer, Result, Struct } from "effect"
import { CatalogSettings } from "../catalog/CatalogSettings.ts"
import { EntityNotFound } from "../catalog/Entity.ts"
import { policyOf } from "../catalog/TypePolicy.ts"
import { Customers } from "../customers/Customers.ts"
import { type Actor, actsForShop, CurrentActor, seesUnpublished } from "../platform/access/Actor.ts"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { type CartId, type CartLineId, newId, type VariantId } from "../platform/ids/Id.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import { linePricings } from "../pricing/LinePricing.ts"
import { linePrice } from "../pricing/Prices.ts"
import { toCandidates } from "../pricing/PriceStatements.ts"
import {
  admit,
  type CartLine,
  type CartLineChange,
  type CartState,
  type CartVisitor,
  type CartWrite,
  changeable,
  hashCartSecret,
  type NewCart,
  type NewCartLine,
  newCartSecret,
  type StoredCart,
  toState
} from "./Cart.ts"
import { CartActor } from "./CartActor.ts"
import { type CartChoices, noChoices, shownChoices } from "./CartChoices.ts"
import { claiming } from "./CartClaims.ts"
import { holding } from "./CartHolds.ts"
import { CartRepo } from "./CartRepo.ts"
import type { OfferRow } from "./CartStatements.ts"
import { type ChosenLine, chosenLine, isBoundedMetadata, isSameLine } from "./Line.ts"

class VariantNotFound extends notFound("Variant", "Variant not found.") {}
class VariantRequired extends invalid(
  "VariantRequired",
  "variantId",
  "variantId is required, because this item has variants.",
  "variant_required"
) {}
class NoPrice extends invalid(
  "NoPrice",
  "unitPriceSnapshot",
  "unitPriceSnapshot is required, because this item has no price in the cart's currency.",
  "no_price"
) {}
class LargeMetadata
  extends invalid("LargeMetadata", "metadata", "metadata of a line must be JSON of at most 4096 bytes and 100 keys.")
{}
class TooManyUnits extends invalid(
  "TooManyUnits",
  "quantity",
  (most: number) => `quantity must be at most ${most}: a line has no more units of this item.`
) {}
class NotPriced extends invalid("NotPriced", "metadata", (reason: string) => reason, "not_priced") {}
export class LineNotFound extends notFound("CartLine", "Cart item not found.") {}

type OpenedCart = Pick<NewCart, "currency" | "customerId" | "email" | "metadata">

const refusalOf = (offer: OfferRow | undefined, actor: Actor, variantId: VariantId | null) => {
  if (offer === undefined) return undefined
  if (offer.isPublic === null || !(offer.isPublic || seesUnpublished(actor))) return new EntityNotFound()
  if (variantId !== null) return offer.variantFound ? undefined : new VariantNotFound()
  return offer.hasVariants ? new VariantRequired() : undefined
}

/** The unit price of the line for the cart's customer, undefined if the store has none. */
const offeredPrice = Effect.map(
  CatalogSettings,
  ({ types }) => (offer: OfferRow | undefined, line: ChosenLine, now: Date): number | undefined =>
    offer && Result.getOrUndefined(Result.map(
      linePrice(line, toCandidates(offer), { currency: offer.currency, groups: offer.groupIds ?? [], now, types }),
      ({ finalAmount }) => finalAmount
    ))
)

/** The price of a unit at the line's quantity, with the steps of plugins; undefined without one. */
const unitPrices = Effect.map(
  Effect.all([offeredPrice, linePricings, CatalogSettings]),
  ([priceIn, linePricing, { types }]) =>
  (
    offer: OfferRow | undefined,
    line: ChosenLine,
    { cart: { currency, customerId, metadata } }: CartState,
    now: Date,
    sent?: number
  ) => {
    const unitPrice = priceIn(offer, line, now) ?? sent
    if (unitPrice === undefined) return Effect.undefined
    const entityType = offer?.entities?.find(({ id }) => id === line.entityId)?.type ?? ""
    const most = policyOf(types, entityType).maxUnitsPerLine
    if (line.quantity > most) return Effect.fail(new TooManyUnits(most))
    return linePricing.priced({
      currency,
      customerId,
      isList: false,
      metadata,
      lines: [{ ...line, entityType, unitPrice }]
    }).pipe(
      Effect.mapBoth({
        onFailure: ({ message }) => new NotPriced(message),
        onSuccess: ([priced]) => priced?.unitPrice ?? unitPrice
      })
    )
  }
)

/** Creates, reads and changes carts (contract §2). */
export class Carts extends Context.Service<Carts>()("stoa/domain/carts/Carts", {
  make: Effect.gen(function*() {
    const repo = yield* CartRepo
    const customers = yield* Customers
    const settings = yield* StoreSettings
    const actor = yield* CartActor

    const visitor = Effect.gen(function*() {
      const actor = yield* CurrentActor
      return {
        actor,
        customerId: yield* customers.ownProfileId,
        secretHash: actor.cartSecret === null ? null : hashCartSecret(actor.cartSecret)
      }
    })

    const create = Effect.fn("Carts.create")(function*(input: OpenedCart, choices: CartChoices = noChoices) {
      const actor = yield* CurrentActor
      const named = actsForShop(actor) ? input.customerId ?? null : null
      if (named !== null) yield* customers.mustExist(named)
      const customerId = named ?? (actsForShop(actor) ? null : yield* customers.ownProfileId)
      const now = yield* DateTime.now
      const secret = newCartSecret()
      const cart = {
        id: newId<CartId>(),
        organizationId: actor.organizationId,
        customerId,
        status: "active",
        currency: input.currency,
        email: input.email ?? null,
        metadata: input.metadata ?? {},
        expiresAt: DateTime.toDateUtc(DateTime.addDuration(now, Duration.minutes(settings.cartTtlMinutes))),
        createdAt: DateTime.toDateUtc(now),
        updatedAt: DateTime.toDateUtc(now)
      } as const
      yield* repo.insert({ cart, secretHash: hashCartSecret(secret), version: 0 }, choices)
      return { ...cart, ...shownChoices(choices), secret }
    })

    /** 404 also for visitors who may not read it. */
    const get = Effect.fn("Carts.get")(function*(cartId: CartId, known?: CartVisitor) {
      const cart = yield* Effect.fromResult(admit(yield* repo.find(cartId), known ?? (yield* visitor), "cart:read"))
      const now = DateTime.toDateUtc(yield* DateTime.now)
      return cart.cart.status === "active" && cart.cart.expiresAt <= now
        ? { ...cart, cart: { ...cart.cart, status: "abandoned" as const } }
        : cart
    })

    /** 404 for visitors who may not change it, 422 when it is not active or has expired. */
    const toChange = Effect.fn("Carts.toChange")(function*(sender: CartVisitor, cartId: CartId, lineId: CartLineId) {
      const cart = yield* Effect.fromResult(admit(yield* repo.findWithLine(cartId, lineId), sender, "cart:update"))
      return yield* Effect.fromResult(changeable(cart, DateTime.toDateUtc(yield* DateTime.now)))
    })

    /** Writes what `decide` makes of the cart; 404 and 422 as `toChange`. */
    const change = Effect.fn("Carts.change")(function*<E, R>(
      cartId: CartId,
      decide: (cart: StoredCart) => Effect.Effect<CartWrite, E, R>
    ) {
      const sender = yield* visitor
      const cart = yield* Effect.fromResult(admit(yield* repo.find(cartId), sender, "cart:update"))
      const seen = yield* Effect.fromResult(changeable(cart, DateTime.toDateUtc(yield* DateTime.now)))
      yield* actor.change(cartId, sender, Struct.pick(seen, ["cart", "secretHash", "version"]), yield* decide(seen))
    })

    /** Replaces the secret, whose holders before lose the cart; 404, 409 and 422 as a change. */
    const replaceSecret = Effect.fn("Carts.replaceSecret")(function*(id: CartId) {
      const secret = newCartSecret()
      yield* change(id, () => Effect.succeed({ choices: {}, secretHash: hashCartSecret(secret) }))
      return { id, secret }
    })

    const more = { claim: yield* claiming, ...yield* holding, ...yield* changes(visitor, toChange) }
    return { create, get, visitor, change, replaceSecret, ...more }
  })
}) {
  static readonly layer = Layer.effect(Carts, Carts.make)
}

/** Reads and hooks come before the actor's turn, which is one rule and one statement. */
const changes = Effect.fnUntraced(function*<E, R, E2, R2>(
  visitor: Effect.Effect<CartVisitor, E, R>,
  toChange: (sender: CartVisitor, cartId: CartId, lineId: CartLineId) => Effect.Effect<StoredCart, E2, R2>
) {
  const [cartActor, hooks, repo] = yield* Effect.all([CartActor, Hooks, CartRepo])
  const priceOf = yield* unitPrices

  /** Invented ids must not start entities. */
  const findLine = Effect.fnUntraced(function*(sender: CartVisitor, cartId: CartId, itemId: CartLineId) {
    const { lines: [line], ...seen } = yield* toChange(sender, cartId, itemId)
    return line === undefined ? yield* new LineNotFound() : { line, seen }
  })

  const offerOf = (cart: CartId, { entityId, metadata, variantId }: ChosenLine, now: Date) =>
    repo.offer({ cart, entity: entityId, variant: variantId, metadata, now })

  const requantified = Effect.fnUntraced(function*(line: CartLine, quantity: number, seen: CartState) {
    const now = DateTime.toDateUtc(yield* DateTime.now)
    const offer = yield* offerOf(line.cartId, line, now)
    return { quantity, unitPrice: yield* priceOf(offer, { ...line, quantity }, seen, now) }
  })

  return {
    /** Adds a line at the current price for the cart's customer; 404 for an entity that this actor cannot buy. */
    addItem: Effect.fn("Carts.addItem")(function*(cartId: CartId, sent: NewCartLine, known?: CartVisitor) {
      const sender = known ?? (yield* visitor)
      const addedAt = DateTime.toDateUtc(yield* DateTime.now)
      const wanted = chosenLine(sent)
      const first = yield* offerOf(cartId, wanted, addedAt)
      const admitted = yield* Effect.fromResult(admit(first && toState(first), sender, "cart:update"))
      const seen = yield* Effect.fromResult(changeable(admitted, addedAt))
      // Hooks must not run for visitors who may not change the cart.
      const item = yield* hooks.before("cart.beforeAddItem", { ...sent, cartId }, { inTables: first?.inTables })
      const chosen = chosenLine(item)
      const offer = isSameLine(wanted, chosen) ? first : yield* offerOf(cartId, chosen, addedAt)
      // Only after the admission: this error would reveal that the cart exists.
      const refusal = refusalOf(offer, sender.actor, chosen.variantId)
      if (refusal !== undefined) return yield* refusal
      if (!isBoundedMetadata(chosen.metadata)) return yield* new LargeMetadata()
      const all = { ...chosen, quantity: chosen.quantity + (offer?.held ?? 0) }
      const unitPriceSnapshot = yield* priceOf(offer, all, seen, addedAt, item.unitPriceSnapshot)
      if (unitPriceSnapshot === undefined) return yield* new NoPrice()
      const line = yield* cartActor.addLine(cartId, sender, seen, {
        ...chosen,
        id: newId(),
        unitPriceSnapshot,
        addedAt
      })
      yield* hooks.after("cart.afterAddItem", line, item)
      return line
    }),
    /** Sets a line's quantity, 1 to 9999, its notes or both. */
    changeItem: Effect.fn("Carts.changeItem")(function*(
      cartId: CartId,
      itemId: CartLineId,
      sent: CartLineChange,
      known?: CartVisitor
    ) {
      const sender = known ?? (yield* visitor)
      const { line: before, seen } = yield* findLine(sender, cartId, itemId)
      const wanted = { cartId, itemId, quantity: sent.quantity ?? before.quantity }
      const { quantity } = yield* hooks.before("cart.beforeUpdateQuantity", wanted)
      // A change of the notes alone must not undo an add that happens meanwhile.
      const change = quantity === before.quantity ? sent : { ...sent, ...yield* requantified(before, quantity, seen) }
      const line = yield* cartActor.changeLine(cartId, sender, seen, itemId, change)
      yield* hooks.after("cart.afterUpdateQuantity", line, before)
      return line
    }),
    removeItem: Effect.fn("Carts.removeItem")(function*(cartId: CartId, itemId: CartLineId, known?: CartVisitor) {
      const sender = known ?? (yield* visitor)
      const { line: before, seen } = yield* findLine(sender, cartId, itemId)
      yield* hooks.before("cart.beforeRemoveItem", before)
      const line = yield* cartActor.removeLine(cartId, sender, seen, itemId)
      yield* hooks.after("cart.afterRemoveItem", line, before)
    })
  }
})
