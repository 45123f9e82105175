import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testNoPermActor, withPermissions } from "stoa/plugin/testing"
import { type OpenTap, openTap } from "../../../../test/support/OpenTap.ts"
import { type NotificationShop, openShop, provider } from "./NotificationShop.ts"

describe("a batch of messages", () => {
  let shop: NotificationShop
  let tap: OpenTap
  const [local, other] = [provider("local"), provider("other", "push")]
  /** Before which statement of the plugin's delivery, or commit of one, the connection is cut; 0: none. */
  let left = 0
  let counting = 0
  let cuts = 0
  /** The connection of the last statement that was counted. */
  let last: number | undefined
  beforeAll(async () => {
    const before = (text: string, connection: number, cut: () => void) => {
      if (text.startsWith("with lead") || text.startsWith("update notification_log l set status")) counting++
      const isCounted = /notification_|commerce_jobs/.test(text) || (/^commit/i.test(text) && connection === last)
      if (!isCounted) return
      last = connection
      if (left === 0 || --left > 0) return
      cuts++
      cut()
    }
    tap = await openTap(before)
    // The job of the minute would take messages of a test.
    const jobs = { autorun: { enabled: false }, reapIntervalMs: 1 }
    shop = await openShop({ adapters: [local.adapter, other.adapter] }, { postgres: tap, jobs })
  })
  afterAll(async () => {
    await shop.close()
    await tap.close()
  })

  /** So many messages that are due, as events have queued them. */
  const queue = (channel: string, count: number) =>
    shop.app.db.query(
      `insert into notification_log (id, organization_id, channel, event, recipient, subject, body, next_at, group_id)
       select i.id, 'org_default', $1, 'batch', 'to-' || i.n || '@example.com', 'Hi', 'text', now() - interval '1 second',
         i.id from (select gen_random_uuid() as id, n from generate_series(1, $2::int) n) i returning id`,
      [channel, count]
    )
  const waiting = async () => (await shop.app.db.query("select 1 from notification_log where status = 'queued'")).length
  /** Runs the jobs of a queue that are due. */
  const run = (queue: string) => shop.ask("POST", `/jobs/run?limit=100&queue=${queue}`)
  /** The leases of a process that ended run out, and its jobs are due again. */
  const endLeases = async () => {
    await shop.app.db.query("update notification_log set next_at = now() where status = 'queued'")
    await shop.app.db.query(
      "update commerce_jobs set lease_until = now() - interval '1 second' where lease_token is not null"
    )
    await shop.app.db.query(
      "update commerce_jobs set wait_until = now() where status = 'pending' and wait_until is not null"
    )
  }
  const drained = async () => {
    await shop.drain()
    await run("default")
    assert.strictEqual(await waiting(), 0)
  }

  it("takes two statements, however many there are", async () => {
    await queue("sms", 400)
    counting = 0
    await drained()
    assert.deepStrictEqual([counting, local.sent.size], [2, 400])
  })

  it("of a process that ends before any statement is sent whole, each message once for its key", async () => {
    for (let at = 1; at <= 30; at++) {
      const [mails, keys] = [shop.mails.length, local.sent.size]
      const rows = []
      for (const [channel, count] of Object.entries({ sms: 3, email: 2, print: 2, in_app: 1 })) {
        rows.push(...await queue(channel, count))
      }
      await shop.drain()
      const before = cuts
      left = at
      await run("default")
      left = 0
      const wasCut = cuts > before
      if (wasCut) await endLeases()
      if (await waiting() > 0) await drained()
      await run("mail")
      assert.strictEqual(shop.mails.length, mails + 2)
      assert.strictEqual(local.sent.size, keys + 3)
      const printed = "select 1 from notification_print_jobs where message_id = any($1::uuid[])"
      assert.lengthOf(await shop.app.db.query(printed, [rows.map(({ id }) => id)]), 2)
      if (!wasCut) return assert.isAtLeast(at, 6)
    }
    return assert.fail("It is not done.")
  })

  it("is taken once by eight jobs at once", async () => {
    const asked = other.asked.length
    await queue("push", 200)
    await Promise.all(Array.from({ length: 8 }, shop.drain))
    await Promise.all(Array.from({ length: 8 }, () => run("default")))
    assert.strictEqual(await waiting(), 0)
    assert.strictEqual(other.asked.length - asked, 200)
  })

  it("that waits is sent after its delay, and a digest as one message", async () => {
    const [delayed, digest] = [shop.event(), shop.event()]
    await shop.template(delayed, { delayMinutes: 10 })
    await shop.template(digest, { digestMinutes: 10 })
    const later = await shop.send(delayed)
    const names = ["Ann", "Bea", "Cid"]
    const ids = await Promise.all(names.map((name) => shop.send(digest, { data: { name } })))
    const another = await shop.send(digest, { recipient: "+2", data: { name: "Dan" } })
    await shop.drain()
    await run("default")
    assert.strictEqual((await shop.message(later)).at("data.status"), "queued")
    assert.isFalse(local.asked.includes(later))
    const group = (await shop.message(ids[0] ?? "")).text("data.groupId")
    await shop.app.db.query("update notification_log set next_at = now() where status = 'queued'")
    await drained()
    assert.deepStrictEqual(ids.filter((id) => local.sent.has(id)), [group])
    const text = local.sent.get(group)?.body ?? ""
    assert.deepStrictEqual(text.split("\n\n").toSorted(), names.map((name) => `Hello ${name}`))
    assert.strictEqual(local.sent.get(another)?.body, "Hello Dan")
    for (const id of ids) assert.strictEqual((await shop.message(id)).at("data.status"), "sent")
  })
})

