import { Context, Effect, Layer, Schema } from "effect"
import type { Order } from "../orders/Order.ts"
import { CurrentActor, systemActor } from "../platform/access/Actor.ts"
import type { PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { CheckoutFailed, outOfService } from "../platform/errors/ApiErrors.ts"
import type { HookRefusal } from "../platform/hooks/Hook.ts"
import { askPlugin, tellPlugin } from "../platform/hooks/PluginCall.ts"
import {
  type CartId,
  type CustomerId,
  type EntityId,
  type OrderId,
  type VariantId,
  WarehouseId
} from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { keyText, StorableObject, Text } from "../platform/text/Storable.ts"
import type { ShippingPrice } from "../shipping/ShippingPrices.ts"
import type { CheckoutExtensionData, PricedCart } from "./PricedCart.ts"

/** A cart after promotions and before shipping and tax. Amounts in minor units. */
export interface CheckoutToDecide {
  readonly organizationId: string
  readonly checkoutId: OrderId | null
  readonly cartId: CartId | null
  readonly currency: string
  readonly customerId: CustomerId | null
  readonly shippingAddress: PostalAddress | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly subtotal: number
  readonly discountTotal: number
  readonly lines: ReadonlyArray<{
    readonly entityId: EntityId
    /** A type of the catalog: "product". */
    readonly entityType: string
    readonly variantId: VariantId | null
    readonly metadata: Readonly<Record<string, unknown>>
    readonly quantity: number
    readonly unitPrice: number
  }>
}

/** A plugin's decisions about a checkout; absent fields are decided as without it. */
export const CheckoutDecision = Schema.Struct({
  /** Minor units, instead of rates; `shippingMethod` is their name for the order. */
  shippingTotal: Schema.optionalKey(Amount),
  shippingMethod: Schema.optionalKey(Text),
  /** The stock is taken from this warehouse only. */
  warehouseId: Schema.optionalKey(WarehouseId),
  /** `metadata.channel` of the order. */
  channel: Schema.optionalKey(keyText(64)),
  /** Kept with the checkout for the plugin; readers of the order do not see it. */
  data: Schema.optionalKey(StorableObject)
})
export type CheckoutDecision = typeof CheckoutDecision.Type

export interface EndedCheckout {
  readonly organizationId: string
  readonly checkoutId: OrderId
  readonly data: Readonly<Record<string, unknown>> | null
}

/** Takes part in checkouts (`checkoutExtension` of a plugin, docs/plugins.md). */
export interface CheckoutExtension {
  /** Whether `decide` is asked about a checkout; it looks at what it gets and waits for nothing. Default: always. */
  readonly concerns?: (checkout: CheckoutToDecide) => boolean
  /**
   * Runs before `checkout.beforePayment`, and for quotes; as the shopper. A checkout whose process dies asks again:
   * decide the same by its id; the first stored decision counts. A `HookRefusal` fails the checkout.
   */
  readonly decide: (
    checkout: CheckoutToDecide
  ) => Effect.Effect<CheckoutDecision | undefined, HookRefusal, CurrentActor>
  /** Runs after the order's transaction and before the capture; at least once. Acts as the system. */
  readonly created?: (
    checkout: EndedCheckout & { readonly order: Order }
  ) => Effect.Effect<void, never, CurrentActor>
  /**
   * Runs when the checkout failed after `decide`, also with a created order; at least once, also when the process dies.
   * Acts as the system.
   */
  readonly failed?: (checkout: EndedCheckout) => Effect.Effect<void, never, CurrentActor>
}

export interface CheckoutTerms extends Omit<CheckoutDecision, "data"> {
  readonly shippingBy?: string
  readonly extensions?: CheckoutExtensionData
}

type PricedForTerms = Pick<CheckoutToDecide, "customerId" | "discountTotal" | "lines" | "subtotal">

export type DecideTerms = (priced: PricedForTerms) => Effect.Effect<CheckoutTerms, CheckoutFailed, CurrentActor>

export const noTerms: DecideTerms = () => Effect.succeed({})

const decode = Schema.decodeUnknownEffect(Schema.UndefinedOr(CheckoutDecision))

const refused = (message: string) => CheckoutFailed.of(message)

const outOfOrder = CheckoutFailed.of("The checkout could not be completed. Try again later.", outOfService)

const broken = (cause: unknown) =>
  Effect.andThen(
    Effect.logError("the checkout extension of a plugin is broken", cause),
    Effect.fail(outOfOrder)
  )

const makeExtensions = () => {
  const extensions: Array<CheckoutExtension & { readonly plugin: string }> = []

  const decided = Effect.fnUntraced(function*(
    before: CheckoutTerms,
    { decide, plugin }: typeof extensions[number],
    checkout: CheckoutToDecide
  ) {
    const answer = yield* askPlugin(() => decide(checkout), { broken, refused })
    const { data, ...terms } = (yield* Effect.catch(decode(answer), broken)) ?? {}
    const after: CheckoutTerms = {
      ...terms,
      ...(terms.shippingTotal === undefined ? {} : { shippingBy: plugin }),
      ...before,
      ...(data === undefined ? {} : { extensions: { ...before.extensions, [plugin]: data } })
    }
    return after
  })

  const tell = (
    name: "created" | "failed",
    checkoutId: OrderId,
    data: CheckoutExtensionData | undefined,
    call: (one: CheckoutExtension, ended: EndedCheckout) => Effect.Effect<void, never, CurrentActor> | undefined
  ) =>
    Effect.flatMap(CurrentActor, ({ organizationId }) =>
      Effect.forEach(extensions, (one) =>
        tellPlugin(
          `\`checkoutExtension.${name}\``,
          () => call(one, { organizationId, checkoutId, data: data?.[one.plugin] ?? null }) ?? Effect.void
        ).pipe(Effect.provideService(CurrentActor, systemActor(organizationId))), { discard: true }))

  return {
    register: (plugin: string, extension: CheckoutExtension) =>
      Effect.sync(() => void extensions.push({ ...extension, plugin })),
    any: () => extensions.length > 0,
    /** The first plugin that decides a field wins. */
    decide: (checkout: Omit<CheckoutToDecide, "organizationId" | keyof PricedForTerms>): DecideTerms => (priced) =>
      Effect.flatMap(CurrentActor, ({ organizationId }) =>
        Effect.reduce(
          extensions.filter(({ concerns }) => concerns?.({ ...checkout, ...priced, organizationId }) ?? true),
          (): CheckoutTerms => ({}),
          (terms, one) => decided(terms, one, { ...checkout, ...priced, organizationId })
        )),
    created: (order: Order, data: CheckoutExtensionData | undefined) =>
      tell("created", order.id, data, ({ created }, ended) => created?.({ ...ended, order })),
    failed: (checkoutId: OrderId, data: CheckoutExtensionData | undefined) =>
      tell("failed", checkoutId, data, ({ failed }, ended) => failed?.(ended))
  }
}

/** Checkout extensions of the plugins of this process. */
export class CheckoutExtensions
  extends Context.Service<CheckoutExtensions>()("stoa/domain/checkout/CheckoutExtensions", {
    make: Effect.sync(makeExtensions)
  })
{
  static readonly layer = Layer.effect(CheckoutExtensions, CheckoutExtensions.make)
}

export const decidedShipping = (
  { shippingBy, shippingMethod, shippingTotal }: CheckoutTerms
): ShippingPrice | undefined =>
  shippingTotal === undefined
    ? undefined
    : { total: shippingTotal, method: shippingMethod ?? null, rateId: shippingBy ?? null }

export const withTerms = (pricedCart: PricedCart, { channel, extensions, warehouseId }: CheckoutTerms): PricedCart => ({
  ...pricedCart,
  ...(warehouseId === undefined ? {} : { warehouseId }),
  ...(extensions === undefined ? {} : { extensions }),
  ...(channel === undefined ? {} : { metadata: { ...pricedCart.metadata, channel } })
})
