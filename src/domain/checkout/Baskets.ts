import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds } from "../access/Actor.ts"
import { Forbidden, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Agreement, Basket, BasketLine } from "./Basket.ts"
import { BasketRepo, type RequestedSellable, type SellableSnapshot } from "./BasketRepo.ts"
import type { LineChange, LineRequest } from "./ManualOrder.ts"

/** Reasons why lines cannot be priced: 404, 403 or 422. */
export type BasketError = NotFound | Forbidden | ValidationFailed

/** Builds lines for pricing without claiming a cart (contract §3.8, §4.4). */
export class Baskets extends Context.Service<Baskets, {
  /**
   * The lines of a staff request. Merges equal lines at the catalog price, as a cart does. 404 for an unknown entity or
   * variant, 422 when the variant is missing, 403 for prices and discounts without `orders:manage`.
   */
  readonly ofLines: (
    requests: ReadonlyArray<LineRequest>
  ) => Effect.Effect<ReadonlyArray<BasketLine>, BasketError, CurrentActor>
  /** Any cart of the organization; 404 without one, 422 when it is empty. */
  readonly ofCart: (cartId: string) => Effect.Effect<Basket, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/checkout/Baskets") {
  static readonly layer = Layer.effect(
    Baskets,
    Effect.gen(function*() {
      const repo = yield* BasketRepo
      const ofLines = Effect.fn("Baskets.ofLines")(function*(requests: ReadonlyArray<LineRequest>) {
        const agreed = yield* Effect.forEach(requests, (request, index) => agreementOf(request, `lineItems.${index}`))
        const lines = mergeEqual(
          requests.map(({ entityId, quantity, variantId = null }, index) => ({
            entityId,
            variantId,
            quantity,
            agreed: agreed[index]
          }))
        )
        const snapshots = yield* repo.ofLines(lines)
        return yield* Effect.forEach(
          snapshots,
          (snapshot, index) => Effect.as(requireSellable(snapshot), { ...snapshot, ...lines[index] })
        )
      })

      const ofCart = Effect.fn("Baskets.ofCart")(function*(cartId: string) {
        const basket = yield* repo.ofCart(cartId)
        if (basket === undefined) return yield* NotFound.of("Cart not found.")
        return basket.lines.length > 0 ? basket : yield* ValidationFailed.of("cartId", "The cart is empty.", "empty")
      })

      return { ofLines, ofCart }
    })
  )
}

/** 403 for actors who may not set prices and discounts. */
export const requireMoney = Effect.flatMap(CurrentActor, (actor) =>
  holds(actor, "orders:manage")
    ? Effect.void
    : Effect.fail(Forbidden.of("Permission 'orders:manage' is required to set prices and discounts.")))

/**
 * The price and discount that staff set for a line; undefined when the catalog decides. Fails without permission: an
 * order with silently different prices is worse than none (contract §12.3).
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

type RequestedLine = RequestedSellable & { readonly agreed: Agreement | undefined }

const mergeEqual = (lines: ReadonlyArray<RequestedLine>): ReadonlyArray<RequestedLine> => {
  const merged: Array<RequestedLine> = []
  for (const line of lines) {
    const index = line.agreed !== undefined ?
      -1 :
      merged.findIndex((one) =>
        one.agreed === undefined && one.entityId === line.entityId && one.variantId === line.variantId
      )
    const same = merged[index]
    if (same === undefined) merged.push(line)
    else merged[index] = { ...same, quantity: same.quantity + line.quantity }
  }
  return merged
}

const requireSellable = (line: SellableSnapshot): Effect.Effect<void, NotFound | ValidationFailed> => {
  if (line.entityType === null) return Effect.fail(NotFound.of(`Catalog entity ${line.entityId} not found.`))
  if (line.variantId !== null) {
    return line.variantFound ? Effect.void : Effect.fail(NotFound.of(`Variant ${line.variantId} not found.`))
  }
  return line.hasVariants
    ? Effect.fail(
      ValidationFailed.of("variantId", `${line.title} has variants: name one of them.`, "variant_required")
    )
    : Effect.void
}
