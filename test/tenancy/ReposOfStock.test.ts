import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { StockAuditRepo } from "../../src/domain/inventory/StockAuditRepo.ts"
import type { StockPosting } from "../../src/domain/inventory/StockPosting.ts"
import { StockPostingRepo } from "../../src/domain/inventory/StockPostingRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EntityId, newId, nilId, OrderId, type VariantId, WarehouseId } from "../../src/domain/platform/ids/Id.ts"
import { waiting } from "../support/AtOnce.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { giveAway, insert, openAnother, whileLocked } from "./AnotherTenant.ts"
import { rowsOf } from "./Footprint.ts"

const Repos = Layer.mergeAll(
  HoldRepo.layer,
  ManualHoldRepo.layer,
  OrderHoldRepo.layer,
  ReservationRepo.layer,
  StockAuditRepo.layer,
  StockPostingRepo.layer,
  StockRepo.layer
).pipe(
  Layer.provideMerge(TestDatabase),
  Layer.provideMerge(Layer.succeed(CurrentActor, systemActor("org_default")))
)

/** Names that two organizations share: holders are any text, and the keys of the tables begin with the organization. */
interface Shared {
  readonly order: OrderId
  readonly sellable: EntityId
  readonly warehouse: WarehouseId
}

type HoldState = "held" | "sold" | "released"

/**
 * The same sellable in the same warehouse, held by the same order with 4 units and manually with 2, of the owner (10 on
 * hand) and of another tenant (100 on hand, version 7). `state` is that of the owner's holds; the others are held. The
 * other tenant's rows are first in the tables, where a statement that does not tell them apart finds them first.
 */
const sharedStock = Effect.fnUntraced(function*(state: HoldState) {
  const sql = yield* SqlClient.SqlClient
  const shared: Shared = {
    order: OrderId.make(randomUUID()),
    sellable: EntityId.make(randomUUID()),
    warehouse: WarehouseId.make(randomUUID())
  }
  const { order, sellable, warehouse } = shared
  yield* openAnother
  yield* insert("warehouses", { id: warehouse, name: "Shared", code: warehouse })
  const tenants = [["org_another", 100, 7, "held"], ["org_default", 10, 0, state]] as const
  for (const [organization_id, on_hand, version, now] of tenants) {
    yield* sql`insert into stock_items values (${organization_id}, ${sellable}::uuid, ${version})`
    const level = { sellable_id: sellable, warehouse_id: warehouse, entity_id: sellable, on_hand, reserved: 6 }
    yield* insert("stock_levels", { organization_id, id: randomUUID(), ...level })
    for (const [holder, quantity] of [[order, 4], [`manual:${order}`, 2]] as const) {
      yield* sql`insert into holds (organization_id, holder, state, pricing, expires_at, updated_at)
        values (${organization_id}, ${holder}, ${now}, to_jsonb(${organization_id}::text), now() + interval '1 hour',
          case when ${now} = 'released' then now() - interval '100 days' else now() end)`
      yield* sql`insert into hold_lines values (${organization_id}, ${holder}, ${sellable}::uuid, ${warehouse}::uuid,
        ${quantity})`
    }
  }
  return shared
})

type Left = [
  onHand: number,
  reserved: number,
  version: number,
  order: string | null,
  manual: string | null,
  held: number,
  movements: number
]

/** The owner's units on hand and reserved, version, states of both holds, units that they hold, and movements. */
const leftOf = Effect.fnUntraced(function*({ order, sellable }: Shared) {
  const sql = yield* SqlClient.SqlClient
  const stateOf = (holder: string) =>
    sql`(select state from holds where organization_id = 'org_default' and holder = ${holder})`
  const [row = {}] = yield* sql`select l.on_hand, l.reserved, i.version::int4 as version, ${stateOf(order)} as order,
      ${stateOf(`manual:${order}`)} as manual,
      (select coalesce(sum(quantity), 0)::int4 from hold_lines h
        where h.organization_id = 'org_default' and h.sellable_id = i.sellable_id) as held,
      (select count(*)::int4 from stock_movements m
        where m.organization_id = 'org_default' and m.entity_id = i.sellable_id) as movements
    from stock_items i join stock_levels l using (organization_id, sellable_id)
    where i.organization_id = 'org_default' and i.sellable_id = ${sellable}::uuid`
  return Object.values(row)
})

const unitsOf = Effect.map((moved: ReadonlyArray<{ readonly quantity: number }>) =>
  moved.map(({ quantity }) => quantity).toSorted()
)

const some = ({ sellable, warehouse }: Shared, quantity: number) => [{ sellable, warehouseId: warehouse, quantity }]

const manual = ({ order, sellable }: Shared, quantity: number) => ({
  orderId: order,
  entityId: sellable,
  sellable,
  warehouseId: null,
  quantity,
  performedBy: null
})

