import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import sharp from "sharp"
import { signedQuery } from "../../src/domain/media/MediaFiles.ts"
import { developmentKeyring } from "../../src/domain/webhooks/SecretEncryption.ts"
import { mediaKeys } from "../../src/layers/media/MediaAdapters.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asStaff, inOrganization } from "../support/TestApp.ts"
import {
  addressOf,
  aDrawing,
  aMedium,
  aPdf,
  aPicture,
  aSidewaysPhoto,
  attach,
  fetched,
  upload,
  withShelf
} from "./MediaFixtures.ts"

const withMedia = withShelf({ media: { allowSvg: true, imageWidths: [16, 32, 64] } })

/** A picture that a published product shows. */
const aShown = Effect.fnUntraced(function*(bytes?: Uint8Array) {
  const made = yield* upload({ bytes: bytes ?? (yield* aPicture("png", 128, 96)), name: "shown.png" })
  const product = yield* aProduct({})
  yield* attach(product, made.text("data.id"))
  return { id: made.text("data.id"), url: made.text("data.url"), product }
})

const aSignedQuery = (storageKey: string, seconds: number) =>
  signedQuery(
    { storageKey, expires: Math.floor(Date.now() / 1_000) + seconds },
    mediaKeys(developmentKeyring)
  )

withMedia("GET /api/media/:id", (it) => {
  it.effect("the address of an asset is given to readers of the catalog only if something published shows it", () =>
    Effect.gen(function*() {
      const { id, product, url } = yield* aShown()
      const unshown = yield* aMedium()
      assert.strictEqual(yield* addressOf(id, "", undefined), url)
      const hidden = yield* api("GET", `/api/media/${unshown}`)
      assert.deepStrictEqual([hidden.status, hidden.at("error.code")], [404, "NOT_FOUND"])
      assert.strictEqual((yield* api("GET", `/api/media/${unshown}`, { as: asStaff })).status, 302)
      assert.strictEqual((yield* api("GET", `/api/media/${randomUUID()}`, { as: asAdmin })).status, 404)
      assert.strictEqual((yield* api("GET", "/api/media/no-id", { as: asAdmin })).status, 422)
      assert.strictEqual((yield* api("GET", `/api/media/${id}`, { as: asAnonymous })).status, 403)
      yield* api("POST", `/api/catalog/entities/${product}/archive`, { as: asAdmin })
      assert.strictEqual((yield* api("GET", `/api/media/${id}`)).status, 404)
    }))

  it.effect("addresses are signed for readers of media only", () =>
    Effect.gen(function*() {
      const { id } = yield* aShown()
      assert.strictEqual((yield* api("GET", `/api/media/${id}?signed=true`)).status, 401)
      assert.strictEqual((yield* api("GET", `/api/media/${id}?signed=true`, { as: asStaff })).status, 403)
      assert.strictEqual((yield* api("GET", `/api/media/${randomUUID()}?signed=true`, { as: asAdmin })).status, 404)
      const reader = { ...asStaff, permissions: ["media:read"] }
      const found = yield* api("GET", `/api/media/${id}?signed=true`, { as: reader })
      assert.strictEqual(found.status, 302)
      assert.strictEqual(found.headers.get("cache-control"), "no-store")
    }))
})

