import { Context, DateTime, Layer, Schema } from "effect"
import { type KeyScopes, mergedScopes } from "../access/ApiKey.ts"
import { defaultRoles, type Roles } from "../access/Permission.ts"
import { LocalTimeZone } from "../text/Time.ts"

/** A fact that a store may require before it sells. */
export const Requirement = Schema.Literals(["email", "shippingAddress", "billingAddress", "phone"])
export type Requirement = typeof Requirement.Type

/** Rules of the store from `commerce.config.ts`. */
export interface Settings {
  readonly defaultOrganizationId: string
  readonly defaultCurrency: string
  readonly timeZone: string
  /** Minutes, fixed at creation (contract §2: 7 days). */
  readonly cartTtlMinutes: number
  readonly cartMaxLines: number
  /** Seconds. */
  readonly holdSeconds: number
  /** Maximum unpaid orders of a shopper, without those of checkouts. */
  readonly maxUnpaidOrders: number
  readonly requires: ReadonlyArray<Requirement>
  /** Addresses of a checkout need a state where their country asks for one. */
  readonly strictAddresses: boolean
  /** Minutes that an order waits for its shopper to confirm the payment. */
  readonly confirmationMinutes: number
  /** `manual`: an operator captures later (`POST /orders/:id/capture`). */
  readonly capture: "automatic" | "manual"
  /** 0: never. */
  readonly staleOrderHours: number
  /** Days after the delivery in which shoppers can ask for a return. */
  readonly returnDays: number
  readonly roles: Roles
  readonly keyScopes: KeyScopes
  readonly keysEnabled: boolean
  readonly customerPermissions: ReadonlyArray<string>
}

export const defaultSettings: Settings = {
  defaultOrganizationId: "org_default",
  defaultCurrency: "USD",
  timeZone: "UTC",
  cartTtlMinutes: 10_080,
  cartMaxLines: 500,
  holdSeconds: 900,
  maxUnpaidOrders: 3,
  requires: [],
  strictAddresses: false,
  confirmationMinutes: 60,
  capture: "automatic",
  staleOrderHours: 48,
  returnDays: 30,
  roles: defaultRoles,
  keyScopes: mergedScopes(),
  keysEnabled: false,
  customerPermissions: defaultRoles["customer"] ?? []
}

export class StoreSettings
  extends Context.Service<StoreSettings, Settings>()("stoa/domain/platform/settings/StoreSettings")
{
  /** With the zone of local times. */
  static readonly layerOf = (given: Partial<Settings>): Layer.Layer<StoreSettings> => {
    const settings = { ...defaultSettings, ...given }
    return Layer.merge(
      Layer.succeed(StoreSettings, settings),
      Layer.succeed(LocalTimeZone, DateTime.zoneMakeNamedUnsafe(settings.timeZone))
    )
  }
}
