import { Context, Effect, Layer, Stream } from "effect"
import { CurrentActor, currentOrganization } from "../../domain/access/Actor.ts"
import { toCart } from "../../domain/carts/Cart.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { type EntitySort, sortOf } from "../../domain/catalog/EntityQuery.ts"
import { includesOf } from "../../domain/catalog/Expansion.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { Events } from "../../domain/events/Events.ts"
import { EventTailer } from "../../domain/events/EventTailer.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import { FailedJobs, Jobs } from "../../domain/jobs/Jobs.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { CartClient } from "../../entities/CartClient.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { answerOf, checkoutKey } from "../checkout/CheckoutHttp.ts"
import { toStoreEvent } from "../events/EventStream.ts"
import { fingerprint } from "../middleware/IdempotencyKey.ts"
import { RpcConnection } from "./RpcConnection.ts"
import { allPages, askedPage } from "./RpcPages.ts"
import { CartsRpc, CatalogRpc, CustomersRpc, EventsRpc, InventoryRpc, JobsRpc, OrdersRpc } from "./StoaRpcs.ts"

const oldestFirst: EntitySort = { field: "createdAt", ascending: true }

const catalogHandlers = CatalogRpc.toLayer(Effect.gen(function*() {
  const catalog = yield* Catalog
  const reads = yield* CatalogReads
  return CatalogRpc.of({
    "catalog.list": ({ include, limit, page, sort, ...filters }) =>
      Effect.flatMap(
        sortOf(sort),
        (order) => reads.list({ ...filters, ...askedPage({ page, limit }), sort: order, include: includesOf(include) })
      ),
    "catalog.stream": ({ include, ...filters }) =>
      allPages((page) => reads.list({ ...filters, ...page, sort: oldestFirst, include: includesOf(include) })),
    "catalog.read": ({ idOrSlug, include }) => reads.get(idOrSlug, includesOf(include)),
    "catalog.create": (entity) => catalog.create(entity),
    "catalog.update": ({ change, id }) => catalog.update(id, change),
    "catalog.remove": ({ id }) => catalog.remove(id),
    "catalog.publish": ({ id }) => catalog.publish(id),
    "catalog.archive": ({ id }) => catalog.archive(id),
    "catalog.discontinue": ({ id }) => catalog.discontinue(id),
    "catalog.readAttributes": ({ id, locale }) => reads.attributes(id, locale),
    "catalog.setAttributes": ({ change, id, locale }) => catalog.setAttributes(id, locale, change)
  })
}))

const inventoryHandlers = InventoryRpc.toLayer(Effect.gen(function*() {
  const inventory = yield* Inventory
  return InventoryRpc.of({
    "inventory.check": ({ entityIds }) => inventory.available(entityIds),
    "inventory.levels": ({ limit, page, ...filters }) => inventory.levels(filters, askedPage({ page, limit })),
    "inventory.stream": (filters) => allPages((page) => inventory.levels(filters, page)),
    "inventory.adjust": (adjustment) => inventory.adjust(adjustment),
    "inventory.reserve": (units) => inventory.reserve(units),
    "inventory.release": (units) => inventory.release(units),
    "inventory.createWarehouse": (warehouse) => inventory.createWarehouse(warehouse),
    "inventory.warehouses": (page) => inventory.warehouses(askedPage(page))
  })
}))

const cartsHandlers = CartsRpc.toLayer(Effect.gen(function*() {
  const carts = yield* Carts
  const client = yield* CartClient
  const checkouts = yield* Checkouts
  return CartsRpc.of({
    "carts.create": (cart) => carts.create(cart),
    "carts.read": ({ id }) => Effect.map(carts.get(id), toCart),
    "carts.addItem": ({ cartId, item }) => client.addItem(cartId, item),
    "carts.setQuantity": ({ cartId, itemId, quantity }) => client.setQuantity(cartId, itemId, quantity),
    "carts.removeItem": ({ cartId, itemId }) => client.removeItem(cartId, itemId),
    // The fingerprint of the same request over HTTP, so that a repeat finds its order either way.
    "carts.checkout": Effect.fnUntraced(function*(request, { headers }) {
      const { remoteAddress } = yield* RpcConnection
      const key = yield* checkoutKey({ headers, remoteAddress }, request, yield* CurrentActor)
      return answerOf(
        yield* checkouts.start(request, fingerprint("POST", "/api/checkout", JSON.stringify(request)), key)
      )
    })
  })
}))