withMedia("GET /api/media/files", (it) => {
  it.effect("a public file is served to everybody with headers for caches and browsers", () =>
    Effect.gen(function*() {
      const { product, url } = yield* aShown()
      const file = yield* fetched(url)
      assert.strictEqual(file.status, 200)
      assert.strictEqual(file.headers.get("content-type"), "image/png")
      assert.strictEqual(file.headers.get("content-length"), String(file.bytes.length))
      assert.strictEqual(file.headers.get("cache-control"), "public, max-age=3600")
      assert.strictEqual(file.headers.get("x-content-type-options"), "nosniff")
      assert.strictEqual(file.headers.get("accept-ranges"), "bytes")
      assert.strictEqual(file.headers.get("cross-origin-resource-policy"), "cross-origin")
      assert.match(file.headers.get("content-disposition") ?? "", /^inline; filename="shown.png"/)
      assert.include(file.headers.get("content-security-policy") ?? "", "default-src 'none'")
      yield* api("PATCH", `/api/catalog/entities/${product}`, { as: asAdmin, body: { isVisible: false } })
      assert.strictEqual((yield* fetched(url)).status, 404)
      assert.strictEqual((yield* fetched(url, asAdmin)).headers.get("cache-control"), "private, no-cache")
    }))

  it.effect("an unpublished file is served to staff only, unless it is marked public", () =>
    Effect.gen(function*() {
      const made = yield* upload()
      const url = made.text("data.url")
      const answers = yield* Effect.forEach(
        [undefined, asAnonymous, inOrganization("org_elsewhere", asAdmin), asStaff, asAdmin],
        (as) => Effect.map(fetched(url, as), ({ status }) => status)
      )
      assert.deepStrictEqual(answers, [404, 404, 404, 200, 200])
      const path = `/api/media/${made.text("data.id")}`
      assert.isTrue((yield* api("PATCH", path, { as: asAdmin, body: { isPublic: true } })).at("data.isPublic"))
      assert.strictEqual((yield* fetched(url)).status, 200)
      const logo = yield* upload({ fields: { isPublic: "true" } })
      assert.strictEqual((yield* fetched(logo.text("data.url"))).status, 200)
    }))

  it.effect("a signed address works until it expires, and a forged one never", () =>
    Effect.gen(function*() {
      const made = yield* upload()
      const [id, key, url] = [made.text("data.id"), made.text("data.storageKey"), made.text("data.url")]
      const address = yield* addressOf(id, "?signed=true")
      const [path = "", query = ""] = address.split("?")
      assert.strictEqual(path, url)
      const life = Number(new URLSearchParams(query).get("expires")) - Date.now() / 1_000
      assert.closeTo(life, 900, 5)
      const file = yield* fetched(address)
      assert.strictEqual(file.status, 200)
      assert.match(file.headers.get("cache-control") ?? "", /^private, max-age=(89\d|900)$/)

      const other = (yield* upload()).text("data.url")
      const later = query.replace(/expires=\d+/, `expires=${Math.floor(Date.now() / 1_000) + 9_999}`)
      const forged = [
        `${path}?${later}`,
        `${path}?${query.slice(0, -2)}AA`,
        `${path}?${query.replace(/signature=.*/, "signature=")}`,
        `${path}?${query.replace(/&signature=.*/, "")}`,
        `${other}?${query}`
      ]
      for (const one of forged) assert.strictEqual((yield* fetched(one)).status, 404, one)
      assert.strictEqual((yield* fetched(`${path}?${aSignedQuery(key, 60) ?? ""}`)).status, 200)
      const over = yield* fetched(`${path}?${aSignedQuery(key, -1) ?? ""}`)
      assert.strictEqual(over.status, 403)
    }))

  it.effect("a file answers conditional requests and ranges", () =>
    Effect.gen(function*() {
      const { url } = yield* aShown()
      const whole = yield* fetched(url)
      const size = whole.bytes.length
      const tag = whole.headers.get("etag") ?? ""
      const same = yield* fetched(url, undefined, { "if-none-match": `"other", ${tag}` })
      assert.deepStrictEqual([same.status, same.bytes.length, same.headers.get("etag")], [304, 0, tag])
      assert.strictEqual((yield* fetched(url, undefined, { "if-none-match": "\"other\"" })).status, 200)

      const head = yield* fetched(url, undefined, {}, "HEAD")
      assert.deepStrictEqual([head.status, head.bytes.length, head.headers.get("etag")], [200, 0, tag])
      assert.strictEqual(head.headers.get("content-length"), String(size))

      const part = (range: string, headers = {}) =>
        Effect.map(fetched(url, undefined, { range, ...headers }), (found) => ({
          status: found.status,
          range: found.headers.get("content-range"),
          bytes: found.bytes
        }))
      const first = { status: 206, range: `bytes 0-9/${size}`, bytes: whole.bytes.slice(0, 10) }
      assert.deepStrictEqual(yield* part("bytes=0-9"), first)
      assert.deepStrictEqual(yield* part("bytes=0-9", { "if-range": tag }), first)
      assert.deepStrictEqual((yield* part("bytes=-5")).bytes, whole.bytes.slice(-5))
      assert.deepStrictEqual((yield* part("bytes=7-")).bytes, whole.bytes.slice(7))
      assert.deepStrictEqual((yield* part("bytes=7-999999")).range, `bytes 7-${size - 1}/${size}`)
      assert.deepStrictEqual((yield* part(`bytes=${size - 1}-`)).bytes, whole.bytes.slice(-1))
      assert.strictEqual((yield* part("bytes=-999999")).range, `bytes 0-${size - 1}/${size}`)
      for (const asked of [`bytes=${size}-`, "bytes=-0", `bytes=${size}-5`]) {
        const beyond = yield* part(asked)
        assert.deepStrictEqual([beyond.status, beyond.range], [416, `bytes */${size}`], asked)
      }
      const unreadable = ["bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=-", "bytes=", "bytes=a-b", "nonsense"]
      for (const unread of unreadable) {
        assert.strictEqual((yield* part(unread)).status, 200, unread)
      }
      assert.strictEqual((yield* part("bytes=0-9", { "if-range": "\"other\"" })).status, 200)
    }))

  it.effect("a smaller version is rendered once, and other widths are refused", () =>
    Effect.gen(function*() {
      const { id, url } = yield* aShown()
      const [one, two] = yield* Effect.all([fetched(`${url}?width=32`), fetched(`${url}?width=32`)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(one.status, 200)
      assert.strictEqual(one.headers.get("content-type"), "image/webp")
      assert.strictEqual(one.headers.get("cache-control"), "public, max-age=31536000, immutable")
      assert.deepStrictEqual(one.bytes, two.bytes)
      const drawn = yield* Effect.promise(() => sharp(one.bytes).metadata())
      assert.deepStrictEqual([drawn.format, drawn.width, drawn.height], ["webp", 32, 24])
      const led = yield* addressOf(id, "?width=32", undefined)
      assert.match(led, /\.webp$/)
      assert.deepStrictEqual((yield* fetched(led)).bytes, one.bytes)
      const signed = yield* addressOf(id, "?width=32&signed=true")
      assert.strictEqual((yield* fetched(signed)).status, 200)

      for (const width of ["33", "0", "-1", "x", "1e3", ""]) {
        assert.strictEqual((yield* fetched(`${url}?width=${width}`)).status, 422, width)
      }
      assert.strictEqual((yield* api("GET", `/api/media/${id}?width=33`)).status, 422)
      const pdf = yield* upload({ bytes: aPdf, type: "application/pdf" })
      assert.strictEqual((yield* fetched(`${pdf.text("data.url")}?width=32`, asAdmin)).status, 422)
      // A hidden picture is rendered in no size.
      const hidden = yield* upload()
      assert.strictEqual((yield* fetched(`${hidden.text("data.url")}?width=32`)).status, 404)
    }))

  it.effect("a rendered photograph is upright and never enlarged", () =>
    Effect.gen(function*() {
      const made = yield* upload({ bytes: yield* aSidewaysPhoto, type: "image/jpeg" })
      const drawn = yield* fetched(`${made.text("data.url")}?width=64`, asAdmin)
      const { height, width } = yield* Effect.promise(() => sharp(drawn.bytes).metadata())
      assert.deepStrictEqual([width, height], [20, 60])
    }))

  it.effect("a drawing that may run scripts is served as a sandboxed attachment", () =>
    Effect.gen(function*() {
      const made = yield* upload({ bytes: aDrawing, type: "image/svg+xml", name: "dot.svg" })
      assert.strictEqual(made.at("data.contentType"), "image/svg+xml", JSON.stringify(made.body))
      const file = yield* fetched(made.text("data.url"), asAdmin)
      assert.match(file.headers.get("content-disposition") ?? "", /^attachment;/)
      assert.include(file.headers.get("content-security-policy") ?? "", "sandbox")
      assert.strictEqual((yield* fetched(`${made.text("data.url")}?width=32`, asAdmin)).status, 422)
    }))

  it.effect("an invalid storage key is not found", () =>
    Effect.gen(function*() {
      const strange = ["2026/x.png", "..%2f..%2fauth-secret", "2026/..%2f..%2fauth-secret", "2026/%00.png"]
      for (const key of strange) {
        assert.strictEqual((yield* fetched(`/api/media/files/${key}`, asAdmin)).status, 404, key)
      }
    }))
})

withShelf({}, { environment: "production", webhooks: { keyring: undefined, allowPrivate: false } })(
  "a deployment without a key for secrets",
  (it) => {
    it.effect("a deployment without a key for secrets signs nothing and accepts no signature", () =>
      Effect.gen(function*() {
        const made = yield* upload()
        const refused = yield* api("GET", `/api/media/${made.text("data.id")}?signed=true`, { as: asAdmin })
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [503, "SERVICE_UNAVAILABLE"])
        const forged = `${made.text("data.url")}?${aSignedQuery(made.text("data.storageKey"), 60) ?? ""}`
        assert.strictEqual((yield* fetched(forged)).status, 404)
      }))
  }
)
