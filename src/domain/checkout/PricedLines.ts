import { Effect, Result, Struct } from "effect"
import { itemLabel } from "../carts/Line.ts"
import { CatalogSettings } from "../catalog/CatalogSettings.ts"
import { policyOf, type TypePolicies } from "../catalog/TypePolicy.ts"
import type { BuyerProfile } from "../customers/BuyerProfile.ts"
import { CheckoutFailed } from "../platform/errors/ApiErrors.ts"
import type { CustomerId } from "../platform/ids/Id.ts"
import { linePricings } from "../pricing/LinePricing.ts"
import type { ResolvedPrice } from "../pricing/PriceResolution.ts"
import { linePricesOf } from "../pricing/Prices.ts"
import type { PriceCandidates } from "../pricing/PriceStatements.ts"
import { perLine, perUnit, type PriceSteps } from "../pricing/PriceSteps.ts"
import type { Basket, BasketLine, PricedCartLine } from "./PricedCart.ts"

export interface Buyer {
  readonly customerId: CustomerId | null
  readonly groups: ReadonlyArray<string>
  readonly profile: BuyerProfile | null
  readonly isList: boolean
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A line with its unit price, before discounts and tax. Minor units. */
export type PricedLine = BasketLine & Pick<PricedCartLine, "addedSteps" | "basePriceId" | "priceSteps"> & {
  readonly entityType: string
  readonly title: string
  readonly unitPrice: number
  readonly listPrice: number
  readonly storedValue: boolean
  readonly singlePurpose: boolean
  readonly ships: boolean
  readonly payableWithStoredValue: boolean
}

/** Omits the first price step, which `priceBreakdown` derives again: most prices have only that one. */
const snapshotPrice = ({ basePriceId, breakdown, finalAmount, listAmount }: ResolvedPrice) => ({
  unitPrice: finalAmount,
  listPrice: listAmount,
  basePriceId,
  ...(breakdown.length > 1 ? { priceSteps: breakdown.slice(1) } : {})
})

/** A line as a refusal names it. */
export const refusedLine = (
  { cartLineId, entityId, shown, variantId }: Pick<BasketLine, "cartLineId" | "entityId" | "shown" | "variantId">,
  available: number | null = null
) => ({ lineItemId: cartLineId ?? shown?.id ?? null, entityId, variantId: variantId ?? null, available })

/** Handles a line that cannot be sold: refuses the basket, or leaves the line out. */
export type OnUnsold = (line: BasketLine, reason: CheckoutFailed) => Effect.Effect<void, CheckoutFailed>

export const refused: OnUnsold = (_, reason) => Effect.fail(reason)

/** Prices lines by the catalog and the steps of plugins; leaves out lines that cannot be sold. */
export const linePrices = Effect.map(
  Effect.all([linePricings, CatalogSettings]),
  ([linePricing, { types }]) =>
    Effect.fnUntraced(
      function*(
        { currency, ...cart }: Basket,
        { customerId, groups, isList, metadata }: Buyer,
        found: PriceCandidates,
        now: Date,
        onUnsold: OnUnsold
      ) {
        const resolved = linePricesOf(cart.lines, found, { currency, groups, now, types })
        const lines: Array<PricedLine> = []
        for (const [index, line] of cart.lines.entries()) {
          const priced = withPrice(line, resolved[index] ?? null, types)
          if (Result.isSuccess(priced)) lines.push(priced.success)
          else yield* onUnsold(line, priced.failure)
        }
        // An agreed price is final: steps that were part of it then are part of it still.
        const open = lines.filter(({ agreed }) => agreed?.unitPrice === undefined)
        const stepped = yield* Effect.mapError(
          linePricing.priced({ currency, customerId, isList, metadata, lines: open }),
          ({ message }) => CheckoutFailed.of(message)
        )
        const rest = stepped.map(withListedSteps).values()
        const all = lines.map((line) => line.agreed?.unitPrice === undefined ? rest.next().value ?? line : line)
        return yield* Effect.forEach(all, discountWithin)
      }
    )
)

/** Sets the price of a line; fails for an unavailable line or a missing price. */
const withPrice = (
  line: BasketLine,
  price: ResolvedPrice | null,
  types: TypePolicies
): Result.Result<PricedLine, CheckoutFailed> => {
  const { agreed, entityType } = line
  const title = line.title ?? line.entityId
  if (!line.available || entityType === null) {
    return Result.fail(CheckoutFailed.of(`${itemLabel({ ...line, title })} is no longer available.`, {
      reason: "unavailable",
      lines: [refusedLine(line)]
    }))
  }
  const linePrice = agreed?.unitPrice === undefined
    ? price && snapshotPrice(price)
    : {
      unitPrice: agreed.unitPrice,
      listPrice: Math.max(agreed.unitPrice, (line.listPrice === undefined ? price?.listAmount : line.listPrice) ?? 0),
      basePriceId: null,
      ...addedStepsOf(agreed.priceSteps)
    }
  const policy = policyOf(types, entityType)
  // Lines that staff has agreed upon have no bound.
  if (agreed === undefined && line.quantity > policy.maxUnitsPerLine) {
    return Result.fail(
      CheckoutFailed.of(
        `A line can have at most ${policy.maxUnitsPerLine} units of ${itemLabel({ ...line, title })}.`,
        {
          reason: "too_many_units",
          lines: [refusedLine(line, policy.maxUnitsPerLine)]
        }
      )
    )
  }
  return linePrice === null
    ? Result.fail(CheckoutFailed.of(`Cannot resolve price for ${line.entityId}.`, {
      reason: "no_price",
      lines: [refusedLine(line)]
    }))
    : Result.succeed({
      ...line,
      entityType,
      title,
      ...Struct.pick(policy, ["storedValue", "singlePurpose", "ships", "payableWithStoredValue"]),
      ...linePrice
    })
}

const withListedSteps = (line: PricedLine): PricedLine => ({
  ...line,
  listPrice: Math.max(line.unitPrice, line.listPrice + perUnit(line.addedSteps ?? []))
})

export const addedStepsOf = (addedSteps: PriceSteps = []) => addedSteps.length === 0 ? {} : { addedSteps }

const discountWithin = (line: PricedLine): Effect.Effect<PricedLine, CheckoutFailed> =>
  agreedTotal(line) < 0
    ? Effect.fail(CheckoutFailed.of(`The discount of ${itemLabel(line)} is more than the line comes to.`))
    : Effect.succeed(line)

/** The total of a line after the discount by staff, before promotions. */
export const agreedTotal = ({ addedSteps = [], agreed, quantity, unitPrice }: PricedLine): number =>
  unitPrice * quantity + perLine(addedSteps) - (agreed?.discount ?? 0)
