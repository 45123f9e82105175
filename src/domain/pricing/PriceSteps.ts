import { Schema } from "effect"
import { allocate } from "../platform/money/Money.ts"
import { FreeText, keyText } from "../platform/text/Storable.ts"

const Signed = Schema.Int

/** A step that a plugin added to the price of a line: a modifier, a deposit, a fee (docs/plugins.md). Minor units. */
export const PriceStep = Schema.Struct({
  code: keyText(64).annotate({ description: "Name of the step for programs, such as deposit." }),
  label: FreeText.check(Schema.isMaxLength(255)),
  amountPerUnit: Schema.optionalKey(
    Signed.annotate({ description: "Part of the unit price, in minor units; below zero takes off." })
  ),
  amountPerLine: Schema.optionalKey(
    Signed.annotate({ description: "Added once for the line, in minor units; below zero takes off." })
  ),
  taxable: Schema.optionalKey(Schema.Boolean.annotate({ description: "False: no tax on it, as on some deposits." })),
  taxClass: Schema.optionalKey(
    keyText(100).annotate({
      description:
        "Id or slug of the tax class of the whole line, in place of that of its goods: of food to take away. " +
        "The last step that names one decides.",
      examples: ["reduced"]
    })
  )
}).annotate({ identifier: "PriceStep" })
export type PriceStep = typeof PriceStep.Type

const maxSteps = 50

export const PriceSteps = Schema.Array(PriceStep).check(Schema.isMaxLength(maxSteps))
export type PriceSteps = typeof PriceSteps.Type

export const perUnit = (steps: PriceSteps): number =>
  steps.reduce((sum, { amountPerUnit = 0 }) => sum + amountPerUnit, 0)

export const perLine = (steps: PriceSteps): number =>
  steps.reduce((sum, { amountPerLine = 0 }) => sum + amountPerLine, 0)

/** Reads the tax class that a step names in place of that of the goods. */
export const taxClassBy = (steps: PriceSteps): string | undefined =>
  steps.findLast(({ taxClass }) => taxClass !== undefined)?.taxClass

/**
 * The taxed part of a line in minor units: its price after discount, without steps that are not taxable. The discount
 * is shared by largest remainder.
 */
export const taxableAmount = (line: {
  readonly discountAmount: number
  readonly priceSteps: PriceSteps
  readonly quantity: number
  readonly totalPrice: number
}): number => {
  const { discountAmount, priceSteps, quantity, totalPrice } = line
  const untaxed = priceSteps.filter(({ taxable }) => taxable === false)
  const exempt = Math.min(totalPrice, perUnit(untaxed) * quantity + perLine(untaxed))
  const net = totalPrice - discountAmount
  return exempt === 0 ? net : allocate(net, [totalPrice - exempt, exempt])[0] ?? 0
}
