import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asStaff, at, inOrganization } from "../support/TestApp.ts"
import { aMedium, attach, upload, withShelf } from "./MediaFixtures.ts"

const attaching = (body: object, as = asAdmin) => api("POST", "/api/media/attach", { as, body })

const mediaOf = (entityId: string, as?: typeof asAdmin) =>
  Effect.map(
    api("GET", `/api/catalog/entities/${entityId}?include=media`, as === undefined ? {} : { as }),
    (found) => found.list("data.media")
  )

/** A product with a variant, and its id. */
const aVariant = Effect.fnUntraced(function*(entity: string) {
  const path = `/api/catalog/entities/${entity}`
  yield* api("POST", `${path}/options`, { as: asAdmin, body: { name: "Size", values: ["S"] } })
  return (yield* api("POST", `${path}/variants`, { as: asAdmin, body: { options: { Size: "S" } } })).text("data.id")
})

withShelf()("attachments of media", (it) => {
  it.effect("attachments are shown with their entity, in order, with their addresses", () =>
    Effect.gen(function*() {
      const product = yield* aProduct({})
      const [first, second] = [yield* upload({ fields: { alt: "Front" } }), yield* upload()]
      const [front, back] = [first.text("data.id"), second.text("data.id")]
      const made = yield* attaching({ entityId: product, mediaAssetId: back, role: "gallery", sortOrder: 2 })
      assert.deepStrictEqual([made.status, made.body], [201, { data: { attached: true } }])
      yield* attach(product, front, { sortOrder: 1 })
      assert.deepStrictEqual(yield* mediaOf(product), [
        {
          mediaAssetId: front,
          role: "primary",
          sortOrder: 1,
          variantId: null,
          url: first.text("data.url"),
          alt: "Front",
          contentType: "image/png"
        },
        {
          mediaAssetId: back,
          role: "gallery",
          sortOrder: 2,
          variantId: null,
          url: second.text("data.url"),
          alt: null,
          contentType: "image/png"
        }
      ])
      const listed = yield* api("GET", "/api/catalog/entities?include=media")
      const found = listed.list("data").find((one) => at(one, "id") === product)
      assert.strictEqual(at(found, "media.1.mediaAssetId"), back)
    }))

  it.effect("an asset is attached once at each level, in any role", () =>
    Effect.gen(function*() {
      const product = yield* aProduct({})
      const [medium, variantId] = [yield* aMedium(), yield* aVariant(product)]
      const body = { entityId: product, mediaAssetId: medium, role: "primary" }
      yield* attach(product, medium)
      refused(yield* attaching({ ...body, role: "gallery" }), 409, "CONFLICT")
      yield* attach(product, medium, { variantId })
      refused(yield* attaching({ ...body, variantId }), 409, "CONFLICT")
      // A variant's media are not those of its entity.
      assert.lengthOf(yield* mediaOf(product), 1)
      const record = yield* api("GET", `/api/media/${medium}/record`, { as: asAdmin })
      assert.deepStrictEqual(record.at("data.attachments"), [
        { entityId: product, variantId: null, role: "primary", sortOrder: 0 },
        { entityId: product, variantId, role: "primary", sortOrder: 0 }
      ])
      const both = yield* Effect.all(
        Array.from({ length: 6 }, () =>
          Effect.flatMap(aProduct({}), (other) =>
            Effect.all([attaching({ ...body, entityId: other }), attaching({ ...body, entityId: other })], {
              concurrency: "unbounded"
            }))),
        { concurrency: 2 }
      )
      for (const pair of both) {
        assert.sameMembers(
          pair.map(({ status }) =>
            status
          ),
          [201, 409]
        )
      }
    }))

  it.effect("an attachment needs an existing entity, asset and variant of the entity", () =>
    Effect.gen(function*() {
      const [product, other] = [yield* aProduct({}), yield* aProduct({})]
      const [medium, variantId] = [yield* aMedium(), yield* aVariant(other)]
      const body = { entityId: product, mediaAssetId: medium, role: "primary" }
      const id = randomUUID()
      for (const end of [{ entityId: id }, { mediaAssetId: id }, { variantId: id }, { variantId }]) {
        refused(yield* attaching({ ...body, ...end }), 404, "NOT_FOUND")
      }
      refused(yield* attaching(body, inOrganization("org_elsewhere", asAdmin)), 404, "NOT_FOUND")
      const invalid = [{ role: "hero" }, { sortOrder: 1.5 }, { sortOrder: 3_000_000_000 }, { mediaAssetId: undefined }]
      for (const field of invalid) refused(yield* attaching({ ...body, ...field }), 422, "VALIDATION_FAILED")
      refused(yield* attaching(body, asStaff), 403, "FORBIDDEN")
      assert.deepStrictEqual(yield* mediaOf(product), [])
    }))

  it.effect("attachments end with a detachment, with the asset and with the entity", () =>
    Effect.gen(function*() {
      const [product, doomed] = [yield* aProduct({}), yield* aProduct({ stock: 0 })]
      const medium = yield* aMedium()
      yield* attach(product, medium)
      yield* attach(doomed, medium)
      const detaching = (body: object) => api("POST", "/api/media/detach", { as: asAdmin, body })
      const body = { entityId: product, mediaAssetId: medium }
      const gone = yield* detaching(body)
      assert.deepStrictEqual([gone.status, gone.body], [200, { data: { detached: true } }])
      refused(yield* detaching(body), 404, "NOT_FOUND")
      refused(yield* detaching({ ...body, entityId: doomed, variantId: randomUUID() }), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* mediaOf(product), [])
      assert.strictEqual((yield* api("DELETE", `/api/catalog/entities/${doomed}`, { as: asAdmin })).status, 200)
      const record = yield* api("GET", `/api/media/${medium}/record`, { as: asAdmin })
      assert.deepStrictEqual(record.at("data.attachments"), [])
      yield* attach(product, medium)
      assert.strictEqual((yield* api("DELETE", `/api/media/${medium}`, { as: asAdmin })).status, 200)
      assert.deepStrictEqual(yield* mediaOf(product), [])
    }))
})

