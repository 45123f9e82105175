import { Context, Layer } from "effect"
import { type KeyScopes, mergedScopes } from "../access/ApiKey.ts"
import { defaultRoles, type Roles } from "../access/Permission.ts"

/** Rules of the store that the domain needs, as the deployment configured them (`commerce.config.ts`). */
export interface Settings {
  /** Organization of requests that name none. */
  readonly defaultOrganizationId: string
  /** Currency of amounts that carry none, for example a fixed promotion. */
  readonly defaultCurrency: string
  /** IANA name of the zone of the store's days. */
  readonly timeZone: string
  /** Life of a cart in minutes, fixed at creation (contract §2: 7 days). */
  readonly cartTtlMinutes: number
  /** How many lines a cart can have. */
  readonly cartMaxLines: number
  /** How long stock is held for a checkout in progress, in seconds. */
  readonly holdSeconds: number
  /** How many orders that a shopper wrote, and did not check out, may wait for their payment at once. */
  readonly maxUnpaidOrders: number
  /** How long an order waits for its shopper to confirm the payment, in minutes. */
  readonly confirmationMinutes: number
  /** Whether a checkout takes the money it has authorized, or an operator does later (`POST /orders/:id/capture`). */
  readonly capture: "automatic" | "manual"
  /** How long a pending order may stay unpaid before it is cancelled, in hours; 0 for ever. */
  readonly staleOrderHours: number
  readonly roles: Roles
  /** Available scopes of API keys (`auth.apiKeyScopes`). */
  readonly keyScopes: KeyScopes
  /** Whether stored API keys open anything (`auth.apiKeys.enabled`). */
  readonly keysEnabled: boolean
  /** What visitors and signed-in shoppers may do. */
  readonly customerPermissions: ReadonlyArray<string>
}

/** Defaults for settings missing from the deployment's configuration. */
export const defaultSettings: Settings = {
  defaultOrganizationId: "org_default",
  defaultCurrency: "USD",
  timeZone: "UTC",
  cartTtlMinutes: 10_080,
  cartMaxLines: 500,
  holdSeconds: 900,
  maxUnpaidOrders: 3,
  confirmationMinutes: 60,
  capture: "automatic",
  staleOrderHours: 48,
  roles: defaultRoles,
  keyScopes: mergedScopes(),
  keysEnabled: false,
  customerPermissions: defaultRoles["customer"] ?? []
}

/** The settings of this deployment. */
export class StoreSettings
  extends Context.Service<StoreSettings, Settings>()("stoa/domain/platform/settings/StoreSettings")
{
  static readonly layerOf = (settings: Partial<Settings>): Layer.Layer<StoreSettings> =>
    Layer.succeed(StoreSettings, { ...defaultSettings, ...settings })
}
