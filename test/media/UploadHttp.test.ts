import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asAdmin, asAnonymous, asStaff } from "../support/TestApp.ts"
import {
  addressOf,
  aDrawing,
  aPage,
  aPdf,
  aPicture,
  aSidewaysPhoto,
  aVideo,
  fetched,
  type Format,
  sendForm,
  upload,
  withShelf
} from "./MediaFixtures.ts"

withShelf()("POST /api/media/upload", (it) => {
  it.effect("an unknown field of a form is named, and refused in a strict request", () =>
    Effect.gen(function*() {
      const named = yield* upload({ fields: { altt: "A red door" } })
      assert.deepStrictEqual([named.status, named.headers.get("x-ignored-fields")], [201, "altt"])
      const refused = yield* upload({ fields: { altt: "A red door" }, headers: { prefer: "handling=strict" } })
      assert.deepStrictEqual([refused.status, refused.headers.get("preference-applied")], [422, "handling=strict"])
      assert.strictEqual(
        refused.at("error.details.issues.0.message"),
        "altt is not a known field. Did you mean \"alt\"?"
      )
    }))

  it.effect("an uploaded picture becomes an asset, and its bytes come back unchanged", () =>
    Effect.gen(function*() {
      const bytes = yield* aPicture("png", 40, 30)
      const made = yield* upload({ bytes, name: "Rote Tür.png", fields: { alt: "A red door" } })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const { id, storageKey, uploadedAt, url, ...rest } = made.at("data") as Record<string, unknown>
      assert.match(String(storageKey), /^\d{4}\/[0-9a-f-]{36}\.png$/)
      assert.strictEqual(url, `/api/media/files/${String(storageKey)}`)
      assert.isString(uploadedAt)
      assert.deepStrictEqual(rest, {
        organizationId: "org_default",
        filename: "Rote Tür.png",
        contentType: "image/png",
        size: bytes.length,
        width: 40,
        height: 30,
        alt: "A red door",
        metadata: {},
        origin: "merchant",
        confidence: null,
        derivedFromAssetId: null,
        isPublic: false
      })
      const file = yield* fetched(yield* addressOf(String(id)), asAdmin)
      assert.strictEqual(file.status, 200)
      assert.deepStrictEqual(file.bytes, bytes)
    }))

  it.effect("the type of an upload is detected from its bytes, with any name and no declared type", () =>
    Effect.gen(function*() {
      const formats: ReadonlyArray<Format> = ["png", "jpeg", "gif", "webp"]
      for (const format of formats) {
        const bytes = yield* aPicture(format)
        const made = yield* upload({ bytes, type: "application/octet-stream", name: "thing.exe" })
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.strictEqual(made.at("data.contentType"), `image/${format}`)
        assert.strictEqual(made.at("data.width"), 40)
      }
      const pdf = yield* upload({ bytes: aPdf, type: "application/pdf", name: "sheet.pdf" })
      assert.strictEqual(pdf.at("data.contentType"), "application/pdf")
      assert.strictEqual(pdf.at("data.width"), null)
      assert.strictEqual(pdf.at("data.alt"), null)
    }))

  it.effect("the size of a photograph is measured upright", () =>
    Effect.gen(function*() {
      const made = yield* upload({ bytes: yield* aSidewaysPhoto, type: "image/jpeg" })
      assert.deepStrictEqual([made.at("data.width"), made.at("data.height")], [20, 60])
    }))

  it.effect("an upload needs exactly one file with the declared type, and the answer names the mistake", () =>
    Effect.gen(function*() {
      const empty = new FormData()
      empty.set("alt", "nothing")
      const none = yield* sendForm(empty, asAdmin)
      assert.strictEqual(none.status, 422)
      assert.include(none.text("error.message"), "file is required")

      const hollow = yield* upload({ bytes: new Uint8Array(0) })
      assert.strictEqual(hollow.status, 422)
      assert.include(hollow.text("error.message"), "file is required")

      const two = new FormData()
      two.append("file", new Blob([new Uint8Array(aPdf)]), "a.pdf")
      two.append("file", new Blob([new Uint8Array(aPdf)]), "b.pdf")
      assert.strictEqual((yield* sendForm(two, asAdmin)).status, 422)

      const page = yield* upload({ bytes: aPage, type: "image/png" })
      assert.strictEqual(page.status, 422, "text that is called a picture")
      assert.strictEqual(page.at("error.code"), "VALIDATION_FAILED")

      const declared = yield* upload({ bytes: aPdf, type: "image/png" })
      assert.strictEqual(declared.status, 422)
      assert.include(declared.text("error.message"), "sent as image/png")
    }))

  it.effect("drawings with scripts and films are refused by default", () =>
    Effect.gen(function*() {
      for (const [bytes, type] of [[aDrawing, "image/svg+xml"], [aVideo, "video/mp4"]] as const) {
        const refused = yield* upload({ bytes, type })
        assert.strictEqual(refused.status, 422)
        assert.include(refused.text("error.message"), "must be of one of these types")
      }
    }))

  it.effect("invalid fields of an upload are refused", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* upload({ fields: { alt: "x".repeat(1_001) } })).status, 422)
      assert.strictEqual((yield* upload({ fields: { isPublic: "yes" } })).status, 422)
      assert.strictEqual((yield* upload({ fields: { alt: "x".repeat(20_000) } })).status, 422)
      assert.strictEqual((yield* upload({ fields: { alt: "  " } })).at("data.alt"), null)
    }))

  it.effect("an upload needs media:write", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* upload({ as: undefined })).status, 401)
      assert.strictEqual((yield* upload({ as: asAnonymous })).status, 403)
      assert.strictEqual((yield* upload({ as: asStaff })).status, 403)
      assert.strictEqual((yield* upload({ as: { ...asStaff, permissions: ["media:write"] } })).status, 201)
    }))
})

withShelf({ media: { allowedMimeTypes: ["image/avif", "video/mp4"] } })("a deployment with configured types", (it) => {
  it.effect("a deployment with configured types accepts those only", () =>
    Effect.gen(function*() {
      const image = yield* upload({ bytes: yield* aPicture("avif"), type: "image/avif" })
      assert.deepStrictEqual([image.status, image.at("data.width")], [201, 40], JSON.stringify(image.body))
      const film = yield* upload({ bytes: aVideo, type: "video/mp4" })
      assert.deepStrictEqual([film.status, film.at("data.width")], [201, null])
      assert.strictEqual((yield* upload()).status, 422)
    }))
})
