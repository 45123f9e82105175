import { Effect } from "effect"
import { isCurrencyCode } from "../../domain/money/Currency.ts"
import { defaultSettings, type Settings } from "../../domain/settings/StoreSettings.ts"
import type { AccessSettings } from "./AccessConfig.ts"
import type { DeploymentConfig } from "./DeploymentConfig.ts"
import { checkShipping } from "./ShippingConfig.ts"
import { refuse } from "./Variables.ts"

/** What `commerce.config.ts` says of the store must be usable before the first request finds out that it is not. */
export const checkStore = Effect.fnUntraced(function*(deployment: DeploymentConfig) {
  const { importExport, changeLog, orders, retention, server, store } = deployment
  yield* checkShipping(deployment.shipping ?? {})
  const { defaultCurrency = defaultSettings.defaultCurrency } = store ?? {}
  const { defaultOrganizationId = defaultSettings.defaultOrganizationId } = store ?? {}
  if (!isCurrencyCode(defaultCurrency)) {
    return yield* refuse("store.defaultCurrency", defaultCurrency, "the upper-case code of a currency, for example USD")
  }
  const keepDays = changeLog?.keepDays ?? defaultSettings.changeLogDays
  if (!Number.isInteger(keepDays) || keepDays < 0 || keepDays > 36_500) {
    return yield* refuse("changeLog.keepDays", String(keepDays), "a whole number of days, 0 for ever")
  }
  const capture: string = deployment.payments?.capture ?? defaultSettings.capture
  if (capture !== "automatic" && capture !== "manual") {
    return yield* refuse("payments.capture", capture, "`automatic` or `manual`")
  }
  const staleHours = orders?.staleHours ?? defaultSettings.staleOrderHours
  if (!Number.isInteger(staleHours) || staleHours < 0 || staleHours > 87_600) {
    return yield* refuse("orders.staleHours", String(staleHours), "a whole number of hours, 0 for never")
  }
  for (const [name, value] of Object.entries(retention ?? {})) {
    if (!Number.isInteger(value) || value < 1 || value > 36_500) {
      return yield* refuse(`retention.${name}`, String(value), "a whole number from 1 to 36500")
    }
  }
  const { batchRows = 500, maxFileBytes = 1 } = importExport ?? {}
  if (!Number.isInteger(batchRows) || batchRows < 1 || batchRows > 5000) {
    return yield* refuse("importExport.batchRows", String(batchRows), "a whole number from 1 to 5000")
  }
  if (!Number.isSafeInteger(maxFileBytes) || maxFileBytes < 1) {
    return yield* refuse("importExport.maxFileBytes", String(maxFileBytes), "a whole number of bytes")
  }
  for (const [name, value] of Object.entries(server?.requestTimes ?? {})) {
    if (!Number.isInteger(value) || value < 1 || value > 3_600_000) {
      return yield* refuse(`server.requestTimes.${name}`, String(value), "a whole number of milliseconds up to 3600000")
    }
  }
  if (!/^[\w-]{1,64}$/.test(defaultOrganizationId)) {
    return yield* refuse("store.defaultOrganizationId", defaultOrganizationId, "1 to 64 letters, digits, _ and -")
  }
})

/** What `commerce.config.ts` says of the store, over what holds everywhere. */
export const storeSettings = (
  access: AccessSettings,
  deployment: DeploymentConfig
): Omit<Settings, "keysEnabled"> => ({
  defaultOrganizationId: access.defaultOrganizationId,
  defaultCurrency: deployment.store?.defaultCurrency ?? defaultSettings.defaultCurrency,
  cartTtlMinutes: deployment.cart?.ttlMinutes ?? defaultSettings.cartTtlMinutes,
  holdSeconds: deployment.checkout?.holdSeconds ?? defaultSettings.holdSeconds,
  maxUnpaidOrders: deployment.checkout?.maxUnpaidOrders ?? defaultSettings.maxUnpaidOrders,
  confirmationMinutes: deployment.checkout?.confirmationMinutes ?? defaultSettings.confirmationMinutes,
  capture: deployment.payments?.capture ?? defaultSettings.capture,
  staleOrderHours: deployment.orders?.staleHours ?? defaultSettings.staleOrderHours,
  roles: access.roles,
  keyScopes: access.keyScopes,
  customerPermissions: access.customerPermissions,
  idempotencyHours: deployment.retention?.idempotencyHours ?? defaultSettings.idempotencyHours,
  changeLogDays: deployment.changeLog?.keepDays ?? defaultSettings.changeLogDays,
  endedCartDays: deployment.retention?.cartDays ?? defaultSettings.endedCartDays,
  endedHoldDays: deployment.retention?.holdDays ?? defaultSettings.endedHoldDays,
  revisionDays: deployment.retention?.revisionDays ?? defaultSettings.revisionDays,
  providerEventDays: deployment.retention?.providerEventDays ?? defaultSettings.providerEventDays
})
