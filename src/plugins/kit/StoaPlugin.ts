/**
 * The door for plugins (docs/plugins.md): everything of the service that they see is exported here. What is not is free to
 * change with any version.
 */
export { type EntityKey, pluginEntity } from "./actors/PluginEntity.ts"
export { pluginWorkflow, type WorkflowOptions } from "./actors/PluginWorkflow.ts"
export { type EventCondition, type RowIn, rowIn } from "./events/EventConditionRepo.ts"
export type { EventCall, EventHandler, EventSubscription, OnEvents } from "./events/EventHandler.ts"
export { definePlugin, type Plugin } from "./Plugin.ts"
export type { PluginCall } from "./PluginCall.ts"
export { type PluginConfig, PluginContext } from "./PluginContext.ts"
export { afterHook, beforeHook, type PluginHook, type PluginHookContext } from "./PluginHook.ts"
export type { ActorLayer, PluginManifest, PluginNeeds, WorkflowLayer } from "./PluginManifest.ts"
export { option, pluginWith } from "./PluginOptions.ts"
export { defineTask, type PluginTask, type PluginTaskCall } from "./PluginTask.ts"

export type { Column } from "./tables/Column.ts"
export {
  amount,
  boolean,
  date,
  decimal,
  email,
  idOf,
  integer,
  integerBetween,
  json,
  jsonOf,
  list,
  longText,
  oneOf,
  secret,
  text,
  timeOfDay,
  timestamp,
  timeZone,
  uuid
} from "./tables/ColumnKinds.ts"
export type { NotErased, Personal, PersonalRows } from "./tables/Personal.ts"
export type { Announcement, PluginDatabase, Usable } from "./tables/PluginDatabase.ts"
export { rowsOf, statement } from "./tables/StatementRepo.ts"
export {
  type ChangeOf,
  childOf,
  type NewRowOf,
  type RowOf,
  type Table,
  table,
  type TableOptions
} from "./tables/Table.ts"
export { type OrderOf, RowNotFound, type TableHandle } from "./tables/TableHandle.ts"
export { rowJson } from "./tables/TableRowsRepo.ts"
export type { Where, Which } from "./tables/TableWhereRepo.ts"

export { type CsvFile, readCsv } from "./records/Csv.ts"
export { document, type DocumentRow, type DocumentRows, type Documents } from "./records/Document.ts"
export { type DueCounts, type DueOptions, dueTask } from "./records/DueTask.ts"
export { fieldsOf, type InputOf, inputOf } from "./records/InputOf.ts"
export { type Accounts, type Ledger, ledger } from "./records/Ledger.ts"
export { balanceColumns, type Entry, type Hold, type Posting, type Settling } from "./records/LedgerTables.ts"
export { type ListCall, type ListedRows, listOf, type ListOptions, type View } from "./records/ListOf.ts"
export { type Machine, machine, type Moves } from "./records/Machine.ts"
export { modelOf, type ModelOptions } from "./records/ModelOf.ts"
export { moveOf, type MoveOptions } from "./records/MoveOf.ts"
export { type NumberParts, type Numbers, numbers, type NumberSource } from "./records/Numbers.ts"
export { type Owned, ownedBy, type OwnedRows } from "./records/OwnedBy.ts"
export type { Parent } from "./records/Parent.ts"
export { resource } from "./records/Resource.ts"
export type { ResourceOptions, RowCall } from "./records/ResourceOptions.ts"
export { type Visible, visibleRows } from "./records/Visible.ts"

export { businessDate, DayStart, lastDayOf, TimeZone, today } from "../../domain/platform/text/BusinessDate.ts"
export { type ExtensionPoint, extensionPoint } from "./ExtensionPoint.ts"
export { type LiveFeed, liveFeed, type LiveFeedOptions } from "./LiveFeed.ts"
export {
  type Outbound,
  outbound,
  type OutboundError,
  type OutboundOptions,
  OutboundPaused,
  OutboundRejected,
  type OutboundRequest
} from "./outbound/Outbound.ts"
export {
  type OutboundAnswer,
  OutboundFailed,
  OutboundRefused,
  type OutboundStream
} from "./outbound/OutboundTransport.ts"

export type { Refusal, RefusalAnswer, RefusalShape } from "../../http/server/Refusals.ts"

export { messageOf, serverSentEvents } from "../../http/events/ServerSentEvents.ts"
export { ApiError, apiError, type DocumentedError, type ErrorAnswer } from "./routes/ApiError.ts"
export {
  group,
  type GroupOptions,
  type RawGroupOptions,
  type Route,
  type RouteCall,
  type RouteShape
} from "./routes/PluginRoute.ts"
export { type CallOptions, rpcCall, rpcGroup, type ServedRpc, serveRpc } from "./routes/PluginRpc.ts"
export type { RawAnswer, RawCall } from "./routes/RawRoute.ts"
export type { CommonOptions, RawOptions, RouteOptions } from "./routes/RouteShape.ts"
export type { RouteError } from "./routes/RouteTools.ts"

