import { Context, Layer } from "effect"
import { defaultRoles, type Roles } from "../access/Role.ts"

/** Shipping priced by configuration (contract §3.4); amounts in minor units of the cart's currency. */
export interface FlatShipping {
  readonly type: "flat"
  readonly flatRate: number
  readonly freeShippingThreshold?: number | undefined
}

/** Shipping by total weight: the first bracket that holds the weight, else the fallback (contract §3.4). */
export interface WeightShipping {
  readonly type: "weight_based"
  readonly brackets: ReadonlyArray<{ readonly upToGrams: number; readonly cost: number }>
  readonly fallbackCost: number
  readonly freeShippingThreshold?: number | undefined
}

/** Rules of the store that the domain needs, as the deployment configured them (`commerce.config.ts`). */
export interface Settings {
  /** Organization of requests that name none. */
  readonly defaultOrganizationId: string
  /** Currency of amounts that carry none, for example a fixed promotion. */
  readonly defaultCurrency: string
  /** Life of a cart in minutes, fixed at creation (contract §2: 7 days). */
  readonly cartTtlMinutes: number
  /** How long stock stays held for a checkout that has not ended, in seconds. */
  readonly holdSeconds: number
  /** How long an order waits for its shopper to confirm the payment, in minutes. */
  readonly confirmationMinutes: number
  readonly shipping: FlatShipping | WeightShipping
  readonly roles: Roles
  /** What visitors and signed-in shoppers may do. */
  readonly customerPermissions: ReadonlyArray<string>
  /** How long answers to Idempotency-Key are remembered, in hours. */
  readonly idempotencyHours: number
  /** How long the journal keeps entries, in days; 0 for ever. */
  readonly journalDays: number
  /** How long carts and holds stay after their end, for whoever has to look what happened. */
  readonly endedCartDays: number
  readonly endedHoldDays: number
  /** How long events of payment providers are remembered: none repeats one after a month. */
  readonly providerEventDays: number
}

/** What holds where the deployment says nothing. */
export const defaultSettings: Settings = {
  defaultOrganizationId: "org_default",
  defaultCurrency: "USD",
  cartTtlMinutes: 10_080,
  holdSeconds: 900,
  confirmationMinutes: 60,
  shipping: { type: "flat", flatRate: 0 },
  roles: defaultRoles,
  customerPermissions: defaultRoles["customer"] ?? [],
  idempotencyHours: 24,
  journalDays: 730,
  endedCartDays: 30,
  endedHoldDays: 30,
  providerEventDays: 90
}

/** The settings of this deployment. */
export class StoreSettings extends Context.Service<StoreSettings, Settings>()("stoa/domain/settings/StoreSettings") {
  static readonly layerOf = (settings: Partial<Settings>): Layer.Layer<StoreSettings> =>
    Layer.succeed(StoreSettings, { ...defaultSettings, ...settings })
}
