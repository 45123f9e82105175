import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer } from "../support/TestApp.ts"
import { aMedium, aPdf, mediaTurn, upload, withShelf } from "./MediaFixtures.ts"

const known = (...ids: ReadonlyArray<string>) =>
  onDatabase((sql) => sql<{ id: string }>`select id from media_assets where id = any(${[...ids]}::uuid[])`).pipe(
    Effect.map((rows) => ids.filter((id) => rows.some((row) => row.id === id)))
  )

const expire = onDatabase((sql) => sql`update media_assets set expires_at = now() where expires_at is not null`)

withShelf({ jobs: { autorun: { enabled: false } } })("uploads of shoppers", (it) => {
  it.effect("a shopper uploads private pictures only, whose record names them; a visitor uploads nothing", () =>
    Effect.gen(function*() {
      const as = asCustomer("uploader")
      const made = yield* upload({ as })
      assert.deepStrictEqual([made.status, made.at("data.isPublic")], [201, false], JSON.stringify(made.body))
      const record = yield* api("GET", `/api/media/${made.text("data.id")}/record`, { as: asAdmin })
      assert.strictEqual(record.at("data.uploadedBy"), "uploader")
      const day = 86_400_000
      assert.strictEqual(Date.parse(record.text("data.expiresAt")) - Date.parse(made.text("data.uploadedAt")), day)
      const refused = yield* upload({ as, fields: { isPublic: "true" } })
      assert.deepStrictEqual([refused.status, /isPublic must be false/.test(JSON.stringify(refused.body))], [422, true])
      assert.strictEqual((yield* upload({ as, bytes: aPdf, type: "application/pdf" })).status, 422)
      assert.strictEqual((yield* upload({ as: undefined })).status, 401)
      const visitor = { ...as, userId: null }
      assert.strictEqual((yield* upload({ as: visitor })).status, 401)
      const own = yield* api("GET", `/api/media/${yield* aMedium()}/record`, { as: asAdmin })
      assert.deepStrictEqual([own.at("data.uploadedBy"), own.at("data.expiresAt")], ["user-admin", null])
    }))

  it.effect("of many uploads of a shopper at once no more than 20 wait to be used", () =>
    Effect.gen(function*() {
      const as = asCustomer("hoarder")
      const sent = yield* Effect.all(Array.from({ length: 24 }, () => upload({ as })), { concurrency: "unbounded" })
      assert.deepStrictEqual(sent.map(({ status }) => status).toSorted(), [
        ...Array.from({ length: 20 }, () => 201),
        ...Array.from({ length: 4 }, () => 409)
      ])
      assert.match(sent.find(({ status }) => status === 409)?.text("error.message") ?? "", /^You have 20 uploads/)
      assert.strictEqual((yield* upload({ as: asCustomer("another") })).status, 201)
      yield* expire
      assert.strictEqual((yield* upload({ as })).status, 201)
    }))

  it.effect("uploads that nothing uses are removed when they expire, with an entry; attached and public ones stay", () =>
    Effect.gen(function*() {
      const as = asCustomer("photographer")
      const [unused, attached, published] = [yield* aMedium({ as }), yield* aMedium({ as }), yield* aMedium({ as })]
      const waits = yield* aMedium({ as })
      const entityId = yield* aProduct()
      const body = { entityId, mediaAssetId: attached, role: "gallery" }
      assert.strictEqual((yield* api("POST", "/api/media/attach", { as: asAdmin, body })).status, 201)
      yield* api("PATCH", `/api/media/${published}`, { as: asAdmin, body: { isPublic: true } })
      // What was attached is the shop's: it stays when it is detached again.
      const record = yield* api("GET", `/api/media/${attached}/record`, { as: asAdmin })
      assert.strictEqual(record.at("data.expiresAt"), null)
      const ids = [unused, attached, published]
      yield* onDatabase((sql) => sql`update media_assets set expires_at = now() where id = any(${ids}::uuid[])`)
      yield* mediaTurn
      assert.deepStrictEqual(yield* known(unused, attached, published, waits), [attached, published, waits])
      const entries = yield* onDatabase((sql) =>
        sql`select 1 from outbox_events where type = 'media.delete' and entity_id = ${unused}`
      )
      assert.lengthOf(entries, 1)
    }))
})
