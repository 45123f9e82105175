import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelRefused, ChannelUnavailable } from "../index.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { memoryProduct } from "./MemoryStore.ts"

describe("fields of products at a store", () => {
  let shop: ChannelShop
  let id: string
  beforeAll(async () => {
    shop = await openShop()
    id = await shop.connect()
    await shop.ran(id, "import")
    await shop.done("PUT", `/stores/${id}/catalog-write`, {
      enabled: true,
      overrides: [{ fieldPath: "attributes.*.subtitle", target: "meta", remoteKey: "subtitle_*" }]
    })
  })
  afterAll(() => shop.close())
  beforeEach(() => {
    shop.memory.failure = undefined
    shop.memory.calls.length = 0
  })

  const entity = async (n: number) => (await shop.thing(id, `p${n}`)).entityId
  const put = async (n: number, texts: object) => {
    const answer = await shop.ask("PUT", `/catalog/entities/${await entity(n)}/attributes/en`, texts)
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  }
  const titleHere = async (n: number) => {
    const rows = await shop.app.db.query("select title from entity_attributes where entity_id = $1", [await entity(n)])
    return rows[0]?.["title"]
  }
  const titleThere = (n: number) => {
    const texts = shop.memory.products.find(({ externalId }) => externalId === `p${n}`)?.draft.product["attributes"]
    return Array.isArray(texts) ? texts[0].title : undefined
  }
  const rename = (n: number, title: string) => {
    const { draft, ...rest } = memoryProduct(n)
    const changed = { ...rest, draft: { ...draft, product: { ...draft.product, attributes: [{ title }] } } }
    shop.memory.products = shop.memory.products.map((one) => one.externalId === `p${n}` ? changed : one)
  }
  const push = async (n: number) => {
    const [row] = await shop.app.db.query(
      `select state, attempts, last_error, failure_kind, due_at from channel_catalog_pushes
       where store_id = $1 and entity_id = $2 order by created_at desc limit 1`,
      [id, await entity(n)]
    )
    return row
  }
  const settles = (n: number, state: string) =>
    waitFor(`the push of ${n} is ${state}`, async () => {
      const row = await push(n)
      return row?.["state"] === state ? row : undefined
    })
  const confirmed = (n: number) =>
    waitFor(`product ${n} is written`, async () => {
      const row = await push(n)
      return row?.["state"] === "confirmed" && row["due_at"] === null
    })
  const conflicts = async (state = "open") =>
    (await shop.done("GET", `/conflicts?storeId=${id}&state=${state}`)).list("data")
  const hinted = async (n: number) => {
    await shop.hint(id, "product", `p${n}`)
    await shop.settled(id)
  }
  const reads = () => shop.memory.calls.filter((call) => call === "readFields").length
  const writes = () => shop.memory.calls.filter((call) => call === "write").length
  const changes = () => shop.app.db.query("select count(*)::int4 as n from outbox_events where type like 'catalog.%'")

  it("are written when they change here, and the webhook of that changes nothing", async () => {
    await put(1, { title: "Ours 1", subtitle: "New" })
    await confirmed(1)
    assert.strictEqual(titleThere(1), "Ours 1")
    assert.strictEqual(shop.memory.fields.get("p1 meta subtitle_en"), "New")
    const [before, count] = [await changes(), writes()]
    await hinted(1)
    assert.deepStrictEqual(await changes(), before)
    assert.strictEqual(writes(), count)
  })

  it("that the store changed are written back, and others are taken over", async () => {
    rename(1, "Theirs 1")
    await hinted(1)
    await waitFor("ours is back", () => titleThere(1) === "Ours 1")
    assert.strictEqual(await titleHere(1), "Ours 1")
    assert.lengthOf(await conflicts(), 0)
  })

  it("that the store alone changes here do not go back to it", async () => {
    const { draft, ...rest } = memoryProduct(5)
    const changed = { ...rest, draft: { ...draft, product: { ...draft.product, status: "draft", isVisible: false } } }
    shop.memory.products = shop.memory.products.map((one) => one.externalId === "p5" ? changed : one)
    const [before, count] = [await changes(), reads()]
    await hinted(5)
    await waitFor(
      "the event has its place",
      async () => (await shop.app.db.query("select 1 from outbox_events where position is null")).length === 0
    )
    await waitFor("the event is handled", async () =>
      (await shop.app.db.query(
        "select 1 from commerce_jobs where task_slug = 'channel-connector/on/catalog.update' and status in ('pending', 'processing')"
      )).length === 0)
    await shop.settled(id)
    assert.notDeepEqual(await changes(), before)
    assert.strictEqual(reads(), count)
  })

  it("are no change of a store that took them without an answer", async () => {
    await put(2, { title: "Common 2" })
    await waitFor("both sides agree", () => titleThere(2) === "Common 2")
    await confirmed(2)
    shop.memory.silence = new ChannelUnavailable({ message: "No answer." })
    for (const title of ["Ours 2 once", "Ours 2 twice"]) {
      await put(2, { title })
      await settles(2, "failed")
      await waitFor("the store took it", () => titleThere(2) === title)
    }
    shop.memory.silence = undefined
    await put(2, { title: "Ours 2" })
    await waitFor("the last one is there", () => titleThere(2) === "Ours 2")
    assert.lengthOf(await conflicts(), 0)
  })

  it("of which the store keeps another form are written once", async () => {
    shop.memory.keeps = (value) => value?.toUpperCase() ?? null
    await put(2, { title: "Loud 2" })
    await waitFor("the store has its form", () => titleThere(2) === "LOUD 2")
    await confirmed(2)
    shop.memory.keeps = (value) => value
    const count = writes()
    await hinted(2)
    await shop.done("POST", `/stores/${id}/push-catalog`, { entityIds: [await entity(2)] })
    await confirmed(2)
    assert.deepStrictEqual([titleThere(2), await titleHere(2), writes()], ["LOUD 2", "Loud 2", count])
  })

  it("that both sides have changed are held as one conflict until somebody decides", async () => {
    for (const [choose, expected] of [["platform", "Mine"], ["store", "Theirs"]] as const) {
      await put(3, { title: `Common ${choose}` })
      await waitFor("both sides agree", () => titleThere(3) === `Common ${choose}`)
      await confirmed(3)
      rename(3, "Theirs")
      await put(3, { title: "Mine" })
      const [conflict, ...others] = await waitFor("there is a conflict", async () => {
        const all = await conflicts()
        return all.length > 0 ? all : undefined
      })
      await confirmed(3)
      assert.deepInclude(conflict, { fieldPath: "attributes.en.title", platformValue: "Mine", storeValue: "Theirs" })
      assert.lengthOf(others, 0)
      await hinted(3)
      for (const title of [`Common ${choose}`, "Mine"]) {
        await put(3, { title })
        await waitFor("the conflict shows it", async () => Object((await conflicts())[0]).platformValue === title)
        await confirmed(3)
      }
      assert.deepStrictEqual([titleThere(3), await titleHere(3)], ["Theirs", "Mine"])
      assert.lengthOf(await conflicts(), 1)
      const path = `/conflicts/${Object(conflict).id}/resolve`
      await shop.refused("422 VALIDATION_FAILED", "POST", path, { choose: "both" })
      const resolved = await shop.done("POST", path, { choose })
      assert.deepInclude(resolved.at("data"), { state: "resolved", choice: choose })
      await shop.refused("404 NOT_FOUND", "POST", path, { choose })
      await waitFor("both sides are equal", async () => titleThere(3) === expected && (await titleHere(3)) === expected)
      await confirmed(3)
      assert.lengthOf(await conflicts(), 0)
    }
    assert.lengthOf(await conflicts("resolved"), 2)
  })

  it("are previewed without a trace", async () => {
    shop.memory.fields.set("p4 meta subtitle_en", "Theirs")
    const [before, unknown] = [await changes(), "7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11"]
    const preview = await shop.done("POST", `/stores/${id}/push-catalog/preview`, {
      entityIds: [await entity(4), unknown]
    })
    assert.deepStrictEqual(preview.at("data"), {
      items: [{
        externalId: "p4",
        diffs: [{
          fieldPath: "attributes.en.subtitle",
          target: "meta",
          remoteKey: "subtitle_en",
          before: "Theirs",
          beforeStatus: "value",
          after: null,
          owner: "platform",
          willWrite: false,
          reason: "It has no value here."
        }]
      }],
      skipped: [{ entityId: unknown, reason: "The store does not sell it." }],
      warnings: []
    })
    assert.deepStrictEqual(await changes(), before)
    assert.strictEqual(writes(), 0)
  })

  it("that the store refuses fail for good, and are written after the next change", async () => {
    shop.memory.refused.add("p4")
    await put(4, { title: "Ours 4" })
    const failed = await settles(4, "failed")
    assert.deepInclude(failed, { failure_kind: "definitive", last_error: "The store does not take p4.", due_at: null })
    shop.memory.refused.clear()
    await put(4, { title: "Ours 4 again" })
    await waitFor("it is written", () => titleThere(4) === "Ours 4 again")
    await confirmed(4)
    shop.memory.failure = new ChannelRefused({ message: "No." })
    await put(4, { title: "Ours 4 at last" })
    assert.deepInclude(await settles(4, "failed"), { failure_kind: "definitive", attempts: 1 })
  })

  it("are tried eight times while the store is away, and not counted while it asks for a pause", async () => {
    shop.memory.failure = new ChannelUnavailable({ message: "Away.", retryAfterMs: 40_000 })
    await put(5, { title: "Ours 5" })
    await waitFor("the store was asked", () => reads() === 1)
    await waitFor("it waits", async () => (await push(5))?.["due_at"] !== null)
    assert.deepInclude(await push(5), { state: "exported", attempts: 1 })
    shop.memory.failure = new ChannelUnavailable({ message: "Away." })
    for (const minutes of [1, 1, 2, 4, 8, 16, 32, 60]) {
      const count = reads()
      shop.app.clock.advance(`${minutes} minutes`)
      await shop.app.serviceRegistry.enqueue("channel/push-catalog", { storeId: id })
      await waitFor("it is tried again", () => reads() > count)
      await shop.settled(id)
    }
    assert.deepInclude(await settles(5, "abandoned"), { attempts: 8, failure_kind: "transient", last_error: "Away." })
    shop.memory.failure = undefined
    await put(5, { title: "Ours 5 later" })
    await confirmed(5)
    assert.strictEqual(titleThere(5), "Ours 5 later")
  })

  it("that change while they are written are written again", async () => {
    const [gate, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    shop.memory.beforeWrite = Effect.promise(() => {
      reached.resolve()
      return gate.promise
    })
    await put(5, { title: "First" })
    await reached.promise
    shop.memory.beforeWrite = Effect.void
    await put(5, { title: "Second" })
    await waitFor(
      "its job waits",
      async () => (await shop.jobs(id, "channel/push-catalog")).some(({ status }) => status === "pending")
    )
    const before = reads()
    await shop.done("POST", `/stores/${id}/push-catalog`, {})
    await waitFor("a job writes the others", () => reads() >= before + 2)
    for (const n of [1, 2, 3, 4]) await confirmed(n)
    gate.resolve()
    await shop.settled(id)
    await waitFor("the second is there", () => titleThere(5) === "Second")
    assert.lengthOf(await conflicts(), 0)
  })

  it("are written in batches, by a job that goes on", async () => {
    await shop.done("POST", `/stores/${id}/push-catalog`, {})
    for (const n of [1, 2, 3, 4, 5]) await confirmed(n)
    assert.isAtLeast(reads(), 3)
  })

  it("have a mapping whose wrong rows are refused", async () => {
    const path = `/stores/${id}/catalog-write`
    const row = (fieldPath: string, target = "meta", remoteKey = "x") => ({ fieldPath, target, remoteKey })
    const never = ["variants.sku", "variants.barcode", "options", "options.size", "prices", "status", "entity.status"]
    for (const wrong of [...never.map((one) => row(one)), row("title"), row("attributes.en.title", "native", "x")]) {
      await shop.refused("422 VALIDATION_FAILED", "PUT", path, { overrides: [wrong] })
    }
    await shop.refused("422 VALIDATION_FAILED", "PUT", path, {})
    const before = (await shop.done("GET", path)).at("data")
    const written = await shop.done("PUT", path, {
      overrides: {
        "attributes.*.title": { target: "meta", remoteKey: "any" },
        "attributes.de.title": { target: "native", remoteKey: "title" }
      }
    })
    assert.deepStrictEqual(
      written.list("data.merged").map((one) => Object(one).fieldPath),
      ["attributes.de.title", "attributes.en.title", "attributes.*.title"]
    )
    assert.lengthOf(written.list("data.warnings"), 2)
    await shop.done("PUT", path, { overrides: Object(before).overrides })
    assert.deepStrictEqual((await shop.done("GET", path)).at("data"), before)
  })

  it("of a store whose writes are off cost no job", async () => {
    await shop.done("PUT", `/stores/${id}/catalog-write`, { enabled: false })
    await shop.refused("409 CONFLICT", "POST", `/stores/${id}/push-catalog`, {})
    const jobs = () =>
      shop.app.db.query("select 1 from commerce_jobs where task_slug = 'channel-connector/on/catalog.update'")
    const before = (await jobs()).length
    await put(1, { title: "Here alone" })
    await waitFor(
      "the event has its place",
      async () => (await shop.app.db.query("select 1 from outbox_events where position is null")).length === 0
    )
    assert.lengthOf(await jobs(), before)
    assert.strictEqual(titleThere(1), "Ours 1")
  })
})
