import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { anyOf } from "../../domain/access/AccessRule.ts"
import { Cart, CartLine, CreatedCart, NewCart, NewCartLine, Quantity } from "../../domain/carts/Cart.ts"
import { Attributes, AttributesChange } from "../../domain/catalog/Attributes.ts"
import { CatalogEntity, EntityChange, NewEntity } from "../../domain/catalog/Entity.ts"
import { EntityView } from "../../domain/catalog/Expansion.ts"
import { Locale } from "../../domain/catalog/FieldText.ts"
import { CheckoutAnswer, CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { Customer, CustomerChange, NewCustomer } from "../../domain/customers/Customer.ts"
import { eventTypes } from "../../domain/events/Event.ts"
import { Fulfillment } from "../../domain/fulfillment/Fulfillment.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { ManualStock } from "../../domain/inventory/ManualStock.ts"
import { AdjustStock } from "../../domain/inventory/StockAdjustment.ts"
import { AdjustedLevel, StockLevel } from "../../domain/inventory/StockLevel.ts"
import { NewWarehouse, Warehouse } from "../../domain/inventory/Warehouse.ts"
import { Job } from "../../domain/jobs/Job.ts"
import { Order } from "../../domain/orders/Order.ts"
import { FreeText, StorableObject } from "../../domain/text/Storable.ts"
import { CartsGroup } from "../carts/CartsApi.ts"
import { CatalogGroup } from "../catalog/CatalogApi.ts"
import { CheckoutGroup } from "../checkout/CheckoutApi.ts"
import { CustomersGroup } from "../customers/CustomersApi.ts"
import { EventsGroup, StoreEvent } from "../events/EventsApi.ts"
import { InventoryGroup } from "../inventory/InventoryApi.ts"
import { JobsGroup } from "../jobs/JobsApi.ts"
import { OrdersGroup } from "../orders/OrdersApi.ts"
import { changeBy, errors, likeRoutes, pageFields, pageOfRecords, RpcAccess } from "./RpcContract.ts"

const { conflict, forbidden, invalid, notFound, stillRunning, unauthorized, unavailable } = errors

const likeEntities = likeRoutes(CatalogGroup)
const likeStock = likeRoutes(InventoryGroup)
const likeCarts = likeRoutes(CartsGroup)
const likeOrders = likeRoutes(OrdersGroup)
const likeCustomers = likeRoutes(CustomersGroup)
const likeJobs = likeRoutes(JobsGroup)
const likeEvents = likeRoutes(EventsGroup)

const include = Schema.optional(FreeText)
const entityFilters = {
  type: Schema.optional(FreeText),
  status: Schema.optional(FreeText),
  category: Schema.optional(FreeText),
  brand: Schema.optional(FreeText),
  include
}
const changing = Schema.Union([notFound, conflict, invalid])

const status = <const Name extends "publish" | "archive" | "discontinue">(name: Name) =>
  Rpc.make(name, { payload: { id: Uuid }, success: CatalogEntity, error: changing }).annotateMerge(likeEntities(name))

/** Entities of the catalog and their words, as the routes under `/api/catalog/entities` have them. */
export const CatalogRpc = RpcGroup.make(
  Rpc.make("list", {
    payload: { ...pageFields, ...entityFilters, sort: Schema.optional(FreeText) },
    success: pageOfRecords(EntityView),
    error: invalid
  }).annotateMerge(likeEntities("list")),
  // Oldest first, so that what is added meanwhile comes at the end and moves nothing.
  Rpc.make("stream", { payload: entityFilters, success: EntityView, error: invalid, stream: true })
    .annotateMerge(likeEntities("list")),
  Rpc.make("read", {
    payload: { idOrSlug: FreeText, include },
    success: EntityView,
    error: Schema.Union([notFound, invalid])
  }).annotateMerge(likeEntities("read")),
  Rpc.make("create", {
    payload: NewEntity,
    success: CatalogEntity,
    error: Schema.Union([forbidden, notFound, conflict, invalid])
  })
    .annotateMerge(likeEntities("create")),
  Rpc.make("update", { payload: { id: Uuid, change: EntityChange }, success: CatalogEntity, error: changing })
    .annotateMerge(likeEntities("update")),
  Rpc.make("remove", { payload: { id: Uuid }, error: changing }).annotateMerge(likeEntities("remove")),
  status("publish"),
  status("archive"),
  status("discontinue"),
  Rpc.make("readAttributes", { payload: { id: Uuid, locale: Locale }, success: Attributes, error: notFound })
    .annotateMerge(likeEntities("readAttributes")),
  Rpc.make("setAttributes", {
    payload: { id: Uuid, locale: Locale, change: AttributesChange },
    error: Schema.Union([forbidden, notFound, invalid])
  }).annotateMerge(likeEntities("setAttributes"))
).prefix("catalog.").middleware(RpcAccess)

const stockFilters = { entityId: Schema.optional(Uuid), warehouseId: Schema.optional(Uuid) }

/** Stock and warehouses, as the routes under `/api/inventory` have them. Units. */
export const InventoryRpc = RpcGroup.make(
  Rpc.make("check", {
    payload: { entityIds: Schema.Array(Uuid).check(Schema.isMaxLength(100)) },
    success: Schema.Record(Schema.String, Schema.Int)
  }).annotateMerge(likeStock("check")),
  Rpc.make("levels", { payload: { ...pageFields, ...stockFilters }, success: pageOfRecords(StockLevel) })
    .annotateMerge(likeStock("levels")),
  Rpc.make("stream", { payload: stockFilters, success: StockLevel, stream: true }).annotateMerge(likeStock("levels")),
  Rpc.make("adjust", { payload: AdjustStock, success: AdjustedLevel, error: changing }).annotateMerge(
    likeStock("adjust")
  ),
  Rpc.make("reserve", { payload: ManualStock, error: changing }).annotateMerge(likeStock("reserve")),
  Rpc.make("release", { payload: ManualStock, error: notFound }).annotateMerge(likeStock("release")),
  Rpc.make("createWarehouse", { payload: NewWarehouse, success: Warehouse, error: changing })
    .annotateMerge(likeStock("createWarehouse")),
  Rpc.make("warehouses", { payload: pageFields, success: pageOfRecords(Warehouse) })
    .annotateMerge(likeStock("listWarehouses"))
).prefix("inventory.").middleware(RpcAccess)

const changingCart = Schema.Union([notFound, conflict, forbidden, invalid, unavailable])

/** Carts and their checkout, as the routes under `/api/carts` and `/api/checkout` have them. */
export const CartsRpc = RpcGroup.make(
  Rpc.make("create", { payload: NewCart, success: CreatedCart, error: notFound }).annotateMerge(likeCarts("create")),
  Rpc.make("read", { payload: { id: Uuid }, success: Cart, error: notFound }).annotateMerge(likeCarts("read")),
  Rpc.make("addItem", { payload: { cartId: Uuid, item: NewCartLine }, success: CartLine, error: changingCart })
    .annotateMerge(likeCarts("addItem")),
  Rpc.make("setQuantity", {
    payload: { cartId: Uuid, itemId: Uuid, quantity: Quantity },
    success: CartLine,
    error: changingCart
  }).annotateMerge(likeCarts("setQuantity")),
  Rpc.make("removeItem", { payload: { cartId: Uuid, itemId: Uuid }, error: changingCart })
    .annotateMerge(likeCarts("removeItem")),
  Rpc.make("checkout", {
    payload: CheckoutRequest,
    success: CheckoutAnswer,
    error: Schema.Union([notFound, conflict, stillRunning, forbidden, invalid, errors.notCheckedOut, unavailable])
  }).annotateMerge(likeRoutes(CheckoutGroup)("checkout"))
).prefix("carts.").middleware(RpcAccess)

const ofStatus = { status: Schema.optional(Schema.String) }
const unreadable = Schema.Union([notFound, forbidden])

/** Orders after their placement, as the routes under `/api/orders` have them. */
export const OrdersRpc = RpcGroup.make(
  Rpc.make("list", { payload: { ...pageFields, ...ofStatus }, success: pageOfRecords(Order) }).annotateMerge(
    likeOrders("list")
  ),
  Rpc.make("stream", { payload: ofStatus, success: Order, stream: true }).annotateMerge(likeOrders("list")),
  Rpc.make("read", { payload: { idOrNumber: Schema.String }, success: Order, error: unreadable })
    .annotateMerge(likeOrders("read")),
  Rpc.make("changeStatus", {
    payload: { id: Uuid, status: Schema.String, reason: Schema.optional(FreeText) },
    success: Order,
    error: Schema.Union([notFound, unauthorized, forbidden, conflict, invalid, errors.noTransition, unavailable])
  }).annotateMerge(likeOrders("changeStatus")),
  Rpc.make("fulfillments", {
    payload: { id: Uuid, ...pageFields },
    success: pageOfRecords(Fulfillment),
    error: unreadable
  }).annotateMerge(likeOrders("fulfillments"))
).prefix("orders.").middleware(RpcAccess)

/** Customers as staff keeps them, as the routes under `/api/customers` have them. */
export const CustomersRpc = RpcGroup.make(
  Rpc.make("list", { payload: pageFields, success: pageOfRecords(Customer) }).annotateMerge(likeCustomers("list")),
  Rpc.make("stream", { success: Customer, stream: true }).annotateMerge(likeCustomers("list")),
  Rpc.make("create", { payload: NewCustomer, success: Customer, error: conflict }).annotateMerge(
    likeCustomers("create")
  ),
  Rpc.make("read", { payload: { id: Uuid }, success: Customer, error: notFound }).annotateMerge(likeCustomers("read")),
  Rpc.make("change", {
    // `metadata` is laid over what is there, or takes its place.
    payload: { id: Uuid, change: CustomerChange, metadataReplace: Schema.optional(Schema.Boolean) },
    success: Customer,
    error: notFound
  }).annotateMerge(likeCustomers("change"))
).prefix("customers.").middleware(RpcAccess)

/** Background jobs: what the routes under `/api/admin/jobs` have, and the enqueue that no route has. */
export const JobsRpc = RpcGroup.make(
  Rpc.make("enqueue", {
    // A job of the caller's own organization. An unknown task is accepted, and fails when it is run (spec §4 Jobs).
    payload: {
      task: FreeText,
      input: StorableObject,
      queue: Schema.optional(FreeText),
      delayMs: Schema.optional(Schema.Int),
      maxAttempts: Schema.optional(Schema.Int),
      concurrencyKey: Schema.optional(FreeText)
    },
    success: Schema.Struct({ id: Uuid }),
    error: invalid
  }).annotateMerge(changeBy(anyOf("jobs:admin"))),
  Rpc.make("failed", { payload: pageFields, success: pageOfRecords(Job) }).annotateMerge(likeJobs("failed")),
  Rpc.make("stream", { success: Job, stream: true }).annotateMerge(likeJobs("failed")),
  Rpc.make("retry", { payload: { id: Uuid }, success: Job, error: Schema.Union([notFound, conflict]) })
    .annotateMerge(likeJobs("retry"))
).prefix("jobs.").middleware(RpcAccess)

const eventFilters = {
  /** The sequence to start behind. Default 0, the beginning. */
  after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  type: Schema.optional(Schema.Literals(eventTypes))
}

/** The announced events of the organization, as `GET /api/events` has them. */
export const EventsRpc = RpcGroup.make(
  Rpc.make("list", {
    payload: { ...eventFilters, limit: pageFields.limit },
    success: Schema.Struct({ events: Schema.Array(StoreEvent), next: Schema.Int })
  }).annotateMerge(likeEvents("list")),
  // All events after the cursor and then each new one, in order and without gaps. It ends when the process does; call it
  // again with the last sequence you received.
  Rpc.make("tail", { payload: eventFilters, success: StoreEvent, error: unavailable, stream: true })
    .annotateMerge(likeEvents("list"))
).prefix("events.").middleware(RpcAccess)

/** Every call that `/rpc` answers (docs/clients.md). A refused payload has an issue for each of its faults. */
export const StoaRpcs = CatalogRpc.merge(CartsRpc, OrdersRpc, InventoryRpc, JobsRpc, CustomersRpc, EventsRpc)
  .annotateRpcs(Rpc.ParseOptions, { errors: "all" })
