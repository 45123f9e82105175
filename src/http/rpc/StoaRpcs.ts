import { Context, Schema, SchemaGetter, Struct } from "effect"
import { Rpc, RpcGroup, RpcMiddleware } from "effect/rpc"
import { CartLineChange, CreatedCart, NewCart, NewCartLine } from "../../domain/carts/Cart.ts"
import { CartChange } from "../../domain/carts/CartChoices.ts"
import {
  Attributes,
  AttributesChange,
  CatalogEntity,
  EntityChange,
  Locale,
  NewEntity
} from "../../domain/catalog/Entity.ts"
import { EntityView } from "../../domain/catalog/EntityView.ts"
import { PriceChanged, QuotedCart } from "../../domain/checkout/CartTotals.ts"
import { CheckoutAnswer, CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { ChangedLine, TotalledCart } from "../../domain/checkout/ShownCart.ts"
import { Customer, CustomerChange, NewCustomer } from "../../domain/customers/Customer.ts"
import { Fulfillment } from "../../domain/fulfillment/Fulfillment.ts"
import { AdjustStock, ManualStock } from "../../domain/inventory/StockAdjustment.ts"
import {
  AdjustedLevel,
  AvailableStock,
  NewWarehouse,
  StockLevel,
  Warehouse
} from "../../domain/inventory/StockLevel.ts"
import { Order } from "../../domain/orders/Order.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import * as Errors from "../../domain/platform/errors/ApiErrors.ts"
import { emittedTypes, StoreEvent } from "../../domain/platform/events/Event.ts"
import { CartId, CartLineId, CustomerId, EntityId, JobId, OrderId, WarehouseId } from "../../domain/platform/ids/Id.ts"
import { Job } from "../../domain/platform/jobs/Job.ts"
import { pageQuery, Pagination } from "../../domain/platform/paging/Paging.ts"
import { FreeText, StorableObject } from "../../domain/platform/text/Storable.ts"
import { CartsGroup } from "../carts/CartsApi.ts"
import { CatalogGroup } from "../catalog/CatalogApi.ts"
import { CheckoutGroup } from "../checkout/CheckoutApi.ts"
import { CustomersGroup } from "../customers/CustomersApi.ts"
import { EventsGroup } from "../events/EventsApi.ts"
import { InventoryGroup } from "../inventory/InventoryApi.ts"
import { JobsGroup } from "../jobs/JobsApi.ts"
import { OrdersGroup } from "../orders/OrdersApi.ts"

/** With the tag: `Conflict` and `StillRunning` have the same body, and a call has no status. */
const tagged = <Refusal extends { readonly _tag: string }, Encoded>(
  tag: Refusal["_tag"],
  schema: Schema.Codec<Refusal, Encoded>
) =>
  Schema.Struct({ _tag: Schema.Literal(tag), refusal: schema }).pipe(
    Schema.decodeTo(Schema.toType(schema), {
      decode: SchemaGetter.transform(({ refusal }) => refusal),
      encode: SchemaGetter.transform((refusal) => ({ _tag: tag, refusal }))
    })
  )

export const refusal = Schema.Union([
  tagged("Unauthorized", Errors.Unauthorized),
  tagged("Forbidden", Errors.Forbidden),
  tagged("ValidationFailed", Errors.ValidationFailed),
  tagged("Conflict", Errors.Conflict),
  tagged("StillRunning", Errors.StillRunning),
  tagged("Unavailable", Errors.Unavailable),
  tagged("TooManyRequests", Errors.TooManyRequests),
  tagged("TwoFactorRequired", Errors.TwoFactorRequired),
  tagged("OrgResolutionFailed", Errors.OrgResolutionFailed)
])
export type Refusal = typeof refusal.Type

/** Errors of a call that names a record. Another organization's record is `NotFound`. */
export const failure = Schema.Union([refusal, tagged("NotFound", Errors.NotFound)])

export const checkoutFailed = tagged("CheckoutFailed", Errors.CheckoutFailed)
export const invalidTransition = tagged("InvalidTransition", Errors.InvalidTransition)

/**
 * Middleware of every call (docs/clients.md): API key, permission, rate limits, idempotency. A client without a key
 * does not compile.
 */
export class RpcAccess
  extends RpcMiddleware.Service<RpcAccess, { provides: CurrentActor }>()("stoa/http/rpc/RpcAccess", {
    error: refusal,
    requiredForClient: true
  })
{}

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** From 1, at most 100 records. Default the first 20. */
export const pageFields = {
  page: Schema.optional(whole(1_000_000)),
  limit: Schema.optional(whole(100)),
  cursor: pageQuery.cursor
}

export const pageOfRecords = <Record extends Schema.Top>(record: Record) =>
  Schema.Struct({ items: Schema.Array(record), ...Struct.omit(Pagination.fields, ["totalPages"]) })

const call = <const Tag extends string, Payload extends Schema.Top | Schema.Struct.Fields, Success extends Schema.Top>(
  tag: Tag,
  payload: Payload,
  success: Success
) => Rpc.make(tag, { payload, success, error: failure })

const list = <const Tag extends string, Fields extends Schema.Struct.Fields, Item extends Schema.Top>(
  tag: Tag,
  filters: Fields,
  item: Item
) => Rpc.make(tag, { payload: { ...pageFields, ...filters }, success: pageOfRecords(item), error: refusal })

const stream = <const Tag extends string, Payload extends Schema.Top | Schema.Struct.Fields, Item extends Schema.Top>(
  tag: Tag,
  payload: Payload,
  success: Item
) => Rpc.make(tag, { payload, success, error: refusal, stream: true })

const entity = { id: EntityId }
const include = { include: Schema.optional(FreeText) }
const entityFilters = {
  type: Schema.optional(FreeText),
  status: Schema.optional(FreeText),
  category: Schema.optional(FreeText),
  brand: Schema.optional(FreeText),
  ...include
}

const catalog = RpcGroup.make(
  list("list", { ...entityFilters, sort: Schema.optional(FreeText) }, EntityView),
  // Oldest first: additions come at the end and move nothing.
  stream("stream", entityFilters, EntityView),
  call("read", { idOrSlug: FreeText, ...include }, EntityView),
  call("create", NewEntity, CatalogEntity),
  call("update", { ...entity, change: EntityChange }, CatalogEntity),
  call("remove", entity, Schema.Void),
  call("publish", entity, CatalogEntity),
  call("archive", entity, CatalogEntity),
  call("discontinue", entity, CatalogEntity),
  call("readAttributes", { ...entity, locale: Locale }, Attributes),
  call("setAttributes", { ...entity, locale: Locale, change: AttributesChange }, Schema.Void)
).prefix("catalog.")

const stockFilters = { entityId: Schema.optional(EntityId), warehouseId: Schema.optional(WarehouseId) }
const entityIds = Schema.Array(EntityId).check(Schema.isMaxLength(100))

const inventory = RpcGroup.make(
  Rpc.make("check", { payload: { entityIds }, success: AvailableStock }),
  list("levels", stockFilters, StockLevel),
  stream("stream", stockFilters, StockLevel),
  call("adjust", AdjustStock, AdjustedLevel),
  call("reserve", ManualStock, Schema.Void),
  call("release", ManualStock, Schema.Void),
  call("createWarehouse", NewWarehouse, Warehouse),
  list("warehouses", {}, Warehouse)
).prefix("inventory.")

const line = { cartId: CartId, itemId: CartLineId }

const totalled = { error: Schema.Union([failure, checkoutFailed]) }

const carts = RpcGroup.make(
  call("create", NewCart, CreatedCart),
  Rpc.make("read", { payload: { id: CartId }, success: TotalledCart, ...totalled }),
  Rpc.make("change", { payload: { id: CartId, change: CartChange }, success: TotalledCart, ...totalled }),
  Rpc.make("quote", { payload: { id: CartId, change: CartChange }, success: QuotedCart, ...totalled }),
  // `include: "totals"`: the line as a read shows it, with the cart's totals.
  Rpc.make("addItem", {
    payload: { cartId: CartId, item: NewCartLine, ...include },
    success: ChangedLine,
    ...totalled
  }),
  Rpc.make("setQuantity", {
    payload: { ...line, ...CartLineChange.fields, ...include },
    success: ChangedLine,
    ...totalled
  }),
  Rpc.make("removeItem", {
    payload: { ...line, ...include },
    success: Schema.Union([QuotedCart, Schema.Void]),
    ...totalled
  }),
  Rpc.make("checkout", {
    payload: CheckoutRequest,
    success: CheckoutAnswer,
    error: Schema.Union([failure, checkoutFailed, tagged("PriceChanged", PriceChanged)])
  })
).prefix("carts.")

const ofStatus = { status: Schema.optional(Schema.String) }

const orders = RpcGroup.make(
  list("list", ofStatus, Order),
  stream("stream", ofStatus, Order),
  call("read", { idOrNumber: Schema.String }, Order),
  Rpc.make("changeStatus", {
    payload: { id: OrderId, status: Schema.String, reason: Schema.optional(FreeText) },
    success: Order,
    error: Schema.Union([failure, invalidTransition])
  }),
  call("fulfillments", { id: OrderId, ...pageFields }, pageOfRecords(Fulfillment))
).prefix("orders.")

const customers = RpcGroup.make(
  list("list", {}, Customer),
  stream("stream", Schema.Void, Customer),
  Rpc.make("create", { payload: NewCustomer, success: Customer, error: refusal }),
  call("read", { id: CustomerId }, Customer),
  // Merged into the stored `metadata`, or replaces it.
  call("change", { id: CustomerId, change: CustomerChange, metadataReplace: Schema.optional(Schema.Boolean) }, Customer)
).prefix("customers.")

const NewJob = Schema.Struct({
  task: FreeText,
  input: StorableObject,
  queue: Schema.optional(FreeText),
  delayMs: Schema.optional(Schema.Int),
  maxAttempts: Schema.optional(Schema.Int),
  concurrencyKey: Schema.optional(FreeText)
})

/** Like `/api/admin/jobs`, with an enqueue. */
const jobs = RpcGroup.make(
  Rpc.make("enqueue", { payload: NewJob, success: Schema.Struct({ id: JobId }), error: refusal }),
  list("failed", {}, Job),
  stream("stream", Schema.Void, Job),
  call("retry", { id: JobId }, Job)
).prefix("jobs.")

const eventFilters = {
  /** The sequence to start after. Default 0, the beginning. */
  after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  type: Schema.optional(Schema.Literals(emittedTypes))
}

/** Like `GET /api/events`. */
const events = RpcGroup.make(
  Rpc.make("list", {
    payload: { ...eventFilters, limit: pageFields.limit },
    success: Schema.Struct({ events: Schema.Array(StoreEvent), next: Schema.Int })
  }),
  // Events after the cursor, then new ones, in order and without gaps, until the process ends.
  stream("tail", eventFilters, StoreEvent)
).prefix("events.")

/** Calls of `/rpc` (docs/clients.md). */
export const StoaRpcs = catalog.merge(carts, orders, inventory, jobs, customers, events)
  .middleware(RpcAccess)
  .annotateRpcs(Rpc.ParseOptions, { errors: "all" })

export class ReadOnly extends Context.Service<ReadOnly, true>()("stoa/http/rpc/ReadOnly") {}

type Route = { readonly method: string; readonly annotations: Context.Context<never> }

const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  catalog: { ...CatalogGroup.endpoints, stream: CatalogGroup.endpoints.list },
  carts: { ...CartsGroup.endpoints, ...CheckoutGroup.endpoints },
  orders: { ...OrdersGroup.endpoints, stream: OrdersGroup.endpoints.list },
  inventory: {
    ...InventoryGroup.endpoints,
    stream: InventoryGroup.endpoints.levels,
    warehouses: InventoryGroup.endpoints.listWarehouses
  },
  jobs: {
    ...JobsGroup.endpoints,
    stream: JobsGroup.endpoints.failed,
    enqueue: { method: "POST", annotations: Context.make(Access, anyOf("jobs:admin")) }
  },
  customers: { ...CustomersGroup.endpoints, stream: CustomersGroup.endpoints.list },
  events: { ...EventsGroup.endpoints, tail: EventsGroup.endpoints.list }
}

/** Access rule, rate limit and idempotency of a call. Calls of plugins have them as annotations. */
export const routeOf = (tag: string, annotations: Context.Context<never> = Context.empty()): Route => {
  const [group = "", name = ""] = tag.split(".")
  const method = Context.getOrUndefined(annotations, ReadOnly) === true ? "GET" : "POST"
  return routes[group]?.[name] ?? { annotations, method }
}
