import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import type { HookRefusal } from "../platform/hooks/Hook.ts"
import { askPlugin } from "../platform/hooks/PluginCall.ts"
import type { CustomerId, EntityId, VariantId } from "../platform/ids/Id.ts"
import { perUnit, PriceSteps } from "./PriceSteps.ts"

/** Minor units. */
export interface LineToPrice {
  readonly entityId: EntityId
  /** A type of the catalog: "product". */
  readonly entityType: string
  readonly variantId: VariantId | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly quantity: number
  readonly unitPrice: number
}

export interface LinesToPrice<L extends LineToPrice = LineToPrice> {
  readonly organizationId: string
  readonly currency: string
  /** Null for a guest. */
  readonly customerId: CustomerId | null
  /** Of the cart, order or sale: `orderType` of a till, for example. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Single units for the price list of a till: nothing is chosen or sold, so refuse nothing that a shopper could still choose. */
  readonly isList: boolean
  readonly lines: ReadonlyArray<L>
}

/**
 * Adds steps to the prices of lines (`linePricing` of a plugin). Runs again at each pricing: equal lines must give
 * equal steps. Acts as the request's actor. A `HookRefusal` tells the shopper why there is no price.
 */
export type LinePricing = (
  request: LinesToPrice
) => Effect.Effect<ReadonlyArray<PriceSteps>, HookRefusal, CurrentActor>

/** A line pricing that is asked about some lines alone; `concerns` looks at what it gets and waits for nothing. */
export interface ConditionalPricing {
  readonly concerns: (request: Omit<LinesToPrice, "organizationId">) => boolean
  readonly price: LinePricing
}

export class LinePricingFailed extends Data.TaggedError("LinePricingFailed")<{ readonly message: string }> {}

export type SteppedLine<L extends LineToPrice> = L & { readonly addedSteps?: PriceSteps }

const decode = Schema.decodeUnknownEffect(Schema.Array(PriceSteps))

const broken = (cause: unknown) =>
  Effect.andThen(
    Effect.logError("the line pricing of a plugin is broken", cause),
    Effect.fail(new LinePricingFailed({ message: "The items could not be priced. Try again later." }))
  )

/** A defect of a plugin is logged; the shopper sees the text of a refusal only. */
const ask = Effect.fnUntraced(function*(pricing: LinePricing, request: LinesToPrice) {
  const answer = yield* askPlugin(() => pricing(request), {
    broken,
    refused: (message) => new LinePricingFailed({ message })
  })
  const steps = yield* Effect.catch(decode(answer), broken)
  const isUsable = steps.length === request.lines.length &&
    steps.flat().every(({ amountPerLine = 0, amountPerUnit = 0, taxable }) =>
      taxable !== false || (amountPerUnit >= 0 && amountPerLine >= 0)
    )
  return isUsable ? steps : yield* broken("It gave not one list for each line, or a step below zero without tax.")
})

const withSteps = <L extends LineToPrice>(line: SteppedLine<L>, steps: PriceSteps) =>
  steps.length === 0
    ? line
    : { ...line, unitPrice: line.unitPrice + perUnit(steps), addedSteps: [...line.addedSteps ?? [], ...steps] }

const stepped = Effect.fnUntraced(function*<L extends LineToPrice>(pricing: LinePricing, request: LinesToPrice<L>) {
  const steps = yield* ask(pricing, request)
  const lines = request.lines.map((line, index): SteppedLine<L> => withSteps(line, steps[index] ?? []))
  return lines.every(({ unitPrice }) => Number.isSafeInteger(unitPrice) && unitPrice >= 0)
    ? lines
    : yield* new LinePricingFailed({ message: "The price of an item would be below zero." })
})

export const emptyLinePricings = () => {
  const pricings: Array<ConditionalPricing> = []
  return {
    register: (pricing: LinePricing | ConditionalPricing) =>
      Effect.sync(() => void pricings.push("price" in pricing ? pricing : { price: pricing, concerns: () => true })),
    priced: <L extends LineToPrice>(
      request: Omit<LinesToPrice<L>, "organizationId">
    ): Effect.Effect<ReadonlyArray<SteppedLine<L>>, LinePricingFailed, CurrentActor> => {
      const asked = request.lines.length === 0 ? [] : pricings.filter(({ concerns }) => concerns(request))
      return asked.length === 0
        ? Effect.succeed(request.lines)
        : Effect.flatMap(CurrentActor, ({ organizationId }) =>
          Effect.reduce(
            asked,
            (): ReadonlyArray<SteppedLine<L>> => request.lines,
            (lines, { price }) => stepped(price, { ...request, organizationId, lines })
          ))
    }
  }
}

/** The line pricing of the plugins of this process (docs/plugins.md). */
export class LinePricings extends Context.Service<LinePricings>()("stoa/domain/pricing/LinePricings", {
  make: Effect.sync(emptyLinePricings)
}) {
  static readonly layer = Layer.effect(LinePricings, LinePricings.make)
}

export const linePricings: Effect.Effect<LinePricings["Service"]> = Effect.map(
  Effect.serviceOption(LinePricings),
  Option.getOrElse(emptyLinePricings)
)
