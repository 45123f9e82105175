import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomUUID } from "node:crypto"
import { mkdir, rename, rm, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { clearAbandoned } from "../../src/layers/media/LocalStorage.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import {
  aMovingPicture,
  aPdf,
  aPicture,
  arriving,
  fetched,
  mediaTurn,
  rows,
  sendNonsense,
  sendRaw,
  Shelf,
  stored,
  upload,
  withShelf
} from "./MediaFixtures.ts"

const limit = 300_000
const withLimits = withShelf({
  media: { maxUploadSize: limit, maxPixels: 5_000, imageWidths: [16] },
  jobs: { autorun: { enabled: false } }
})

/** Nothing has come and nothing has gone: as many rows and files as there were. */
const untouched = Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>) {
  const before = [yield* rows, yield* stored, yield* arriving]
  const result = yield* work
  assert.deepStrictEqual([yield* rows, yield* stored, yield* arriving], before)
  return result
})

/** Waits until nothing is arriving any more. */
const atRest = Effect.gen(function*() {
  const run = Effect.runPromiseWith(yield* Effect.context<Shelf>())
  yield* Effect.promise(() => waitFor("nothing to arrive", async () => (await run(arriving)).length === 0 || undefined))
})

/** The storage is away for as long as the work takes: a file stands where its folder was. */
const whileAway = Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>) {
  const { folder } = yield* Shelf
  const [files, aside] = [join(folder, "media/files"), join(folder, "media/aside")]
  yield* Effect.promise(async () => {
    await mkdir(files, { recursive: true })
    await rename(files, aside)
    await writeFile(files, "")
  })
  return yield* Effect.ensuring(
    work,
    Effect.promise(async () => {
      await rm(files)
      await rename(aside, files)
    })
  )
})

