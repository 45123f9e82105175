import { Data, Result, Schema, Struct } from "effect"
import type { EntityId, VariantId } from "../platform/ids/Id.ts"
import { type AmountOutOfRange, type Minor, minor, percentOf } from "../platform/money/Money.ts"
import { Metadata } from "../platform/text/Storable.ts"

/** A price (contract 7): minor units, null means "any" or "open". */
export interface PriceRow {
  readonly id: string
  readonly entityId: EntityId
  readonly variantId: VariantId | null
  readonly currency: string
  readonly amount: number
  readonly compareAtAmount: number | null
  readonly customerGroupId: string | null
  readonly minQuantity: number | null
  readonly maxQuantity: number | null
  readonly validFrom: Date | null
  readonly validUntil: Date | null
  readonly createdAt: Date
}

/** Percentages are integers, other values are minor units (contract 7.3, 12.3 #25). */
export const ModifierType = Schema.Literals([
  "percentage_discount",
  "fixed_discount",
  "markup",
  "percentage_markup",
  "override"
]).annotate({
  description: "Effect on the price. markup and fixed_discount: minor units. override: the new price."
})
export type ModifierType = typeof ModifierType.Type

const largestPercentages: { readonly [Type in ModifierType]?: number } = {
  percentage_discount: 100,
  percentage_markup: 1_000
}

export const largestPercentage = (type: ModifierType): number | undefined => largestPercentages[type]

/** Null means "any" or "open" (contract 7). */
export interface ModifierRow {
  readonly id: string
  readonly name: string
  readonly type: ModifierType
  readonly value: number
  readonly priority: number
  readonly entityId: EntityId | null
  readonly variantId: VariantId | null
  readonly customerGroupId: string | null
  readonly currency: string | null
  readonly minQuantity: number | null
  readonly maxQuantity: number | null
  readonly conditions: { readonly [key: string]: unknown }
  readonly validFrom: Date | null
  readonly validUntil: Date | null
}

export interface PriceQuestion {
  readonly prices: ReadonlyArray<PriceRow>
  readonly modifiers: ReadonlyArray<ModifierRow>
  readonly entityId: EntityId
  readonly variantId: VariantId | null
  readonly currency: string
  readonly quantity: number
  readonly groups: ReadonlyArray<string>
  readonly now: Date
  /** The entity's `metadata.basePrice`, used when no price matches; rounded half up. */
  readonly basePrice: number | null
}

export interface AppliedModifier {
  readonly id: string
  readonly name: string
  readonly type: ModifierType
  readonly delta: number
  readonly value: number
  readonly priority: number
}

/** Minor units of one unit. */
export const BreakdownStep = Schema.Struct({
  label: Schema.String,
  amountBefore: Schema.Int,
  delta: Schema.Int,
  amountAfter: Schema.Int,
  metadata: Metadata
})
export type BreakdownStep = typeof BreakdownStep.Type

/** A unit price in minor units; `basePriceId` is null when the entity's base price was used. */
export interface ResolvedPrice {
  readonly baseAmount: Minor
  readonly finalAmount: Minor
  /** The price to compare with, else the price before modifiers and groups. */
  readonly listAmount: number
  readonly currency: string
  readonly basePriceId: string | null
  readonly appliedModifiers: ReadonlyArray<AppliedModifier>
  readonly breakdown: ReadonlyArray<BreakdownStep>
}

/** No price row matches and the entity has no usable base price (contract 7.3.2). */
export class NoPrice extends Data.TaggedError("NoPrice")<{ readonly entityId: EntityId; readonly currency: string }> {
  override get message(): string {
    return `No base price configured for ${this.entityId} (${this.currency}).`
  }
}

interface Bounds {
  readonly customerGroupId: string | null
  readonly minQuantity: number | null
  readonly maxQuantity: number | null
  readonly validFrom: Date | null
  readonly validUntil: Date | null
}

const admits = (row: Bounds, question: PriceQuestion): boolean =>
  (row.minQuantity === null || question.quantity >= row.minQuantity) &&
  (row.maxQuantity === null || question.quantity <= row.maxQuantity) &&
  (row.validFrom === null || question.now >= row.validFrom) &&
  (row.validUntil === null || question.now < row.validUntil) &&
  (row.customerGroupId === null || question.groups.includes(row.customerGroupId))

const isCandidate = (row: PriceRow, question: PriceQuestion): boolean =>
  row.entityId === question.entityId && row.currency === question.currency &&
  (row.variantId === null || row.variantId === question.variantId) && admits(row, question)

const isWellFormed = (row: ModifierRow): boolean => {
  const largest = largestPercentage(row.type)
  return largest === undefined
    ? row.currency !== null && Number.isSafeInteger(row.value) && row.value >= 0
    : row.value >= 0 && row.value <= largest
}

const reachesMinimum = (row: ModifierRow, base: number, quantity: number): boolean => {
  const minimum = row.conditions["minSubtotal"]
  return typeof minimum !== "number" || BigInt(base) * BigInt(quantity) >= minimum
}

