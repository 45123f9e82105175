import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds } from "../access/Actor.ts"
import { Forbidden, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Agreement, Basket, BasketLine } from "./Basket.ts"
import { BasketRepo, type SellableSnapshot } from "./BasketRepo.ts"
import { CartReaderRepo } from "./CartReaderRepo.ts"
import type { LineChange, LineRequest } from "./ManualOrder.ts"

/** Why lines cannot be priced: 404, 403 or 422. */
export type BasketError = NotFound | Forbidden | ValidationFailed

/** Lines that no checkout has claimed, ready to be priced (contract §3.8, §4.4). */
export class Baskets extends Context.Service<Baskets, {
  /**
   * The lines of a request of staff. The same thing twice counts together, as in a cart, unless staff says what it costs.
   * 404 for what the catalog has not, 422 for an entity with variants and none named, 403 for money without
   * `orders:manage`.
   */
  readonly ofLines: (
    requests: ReadonlyArray<LineRequest>
  ) => Effect.Effect<ReadonlyArray<BasketLine>, BasketError, CurrentActor>
  /** A cart of the organization, whoever's it is; 404 without one, 422 when it is empty. */
  readonly ofCart: (cartId: string) => Effect.Effect<Basket, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/checkout/Baskets") {
  static readonly layer = Layer.effect(
    Baskets,
    Effect.gen(function*() {
      const repo = yield* BasketRepo
      const carts = yield* CartReaderRepo

      const ofLines = Effect.fn("Baskets.ofLines")(function*(requests: ReadonlyArray<LineRequest>) {
        const agreed = yield* Effect.forEach(requests, (request, index) => agreementOf(request, `lineItems.${index}`))
        const wanted = together(requests.map((request, index) => ({ request, agreed: agreed[index] })))
        const found = yield* repo.ofThings(wanted)
        return yield* Effect.forEach(found, (thing, index) => Effect.as(known(thing), { ...thing, ...wanted[index] }))
      })

      const ofCart = Effect.fn("Baskets.ofCart")(function*(cartId: string) {
        const basket = yield* carts.find(cartId)
        if (basket === undefined) return yield* NotFound.of("Cart not found.")
        return basket.lines.length > 0 ? basket : yield* ValidationFailed.of("cartId", "The cart is empty.", "empty")
      })

      return { ofLines, ofCart }
    })
  )
}

/** 403 for whoever may not set prices and discounts. */
export const requireMoney = Effect.flatMap(CurrentActor, (actor) =>
  holds(actor, "orders:manage")
    ? Effect.void
    : Effect.fail(Forbidden.of("Permission 'orders:manage' is required to set prices and discounts.")))

/**
 * What staff says of a line's money; undefined when the catalog decides. Whoever may not say so is told, because an order
 * with other prices than he wrote down is worse than none (contract §12.3).
 */
export const agreementOf = Effect.fnUntraced(function*(
  { discountAmount, isCustomPrice, unitPrice }: Pick<LineChange, "discountAmount" | "isCustomPrice" | "unitPrice">,
  path: string
) {
  if (isCustomPrice !== true && (discountAmount ?? 0) === 0) return undefined
  yield* requireMoney
  if (isCustomPrice === true && typeof unitPrice !== "number") {
    return yield* ValidationFailed.of(
      `${path}.unitPrice`.replace(/^\./, ""),
      "is needed with isCustomPrice",
      "required"
    )
  }
  const agreement: Agreement = {
    unitPrice: isCustomPrice === true ? unitPrice ?? undefined : undefined,
    isCustomPrice: isCustomPrice === true,
    discount: discountAmount ?? 0
  }
  return agreement
})

interface Wanted {
  readonly request: LineRequest
  readonly agreed: Agreement | undefined
}

interface WantedLine {
  readonly entityId: string
  readonly variantId: string | null
  readonly quantity: number
  readonly agreed: Agreement | undefined
}

const together = (lines: ReadonlyArray<Wanted>): ReadonlyArray<WantedLine> => {
  const wanted: Array<WantedLine> = []
  for (const { agreed, request: { entityId, quantity, variantId = null } } of lines) {
    const index = agreed !== undefined
      ? -1
      : wanted.findIndex((one) => one.agreed === undefined && one.entityId === entityId && one.variantId === variantId)
    const same = wanted[index]
    if (same === undefined) wanted.push({ entityId, variantId, quantity, agreed })
    else wanted[index] = { ...same, quantity: same.quantity + quantity }
  }
  return wanted
}

const known = (thing: SellableSnapshot): Effect.Effect<void, NotFound | ValidationFailed> => {
  if (thing.entityType === null) return Effect.fail(NotFound.of(`Catalog entity ${thing.entityId} not found.`))
  if (thing.variantId !== null) {
    return thing.variantFound ? Effect.void : Effect.fail(NotFound.of(`Variant ${thing.variantId} not found.`))
  }
  return thing.hasVariants
    ? Effect.fail(
      ValidationFailed.of("variantId", `${thing.title} has variants: name one of them.`, "variant_required")
    )
    : Effect.void
}
