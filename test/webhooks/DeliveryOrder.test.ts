import { assert, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Tasks } from "../../src/domain/platform/tasks/Task.ts"
import { Webhooks } from "../../src/domain/webhooks/Webhooks.ts"
import { Deliveries } from "../../src/layers/webhooks/Deliveries.ts"
import { WebhookDispatchRepo } from "../../src/layers/webhooks/WebhookDispatchRepo.ts"
import { waiting } from "../support/AtOnce.ts"
import { waitFor } from "../support/waitFor.ts"
import type { WebhookReceiver } from "../support/WebhookReceiver.ts"
import { JobsDouble, runJob, runPending, runRetries } from "./JobsDouble.ts"
import { anEndpoint, anEvent, onlyEndpoint, relay, webhookWorld } from "./WebhookWorld.ts"

/** Three events of one record, as they follow one another. */
const threeOf = (entityId: string) => [anEvent({ entityId }), anEvent({ entityId }), anEvent({ entityId })] as const

/** Three events of one record that wait for an endpoint of their own. */
const threeWait = Effect.fnUntraced(function*(entityId: string) {
  const endpoint = yield* onlyEndpoint()
  const events = threeOf(entityId)
  yield* relay(events)
  return { ...endpoint, events, jobs: (yield* JobsDouble).jobs }
})

const idsAt = ({ received }: WebhookReceiver) => received.map(({ headers }) => String(headers["webhook-id"]).slice(4))