withLimits("an upload", (it) => {
  it.effect("an upload of the maximum size is accepted, and one byte more is refused", () =>
    Effect.gen(function*() {
      const head = 9
      for (const declared of [true, false]) {
        assert.strictEqual((yield* sendRaw({ size: limit - head, declared })).status, 201)
        const refused = yield* untouched(sendRaw({ size: limit - head + 1, declared }))
        assert.strictEqual(refused.status, 413, refused.body)
        assert.include(refused.body, "PAYLOAD_TOO_LARGE")
      }
      const announced = yield* untouched(sendRaw({ size: 5_000_000, declared: true }))
      assert.strictEqual(announced.status, 413, announced.body)
      assert.include(announced.body, "PAYLOAD_TOO_LARGE")
      // A client that goes on writing may lose the answer with its connection; nothing is kept either way.
      yield* sendRaw({ size: 5_000_000 })
      yield* atRest
      assert.deepStrictEqual((yield* rows).assets, 2)
    }))

  it.effect("an upload that breaks off leaves no row and no file", () =>
    Effect.gen(function*() {
      yield* untouched(
        Effect.gen(function*() {
          assert.strictEqual((yield* sendRaw({ size: 200_000, hangsUpAfter: 100_000 })).status, 0)
          assert.strictEqual((yield* sendRaw({ size: 200_000, hangsUpAfter: 100_000, declared: true })).status, 0)
          yield* atRest
        })
      )
      const unfinished = yield* untouched(sendRaw({ size: 1_000, unfinished: true }))
      assert.strictEqual(unfinished.status, 400, unfinished.body)
    }))

  it.effect("an upload beside 32 others is refused until they end", () =>
    Effect.gen(function*() {
      const slow = sendRaw({ size: 200_000, pausesAfter: 70_000 })
      const others = yield* Effect.forEach(Array.from({ length: 32 }), () => Effect.forkChild(slow))
      const run = Effect.runPromiseWith(yield* Effect.context<Shelf>())
      yield* Effect.promise(() =>
        waitFor("all of them to arrive", async () => (await run(arriving)).length === 32 || undefined)
      )
      const refused = yield* upload()
      assert.strictEqual(refused.status, 503)
      assert.isTrue(refused.headers.has("retry-after"))
      yield* Effect.forEach(others, Fiber.interrupt)
      yield* atRest
      assert.strictEqual((yield* upload()).status, 201)
    }))

  it.effect("an upload without a form is 415, and an unreadable form 400", () =>
    Effect.gen(function*() {
      const json = yield* sendNonsense("application/json", "{}")
      assert.deepStrictEqual([json.status, json.body.includes("UNSUPPORTED_MEDIA_TYPE")], [415, true])
      assert.strictEqual((yield* sendNonsense("image/png", "x")).status, 415)
      const broken = yield* sendNonsense("multipart/form-data; boundary=b", "no boundary at all")
      assert.deepStrictEqual([broken.status, broken.body.includes("BAD_REQUEST")], [400, true], broken.body)
      assert.strictEqual((yield* sendNonsense("multipart/form-data; charset=utf-8", "x")).status, 400)
    }))

  it.effect("an upload of a damaged or too large picture is refused", () =>
    Effect.gen(function*() {
      const picture = yield* aPicture("png", 50, 50)
      const damaged = picture.slice(0, 20)
      const refused = yield* untouched(upload({ bytes: damaged }))
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text("error.message"), "must be an image that can be read")
      const bomb = yield* untouched(upload({ bytes: yield* aPicture("png", 100, 100) }))
      assert.strictEqual(bomb.status, 422)
      assert.include(bomb.text("error.message"), "more pixels than are allowed")
      // Of one that moves all frames count, at most four times as much as of one that does not.
      const moving = yield* upload({ bytes: yield* aMovingPicture(12), type: "image/gif" })
      assert.deepStrictEqual([moving.status, moving.at("data.height")], [201, 40], JSON.stringify(moving.body))
      const endless = yield* untouched(upload({ bytes: yield* aMovingPicture(13), type: "image/gif" }))
      assert.strictEqual(endless.status, 422)
      // What is damaged further inside is found out when it is drawn.
      const cut = yield* upload({ bytes: (yield* aPicture("png", 50, 60)).slice(0, -30) })
      assert.strictEqual(cut.status, 201)
      assert.strictEqual((yield* fetched(`${cut.text("data.url")}?width=16`, asAdmin)).status, 422)
    }))

  it.effect("an upload with an idempotency key is stored once, and the key fits no other file", () =>
    Effect.gen(function*() {
      const headers = { "idempotency-key": randomUUID() }
      const bytes = yield* aPicture("png", 20, 20)
      const before = (yield* rows).assets
      const [one, two] = yield* Effect.all([upload({ bytes, headers }), upload({ bytes, headers })], {
        concurrency: "unbounded"
      })
      const again = yield* upload({ bytes, headers })
      assert.strictEqual(again.status, 201)
      for (const made of [one, two]) {
        if (made.status === 409) assert.isTrue(made.headers.has("retry-after"))
        else assert.deepStrictEqual(made.body, again.body)
      }
      assert.strictEqual((yield* rows).assets, before + 1)
      const other = yield* upload({ bytes: yield* aPicture("png", 20, 21), headers })
      assert.strictEqual(other.status, 422)
      assert.include(other.text("error.message"), "was used with another request")
      assert.strictEqual((yield* upload({ bytes, headers, fields: { alt: "Other" } })).status, 422)
      const recorded = yield* onDatabase((sql) =>
        sql<{ n: number; marked: boolean }>`select count(*)::int4 as n,
            exists (select 1 from idempotency_records) as marked from outbox_events
          where type = 'media.upload' and entity_id = ${again.text("data.id")} and before is null`
      )
      assert.deepStrictEqual(recorded, [{ n: 1, marked: true }])
    }))

  it.effect("an upload is 503 while the storage is unavailable, and leaves nothing", () =>
    Effect.gen(function*() {
      const before = yield* rows
      const away = yield* whileAway(upload())
      assert.deepStrictEqual([away.status, away.at("error.code")], [503, "SERVICE_UNAVAILABLE"])
      assert.isTrue(away.headers.has("retry-after"))
      assert.deepStrictEqual([(yield* rows).assets, yield* arriving], [before.assets, []])
      assert.strictEqual((yield* upload()).status, 201)
    }))
})

