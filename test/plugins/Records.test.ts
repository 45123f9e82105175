import { assert, describe, expectTypeOf, it, layer } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import { randomUUID } from "node:crypto"
import { document, integer, machine, numbers, oneOf, PluginContext, table, text, timestamp } from "stoa/plugin"
import type { MovesOf, StateColumnOf } from "../../src/plugins/kit/records/Machine.ts"
import { inDefault, pluginTables, statementsOf, within } from "./PluginTablesLayer.ts"
import { lines, orders, type poNumbers, purchaseOrder, purchaseOrders, purchasing } from "./Purchasing.ts"

const draft = { supplier: "Acme", requestedBy: "u1" }
const line = (item: string) => ({ item, quantity: "1.5", unitCost: 3 })
const create = (items: ReadonlyArray<string> = ["screws"], head = draft) =>
  Effect.flatMap(PluginContext, ({ db }) => db.use(purchaseOrders).create(head, items.map(line)))
const times = (count: number) => Array.from({ length: count }, (_, n) => n)
/** Does it at noon of this day. Connections need a clock that goes on, so the clock of the tests is not stopped. */
const on = (day: string) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const noon = Date.parse(`${day}T12:00:00.000Z`)
    const stopped: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillisUnsafe: () => noon,
      currentTimeMillis: Effect.succeed(noon)
    })
    return Effect.provideService(work, Clock.Clock, stopped)
  })
const in2026 = on("2026-11-25")

const tables = layer(pluginTables(purchasing), { excludeTestServices: true, timeout: "60 seconds" })

tables("a document", (it) => {
  it.effect("is written with its lines in their order and read as it was written", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const made = yield* create(["nuts", "bolts", "anchors"])
      assert.deepStrictEqual(made.lines.map(({ item, orderId, quantity }) => [item, orderId, quantity]), [
        ["nuts", made.head.id, "1.500"],
        ["bolts", made.head.id, "1.500"],
        ["anchors", made.head.id, "1.500"]
      ])
      const empty = yield* create([])
      assert.deepStrictEqual(yield* db.use(purchaseOrders).get(made.head.id), made)
      assert.deepStrictEqual(yield* db.use(purchaseOrders).get(empty.head.id), empty)
      const page = yield* db.use(purchaseOrders).page({}, { page: 1, limit: 2 })
      assert.deepStrictEqual(page.items, [empty, made])
      assert.strictEqual(yield* statementsOf(create(times(50).map(String))), 3, "number, head and all lines")
      assert.strictEqual(yield* statementsOf(db.use(purchaseOrders).page({}, { page: 1, limit: 100 })), 3)
      const elsewhere = within("org_other")
      assert.strictEqual((yield* Effect.flip(elsewhere(db.use(purchaseOrders).get(made.head.id))))._tag, "NotFound/Row")
      assert.strictEqual((yield* elsewhere(db.use(purchaseOrders).page({}, { page: 1, limit: 2 }))).total, 0)
    }).pipe(inDefault))

  it.effect("of which a line is refused is not there at all, and its number is the next one's", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const before = yield* create()
      const wrong = db.use(purchaseOrders).create({ ...draft, supplier: "Refused" }, [line("fine"), {
        ...line("too dear"),
        unitCost: 0
      }])
      assert.strictEqual((yield* Effect.flip(wrong))._tag, "ValidationFailed/ConditionNotMet")
      assert.strictEqual(yield* db.table(orders).count({ supplier: "Refused" }), 0)
      const after = yield* create()
      const [first, second] = [before, after].map(({ head }) => Number(head.number.slice(-4)))
      assert.strictEqual(second, Number(first) + 1)
    }).pipe(inDefault))

  it("is refused where its lines do not refer to its head", () => {
    const other = table("purchasing_other", { number: text })
    assert.throws(
      () => document({ head: other, lines }),
      `No column of "purchasing_lines" refers to "purchasing_other".`
    )
  })
})