withShelf()("records of media", (it) => {
  it.effect("media are listed newest first, by page, type and entity", () =>
    Effect.gen(function*() {
      const product = yield* aProduct({})
      const ids = yield* Effect.forEach([1, 2, 3], () => aMedium())
      yield* attach(product, ids[0] ?? "")
      const idsOf = (query: string) =>
        Effect.map(
          api("GET", `/api/media${query}`, { as: asAdmin }),
          (found) => found.list("data").map((one) => at(one, "id"))
        )
      assert.deepStrictEqual(yield* idsOf("?limit=2"), [ids[2], ids[1]])
      assert.deepStrictEqual(yield* idsOf("?limit=2&page=2"), [ids[0]])
      assert.deepStrictEqual(yield* idsOf(`?entityId=${product}`), [ids[0]])
      assert.deepStrictEqual(yield* idsOf("?contentType=application/pdf"), [])
      assert.deepStrictEqual(yield* idsOf("?contentType=image/png&limit=1"), [ids[2]])
      const page = yield* api("GET", "/api/media?limit=2", { as: asAdmin })
      assert.deepInclude(page.at("meta.pagination"), { page: 1, limit: 2, total: 3, totalPages: 2 })
      assert.strictEqual((yield* api("GET", "/api/media", { as: asStaff })).status, 403)
      assert.strictEqual((yield* api("GET", "/api/media")).status, 401)
      refused(yield* api("GET", "/api/media?entityId=x", { as: asAdmin }), 422, "VALIDATION_FAILED")
    }))

  it.effect("the description and metadata of an asset are changed", () =>
    Effect.gen(function*() {
      const id = yield* aMedium({ fields: { alt: "Old" } })
      const changing = (body: object, as = asAdmin) => api("PATCH", `/api/media/${id}`, { as, body })
      const metadata = { focus: [0.5, 0.2] }
      const changed = yield* changing({ alt: "New", metadata })
      assert.deepStrictEqual([changed.at("data.alt"), changed.at("data.metadata")], ["New", metadata])
      assert.strictEqual((yield* changing({ alt: null })).at("data.alt"), null)
      assert.deepStrictEqual((yield* changing({})).at("data.metadata"), metadata)
      refused(yield* changing({ alt: "x".repeat(1_001) }), 422, "VALIDATION_FAILED")
      refused(yield* changing({ isPublic: "yes" }), 422, "VALIDATION_FAILED")
      refused(yield* changing({}, inOrganization("org_elsewhere", asAdmin)), 404, "NOT_FOUND")
      const missing = yield* api("GET", `/api/media/${randomUUID()}/record`, { as: asAdmin })
      refused(missing, 404, "NOT_FOUND")
    }))
})
