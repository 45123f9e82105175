import { Context, Effect, Option, Stream } from "effect"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { type EntitySort, includesOf, sortOf } from "../../domain/catalog/EntityView.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { CurrentActor, currentOrganization } from "../../domain/platform/access/Actor.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { Events, EventTailer } from "../../domain/platform/events/Events.ts"
import { FailedJobs, Jobs } from "../../domain/platform/jobs/Jobs.ts"
import { type PageOf, pageOf, type PageRequest, pageSize } from "../../domain/platform/paging/Paging.ts"
import { TotalledCarts } from "../../workflows/carts/TotalledCarts.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { BeforeDelivery, deliverAfter } from "../access/StreamAccess.ts"
import { wantsTotals } from "../carts/CartsApi.ts"
import { answerOf, checkoutKey } from "../checkout/CheckoutHttp.ts"
import { fingerprint } from "../middleware/IdempotentExecution.ts"
import { PagePace, RpcConnection } from "./RpcSockets.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

const streamPageSize = 100

interface Place {
  readonly number: number
  readonly cursor?: string | undefined
}
const firstPage: Place = { number: 1 }

/** Streams a list page by page: by cursors, so that changes move no record; by numbers where a list has none. */
const allPages = <A, E, R>(read: (page: PageRequest) => Effect.Effect<PageOf<A>, E, R>): Stream.Stream<A, E, R> =>
  Stream.paginate(
    firstPage,
    Effect.fnUntraced(function*({ cursor, number }) {
      if (number > 1) yield* yield* PagePace
      yield* yield* BeforeDelivery
      const { items, nextCursor } = yield* read(pageOf({ page: number, limit: streamPageSize, cursor }))
      const next: Place = { number: number + 1, cursor: nextCursor }
      return [items, items.length < streamPageSize ? Option.none() : Option.some(next)] as const
    })
  )

const newestFirst: EntitySort = { field: "createdAt", ascending: false }

const given = <Options extends object>(options: Options): { [Key in keyof Options]?: NonNullable<Options[Key]> } =>
  Object.assign({}, ...Object.entries(options).map(([key, value]) => value === undefined ? {} : { [key]: value }))

/** Tasks of the deployment. Those of the core act as the service, on trusted inputs. */
export class EnqueueableTasks extends Context.Service<EnqueueableTasks, { readonly has: (slug: string) => boolean }>()(
  "stoa/http/rpc/EnqueueableTasks"
) {}

export class UnknownTask extends invalid("UnknownTask", "task", "is not a task of this deployment.", "not_found") {}