tables("numbers of documents", (it) => {
  it.effect("of twenty that are created at once are twenty, one after the other", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(times(20), () => create(), { concurrency: "unbounded" })
      const made = all.map(({ head }) => head.number).toSorted()
      assert.deepStrictEqual(made, times(20).map((n) => `PO-2026-${String(n + 1).padStart(4, "0")}`))
      const elsewhere = yield* within("org_other")(create())
      assert.strictEqual(elsewhere.head.number, "PO-2026-0001")
    }).pipe(in2026, inDefault))

  it.effect("begin again in a new period and scope, and never go back with a clock", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const tills = numbers<string>({ kind: "R", period: "day", scope: (till) => till })
      const shifts = numbers<string>({ kind: "Z", period: "day", date: (day) => day })
      const plain = numbers({ kind: "TRF" })
      const formed = numbers({ kind: "W", format: ({ kind, value }) => `${kind}/${value}` })
      const taken = [
        yield* db.use(tills).next("t1"),
        yield* db.use(tills).next("t1"),
        yield* db.use(tills).next("t2"),
        yield* db.use(plain).next(undefined),
        yield* db.use(plain).next(undefined),
        yield* db.use(formed).next(undefined),
        yield* db.use(shifts).next("2026-11-24"),
        yield* db.use(shifts).next("2026-11-25")
      ]
      taken.push(...yield* on("2026-11-26")(Effect.all([db.use(tills).next("t1"), db.use(plain).next(undefined)])))
      taken.push(yield* db.use(tills).next("t1"))
      assert.deepStrictEqual(taken, [
        "R-t1-20261125-0001",
        "R-t1-20261125-0002",
        "R-t2-20261125-0001",
        "TRF-0001",
        "TRF-0002",
        "W/1",
        "Z-20261124-0001",
        "Z-20261125-0001",
        "R-t1-20261126-0001",
        "TRF-0003",
        "R-t1-20261126-0002"
      ])
    }).pipe(in2026, inDefault))
})

tables("a machine", (it) => {
  it.effect("moves a row with its stamp, its person, its event and what changes beside", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const { head } = yield* create()
      const approved = yield* db.use(purchaseOrder).move("approve", head.id, { note: "urgent" })
      assert.deepInclude(approved, { status: "approved", approvedBy: "system:internal", note: "urgent" })
      assert.deepStrictEqual(approved.approvedAt, new Date("2026-11-25T12:00:00Z"))
      const emitted = yield* db.sql`select entity_type, payload->>'status' as status from outbox_events
        where type = 'purchasing.approved' and entity_id = ${head.id}`
      assert.deepStrictEqual(emitted.map((row) => ({ ...row })), [{
        entity_type: "purchase_order",
        status: "approved"
      }])
      assert.strictEqual((yield* db.use(purchaseOrder).move("send", head.id)).approvedBy, "system:internal")
    }).pipe(in2026, inDefault))

  it.effect("answers 422 from another state and 404 for another one's row, and announces neither", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const { head } = yield* create()
      const refused = yield* Effect.flip(db.use(purchaseOrder).move("send", head.id))
      assert.deepStrictEqual(refused.error, {
        code: "INVALID_TRANSITION",
        message: `This change is not possible: status is "draft" and cannot become "sent".`
      })
      for (const which of [randomUUID(), { id: head.id, supplier: "another" }]) {
        const missing = yield* Effect.flip(db.use(purchaseOrder).move("approve", which))
        assert.strictEqual(missing.error.message, "Purchase order not found.")
      }
      assert.strictEqual(
        (yield* Effect.flip(within("org_other")(db.use(purchaseOrder).move("approve", head.id)))).error.code,
        "NOT_FOUND"
      )
      yield* db.use(purchaseOrder).move("cancel", head.id)
      yield* Effect.flip(db.use(purchaseOrder).move("approve", head.id))
      const emitted = yield* db.sql`select 1 from outbox_events where type = 'purchasing.approved'
        and entity_id = ${head.id}`
      assert.strictEqual(emitted.length, 0)
    }).pipe(inDefault))

  it.effect("locks a row that can make a move, and answers 422 and 404 as the move does", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const { head } = yield* create()
      assert.deepStrictEqual(yield* db.use(purchaseOrder).lock("approve", head.id), head)
      const codes = yield* Effect.forEach([head.id, randomUUID()], (id) =>
        Effect.map(Effect.flip(db.use(purchaseOrder).lock("send", id)), ({ error }) => [error.code, error.message]))
      assert.deepStrictEqual(codes, [
        ["INVALID_TRANSITION", `This change is not possible: status is "draft" and cannot become "sent".`],
        ["NOT_FOUND", "Purchase order not found."]
      ])
      // Of two that lock it, the second one sees what the first one did.
      const approve = db.transaction(
        Effect.andThen(db.use(purchaseOrder).lock("approve", head.id), db.use(purchaseOrder).move("approve", head.id))
      )
      const both = yield* Effect.forEach([approve, approve], Effect.exit, { concurrency: 2 })
      assert.strictEqual(both.filter(Exit.isSuccess).length, 1)
    }).pipe(inDefault))

  it.effect("leaves the row as it is when its event is not one of the plugin's", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const { head } = yield* create()
      const wrong = machine(orders, {
        noun: "purchase order",
        moves: { approve: { from: ["draft"], to: "approved", emits: "purchasing.burned" } }
      })
      const failed = yield* Effect.flip(Effect.sandbox(db.use(wrong).move("approve", head.id)))
      assert.include(String(failed), "does not list the event")
      assert.strictEqual((yield* db.table(orders).get(head.id)).status, "draft")
    }).pipe(inDefault))

  it.effect("is moved by one of eight at once; the others are 422", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const { head } = yield* create()
      const all = yield* Effect.forEach(times(8), () =>
        db.use(purchaseOrder).move("approve", head.id).pipe(
          Effect.match({ onFailure: ({ error }) => error.code, onSuccess: ({ status }) => status })
        ), { concurrency: "unbounded" })
      assert.deepStrictEqual(all.toSorted(), [...times(7).map(() => "INVALID_TRANSITION"), "approved"])
    }).pipe(inDefault))
})

