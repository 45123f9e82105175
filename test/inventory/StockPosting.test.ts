import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Inventory } from "../../src/domain/inventory/Inventory.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import type { StockPostingLine } from "../../src/domain/inventory/StockPosting.ts"
import { StockPostingRepo } from "../../src/domain/inventory/StockPostingRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { WarehouseRepo } from "../../src/domain/inventory/WarehouseRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { ValidationFailed } from "../../src/domain/platform/errors/ApiErrors.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { EntityId, VariantId, WarehouseId } from "../../src/domain/platform/ids/Id.ts"
import { freshDatabase, TestDatabase } from "../support/Postgres.ts"
import { tapOn } from "../support/StatementTap.ts"
import { addEntity, addVariant, addWarehouse, organization } from "./StockRows.ts"

const hooked: Array<object> = []
const hook = { key: "inventory.afterAdjust", after: ({ result }: { result: object }) => void hooked.push(result) }

const Services = Inventory.layer.pipe(Layer.provideMerge(Layer.mergeAll(
  ManualHoldRepo.layer,
  ReservationRepo.layer,
  StockPostingRepo.layer,
  StockRepo.layer,
  WarehouseRepo.layer
)))
const Actor = Layer.succeed(CurrentActor, systemActor(organization))
const App = Services.pipe(Layer.provideMerge(Layer.mergeAll(TestDatabase, Hooks.layerNone, Actor)))
const Hooked = Services.pipe(Layer.provideMerge(Layer.mergeAll(TestDatabase, Hooks.layerOf([hook]), Actor)))

const post = (type: string, id: string, lines: ReadonlyArray<StockPostingLine>) =>
  Inventory.use((inventory) => inventory.post({ type, id }, lines))

/** An entity and two warehouses. */
const goods = Effect.gen(function*() {
  const [entityId, here, there] = [yield* addEntity, yield* addWarehouse(), yield* addWarehouse()]
  return { entityId, here: { entityId, warehouseId: here }, there: { entityId, warehouseId: there } }
})

type Numbers = readonly [onHand: number, incoming: number, inTransit: number]

const levelsOf = Effect.fnUntraced(function*(entityId: EntityId) {
  return (yield* (yield* StockRepo).levels({ entityId }, { page: 1, limit: 100 })).items
})

/** Units on hand, incoming and in transit of a level. */
const numbersOf = Effect.fnUntraced(function*({ entityId, warehouseId }: StockPostingLine) {
  const level = (yield* levelsOf(entityId)).find((one) => one.warehouseId === warehouseId)
  return level === undefined
    ? undefined
    : [level.quantityOnHand, level.quantityIncoming, level.quantityInTransit] satisfies Numbers
})

/** What a posting may change: levels with their versions, movements, entries of the change log, and documents. */
const footprint = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`select (select coalesce(jsonb_agg(to_jsonb(l) order by l.id), '[]') from stock_levels l) as levels,
    (select jsonb_agg(version order by sellable_id) from stock_items) as versions,
    (select count(*) from stock_movements) as movements, (select count(*) from outbox_events) as events,
    (select count(*) from stock_postings) as postings`
})

/** The fields that a refusal names. */
const namedBy = Effect.fnUntraced(function*<A, E, R>(refused: Effect.Effect<A, E, R>) {
  const error = yield* Effect.flip(refused)
  return error instanceof ValidationFailed ? error.error.details.issues.map(({ path }) => path) : []
})

