import { assert, layer } from "@effect/vitest"
import { Data, Deferred, Effect, Fiber } from "effect"
import { dueTask, PluginContext } from "stoa/plugin"
import { inDefault, pluginTables, statementsOf, within } from "./PluginTablesLayer.ts"
import { contextOf, letters, reminders, remindersPlugin, runOf, sendReminders } from "./Reminders.ts"

class Broken extends Data.TaggedError("Broken") {}

const past = new Date("2026-01-01T00:00:00Z")
const future = new Date("2999-01-01T00:00:00Z")

const run = (send?: Parameters<typeof sendReminders>[1]) =>
  Effect.flatMap(PluginContext, ({ db }) => runOf(sendReminders(contextOf(db), send)))
const plan = (count: number, text = "hello", dueAt = past) =>
  Effect.flatMap(
    PluginContext,
    ({ db }) => db.table(reminders).insertMany(Array.from({ length: count }, () => ({ text, dueAt })))
  )
const sentOf = (text: string) =>
  Effect.flatMap(
    PluginContext,
    ({ db }) =>
      Effect.map(db.sql`select sent, organization_id from reminders_reminders where text = ${text}`, (rows) =>
        rows.map((row) => row["sent"]))
  )

layer(pluginTables(remindersPlugin), { excludeTestServices: true, timeout: "60 seconds" })(
  "a task for due rows",
  (it) => {
    it.effect("works off the rows of all organizations that are due, each in its organization", () =>
      Effect.gen(function*() {
        const { db } = yield* PluginContext
        yield* plan(2)
        yield* within("org_other")(plan(1))
        yield* plan(1, "later", future)
        assert.deepStrictEqual(yield* run(), { done: 3, failed: 0, skipped: 0 })
        assert.deepStrictEqual(yield* sentOf("hello"), [1, 1, 1])
        assert.deepStrictEqual(yield* sentOf("later"), [0])
        assert.strictEqual(yield* within("org_other")(db.table(letters).count({})), 1)
        assert.deepStrictEqual(yield* run(), { done: 0, failed: 0, skipped: 0 })
      }).pipe(inDefault))

    it.effect("does each row once in eight runs at the same time", () =>
      Effect.gen(function*() {
        yield* plan(60, "parallel")
        const counts = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => run(), { concurrency: "unbounded" })
        assert.strictEqual(counts.reduce((sum: number, one) => sum + Number(Reflect.get(Object(one), "done")), 0), 60)
        assert.deepStrictEqual(new Set(yield* sentOf("parallel")), new Set([1]))
      }).pipe(inDefault))

    it.effect("leaves a row that fails as it was, once in a run, and works off the others", () =>
      Effect.gen(function*() {
        yield* plan(2, "broken")
        yield* plan(1, "dead")
        yield* plan(2, "fine")
        let tries = 0
        const send = (text: string) => {
          if (text === "fine") return Effect.void
          tries++
          return text === "dead" ? Effect.die("a mistake") : Effect.fail(new Broken())
        }
        assert.deepStrictEqual(yield* run(send), { done: 2, failed: 3, skipped: 0 })
        assert.strictEqual(tries, 3)
        assert.deepStrictEqual([yield* sentOf("broken"), yield* sentOf("fine")], [[0, 0], [1, 1]])
        assert.deepStrictEqual(yield* run(), { done: 3, failed: 0, skipped: 0 })
      }).pipe(inDefault))

    it.effect("leaves a row due that it is interrupted at, and skips one that another run has", () =>
      Effect.gen(function*() {
        yield* plan(1, "held")
        const started = yield* Deferred.make<void>()
        const held = yield* Effect.forkChild(
          run(() => Effect.andThen(Deferred.succeed(started, undefined), Effect.never))
        )
        yield* Deferred.await(started)
        assert.deepStrictEqual(yield* run(), { done: 0, failed: 0, skipped: 1 })
        yield* Fiber.interrupt(held)
        assert.deepStrictEqual(yield* sentOf("held"), [0])
        assert.deepStrictEqual(yield* run(), { done: 1, failed: 0, skipped: 0 })
      }).pipe(inDefault))

    it.effect("reads ids in pages, rows of child tables in the organization of their parents", () =>
      Effect.gen(function*() {
        const { db } = yield* PluginContext
        const [parent] = yield* within("org_other")(plan(1, "parent", future))
        const letter = { reminderId: parent?.id ?? "" }
        yield* within("org_other")(db.table(letters).insertMany(Array.from({ length: 501 }, () => letter)))
        const organizations = new Set<string>()
        const task = dueTask(contextOf(db), {
          slug: "reminders/letters",
          schedule: "* * * * *",
          of: letters,
          where: () => ({ sent: 0, reminderId: letter.reminderId }),
          each: (row, tools) =>
            Effect.andThen(tools.db.table(reminders).get(row.reminderId), ({ organizationId }) => {
              organizations.add(organizationId)
              return tools.db.table(letters).update(row.id, { sent: 1 })
            })
        })
        assert.deepStrictEqual(yield* runOf(task), { done: 501, failed: 0, skipped: 0 })
        assert.deepStrictEqual(organizations, new Set(["org_other"]))
        assert.strictEqual(yield* statementsOf(runOf(task)), 1, "nothing is due")
      }).pipe(inDefault))
  }
)