withLimits("a file", (it) => {
  const removing = (id: string) => api("DELETE", `/api/media/${id}`, { as: asAdmin })

  it.effect("a file and its smaller versions are removed with their asset", () =>
    Effect.gen(function*() {
      const made = yield* upload()
      assert.strictEqual((yield* fetched(`${made.text("data.url")}?width=16`, asAdmin)).status, 200)
      assert.lengthOf(yield* stored, 2)
      const gone = yield* removing(made.text("data.id"))
      assert.deepStrictEqual([gone.status, gone.body], [200, { data: { deleted: true } }])
      assert.deepStrictEqual([yield* stored, yield* rows], [[], { assets: 0, doomed: 0 }])
      assert.strictEqual((yield* removing(made.text("data.id"))).status, 404)
      assert.strictEqual((yield* fetched(made.text("data.url"), asAdmin)).status, 404)
    }))

  it.effect("a file is removed later if the process died between the commit and the removal", () =>
    Effect.gen(function*() {
      const made = yield* upload()
      yield* fetched(`${made.text("data.url")}?width=16`, asAdmin)
      // All that such a process has done.
      yield* onDatabase((sql) => sql`delete from media_assets where id = ${made.text("data.id")}::uuid`)
      assert.deepStrictEqual(yield* rows, { assets: 0, doomed: 2 })
      assert.lengthOf(yield* stored, 2)
      yield* mediaTurn
      assert.deepStrictEqual([yield* stored, yield* rows], [[], { assets: 0, doomed: 0 }])
    }))

  it.effect("a file is removed later if the storage was unavailable, and its asset at once", () =>
    Effect.gen(function*() {
      const made = yield* upload()
      const gone = yield* whileAway(removing(made.text("data.id")))
      assert.strictEqual(gone.status, 200)
      assert.deepStrictEqual([(yield* stored).length, yield* rows], [1, { assets: 0, doomed: 1 }])
      // It is not tried again before its time.
      yield* mediaTurn
      assert.lengthOf(yield* stored, 1)
      yield* onDatabase((sql) => sql`update media_removals set due_at = now()`)
      yield* mediaTurn
      assert.deepStrictEqual([yield* stored, (yield* rows).doomed], [[], 0])
    }))

  it.effect("a file whose upload died before its row was written is removed an hour later", () =>
    Effect.gen(function*() {
      const { folder } = yield* Shelf
      const key = `2026/${randomUUID()}.pdf`
      yield* Effect.promise(async () => {
        await mkdir(join(folder, "media/files/2026"), { recursive: true })
        await writeFile(join(folder, "media/files", key), aPdf)
      })
      yield* onDatabase((sql) =>
        sql`insert into media_removals (storage_key, organization_id, due_at)
          values (${key}, 'org_default', now() + interval '1 hour')`
      )
      yield* mediaTurn
      assert.lengthOf(yield* stored, 1)
      yield* onDatabase((sql) => sql`update media_removals set due_at = now() - interval '1 second'`)
      yield* mediaTurn
      assert.deepStrictEqual([yield* stored, yield* rows], [[], { assets: 0, doomed: 0 }])
    }))

  it.effect("a lost file is 404, and one of an unavailable storage 503", () =>
    Effect.gen(function*() {
      const made = yield* upload()
      const [url, id] = [made.text("data.url"), made.text("data.id")]
      const away = yield* whileAway(fetched(url, asAdmin))
      assert.strictEqual(away.status, 503)
      const [path = ""] = yield* stored
      yield* Effect.promise(() => rm(path))
      assert.strictEqual((yield* fetched(url, asAdmin)).status, 404)
      assert.strictEqual((yield* fetched(`${url}?width=16`, asAdmin)).status, 404)
      assert.strictEqual((yield* removing(id)).status, 200)
      assert.strictEqual((yield* rows).doomed, 0)
    }))

  it.effect("a temporary file of a dead process is removed after an hour", () =>
    Effect.gen(function*() {
      const { folder } = yield* Shelf
      const incoming = join(folder, "media/incoming")
      yield* Effect.promise(async () => {
        await mkdir(incoming, { recursive: true })
        for (const name of ["old", "young"]) await writeFile(join(incoming, name), "half")
        const longAgo = new Date(Date.now() - 2 * 3_600_000)
        await utimes(join(incoming, "old"), longAgo, longAgo)
      })
      assert.strictEqual(yield* clearAbandoned(incoming), 1)
      assert.deepStrictEqual((yield* arriving).map((path) => path.split("/").at(-1)), ["young"])
      yield* Effect.promise(() => rm(join(incoming, "young")))
    }))
})

withShelf({ storage: { type: "none" } })("a deployment without storage", (it) => {
  it.effect("a deployment without storage refuses uploads with the code of the contract", () =>
    Effect.gen(function*() {
      const refused = yield* upload()
      assert.deepStrictEqual([refused.status, at(refused.body, "error.code")], [501, "storage_not_supported"])
      assert.strictEqual((yield* api("GET", "/api/media", { as: asAdmin })).status, 200)
    }))
})
