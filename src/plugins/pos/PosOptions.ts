import { Context, Effect, Layer, Schema } from "effect"
import { CurrencyCode, option, PluginContext } from "stoa/plugin"
import type { PosTerminalAdapter } from "./CardTerminals.ts"
import type { FiscalAdapter } from "./FiscalRecords.ts"

/** An adapter that calls its provider by the kit's `outbound`. */
type MadeAdapter = Effect.Effect<PosTerminalAdapter, never, Effect.Services<typeof PluginContext>>

const from = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const PinAuth = Schema.Struct({
  credentialTtlSeconds: Schema.optionalKey(from(900, 604_800)),
  lockoutMaxAttempts: Schema.optionalKey(from(1, 100)),
  lockoutWindowMinutes: Schema.optionalKey(from(1, 1_440)),
  refuseWeak: Schema.optionalKey(Schema.Boolean)
})

/** What a deployment decides of its tills (contract, plugins §2.4). */
export const PosSettings = Schema.Struct({
  defaultCurrency: option(CurrencyCode, {
    description: "Currency of sales that name none. Default: of the deployment"
  }),
  maxHoldHours: option(from(1, 720), { default: 24, description: "Hours until a held sale is voided" }),
  discountOverrideThreshold: option(from(0, 100), {
    default: 20,
    description: "Percent off a line above which pos:manage is not enough: it takes pos:admin or an override"
  }),
  allowOversell: option(Schema.Boolean, {
    default: false,
    description: "Sales of goods that are not there or are promised to other orders"
  }),
  refundTo: option(Schema.Literals(["original", "any"]), {
    default: "any",
    description: "`original`: other ways to give money back need an override"
  }),
  unlinkedReturns: option(Schema.Boolean, {
    default: false,
    description: "Goods come back without an order, for pos:admin or with an override"
  }),
  blindClose: option(Schema.Boolean, {
    default: false,
    description: "Those without pos:manage do not see what the drawer should hold"
  }),
  closeDay: option(Schema.Boolean, {
    default: false,
    description: "Closings (Z) are made by themselves when a business day has ended and no shift is open"
  }),
  pinAuth: option(PinAuth, {
    default: {},
    description:
      "Logins by PIN: credentialTtlSeconds (43200), lockoutMaxAttempts (5), lockoutWindowMinutes (15), refuseWeak (true)"
  }),
  giftCards: option(Schema.Boolean, {
    default: false,
    description: "Refunds as a new gift card. Needs the plugin gift-cards before this one"
  }),
  printing: option(Schema.Boolean, {
    default: false,
    description: "Receipts for the printer of a till. Needs the plugin notifications before this one"
  }),
  terminals: option<ReadonlyArray<PosTerminalAdapter | MadeAdapter>>({
    default: [],
    description: "Adapters of card terminals, for payments by card with a `provider`"
  }),
  fiscal: option<FiscalAdapter>({ description: "Signs sales and closings, where the law asks for it" })
})
export type PosSettings = typeof PosSettings.Type

export class PosOptions extends Context.Service<
  PosOptions,
  Omit<PosSettings, "defaultCurrency" | "terminals"> & {
    readonly defaultCurrency: CurrencyCode
    readonly terminals: ReadonlyArray<PosTerminalAdapter>
  }
>()("stoa/plugins/pos/PosOptions") {
  static readonly layerOf = (settings: PosSettings) =>
    Layer.effect(
      PosOptions,
      Effect.gen(function*() {
        const { config } = yield* PluginContext
        const defaultCurrency = settings.defaultCurrency ?? CurrencyCode.make(config.defaultCurrency)
        const terminals = yield* Effect.forEach(
          settings.terminals,
          (one) => Effect.isEffect(one) ? one : Effect.succeed(one)
        )
        return { ...settings, defaultCurrency, terminals }
      })
    )
}

/** The rules of logins by PIN, with their defaults. */
export const pinRules = ({ pinAuth }: Pick<PosSettings, "pinAuth">) => ({
  credentialTtlSeconds: 43_200,
  lockoutMaxAttempts: 5,
  lockoutWindowMinutes: 15,
  refuseWeak: true,
  ...pinAuth
})