const applies = (row: ModifierRow, base: number, question: PriceQuestion): boolean =>
  (row.entityId === null || row.entityId === question.entityId) &&
  (row.variantId === null || row.variantId === question.variantId) &&
  (row.currency === null || row.currency === question.currency) &&
  admits(row, question) && isWellFormed(row) && reachesMinimum(row, base, question.quantity)

const width = (from: number | null, until: number | null): number =>
  from !== null && until !== null ? until - from : from === null && until === null ? Infinity : Number.MAX_VALUE

const quantityWidth = (row: Bounds): number => width(row.minQuantity, row.maxQuantity)
const windowWidth = (row: Bounds): number => width(row.validFrom?.getTime() ?? null, row.validUntil?.getTime() ?? null)

const ascending = (left: number, right: number): number => left < right ? -1 : left > right ? 1 : 0
const byText = (left: string, right: string): number => left < right ? -1 : left > right ? 1 : 0
const unset = (value: string | null): number => value === null ? 1 : 0

/**
 * Specific before general, never cheap before expensive (contract 7.3.3). The larger id decides last: equal rows always
 * give the same result.
 */
const preference = (left: PriceRow, right: PriceRow): number =>
  ascending(unset(left.variantId), unset(right.variantId)) ||
  ascending(unset(left.customerGroupId), unset(right.customerGroupId)) ||
  ascending(quantityWidth(left), quantityWidth(right)) ||
  ascending(windowWidth(left), windowWidth(right)) ||
  ascending(right.createdAt.getTime(), left.createdAt.getTime()) ||
  byText(right.id, left.id)

const modified = (row: ModifierRow, running: bigint): bigint => {
  if (row.type === "override") return BigInt(row.value)
  if (row.type === "markup") return running + BigInt(row.value)
  if (row.type === "percentage_markup") return running + percentOf(running, row.value)
  // Each percentage is rounded half up separately, on the running amount (contract 3.3).
  const off = row.type === "percentage_discount"
    ? percentOf(running, row.value)
    : BigInt(row.value)
  return off < running ? running - off : 0n
}

interface Base {
  readonly amount: number
  readonly compareAtAmount: number | null
  readonly priceId: string | null
}

export const firstStep = (amount: number, priceId: string | null): BreakdownStep => ({
  label: priceId === null ? "Entity base price" : "Base price",
  amountBefore: 0,
  delta: amount,
  amountAfter: amount,
  metadata: { priceId }
})

const baseOf = (question: PriceQuestion): Base | undefined => {
  const price = question.prices.filter((row) => isCandidate(row, question)).sort(preference)[0]
  if (price !== undefined) return { ...Struct.pick(price, ["amount", "compareAtAmount"]), priceId: price.id }
  const { basePrice } = question
  return basePrice === null || !Number.isFinite(basePrice) || basePrice < 0
    ? undefined
    : { amount: Math.round(basePrice), compareAtAmount: null, priceId: null }
}

const listAmountOf = (base: Base, question: PriceQuestion): number => {
  const usual = baseOf({ ...question, groups: [] }) ?? base
  const compared = [base, usual].flatMap(({ amount, compareAtAmount }) =>
    compareAtAmount !== null && compareAtAmount > amount ? [compareAtAmount] : []
  )
  return compared[0] ?? usual.amount
}

/**
 * The unit price for a buyer, a quantity and a time (contract 7.3). Modifiers apply by priority, then id, each on the
 * running amount, never below zero; an invalid one is skipped. `quantity` is an integer.
 */
export const resolvePrice = (
  question: PriceQuestion
): Result.Result<ResolvedPrice, NoPrice | AmountOutOfRange> => {
  const base = baseOf(question)
  if (base === undefined) {
    return Result.fail(new NoPrice({ entityId: question.entityId, currency: question.currency }))
  }
  return Result.flatMap(minor(base.amount, "base price"), (baseAmount) => {
    const rows = question.modifiers
      .filter((row) => applies(row, baseAmount, question))
      .sort((left, right) => ascending(left.priority, right.priority) || byText(left.id, right.id))
    return Result.map(applyModifiers(baseAmount, rows), (steps) => ({
      baseAmount,
      finalAmount: steps.finalAmount,
      listAmount: listAmountOf(base, question),
      currency: question.currency,
      basePriceId: base.priceId,
      appliedModifiers: steps.applied,
      breakdown: [firstStep(baseAmount, base.priceId), ...steps.breakdown]
    }))
  })
}

const applyModifiers = (base: Minor, rows: ReadonlyArray<ModifierRow>) =>
  Result.gen(function*() {
    const applied: Array<AppliedModifier> = []
    const breakdown: Array<BreakdownStep> = []
    let running = base
    for (const row of rows) {
      const after = yield* minor(modified(row, BigInt(running)), "modified price")
      const delta = after - running
      applied.push({ id: row.id, name: row.name, type: row.type, delta, value: row.value, priority: row.priority })
      breakdown.push({
        label: row.name,
        amountBefore: running,
        delta,
        amountAfter: after,
        metadata: { modifierId: row.id, type: row.type, value: row.value }
      })
      running = after
    }
    return { finalAmount: running, applied, breakdown }
  })
