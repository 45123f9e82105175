import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { MediaOptions, S3Options } from "../../src/layers/config/MediaConfig.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type S3Emulator, s3Emulator, s3Keys } from "../support/S3Emulator.ts"
import { api, asAdmin, live } from "../support/TestApp.ts"
import {
  addressOf,
  aDrawing,
  aPicture,
  arriving,
  fetched,
  mediaTurn,
  rows,
  shelfLayer,
  stored,
  upload
} from "./MediaFixtures.ts"

class Bucket extends Context.Service<Bucket, S3Emulator>()("stoa/test/media/Bucket") {}

const withBucket = (more: Partial<S3Options> = {}, media: MediaOptions = {}) =>
  layer(
    Layer.unwrap(Effect.map(Bucket, ({ bucket, endpoint }) =>
      shelfLayer({
        storage: { type: "s3", bucket, endpoint, ...s3Keys, ...more },
        media: { allowSvg: true, imageWidths: [16], ...media },
        jobs: { autorun: { enabled: false } }
      }))).pipe(Layer.provideMerge(Layer.effect(Bucket, s3Emulator))),
    live
  )

const removing = (id: string) => api("DELETE", `/api/media/${id}`, { as: asAdmin })

/** Follows an address of the bucket, without credentials. */
const fromBucket = (address: string) =>
  Effect.promise(async () => {
    const answer = await fetch(address)
    return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) }
  })

withBucket()("media in a bucket", (it) => {
  it.effect("media are stored in the bucket, served by the service, and leave nothing on its disk", () =>
    Effect.gen(function*() {
      const bucket = yield* Bucket
      const bytes = yield* aPicture("png", 64, 32)
      const made = yield* upload({ bytes, fields: { isPublic: "true" } })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const object = bucket.objects.get(made.text("data.storageKey"))
      assert.deepStrictEqual(new Uint8Array(object?.bytes ?? []), bytes)
      assert.strictEqual(object?.contentType, "image/png")
      const file = yield* fetched(made.text("data.url"))
      assert.deepStrictEqual([file.status, file.bytes], [200, bytes])
      const part = yield* fetched(made.text("data.url"), undefined, { range: "bytes=5-9" })
      assert.deepStrictEqual([part.status, part.bytes], [206, bytes.slice(5, 10)])
      const drawn = yield* fetched(`${made.text("data.url")}?width=16`)
      assert.deepStrictEqual([drawn.status, drawn.headers.get("content-type")], [200, "image/webp"])
      assert.strictEqual(bucket.objects.size, 2)
      assert.deepStrictEqual([yield* stored, yield* arriving], [[], []])
      assert.strictEqual((yield* removing(made.text("data.id"))).status, 200)
      assert.deepStrictEqual([bucket.objects.size, yield* rows], [0, { assets: 0, doomed: 0 }])
    }))

  it.effect("media have addresses that the bucket signs and that expire", () =>
    Effect.gen(function*() {
      const bucket = yield* Bucket
      const made = yield* upload({ bytes: aDrawing, type: "image/svg+xml", name: "dot.svg" })
      const address = yield* addressOf(made.text("data.id"), "?signed=true")
      assert.isTrue(address.startsWith(`${bucket.endpoint}/${bucket.bucket}/`), address)
      assert.strictEqual(new URL(address).searchParams.get("X-Amz-Expires"), "900")
      const file = yield* fromBucket(address)
      assert.deepStrictEqual([file.status, file.bytes], [200, aDrawing])
      assert.strictEqual(file.headers.get("content-type"), "image/svg+xml")
      assert.match(file.headers.get("content-disposition") ?? "", /^attachment; filename="dot.svg"/)
      assert.strictEqual((yield* fromBucket(address.replace("900", "901"))).status, 403)
      bucket.moveClock(901)
      assert.strictEqual((yield* fromBucket(address)).status, 403)
      bucket.moveClock(0)
    }))

  it.effect("an upload is retried if the bucket fails once, and refused if it keeps failing", () =>
    Effect.gen(function*() {
      const bucket = yield* Bucket
      const before = yield* rows
      for (const fault of ["error", "reset"] as const) {
        bucket.fail("PUT", fault)
        assert.strictEqual((yield* upload()).status, 201, fault)
        bucket.fail("PUT", fault, 3)
        const refused = yield* upload()
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [503, "SERVICE_UNAVAILABLE"], fault)
      }
      assert.strictEqual((yield* rows).assets, before.assets + 2)
      assert.deepStrictEqual(yield* arriving, [])
      // What may have arrived all the same goes when its time has come.
      assert.strictEqual((yield* rows).doomed, before.doomed + 2)
      yield* onDatabase((sql) => sql`update media_removals set due_at = now()`)
      yield* mediaTurn
      assert.strictEqual((yield* rows).doomed, 0)
    }))

  it.effect("a file is 503 while the bucket fails and 404 if it is missing there", () =>
    Effect.gen(function*() {
      const bucket = yield* Bucket
      const made = yield* upload({ fields: { isPublic: "true" } })
      const url = made.text("data.url")
      bucket.fail("GET", "error", 3)
      assert.strictEqual((yield* fetched(url)).status, 503)
      bucket.fail("GET", "reset", 3)
      assert.strictEqual((yield* fetched(`${url}?width=16`)).status, 503)
      assert.strictEqual((yield* fetched(url)).status, 200)
      yield* onDatabase((sql) =>
        sql`update media_assets set storage_key = '2020/01a20000-0000-7000-8000-000000000000.png'
          where id = ${made.text("data.id")}::uuid`
      )
      const lost = yield* fetched("/api/media/files/2020/01a20000-0000-7000-8000-000000000000.png")
      assert.strictEqual(lost.status, 404)
    }))
})