describe("print jobs", () => {
  let shop: NotificationShop
  beforeAll(async () => {
    shop = await openShop({ leaseSeconds: 30 })
  })
  afterAll(() => shop.close())

  const agent = withPermissions(["notifications:print"], testNoPermActor)
  const job = async (printerId: string) =>
    (await shop.done("POST", "/notifications/print", { type: "label", printerId, content: { a: 1 } })).text("data.id")
  const next = (printerId: string) =>
    shop.done("GET", `/notifications/print/next?printerId=${printerId}`, undefined, agent)
  const ack = (id: string, body: object) => shop.ask("POST", `/notifications/print/${id}/ack`, body, agent)

  it("go to one agent of eight each, and again to another one when its lease has run out", async () => {
    const jobs = [await job("p1"), await job("p1"), await job("p1")]
    const taken = await Promise.all(Array.from({ length: 8 }, () => next("p1")))
    const ids = taken.filter((one) => one.at("data") !== null).map((one) => one.text("data.id"))
    assert.deepStrictEqual(ids.toSorted(), jobs.toSorted())
    const [id = "", second = "", third = ""] = ids
    assert.strictEqual((await ack(id, { status: "printed", lease: 1 })).at("data.status"), "printed")
    assert.strictEqual((await ack(second, { status: "failed", error: "No paper." })).at("data.error"), "No paper.")
    shop.app.clock.advance("31 seconds")
    const again = await next("p1")
    assert.deepStrictEqual([again.at("data.id"), again.at("data.lease")], [third, 2])
    assert.strictEqual((await ack(third, { status: "printed", lease: 1 })).status, 409)
    assert.strictEqual((await ack(third, { status: "printed", lease: 2 })).status, 201)
    assert.strictEqual((await next("p1")).at("data"), null)
  })

  it("move from queued over printing to printed or failed alone, and are fetched by agents alone", async () => {
    const id = await job("p2")
    const move = async (status: string) =>
      (await shop.ask("PATCH", `/notifications/print/${id}/status`, { status })).status
    assert.strictEqual((await ack(id, { status: "printed" })).status, 422)
    assert.strictEqual((await ack(randomUUID(), { status: "printed" })).status, 404)
    const moves = []
    for (const status of ["printed", "printing", "printing", "printed", "failed"]) moves.push(await move(status))
    assert.deepStrictEqual(moves, [422, 200, 422, 200, 422])
    assert.strictEqual((await shop.done("GET", "/notifications/print?printerId=p2&status=printed")).at("data.0.id"), id)
    const path = "/notifications/print"
    await shop.refused("403 FORBIDDEN", "GET", `${path}/next?printerId=p2`, undefined, testNoPermActor)
    await shop.refused("403 FORBIDDEN", "GET", path, undefined, agent)
  })
})