const edited = ({ order, sellable }: Shared, units: number) =>
  OrderHoldRepo.use((repo) => repo.change({ orderId: order, entityId: sellable, sellable, units, backorders: 0 }))

const expire = (organizations: ReadonlyArray<string>, holder: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`update holds set expires_at = now() - interval '1 second'
      where organization_id = any(${organizations}::text[]) and holder = ${holder}`)

const readings = ({ order, sellable }: Shared) =>
  ReservationRepo.use(Effect.fnUntraced(function*(repo) {
    const stock = (yield* repo.load([sellable])).get(sellable)
    const pricing = (yield* repo.holds([order])).map((hold) => hold.pricing)
    return [stock?.version, stock?.levels.map(({ available }) => available), pricing]
  }))

const reserved = (shared: Shared) =>
  ManualHoldRepo.use((repo) =>
    repo.reserve(manual(shared, 3), (levels) => {
      assert.deepStrictEqual(levels.map(({ available }) => available), [4])
      return Result.succeed(some(shared, 3))
    })
  )

const postingLine: StockPosting["lines"][number] = {
  entityId: EntityId.make(nilId),
  variantId: null,
  warehouseId: WarehouseId.make(nilId),
  delta: 5,
  incoming: 0,
  inTransit: 0,
  unitCost: null,
  average: false,
  type: "receipt",
  allowNegative: false,
  reason: null
}

const posted = ({ order, sellable, warehouse }: Shared) =>
  StockPostingRepo.use((repo) => {
    const line = { ...postingLine, entityId: sellable, warehouseId: warehouse }
    return repo.post({ reference: { type: "grn", id: order }, lines: [line] })
  })