withBucket({ timeoutMs: 1_000 })("a bucket that says nothing", (it) => {
  it.effect("a silent bucket has the configured time and is asked again", () =>
    Effect.gen(function*() {
      const bucket = yield* Bucket
      bucket.fail("PUT", "silence")
      const made = yield* upload()
      assert.strictEqual(made.status, 201)
      bucket.fail("GET", "silence", 3)
      assert.strictEqual((yield* fetched(made.text("data.url"), asAdmin)).status, 503)
      bucket.fail("PUT", "silence", 3)
      assert.strictEqual((yield* upload()).status, 503)
    }))
})

withBucket({ secretAccessKey: "another-secret" })("a bucket that does not know us", (it) => {
  it.effect("a bucket that refuses the credentials makes uploads 503 without its reasons", () =>
    Effect.gen(function*() {
      const refused = yield* upload()
      assert.strictEqual(refused.status, 503)
      assert.notInclude(JSON.stringify(refused.body), "Signature")
      const { asked } = yield* Bucket
      assert.deepStrictEqual(asked, [])
    }))
})

withBucket({ signedBy: "service" }, { publicUrl: "https://cdn.example/shop/" })("a bucket behind a CDN", (it) => {
  it.effect("a bucket behind a CDN has addresses of the CDN, and signed ones of the service", () =>
    Effect.gen(function*() {
      const made = yield* upload({ fields: { isPublic: "true" } })
      const key = made.text("data.storageKey")
      assert.strictEqual(made.text("data.url"), `https://cdn.example/shop/${key}`)
      const signed = yield* addressOf(made.text("data.id"), "?signed=true")
      assert.isTrue(signed.startsWith(`/api/media/files/${key}?expires=`), signed)
      assert.strictEqual((yield* fetched(signed)).status, 200)
      const drawn = yield* addressOf(made.text("data.id"), "?width=16", undefined)
      assert.match(drawn, /^https:\/\/cdn\.example\/shop\/\d{4}\/[0-9a-f-]{36}\.webp$/)
    }))
})
