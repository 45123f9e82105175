import { assert, it, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import {
  balanceColumns,
  childOf,
  type CurrentActor,
  definePlugin,
  dueTask,
  ledger,
  machine,
  oneOf,
  PluginContext,
  type PluginDatabase,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { waiting } from "../support/AtOnce.ts"
import { inDefault, pluginTables } from "./PluginTablesLayer.ts"
import { contextOf, runOf } from "./Reminders.ts"

const stays = table("inn_stays", {
  cabin: text,
  begins: timestamp,
  ends: timestamp,
  status: oneOf(["held", "booked", "cancelled", "over"]).default("held")
}, { excluding: [{ columns: ["cabin"], range: ["begins", "ends"], where: "status in ('held', 'booked')" }] })
const notes = childOf(stays, "stayId", "inn_notes", { stayId: uuid.references(stays), note: text })
const bills = table("inn_bills", { stayId: uuid.references(stays).nullable })

const inn = definePlugin({ id: "inn", version: "1.0.0", schema: () => [stays, notes, bills] })

const stay = machine(stays, {
  noun: "stay",
  moves: {
    confirm: { from: ["held"], to: "booked" },
    cancel: { from: ["held", "booked"], to: "cancelled" },
    end: { from: ["held", "booked"], to: "over" }
  }
})
const moves = ["confirm", "cancel", "end"] as const
type Move = typeof moves[number]
const pairs = moves.flatMap((first) => moves.map((second) => [first, second] as const))

let cabins = 0
const newStay = (db: PluginDatabase) => {
  const cabin = `cabin ${++cabins}`
  return db.table(stays).insert({ cabin, begins: new Date("2027-03-01"), ends: new Date("2027-03-02") })
}

type Work = Effect.Effect<unknown, { readonly _tag: string }, CurrentActor>

/** Ways of a transaction to lock the row of a stay before it makes a move. */
const locks: Readonly<Record<string, (db: PluginDatabase, id: string, move: Move) => Work>> = {
  "a machine's lock": (db, id, move) => db.use(stay).lock(move, id),
  "a handle's lock": (db, id) => db.table(stays).lock(id),
  "a locking list": (db, id) => db.table(stays).list({ id }, { lock: true, order: ["id"] }),
  "an update": (db, id) => db.table(stays).update(id, { cabin: `cabin ${++cabins}` }),
  "a new row of its child table": (db, id) => db.table(notes).insert({ stayId: id, note: "late" }),
  "a new row that refers to it": (db, id) => db.table(bills).insert({ stayId: id }),
  "a changed reference": (db, id) =>
    Effect.flatMap(db.table(bills).insert({}), (bill) => db.table(bills).update(bill.id, { stayId: id })),
  "changed references": (db, id) =>
    Effect.flatMap(db.table(bills).insert({}), (bill) => db.table(bills).updateEach([{ id: bill.id, stayId: id }]))
}

const ended = (exit: Exit.Exit<unknown, { readonly _tag: string }>): string =>
  Exit.isSuccess(exit)
    ? "done"
    : Cause.hasFails(exit.cause)
    ? "refused"
    : `broken: ${Cause.pretty(exit.cause)}`

/** A transaction that holds the row and has more to do, and a move of the row that begins meanwhile. */
const meeting = Effect.fnUntraced(function*(
  db: PluginDatabase,
  id: string,
  transaction: (locked: Effect.Effect<void>) => Work,
  move: Move
) {
  const [isLocked, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const locked = Effect.andThen(Deferred.succeed(isLocked, undefined), Deferred.await(mayGoOn))
  const first = yield* Effect.forkChild(transaction(locked))
  yield* Deferred.await(isLocked)
  const second = yield* Effect.forkChild(db.use(stay).move(move, id))
  yield* Effect.orDie(waiting(1))
  yield* Deferred.succeed(mayGoOn, undefined)
  return [ended(yield* Fiber.await(first)), ended(yield* Fiber.await(second))]
})

const fromOf = (move: Move): ReadonlyArray<string> => stay.moves[move].from
const after = (first: Move, second: Move) => fromOf(second).includes(stay.moves[first].to) ? "done" : "refused"

layer(pluginTables(inn), { excludeTestServices: true, timeout: "60 seconds" })("rows of a table with ranges", (it) => {
  for (const [name, lock] of Object.entries(locks)) {
    it.effect(`are locked by ${name} after the turn of their table: no two moves wait for each other`, () =>
      Effect.gen(function*() {
        const { db } = yield* PluginContext
        for (const [first, second] of pairs) {
          const { id } = yield* newStay(db)
          const transaction = (locked: Effect.Effect<void>) =>
            db.transaction(
              lock(db, id, first).pipe(Effect.andThen(locked), Effect.andThen(db.use(stay).move(first, id)))
            )
          assert.deepStrictEqual(yield* meeting(db, id, transaction, second), ["done", after(first, second)])
        }
      }).pipe(inDefault))
  }

  it.effect("are locked by a deletion after the turn of their table", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      for (const move of moves) {
        const { id } = yield* newStay(db)
        const transaction = (locked: Effect.Effect<void>) =>
          db.transaction(
            db.table(stays).delete(id).pipe(Effect.andThen(locked), Effect.andThen(newStay(db)))
          )
        assert.deepStrictEqual(yield* meeting(db, id, transaction, move), ["done", "refused"])
      }
    }).pipe(inDefault))

  it.effect("are locked by a task for due rows after the turn of their table", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      for (const [first, second] of pairs) {
        const { id } = yield* newStay(db)
        const transaction = (locked: Effect.Effect<void>) =>
          runOf(dueTask(contextOf(db), {
            slug: "inn/due",
            schedule: "* * * * *",
            of: stays,
            where: () => ({ id }),
            each: () => Effect.andThen(locked, db.use(stay).move(first, id))
          }))
        assert.deepStrictEqual(yield* meeting(db, id, transaction, second), ["done", after(first, second)])
      }
    }).pipe(inDefault))

  it.effect("follow the turn that a plugin takes before it locks other rows", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const { id } = yield* newStay(db)
      const transaction = (locked: Effect.Effect<void>) =>
        db.transaction(db.turn(stays).pipe(Effect.andThen(locked), Effect.andThen(db.use(stay).move("end", id))))
      assert.deepStrictEqual(yield* meeting(db, id, transaction, "cancel"), ["done", "refused"])
    }).pipe(inDefault))
})

it("an account of a ledger has no ranges", () => {
  const columns = { ...balanceColumns, begins: timestamp, ends: timestamp }
  const cabins = table("inn_cabins", columns, { excluding: [{ columns: ["version"], range: ["begins", "ends"] }] })
  assert.throws(() => ledger("inn", { account: cabins, floor: 0 }), /"inn_cabins" cannot have ranges/)
})