export { itemLabel } from "../../domain/carts/Line.ts"
export {
  CheckoutRequest,
  LineChange,
  LineRequest,
  ManualOrderRequest,
  QuoteRequest
} from "../../domain/checkout/Checkout.ts"
export type {
  CheckoutDecision,
  CheckoutExtension,
  CheckoutToDecide,
  EndedCheckout
} from "../../domain/checkout/CheckoutExtension.ts"
export type { PaidTender, SoldGoods } from "../../domain/checkout/SoldGoods.ts"
export { ProductRecord } from "../../domain/import-export/catalog/ProductRecord.ts"
export { DraftProduct, type SoldLine } from "../../domain/import-export/external/ExternalFormat.ts"
export { categorySlugs, readExternal } from "../../domain/import-export/external/ExternalTables.ts"
export type { SentOptions, SentProduct, TakenProduct } from "../../domain/import-export/external/SentProduct.ts"
export type { PostedLine, PostingReference, StockPostingLine } from "../../domain/inventory/StockPosting.ts"
export type { PrintedDocument } from "../../domain/invoices/PrintedDocuments.ts"
export { declineHeaders, type MailCategory } from "../../domain/mail/DeclineLink.ts"
export type { MailContent, MailScene } from "../../domain/mail/MailContent.ts"
export { TooManyMails } from "../../domain/mail/MailLimits.ts"
export {
  type MailPurpose,
  mailTemplate,
  type NewPluginMail,
  type PluginMailTemplate,
  type TemplatePurpose
} from "../../domain/mail/PluginMails.ts"
export type { Order } from "../../domain/orders/Order.ts"
export type { OrderProjection, RequestedRefund } from "../../domain/orders/OrderProjections.ts"
export type { CollectRequest } from "../../domain/payments/CollectedPayment.ts"
export {
  type PaymentAdapter,
  PaymentCaptureFailed,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentOffer,
  type PaymentRequest,
  PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
export {
  type Actor,
  CurrentActor,
  currentOrganization,
  holds,
  isAnonymous,
  isSignedIn,
  systemActor
} from "../../domain/platform/access/Actor.ts"
export type { KeyScopeOption } from "../../domain/platform/access/ApiKey.ts"
export { addressIn, Country, PostalAddress } from "../../domain/platform/addresses/PostalAddress.ts"
export { type Database, type StatementParts } from "../../domain/platform/database/DatabaseRepo.ts"
export type { Migrations } from "../../domain/platform/database/MigrationStatements.ts"
export { statements } from "../../domain/platform/database/MigrationStatements.ts"
export {
  BadRequest,
  CheckoutFailed,
  Conflict,
  Forbidden,
  InvalidTransition,
  NotFound,
  StillRunning,
  Unauthorized,
  Unavailable,
  ValidationFailed
} from "../../domain/platform/errors/ApiErrors.ts"
export { conflict, forbidden, invalid, notFound } from "../../domain/platform/errors/ErrorKinds.ts"
export { changeLogRows } from "../../domain/platform/events/ChangeLogRepo.ts"
export type { StoreEvent } from "../../domain/platform/events/Event.ts"
export { about, asFlag, typedAs, wholeNumber } from "../../domain/platform/hints/Hints.ts"
export { type HookCondition, HookRefusal } from "../../domain/platform/hooks/Hook.ts"
export * from "../../domain/platform/ids/Id.ts"
export type { AnalyticsModel } from "../../domain/platform/modules/AnalyticsModel.ts"
export type { CoreServices } from "../../domain/platform/modules/ServiceRegistry.ts"
export { addressLines, moneyText } from "../../domain/platform/money/DisplayText.ts"
export { CurrencyCode, exponentOf } from "../../domain/platform/money/Money.ts"
export { allocate } from "../../domain/platform/money/Money.ts"
export { Amount, MinorUnits } from "../../domain/platform/money/Money.ts"
export { offsetOf, type PageOf, type PageRequest } from "../../domain/platform/paging/Paging.ts"
export { GiveUp, RetryIn } from "../../domain/platform/tasks/Task.ts"
export {
  Email,
  emailKey,
  emailKeyOf,
  Mailbox,
  normalizedEmail,
  normalizedMailbox
} from "../../domain/platform/text/Email.ts"
export { slugOf } from "../../domain/platform/text/SlugText.ts"
export { FreeText, StorableObject, Text } from "../../domain/platform/text/Storable.ts"
export {
  isWindow,
  LocalTimeZone,
  Moment,
  requireWindow,
  SentMoment,
  SentUntil,
  Time,
  timeIn,
  Until
} from "../../domain/platform/text/Time.ts"
export type { ConditionalPricing, LinePricing, LinesToPrice } from "../../domain/pricing/LinePricing.ts"
export type { PriceStep } from "../../domain/pricing/PriceSteps.ts"
export type { SearchField } from "../../domain/search/SearchFields.ts"
export type { RateAdapter, RateRequest } from "../../domain/shipping/RateAdapter.ts"
export type { TaxAdapter, TaxRequest } from "../../domain/tax/TaxAdapter.ts"