export const rpcHandlers = StoaRpcs.toLayer({
  "catalog.list": ({ cursor, include, limit, page, sort, ...filters }) =>
    CatalogReads.use(Effect.fnUntraced(function*(reads) {
      const asked = { ...filters, ...pageOf({ page, limit, cursor }), include: includesOf(include) }
      return yield* reads.list({ ...asked, sort: yield* sortOf(sort) })
    })),
  "catalog.stream": ({ include, ...filters }) =>
    allPages((page) =>
      CatalogReads.use((reads) => reads.list({ ...filters, ...page, sort: newestFirst, include: includesOf(include) }))
    ),
  "catalog.read": ({ idOrSlug, include }) => CatalogReads.use((reads) => reads.get(idOrSlug, includesOf(include))),
  "catalog.create": (entity) => Catalog.use((catalog) => catalog.create(entity)),
  "catalog.update": ({ change, id }) => Catalog.use((catalog) => catalog.update(id, change)),
  "catalog.remove": ({ id }) => Catalog.use((catalog) => catalog.remove(id)),
  "catalog.publish": ({ id }) => Catalog.use((catalog) => catalog.publish(id)),
  "catalog.archive": ({ id }) => Catalog.use((catalog) => catalog.archive(id)),
  "catalog.discontinue": ({ id }) => Catalog.use((catalog) => catalog.discontinue(id)),
  "catalog.readAttributes": ({ id, locale }) => CatalogReads.use((reads) => reads.attributes(id, locale)),
  "catalog.setAttributes": ({ change, id, locale }) =>
    Catalog.use((catalog) => catalog.setAttributes(id, locale, change)),

  "inventory.check": ({ entityIds }) => Inventory.use((inventory) => inventory.available(entityIds)),
  "inventory.levels": ({ cursor, limit, page, ...filters }) =>
    Inventory.use((inventory) => inventory.levels(filters, pageOf({ page, limit, cursor }))),
  "inventory.stream": (filters) => allPages((page) => Inventory.use((inventory) => inventory.levels(filters, page))),
  "inventory.adjust": (adjustment) => Inventory.use((inventory) => inventory.adjust(adjustment)),
  "inventory.reserve": (units) => Inventory.use((inventory) => inventory.reserve(units)),
  "inventory.release": (units) => Inventory.use((inventory) => inventory.release(units)),
  "inventory.createWarehouse": (warehouse) => Inventory.use((inventory) => inventory.createWarehouse(warehouse)),
  "inventory.warehouses": (page) => Inventory.use((inventory) => inventory.warehouses(pageOf(page))),

  "carts.create": (cart) => TotalledCarts.use((carts) => carts.create(cart)),
  "carts.read": ({ id }) => TotalledCarts.use((carts) => carts.read(id)),
  "carts.change": ({ change, id }) => TotalledCarts.use((carts) => carts.change(id, change)),
  "carts.quote": ({ change, id }) => TotalledCarts.use((carts) => carts.quote(id, change)),
  "carts.addItem": ({ cartId, item, ...query }) =>
    TotalledCarts.use((carts) => carts.addItem(cartId, item, wantsTotals(query))),
  "carts.setQuantity": ({ cartId, itemId, notes, quantity, ...query }) =>
    TotalledCarts.use((carts) => carts.changeItem(cartId, itemId, { notes, quantity }, wantsTotals(query))),
  "carts.removeItem": ({ cartId, itemId, ...query }) =>
    Effect.map(
      TotalledCarts.use((carts) => carts.removeItem(cartId, itemId, wantsTotals(query))),
      ({ totals }) => totals === undefined ? undefined : { totals }
    ),
  // The HTTP fingerprint: a repeat finds its order either way.
  "carts.checkout": Effect.fnUntraced(function*(request, { headers }) {
    const checkouts = yield* Checkouts
    const { remoteAddress } = yield* RpcConnection
    const key = yield* checkoutKey({ headers, remoteAddress }, request, yield* CurrentActor)
    return answerOf(yield* checkouts.start(request, fingerprint("POST", "/api/checkout", JSON.stringify(request)), key))
  }),

  "orders.list": ({ status, ...page }) => Orders.use((orders) => orders.list({ status }, pageOf(page))),
  "orders.stream": ({ status }) => allPages((page) => Orders.use((orders) => orders.list({ status }, page))),
  "orders.read": ({ idOrNumber }) => Orders.use((orders) => orders.get(idOrNumber)),
  "orders.changeStatus": ({ id, ...change }) => StatusChanges.use((changes) => changes.change(id, change)),
  "orders.fulfillments": ({ id, ...page }) =>
    Fulfillments.use((fulfillments) => fulfillments.ofOrder(id, pageOf(page))),

  "customers.list": (page) => Customers.use((customers) => customers.list(pageOf(page))),
  "customers.stream": () => allPages((page) => Customers.use((customers) => customers.list(page))),
  "customers.create": (customer) => Customers.use((customers) => customers.create(customer)),
  "customers.read": ({ id }) => Customers.use((customers) => customers.get(id)),
  "customers.change": ({ change, id, metadataReplace }) =>
    Customers.use((customers) => customers.change(id, change, metadataReplace === true ? "replace" : "merge")),

  "jobs.enqueue": Effect.fnUntraced(function*({ input, task, ...options }) {
    const jobs = yield* Jobs
    if (!(yield* EnqueueableTasks).has(task)) {
      return yield* new UnknownTask()
    }
    const organizationId = yield* currentOrganization
    return { id: yield* jobs.enqueue(task, input, { ...given(options), organizationId }) }
  }),
  "jobs.failed": (page) => FailedJobs.use((failed) => failed.list(pageOf(page))),
  "jobs.stream": () => allPages((page) => FailedJobs.use((failed) => failed.list(page))),
  "jobs.retry": ({ id }) => FailedJobs.use((failed) => failed.retry(id)),

  "events.list": ({ after = 0, limit, type }) =>
    Events.use((events) => events.list({ after, type, limit: pageSize(limit) })),
  "events.tail": ({ after = 0, type }) =>
    Stream.unwrap(
      Effect.zipWith(EventTailer.use((tailer) => tailer.follow(after)), BeforeDelivery, deliverAfter)
    ).pipe(
      Stream.filter((event) => type === undefined || event.type === type)
    )
})
