import { Effect, Layer } from "effect"
import { type KeyScopeOption, modelOf, pluginWith } from "stoa/plugin"
import { GiftCards } from "../gift-cards/index.ts"
import { PrintQueue } from "../notifications/index.ts"
import { tillMethods } from "./CardTerminals.ts"
import { closingRoutes, closings } from "./Closings.ts"
import { deviceRoutes } from "./Devices.ts"
import { PosExtensions } from "./Extensions.ts"
import { fiscalRecords } from "./FiscalRecords.ts"
import { fiscalRoutes } from "./FiscalRoutes.ts"
import { posTasks } from "./Jobs.ts"
import { lineRoutes } from "./LineRoutes.ts"
import { lookupRoutes } from "./Lookups.ts"
import { attempts, operatorRoutes, pins } from "./Operators.ts"
import { overrides } from "./Overrides.ts"
import { paymentRoutes } from "./PaymentRoutes.ts"
import { Pos } from "./Pos.ts"
import { PosOptions, PosSettings } from "./PosOptions.ts"
import { receiptMail, receiptRoutes } from "./Receipts.ts"
import { returnRoutes } from "./ReturnRoutes.ts"
import { saleRoutes } from "./SaleRoutes.ts"
import { lines, payments, returnItems, transactions } from "./Sales.ts"
import { sessionRoute } from "./Session.ts"
import { shiftRoutes } from "./ShiftRoutes.ts"
import { cashEvents, logins, shifts } from "./Shifts.ts"
import { splitRoutes } from "./Splits.ts"
import { syncRoute } from "./Sync.ts"
import { devices, deviceScope, terminalRoutes, terminals } from "./Terminals.ts"
import { terminalWebhook } from "./TerminalWebhook.ts"
import { termRoutes } from "./TermRoutes.ts"
import { transactionRoutes } from "./TransactionRoutes.ts"

export type { PosTerminalAdapter, TerminalEvent, TerminalOutcome, TerminalRequest } from "./CardTerminals.ts"
export { type LineMove, type MovedUnits, type PosExtension, PosExtensions } from "./Extensions.ts"
export type { FiscalAdapter, FiscalRecord } from "./FiscalRecords.ts"
export { type Action, type Approval, overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
export { Pos } from "./Pos.ts"
export type { SaleLine, Transaction } from "./Sales.ts"
export type { Sale } from "./SaleStore.ts"
export type { Shift } from "./Shifts.ts"
export { stripeTerminal, type StripeTerminalOptions } from "./StripeTerminal.ts"
export { authorOf, type Terminal } from "./Terminals.ts"
export { OperatorTips } from "./TotalsRepo.ts"

const permissions = [
  { scope: "pos:operate", description: "Sell at a till" },
  { scope: "pos:manage", description: "Set prices, void and take back without an override, see all shifts" },
  { scope: "pos:admin", description: "Manage tills, devices and PINs, read reports" },
  { scope: "pos:device", description: "Look goods up, log people in, send what was sold offline" }
]

const keyScopes: Readonly<Record<string, KeyScopeOption>> = {
  pos: {
    prefix: "pos_shift_",
    description: "Logins by PIN",
    permissions: { pos: ["operate", "manage"] },
    references: "organization"
  },
  [deviceScope]: {
    prefix: "pos_device_",
    description: "Devices of tills",
    permissions: { pos: ["device"] },
    references: "organization"
  }
}

/** Sales at tills: shifts, payments one by one, returns, closings (contract-tills-channels §A): `plugins: [pos({ … })]`. */
export const pos = pluginWith("pos", PosSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  requires: ["notifications", "gift-cards"].filter((id) =>
    id === "gift-cards" ? settings.giftCards : settings.printing
  ),
  uses: [...(settings.printing ? [PrintQueue] : []), ...(settings.giftCards ? [GiftCards] : [])],
  permissions,
  keyScopes,
  schema: () => ({
    terminals,
    devices,
    shifts,
    cashEvents,
    logins,
    transactions,
    lines,
    payments,
    returnItems,
    pins,
    attempts,
    overrides,
    closings,
    fiscalRecords
  }),
  layer: Layer.mergeAll(PosOptions.layerOf(settings), Pos.layer, PosExtensions.layer),
  exports: [Pos, PosExtensions],
  events: ["pos.completed", "pos.voided", "pos.returned", "pos.shift_closed", "pos.closing"],
  mailTemplates: [receiptMail],
  paymentMethods: () => Effect.map(PosOptions, ({ terminals }) => tillMethods(terminals)),
  routes: (context) => [
    terminalWebhook(context),
    ...terminalRoutes,
    ...deviceRoutes,
    ...operatorRoutes,
    ...shiftRoutes,
    ...transactionRoutes,
    ...lineRoutes,
    ...termRoutes,
    ...splitRoutes,
    ...paymentRoutes,
    ...saleRoutes,
    ...returnRoutes,
    ...receiptRoutes,
    ...closingRoutes,
    ...fiscalRoutes,
    ...lookupRoutes,
    syncRoute,
    sessionRoute
  ],
  tasks: (context) => posTasks(context, settings),
  analyticsModels: () => [
    modelOf(shifts, {
      name: "PosShifts",
      sums: ["salesTotal", "cashVariance"],
      dims: ["terminalId", "status", "createdAt"]
    }),
    modelOf(lines, {
      name: "PosItems",
      sums: ["quantity", "totalPrice", "discountAmount"],
      dims: ["entityId", "title", "isCustomPrice", "createdAt"]
    }),
    modelOf(payments, { name: "PosPayments", sums: ["amount", "tip"], dims: ["method", "status", "createdAt"] })
  ]
}))