it.layer(App)("a posting", (it) => {
  it.effect("receives what was ordered, and records a movement and an event under its document", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { entityId, here } = yield* goods
      const id = randomUUID()
      assert.deepStrictEqual(yield* post("order", id, [{ ...here, incoming: 10 }]), [
        { movementId: null, quantityOnHand: 0, available: 0, unitCost: null }
      ])
      assert.deepStrictEqual(yield* numbersOf(here), [0, 10, 0])
      const [received] = yield* post("grn", id, [{
        ...here,
        delta: 7,
        incoming: -10,
        unitCost: 250,
        reason: "3 broken"
      }])
      assert.deepInclude(received, { quantityOnHand: 7, unitCost: "250" })
      const [level] = yield* levelsOf(entityId)
      assert.deepInclude(level, { quantityOnHand: 7, quantityIncoming: 0, available: 7, unitCost: 250, version: 2 })
      assert.isNotNull(level?.lastRestockedAt)
      assert.deepStrictEqual(
        yield* sql`select id, type, quantity, reference_type, reference_id, reason, performed_by
          from stock_movements where entity_id = ${entityId}`,
        [{
          id: received?.movementId,
          type: "receipt",
          quantity: 7,
          reference_type: "grn",
          reference_id: id,
          reason: "3 broken",
          performed_by: "system:internal"
        }]
      )
      const events = yield* sql<{ payload: object; before: { quantityIncoming: number } | null }>`
        select payload, before from outbox_events where type = 'inventory.afterAdjust' and entity_id = ${
        level?.id ?? ""
      }
        order by id`
      assert.deepStrictEqual(events.map(({ before }) => before?.quantityIncoming), [undefined, 10])
      assert.deepStrictEqual(events.at(-1)?.payload, JSON.parse(JSON.stringify(level)))
    }))

  it.effect("leaves out the lines of goods that are not counted, whose cost is unknown", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [counted, other, extra, product] = [yield* goods, yield* goods, yield* goods, yield* goods]
      yield* sql`update catalog_entities set manage_inventory = false
        where id = any(${[other.entityId, extra.entityId]}::uuid[])`
      yield* post("grn", counted.entityId, [{ ...counted.here, delta: 5, unitCost: 20 }])
      const lines: ReadonlyArray<StockPostingLine> = [
        { ...other.here, delta: -9 },
        { ...counted.here, delta: -2 },
        { ...extra.here, delta: 1, unitCost: "issued" },
        { ...product.here, delta: 1, unitCost: "issued" }
      ]
      const posted = yield* post("production", counted.entityId, lines)
      const leftOut = { movementId: null, quantityOnHand: 0, unitCost: null }
      assert.deepStrictEqual([posted[0], posted[2]], [leftOut, leftOut])
      assert.deepStrictEqual([posted[1]?.quantityOnHand, posted[3]?.unitCost], [3, "40"])
      assert.deepStrictEqual(yield* levelsOf(other.entityId), [])
      assert.deepStrictEqual(yield* post("production", counted.entityId, lines), posted)
      const work: ReadonlyArray<StockPostingLine> = [
        { ...other.here, delta: -3 },
        { ...counted.here, delta: 1, unitCost: "issued" }
      ]
      assert.strictEqual((yield* post("production", other.entityId, work))[1]?.unitCost, "20")
    }))

  it.effect("shows goods in transit, which cannot be sold, until the other warehouse receives them", () =>
    Effect.gen(function*() {
      const { entityId, here, there } = yield* goods
      const available = Effect.map(StockRepo.use((stock) => stock.available([entityId])), Object.values)
      yield* post("grn", entityId, [{ ...here, delta: 5 }])
      yield* post("dispatch", entityId, [
        { ...here, delta: -4, type: "transfer" },
        { ...there, inTransit: 4 }
      ])
      assert.deepStrictEqual([yield* numbersOf(here), yield* numbersOf(there)], [[1, 0, 0], [0, 0, 4]])
      assert.deepStrictEqual(yield* available, [1])
      yield* post("receive", entityId, [{ ...there, delta: 3, inTransit: -4, type: "transfer" }])
      assert.deepStrictEqual([yield* numbersOf(there), yield* available], [[3, 0, 0], [4]])
    }))

  it.effect("of a variant posts apart from its entity", () =>
    Effect.gen(function*() {
      const { entityId, here } = yield* goods
      const variantId = yield* addVariant(entityId)
      yield* post("grn", entityId, [{ ...here, delta: 1 }, { ...here, variantId, delta: 2 }])
      const levels = yield* levelsOf(entityId)
      assert.sameDeepMembers(levels.map((level) => [level.variantId, level.quantityOnHand]), [[null, 1], [
        variantId,
        2
      ]])
    }))

  describe("once", () => {
    it.effect("changes nothing when it comes again, and has the same answer", () =>
      Effect.gen(function*() {
        const { here } = yield* goods
        const id = randomUUID()
        yield* post("count", randomUUID(), [{ ...here, delta: 3 }])
        const first = yield* post("waste", id, [{ ...here, delta: -3 }, { ...here, incoming: 2 }])
        const before = yield* footprint
        // The same lines in another form, on stock that no longer has the units.
        const again = [
          { ...here, entityId: EntityId.make(here.entityId.toUpperCase()), variantId: null, delta: -3, average: false },
          { ...here, delta: 0, incoming: 2, reason: null }
        ]
        assert.deepStrictEqual(yield* post("waste", id, again), first)
        assert.deepStrictEqual(yield* footprint, before)
      }))

    it.effect("refuses other lines under the same document", () =>
      Effect.gen(function*() {
        const { here, there } = yield* goods
        const id = randomUUID()
        const line = { ...here, delta: 3, unitCost: 100 }
        yield* post("grn", id, [line])
        const before = yield* footprint
        const others: ReadonlyArray<ReadonlyArray<StockPostingLine>> = [
          [{ ...line, delta: 4 }],
          [{ ...line, unitCost: 101 }],
          [{ ...line, average: true }],
          [{ ...line, ...there }],
          [line, line],
          []
        ]
        for (const lines of others) {
          assert.strictEqual((yield* Effect.flip(post("grn", id, lines)))._tag, "Conflict/PostedOtherwise")
        }
        assert.deepStrictEqual(yield* footprint, before)
      }))

    it.effect("has one effect and one answer when eight post it at the same time", () =>
      Effect.gen(function*() {
        const { here } = yield* goods
        const id = randomUUID()
        const all = Array.from({ length: 8 }, () => post("grn", id, [{ ...here, delta: 5, unitCost: 9 }]))
        const answers = yield* Effect.all(all, { concurrency: "unbounded" })
        assert.strictEqual(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
        assert.deepStrictEqual(yield* numbersOf(here), [5, 0, 0])
      }))

    it.effect("posts one of eight different contents of a document", () =>
      Effect.gen(function*() {
        const id = randomUUID()
        const contents = yield* Effect.forEach(Array.from({ length: 8 }), () => goods)
        const outcomes = yield* Effect.forEach(
          contents,
          ({ here }) => Effect.result(post("grn", id, [{ ...here, delta: 1 }])),
          { concurrency: "unbounded" }
        )
        const refused = outcomes.flatMap((outcome) => Result.isFailure(outcome) ? [outcome.failure._tag] : [])
        assert.deepStrictEqual(refused, Array.from({ length: 7 }, () => "Conflict/PostedOtherwise"))
        const units = yield* Effect.forEach(contents, ({ here }) => numbersOf(here))
        assert.deepStrictEqual(units.filter((one) => one !== undefined), [[1, 0, 0]])
      }))
  })

  describe("refuses", () => {
    it.effect("what would go below zero or below what is reserved, names each line, and can be posted later", () =>
      Effect.gen(function*() {
        const { entityId, here, there } = yield* goods
        yield* post("grn", entityId, [{ ...here, delta: 5 }, { ...there, delta: 1 }])
        yield* Inventory.use((i) => i.reserve({ ...here, orderId: entityId, quantity: 3 }))
        const before = yield* footprint
        const lines = [
          { ...here, delta: -3 },
          { ...there, delta: -1 },
          { ...there, delta: -1 },
          { ...here, incoming: -1 },
          { ...here, inTransit: -1 }
        ]
        const named = ["lines.0.delta", "lines.2.delta", "lines.3.incoming", "lines.4.inTransit"]
        assert.deepStrictEqual(yield* namedBy(post("waste", entityId, lines)), named)
        assert.deepStrictEqual(yield* footprint, before)
        yield* post("waste", entityId, [{ ...here, delta: -2 }])
        assert.deepStrictEqual(yield* numbersOf(here), [3, 0, 0])
      }))

    it.effect("goods and warehouses that there are not", () =>
      Effect.gen(function*() {
        const { here } = yield* goods
        const before = yield* footprint
        const line = { ...here, delta: 1 }
        const unknown: ReadonlyArray<readonly [StockPostingLine, named: string]> = [
          [{ ...line, entityId: EntityId.make(randomUUID()) }, "lines.1.entityId"],
          [{ ...line, variantId: yield* addVariant(yield* addEntity) }, "lines.1.variantId"],
          [{ ...line, warehouseId: WarehouseId.make(randomUUID()) }, "lines.1.warehouseId"]
        ]
        for (const [wrong, named] of unknown) {
          const error = yield* Effect.flip(post("grn", here.entityId, [line, wrong]))
          assert.strictEqual(error._tag, "NotFound/PostedGoods")
          assert.include(error.error.message, named)
        }
        const after = yield* footprint
        assert.deepStrictEqual(after, before)
      }))

    it.effect("lines that mean nothing, and names the field", () =>
      Effect.gen(function*() {
        const { here } = yield* goods
        const bad: ReadonlyArray<readonly [Partial<StockPostingLine>, path: string]> = [
          [{}, "delta"],
          [{ delta: 0 }, "delta"],
          [{ delta: 1.5 }, "delta"],
          [{ delta: 3_000_000_000 }, "delta"],
          [{ incoming: Number.NaN }, "incoming"],
          [{ delta: 1, variantId: VariantId.make("small") }, "variantId"],
          [{ delta: 1, average: true }, "unitCost"],
          [{ delta: -1, unitCost: 5, allowNegative: true }, "unitCost"],
          [{ incoming: 1, unitCost: 5 }, "unitCost"],
          [{ delta: 1, unitCost: -1 }, "unitCost"],
          [{ delta: 1, unitCost: "1e3" }, "unitCost"],
          [{ delta: 1, unitCost: "0.00000000001" }, "unitCost"],
          [{ delta: 1, unitCost: "issued" }, "unitCost"],
          [{ delta: 1, reason: "\0" }, "reason"]
        ]
        for (const [line, path] of bad) {
          const paths = yield* namedBy(post("grn", here.entityId, [{ ...here, ...line }]))
          assert.include(paths, `lines.0.${path}`, JSON.stringify(line))
        }
        const nameless = yield* namedBy(post("", "", []))
        assert.deepStrictEqual(nameless, ["reference.type", "reference.id"])
        const full = [{ ...here, delta: 2_147_483_647 }, { ...here, delta: 1 }]
        assert.deepStrictEqual(yield* namedBy(post("grn", here.entityId, full)), ["lines.1.delta"])
      }))
  })

  it.effect("goes below zero only where a line allows it, and shows it until the units are there again", () =>
    Effect.gen(function*() {
      const { entityId, here } = yield* goods
      const sold = { ...here, delta: -2, type: "sale" } as const
      yield* post("sale", `${entityId} 1`, [{ ...sold, allowNegative: true }])
      assert.deepInclude((yield* levelsOf(entityId))[0], { quantityOnHand: -2, available: -2, allowNegative: true })
      const reserving = Inventory.use((i) => i.reserve({ ...here, orderId: entityId, quantity: 1 }))
      assert.strictEqual((yield* Effect.flip(reserving))._tag, "ValidationFailed/InsufficientStock")
      assert.deepStrictEqual(yield* namedBy(post("sale", `${entityId} 2`, [sold])), ["lines.0.delta"])
      yield* post("grn", entityId, [{ ...here, delta: 3 }])
      assert.deepInclude((yield* levelsOf(entityId))[0], { quantityOnHand: 1, allowNegative: false })
      yield* reserving
    }))

  it.effect("makes a reservation that was decided before it decide again", () =>
    Effect.gen(function*() {
      const { entityId, here } = yield* goods
      const reservations = yield* ReservationRepo
      yield* post("grn", entityId, [{ ...here, delta: 1 }])
      const decidedOn = [...(yield* reservations.load([entityId])).values()]
      yield* post("waste", entityId, [{ ...here, delta: -1 }])
      const line = { sellable: entityId, entityId, warehouseId: here.warehouseId, quantity: 1 }
      const late = { holder: entityId, ttlSeconds: 60, pricing: "{}", lines: [line] }
      assert.deepStrictEqual((yield* reservations.reserve(decidedOn, [late])).stale, [entityId])
    }))

  it.effect("never waits in a circle: fifty transfers in each direction", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(Array.from({ length: 3 }), () => goods)
      const move = (from: "here" | "there", to: "here" | "there", sorted: typeof all) =>
        post("transfer", randomUUID(), sorted.flatMap((one) => [{ ...one[from], delta: -1 }, { ...one[to], delta: 1 }]))
      yield* post(
        "grn",
        randomUUID(),
        all.flatMap(({ here, there }) => [{ ...here, delta: 50 }, { ...there, delta: 50 }])
      )
      const back = all.toReversed()
      yield* Effect.all(
        Array.from({ length: 50 }, () => [move("here", "there", all), move("there", "here", back)]).flat(),
        { concurrency: "unbounded" }
      )
      for (const { here, there } of all) {
        assert.deepStrictEqual([yield* numbersOf(here), yield* numbersOf(there)], [[50, 0, 0], [50, 0, 0]])
      }
    }))

  describe("belongs to its caller's transaction", () => {
    /** A document in a table of a plugin, posted by the transaction that writes it. */
    const accepted = Effect.fnUntraced(function*<E, R>(here: StockPostingLine, end: Effect.Effect<unknown, E, R>) {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table if not exists receipts (id text primary key)`
      yield* sql.withTransaction(
        sql`insert into receipts values (${here.entityId})`.pipe(
          Effect.andThen(post("grn", here.entityId, [{ ...here, delta: 1 }])),
          Effect.andThen(end)
        )
      )
    })
    const documents = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select id from receipts`)

    it.effect("is undone with the document, when the caller fails or its connection is killed", () =>
      Effect.gen(function*() {
        const { here } = yield* goods
        const sql = yield* SqlClient.SqlClient
        const before = yield* footprint
        const kill = sql`select pg_terminate_backend(pg_backend_pid())`
        for (const end of [Effect.fail("no"), Effect.mapError(kill, () => "killed")]) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(accepted(here, end))))
        }
        assert.deepStrictEqual([yield* footprint, yield* documents], [before, []])
        yield* accepted(here, Effect.void)
        assert.deepStrictEqual([yield* numbersOf(here), yield* documents], [[1, 0, 0], [{ id: here.entityId }]])
      }))

    it.effect("leaves the caller a transaction that goes on after a refusal", () =>
      Effect.gen(function*() {
        const { here } = yield* goods
        const before = yield* footprint
        const sql = yield* SqlClient.SqlClient
        yield* sql.withTransaction(Effect.flip(post("waste", here.entityId, [{ ...here, delta: -1 }])))
        assert.deepStrictEqual(yield* footprint, before)
        yield* accepted(here, Effect.void)
      }))
  })
})