describe("the types", () => {
  const jobs = table("purchasing_jobs", {
    state: oneOf(["open", "done"]),
    count: integer,
    doneAt: timestamp.nullable,
    doneBy: text.nullable,
    name: text
  })
  type Moves = MovesOf<typeof jobs, "state">
  type Finish<M> = { readonly finish: M }

  it("admit states, stamps and persons that the table has, and no others", () => {
    const finish = machine(jobs, {
      noun: "job",
      column: "state",
      moves: { finish: { from: ["open"], to: "done", stamp: "doneAt", by: "doneBy" } }
    })
    assert.strictEqual(finish.column, "state")
    expectTypeOf<StateColumnOf<typeof jobs>>().toEqualTypeOf<"state">()
    expectTypeOf<Finish<{ from: ["open"]; to: "done"; stamp: "doneAt"; by: "doneBy" }>>().toExtend<Moves>()
    expectTypeOf<Finish<{ from: ["open"]; to: "closed" }>>().not.toExtend<Moves>()
    expectTypeOf<Finish<{ from: ["new"]; to: "done" }>>().not.toExtend<Moves>()
    expectTypeOf<Finish<{ from: []; to: "done" }>>().not.toExtend<Moves>()
    expectTypeOf<Finish<{ from: ["open"]; to: "done"; stamp: "count" }>>().not.toExtend<Moves>()
    expectTypeOf<Finish<{ from: ["open"]; to: "done"; by: "name" }>>().not.toExtend<Moves>()
  })

  it("take moves, heads and lines of a document as they are declared", () => {
    type Given = Parameters<ReturnType<typeof purchaseOrders.on>["create"]>
    expectTypeOf<Parameters<ReturnType<typeof purchaseOrder.on>["move"]>[0]>().toEqualTypeOf<
      "approve" | "send" | "cancel"
    >()
    expectTypeOf<Given[0]>().not.toHaveProperty("number")
    expectTypeOf<Given[1][number]>().not.toHaveProperty("orderId")
    expectTypeOf<Pick<Given[1][number], "item" | "unitCost">>().not.toExtend<Given[1][number]>()
    expectTypeOf<Parameters<ReturnType<typeof poNumbers.on>["next"]>[0]>().toEqualTypeOf<
      { readonly supplier: string }
    >()
  })
})