const giveBack = (table: string, id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update ${sql(table)} set organization_id = 'org_default' where id = ${id}::uuid`
  )

type Repositories = Layer.Success<typeof Repos>
type Change = (shared: Shared) => Effect.Effect<unknown, unknown, Repositories>

const released: Change = ({ order }) => HoldRepo.use((repo) => repo.release(order))
const expired: Change = ({ order }) =>
  Effect.andThen(expire(["org_default"], order), HoldRepo.use((repo) => repo.expireDue))
const purged: Change = () => HoldRepo.use((repo) => repo.purgeEnded(30))
const cancelled: Change = ({ order }) => HoldRepo.use((repo) => repo.releaseSold(order))
const sent = (units?: number): Change => (shared) =>
  HoldRepo.use((repo) => unitsOf(repo.fulfilSold(shared.order, units === undefined ? undefined : some(shared, units))))
const unsent: Change = (shared) => HoldRepo.use((repo) => repo.returnToHold(shared.order, some(shared, 2)))
const refunded = (units: number): Change => (shared) =>
  OrderHoldRepo.use((repo) => unitsOf(repo.releaseUnits(shared.order, some(shared, units))))
const unrefunded: Change = (shared) =>
  OrderHoldRepo.use((repo) => unitsOf(repo.holdAgain(shared.order, some(shared, 1))))
const tooMany: Change = (shared) => Effect.andThen(Effect.flip(edited(shared, 5)), edited(shared, 2))
const manuallyReleased = (units: number): Change => (shared) =>
  ManualHoldRepo.use((repo) => repo.release(manual(shared, units)))
const exclusive: Change = ({ order, sellable }) =>
  ReservationRepo.use((repo) => repo.alone([order], [sellable], Effect.succeed("alone")))

/** What happens to the owner's holds in a state, its result and what is left of the owner's stock. */
const changes: ReadonlyArray<readonly [what: string, state: HoldState, change: Change, result: unknown, left: Left]> = [
  ["a release", "held", released, true, [10, 2, 1, "released", "held", 6, 1]],
  ["an expiry", "held", expired, 1, [10, 2, 1, "expired", "held", 6, 1]],
  ["a purge", "released", purged, 2, [10, 6, 0, null, null, 0, 0]],
  ["a cancellation", "sold", cancelled, 6, [10, 0, 1, "released", "released", 0, 2]],
  ["a cancellation after the release", "released", cancelled, 0, [10, 6, 0, "released", "released", 6, 0]],
  ["a fulfillment", "sold", sent(), [2, 4], [4, 0, 1, "fulfilled", "fulfilled", 0, 2]],
  ["a shipment in part", "sold", sent(3), [3], [7, 3, 1, "sold", "sold", 3, 1]],
  ["an undone shipment", "sold", unsent, undefined, [12, 8, 1, "sold", "sold", 8, 1]],
  ["a refund in part", "sold", refunded(3), [3], [10, 3, 1, "sold", "sold", 3, 1]],
  ["a refund of all units", "sold", refunded(6), [6], [10, 0, 1, "released", "released", 0, 2]],
  ["an undone refund", "sold", unrefunded, [1], [10, 7, 1, "sold", "sold", 7, 1]],
  ["an edit that takes what there is", "sold", tooMany, undefined, [10, 8, 1, "sold", "sold", 8, 1]],
  ["an edit that gives back", "sold", (shared) => edited(shared, -3), undefined, [10, 3, 1, "sold", "sold", 3, 1]],
  ["a manual reservation", "held", reserved, undefined, [10, 9, 1, "held", "held", 9, 1]],
  ["a manual release in part", "held", manuallyReleased(1), 1, [10, 5, 1, "held", "held", 5, 1]],
  ["a manual release", "held", manuallyReleased(2), 2, [10, 4, 1, "held", "released", 4, 1]],
  ["a reading", "held", readings, [0, [4], ["\"org_default\""]], [10, 6, 0, "held", "held", 6, 0]],
  ["exclusive access", "held", exclusive, "alone", [10, 6, 0, "held", "held", 6, 0]]
]

// The real clock: what waits for a lock has to be given up.
it.layer(Repos, { excludeTestServices: true })("repositories of stock", (it) => {
  for (const [what, state, change, result, left] of changes) {
    it.effect(`repositories of stock confine ${what} to the stock of its tenant and wait for no lock of another tenant`, () =>
      Effect.gen(function*() {
        const shared = yield* sharedStock(state)
        const before = yield* rowsOf("org_another")
        assert.deepStrictEqual(yield* whileLocked("org_another", change(shared)), result)
        assert.deepStrictEqual(yield* leftOf(shared), left)
        assert.deepStrictEqual(yield* rowsOf("org_another"), before)
      }))
  }

  it.effect("repositories of stock mark a released name as the owner's, though only another tenant holds under it", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("held")
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from holds where organization_id = 'org_default' and holder = ${shared.order}`
      const before = yield* rowsOf("org_another")
      assert.isFalse(yield* HoldRepo.use((repo) => repo.release(shared.order)))
      assert.strictEqual((yield* leftOf(shared))[3], "released")
      assert.deepStrictEqual(yield* rowsOf("org_another"), before)
    }))

  it.effect("repositories of stock release a hold that commits meanwhile, though another tenant has long held under its name", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const holder = randomUUID()
      yield* openAnother
      yield* insert("holds", { organization_id: "org_another", holder })
      const other = yield* sql.reserve
      yield* other.executeRaw("begin", [])
      yield* other.executeRaw("insert into holds (organization_id, holder) values ('org_default', $1)", [holder])
      const releasing = yield* Effect.forkChild(HoldRepo.use((repo) => repo.release(holder)))
      yield* waiting(1)
      yield* other.executeRaw("commit", [])
      assert.isTrue(yield* Fiber.join(releasing))
    }).pipe(Effect.scoped))

  it.effect("repositories of stock do not purge a locked hold because another tenant's of that name may go", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("released")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update holds set state = 'released' where organization_id = 'org_another' and holder = ${shared.order}`
      yield* whileLocked("org_default", HoldRepo.use((repo) => repo.purgeEnded(30)))
      assert.strictEqual((yield* leftOf(shared))[3], "released")
      yield* HoldRepo.use((repo) => repo.purgeEnded(30))
    }))

  it.effect("repositories of stock expire the holds of two tenants under one name, each once", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("held")
      yield* expire(["org_default", "org_another"], shared.order)
      assert.strictEqual(yield* HoldRepo.use((repo) => repo.expireDue), 2)
      assert.strictEqual((yield* leftOf(shared))[1], 2)
    }))

  it.effect("repositories of stock reserve for a holder that only another tenant has", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("held")
      const holder = randomUUID()
      yield* insert("holds", { organization_id: "org_another", holder })
      const before = yield* rowsOf("org_another")
      const lines = some(shared, 1).map((line) => ({ ...line, entityId: line.sellable }))
      const outcome = yield* whileLocked(
        "org_another",
        ReservationRepo.use((repo) =>
          repo.reserve([{ sellable: shared.sellable, version: 0, backordered: 0, levels: [] }], [
            { holder, ttlSeconds: 900, pricing: "{}", lines }
          ])
        )
      )
      assert.deepStrictEqual(outcome, { stale: [], fresh: new Set([holder]), existing: [] })
      assert.deepStrictEqual(yield* leftOf(shared), [10, 7, 1, "held", "held", 7, 1])
      assert.deepStrictEqual(yield* rowsOf("org_another"), before)
    }))

  it.effect("repositories of stock take back as many refunded units as the owner has sent", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("sold")
      const { order, sellable, warehouse } = shared
      const sent = { entity_id: sellable, warehouse_id: warehouse, type: "fulfillment", reference_type: "order" }
      for (const [organization_id, quantity] of [["org_default", -3], ["org_another", -5]] as const) {
        yield* insert("stock_movements", { organization_id, id: randomUUID(), quantity, reference_id: order, ...sent })
      }
      const before = yield* rowsOf("org_another")
      const back = OrderHoldRepo.use((repo) => unitsOf(repo.restoreHold(order, some(shared, 9))))
      assert.deepStrictEqual(yield* back, [3])
      const [onHand, _, version] = yield* leftOf(shared)
      assert.deepStrictEqual([onHand, version], [13, 1])
      assert.deepStrictEqual(yield* rowsOf("org_another"), before)
    }))

  it.effect("repositories of stock post a document that another tenant has too, on the owner's levels", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("held")
      const { sellable } = shared
      yield* insert("catalog_entities", {
        id: sellable,
        type: "product",
        slug: sellable,
        status: "active",
        is_visible: true
      })
      const document = { organization_id: "org_another", reference_type: "grn", reference_id: shared.order }
      yield* insert("stock_postings", { ...document, lines: "[]", posted: "[]" })
      const before = yield* rowsOf("org_another")
      const { levels } = yield* whileLocked("org_another", posted(shared))
      assert.deepStrictEqual(levels.map(({ quantityOnHand, version }) => [quantityOnHand, version]), [[15, 1]])
      assert.deepStrictEqual(yield* leftOf(shared), [15, 6, 1, "held", "held", 6, 1])
      assert.deepStrictEqual(yield* rowsOf("org_another"), before)
    }))

  it.effect("repositories of stock post no goods of another tenant and in no warehouse of another tenant", () =>
    Effect.gen(function*() {
      yield* openAnother
      const [entityId, variantId, warehouseId] = [newId<EntityId>(), newId<VariantId>(), newId<WarehouseId>()]
      const another = { organization_id: "org_another" }
      const entity = { id: entityId, type: "product", slug: entityId, status: "active", is_visible: true }
      yield* insert("warehouses", { id: warehouseId, name: "Ours", code: warehouseId })
      yield* insert("catalog_entities", { ...another, ...entity })
      const line = { ...postingLine, entityId, warehouseId }
      const path = (lines: StockPosting["lines"]) =>
        StockPostingRepo.use((repo) => repo.post({ reference: { type: "grn", id: entityId }, lines })).pipe(
          Effect.match({ onFailure: ({ error }) => error.message.split(":")[0], onSuccess: () => "posted" })
        )
      assert.strictEqual(yield* path([line]), "lines.0.entityId")
      yield* giveBack("catalog_entities", entityId)
      yield* insert("variants", { ...another, id: variantId, entity_id: entityId, combination: variantId })
      assert.strictEqual(yield* path([{ ...line, variantId }]), "lines.0.variantId")
      yield* giveAway("warehouses", "id", warehouseId)
      assert.strictEqual(yield* path([line]), "lines.0.warehouseId")
      yield* giveBack("warehouses", warehouseId)
      assert.strictEqual(yield* path([line]), "posted")
    }))

  it.effect("repositories of stock compare levels and holds of one organization in the audit", () =>
    Effect.gen(function*() {
      const { sellable } = yield* sharedStock("held")
      const sql = yield* SqlClient.SqlClient
      const { audit } = yield* StockAuditRepo
      assert.strictEqual((yield* audit).unbacked, 0)
      // The level of another tenant backs no hold of the owner, and need not.
      yield* sql`delete from hold_lines where organization_id = 'org_another' and sellable_id = ${sellable}::uuid`
      yield* sql`update stock_levels set reserved = 0
        where organization_id = 'org_another' and sellable_id = ${sellable}::uuid`
      assert.strictEqual((yield* audit).unbacked, 0)
    }))

  it.effect("repositories of stock read and adjust the owner's levels and sums", () =>
    Effect.gen(function*() {
      const shared = yield* sharedStock("held")
      const { sellable, warehouse } = shared
      const { adjust, adjustable, available, levels } = yield* StockRepo
      const before = yield* rowsOf("org_another")
      assert.deepStrictEqual(yield* available([sellable]), { [sellable]: 4 })
      const listed = yield* levels({ entityId: sellable }, { page: 1, limit: 10 })
      assert.deepStrictEqual([listed.total, listed.items.map((level) => level.quantityOnHand)], [1, [10]])
      const from = yield* adjustable({ entityId: sellable, variantId: null, warehouseId: warehouse })
      assert.deepStrictEqual([from.version, from.level.quantityOnHand], [0, 10])
      const by = { reason: null, performedBy: null, referenceType: null, referenceId: null }
      const movement = { id: randomUUID(), type: "receipt", delta: 1, ...by } as const
      assert.isTrue(yield* adjust(from, { ...from.level, quantityOnHand: 11 }, movement))
      assert.deepStrictEqual(yield* leftOf(shared), [11, 6, 1, "held", "held", 6, 1])
      assert.deepStrictEqual(yield* rowsOf("org_another"), before)
    }))
})