const ordersHandlers = OrdersRpc.toLayer(Effect.gen(function*() {
  const orders = yield* Orders
  const fulfillments = yield* Fulfillments
  const changes = yield* StatusChanges
  return OrdersRpc.of({
    "orders.list": ({ status, ...page }) => orders.list({ status }, askedPage(page)),
    "orders.stream": ({ status }) => allPages((page) => orders.list({ status }, page)),
    "orders.read": ({ idOrNumber }) => orders.get(idOrNumber),
    "orders.changeStatus": ({ id, ...change }) => changes.change(id, change),
    "orders.fulfillments": ({ id, ...page }) => fulfillments.ofOrder(id, askedPage(page))
  })
}))

const customersHandlers = CustomersRpc.toLayer(Effect.gen(function*() {
  const customers = yield* Customers
  return CustomersRpc.of({
    "customers.list": (page) => customers.list(askedPage(page)),
    "customers.stream": () => allPages(customers.list),
    "customers.create": (customer) => customers.create(customer),
    "customers.read": ({ id }) => customers.get(id),
    "customers.change": ({ change, id, metadataReplace }) =>
      customers.change(id, change, metadataReplace === true ? "replace" : "merge")
  })
}))

/** Tasks that a call may enqueue: those of the deployment. Tasks of the core act as the service on inputs that it made. */
export class AskedTasks extends Context.Service<AskedTasks, { readonly has: (slug: string) => boolean }>()(
  "stoa/http/rpc/AskedTasks"
) {}

const jobsHandlers = JobsRpc.toLayer(Effect.gen(function*() {
  const failed = yield* FailedJobs
  const jobs = yield* Jobs
  const asked = yield* AskedTasks
  return JobsRpc.of({
    "jobs.enqueue": Effect.fnUntraced(function*({ input, task, ...options }) {
      if (!asked.has(task)) {
        return yield* ValidationFailed.of("task", "is no task of this deployment's own", "not_found")
      }
      const organizationId = yield* currentOrganization
      return { id: yield* jobs.enqueue(task, input, { ...given(options), organizationId }) }
    }),
    "jobs.failed": (page) => failed.list(askedPage(page)),
    "jobs.stream": () => allPages(failed.list),
    "jobs.retry": ({ id }) => failed.retry(id)
  })
}))

/** The options that were sent, without keys for those that were not. */
const given = <Options extends object>(options: Options): { [Key in keyof Options]?: NonNullable<Options[Key]> } =>
  Object.assign({}, ...Object.entries(options).map(([key, value]) => value === undefined ? {} : { [key]: value }))

const eventsHandlers = EventsRpc.toLayer(Effect.gen(function*() {
  const events = yield* Events
  const tailer = yield* EventTailer
  return EventsRpc.of({
    "events.list": ({ after = 0, limit, type }) =>
      Effect.map(events.list({ after, type, limit: askedPage({ limit }).limit }), (batch) => ({
        events: batch.events.map(toStoreEvent),
        next: batch.next
      })),
    "events.tail": ({ after = 0, type }) =>
      Stream.unwrap(tailer.follow(after)).pipe(
        Stream.filter((event) => type === undefined || event.type === type),
        Stream.map(toStoreEvent)
      )
  })
}))

/** Handlers of every call of `StoaRpcs`. */
export const rpcHandlers = Layer.mergeAll(
  catalogHandlers,
  inventoryHandlers,
  cartsHandlers,
  ordersHandlers,
  customersHandlers,
  jobsHandlers,
  eventsHandlers
)