it.layer(webhookWorld(), { excludeTestServices: true })("events of one record", (it) => {
  it.effect("events of one record arrive in order, also if the first is retried", () =>
    Effect.gen(function*() {
      const { receiver } = yield* onlyEndpoint()
      const [first, second, third] = threeOf("order-1")
      receiver.react({ status: 500 })
      yield* relay([first, second, third])
      yield* runPending
      assert.deepStrictEqual(idsAt(receiver), [first.id], "the later ones wait while the first one is to be retried")
      yield* runRetries
      receiver.react({ status: 200 })
      yield* runRetries
      assert.deepStrictEqual(idsAt(receiver), [first.id, first.id, first.id, second.id, third.id])
    }))

  it.effect("later events of a record are sent when the first is given up", () =>
    Effect.gen(function*() {
      const { receiver } = yield* onlyEndpoint()
      const [first, second, third] = threeOf("order-2")
      receiver.react(({ headers }) => ({ status: headers["webhook-id"] === `evt_${first.id}` ? 500 : 200 }))
      yield* relay([first, second, third])
      yield* runPending
      for (let turn = 0; turn < 9; turn++) yield* runRetries
      assert.deepStrictEqual(idsAt(receiver).slice(9), [first.id, second.id, third.id])
    }))

  it.effect("events of one record arrive in order in whichever order their jobs run", () =>
    Effect.gen(function*() {
      const { events, jobs, receiver } = yield* threeWait("order-3")
      jobs.reverse()
      yield* runPending
      assert.deepStrictEqual(idsAt(receiver), events.map(({ id }) => id))
    }))

  it.effect("a failing event delays neither another record nor another endpoint", () =>
    Effect.gen(function*() {
      const [broken, sound] = [yield* onlyEndpoint(), yield* anEndpoint()]
      broken.receiver.react(({ body }) => ({ status: body.includes("order-4") ? 500 : 200 }))
      const [stuck, other] = [anEvent({ entityId: "order-4" }), anEvent({ entityId: "order-5" })]
      const behind = anEvent({ entityId: "order-4" })
      yield* relay([stuck, other, behind])
      yield* runPending
      assert.sameMembers(idsAt(broken.receiver), [stuck.id, other.id])
      assert.sameMembers(idsAt(sound.receiver), [stuck.id, other.id, behind.id])
    }))

  it.effect("jobs of one record and endpoint share a concurrency key that no other has", () =>
    Effect.gen(function*() {
      yield* Effect.all([onlyEndpoint(), anEndpoint()])
      yield* relay([anEvent({ entityId: "a" }), anEvent({ entityId: "a" }), anEvent({ entityId: "b" })])
      const { jobs } = yield* JobsDouble
      const concurrency = (yield* Tasks).find("webhooks/deliver")?.concurrency
      assert.strictEqual(new Set(jobs.map(({ input }) => concurrency?.key(input))).size, 4)
      assert.notStrictEqual(concurrency?.exclusive, false)
    }))

  it.effect("an event that queues behind another while that is settled is woken", () =>
    Effect.gen(function*() {
      const { id } = yield* onlyEndpoint()
      const [first, second] = threeOf("order-6")
      yield* relay([first, second])
      const sql = yield* SqlClient.SqlClient
      const repo = yield* WebhookDispatchRepo
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const woken: Array<string> = []
      const [behind, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // The later one holds the earlier one's row, and commits while the earlier one waits to be settled.
      const later = yield* Effect.forkChild(sql.withTransaction(
        Effect.map(repo.waitBehind(id, second.id, now), (waits) => assert.isTrue(waits)).pipe(
          Effect.andThen(Deferred.succeed(behind, undefined)),
          Effect.andThen(Deferred.await(free))
        )
      ))
      yield* Deferred.await(behind)
      const earlier = yield* Effect.forkChild(
        repo.settle(id, first.id, now, ({ eventId }) => Effect.sync(() => woken.push(eventId)))
      )
      yield* waiting(1)
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(later)
      yield* Fiber.join(earlier)
      assert.deepStrictEqual(woken, [second.id])
      assert.isFalse(yield* repo.waitBehind(id, second.id, now))
    }))

  it.effect("the deletion of an endpoint locks its events in their order", () =>
    Effect.gen(function*() {
      const { id } = yield* onlyEndpoint()
      const [first, second] = [anEvent({ entityId: "order-9" }), anEvent({ entityId: "order-8" })]
      const [low, high] = [first.id, second.id].sort()
      // The later event has the lower ids and is written first: no scan meets them in their order by chance.
      const [earlier, later] = [{ ...first, id: high ?? "" }, { ...second, id: low ?? "" }]
      yield* relay([later])
      yield* relay([earlier])
      const sql = yield* SqlClient.SqlClient
      const row = (eventId: string) =>
        sql`select 1 from webhook_dispatches where event_id = ${eventId}::uuid for update nowait`
      const [held, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const settling = yield* Effect.forkChild(sql.withTransaction(
        row(earlier.id).pipe(
          Effect.andThen(Deferred.succeed(held, undefined)),
          Effect.andThen(Deferred.await(go)),
          Effect.andThen(row(later.id))
        )
      ))
      yield* Deferred.await(held)
      const removing = yield* Effect.forkChild((yield* Webhooks).remove(id))
      yield* waiting(1)
      yield* Deferred.succeed(go, undefined)
      assert.lengthOf(yield* Fiber.join(settling), 1)
      yield* Fiber.join(removing)
      assert.lengthOf(yield* sql`select 1 from webhook_dispatches where endpoint_id = ${id}::uuid`, 0)
    }))
})

it.layer(webhookWorld(), { excludeTestServices: true })("an endpoint that does not answer", (it) => {
  it.effect("a failing endpoint has one attempt at a time, and the others are postponed", () =>
    Effect.gen(function*() {
      const [dead, sound] = [yield* onlyEndpoint(), yield* anEndpoint()]
      dead.receiver.react("reset")
      yield* relay([anEvent()])
      yield* runPending
      const { jobs } = yield* JobsDouble
      jobs.length = 0
      dead.receiver.react("hang")
      const hanging = dead.receiver.received.length
      yield* relay(Array.from({ length: 20 }, () => anEvent()))
      const todo = jobs.slice()
      const fiber = yield* Effect.forkChild(Effect.forEach(todo, runJob, { concurrency: "unbounded" }))
      const putOff = () => jobs.filter(({ input }) => input["endpointId"] === dead.id && input["postponed"] === 1)
      yield* Effect.promise(() => waitFor("all others to be put off", () => putOff().length === 19))
      yield* Effect.promise(() => waitFor("the first", () => dead.receiver.received.length > hanging))
      assert.lengthOf(dead.receiver.received, hanging + 1)
      for (const { options } of putOff()) {
        assert.isAtLeast(options.delayMs ?? 0, 800)
        assert.isAtMost(options.delayMs ?? 0, 1_200)
        assert.strictEqual(options.maxAttempts, 10)
      }
      yield* Effect.promise(() => waitFor("the sound endpoint", () => sound.receiver.received.length > 8))
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("postponed jobs of a failing endpoint do not count as lost", () =>
    Effect.gen(function*() {
      const dead = yield* onlyEndpoint()
      dead.receiver.react("reset")
      yield* relay([anEvent()])
      yield* runPending
      const { jobs } = yield* JobsDouble
      jobs.length = 0
      dead.receiver.react("hang")
      const [hanging, waiting] = [anEvent(), anEvent()]
      yield* relay([hanging, waiting])
      const sql = yield* SqlClient.SqlClient
      yield* sql`update webhook_dispatches set touched_at = touched_at - interval '19 hours'
        where event_id = ${waiting.id}::uuid`
      const of = (id: string) => jobs.filter(({ input }) => input["eventId"] === id).slice(0, 1)
      const before = dead.receiver.received.length
      const fiber = yield* Effect.forkChild(Effect.forEach(of(hanging.id), runJob))
      yield* Effect.promise(() => waitFor("the one that hangs", () => dead.receiver.received.length > before))
      for (const job of of(waiting.id)) yield* runJob({ ...job, input: { ...job.input, postponed: 59 } })
      assert.strictEqual(yield* (yield* Deliveries).revive, 0)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("an event whose job is lost gets another one, in order", () =>
    Effect.gen(function*() {
      const { events, jobs, receiver } = yield* threeWait("order-7")
      jobs.length = 0
      const { revive } = yield* Deliveries
      assert.strictEqual(yield* revive, 0, "a job of this moment is not lost")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update webhook_dispatches set touched_at = touched_at - interval '19 hours'`
      assert.strictEqual(yield* revive, 1, "only the first one: the others come after it")
      assert.strictEqual(yield* revive, 0)
      yield* runPending
      yield* sql`update webhook_dispatches set touched_at = touched_at - interval '19 hours'`
      yield* revive
      yield* runPending
      yield* revive
      yield* runPending
      assert.deepStrictEqual(idsAt(receiver), events.map(({ id }) => id))
    }))
})