it.layer(Hooked)("the hook inventory.afterAdjust", (it) => {
  it.effect("gets each level of a posting once", () =>
    Effect.gen(function*() {
      const { entityId, here, there } = yield* goods
      const lines = [{ ...here, delta: 1 }, { ...here, delta: 1 }, { ...there, incoming: 1 }]
      for (const _ of [1, 2]) yield* post("grn", entityId, lines)
      assert.sameDeepMembers(hooked, [...yield* levelsOf(entityId)])
    }))
})

it.effect("a receipt of five hundred lines takes as many statements as one of one line", () =>
  Effect.gen(function*() {
    const tap = yield* tapOn((yield* freshDatabase).url)
    const database = PgClient.layer({ url: Redacted.make(tap.url), maxConnections: 1 })
    const layer = Services.pipe(Layer.provideMerge(Layer.mergeAll(database, Hooks.layerNone, Actor)))
    yield* Effect.gen(function*() {
      const warehouseId = yield* addWarehouse()
      const entities = yield* Effect.forEach(Array.from({ length: 500 }), () => addEntity)
      const lines = entities.map((entityId) => ({ entityId, warehouseId, delta: 2, unitCost: 3, average: true }))
      const sent = Effect.fnUntraced(function*(id: string, count: number) {
        tap.take()
        yield* post("grn", id, lines.slice(0, count))
        return tap.take().length
      })
      // Begin, lock, read, write and commit.
      assert.deepStrictEqual([yield* sent("1", 1), yield* sent("2", 500), yield* sent("3", 500)], [5, 5, 5])
    }).pipe(Effect.provide(layer))
  }))
