import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aPage, aPicture, arriving, fetched, withShelf } from "../media/MediaFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { anOrganization } from "../support/Organizations.ts"
import { pictureHost } from "../support/PictureHost.ts"
import { api, asAdmin } from "../support/TestApp.ts"
import { atRest, counts, failures, imported, jobs, kept, shopifyFile, shownBy, upload } from "./ImportFixtures.ts"

const as = asAdmin
const shopify = { query: "format=shopify" }
const reachable = { webhooks: { keyring: undefined, allowPrivate: true } }

withShelf({ media: { maxUploadSize: 20_000 }, jobs: { autorun: { intervalMs: 250 } } }, reachable)(
  "pictures of another shop",
  (it) => {
    it.effect("are fetched after the import and attached in their order, once for any number of imports", () =>
      Effect.gen(function*() {
        const host = yield* pictureHost
        const [front, back] = [yield* aPicture("png", 40, 30, 1), yield* aPicture("webp", 40, 30, 2)]
        host.put("/files/front%20view.png?v=1", { bytes: front })
        // Like a CDN that chooses the format: its name and declared type differ from the content.
        host.put("/files/back.jpg", { bytes: back, type: "image/jpeg" })
        const file = shopifyFile(
          "tee",
          [`${host.url}/files/front%20view.png?v=1`, "Front"],
          [`${host.url}/files/back.jpg`],
          [`${host.url}/files/front%20view.png?v=1`, "Again"]
        )
        assert.deepStrictEqual(counts(yield* imported(file, shopify)), [1, 0, 0, 0])
        yield* atRest
        assert.deepStrictEqual(yield* shownBy("tee"), [["primary", 0, "Front"], ["gallery", 1, null]])
        const tee = yield* api("GET", "/api/catalog/entities/tee?include=media", { as })
        const shown = yield* fetched(tee.text("data.media.0.url"))
        assert.deepStrictEqual([shown.status, Buffer.from(shown.bytes).equals(front)], [200, true])
        const medium = yield* api("GET", `/api/media/${tee.text("data.media.0.mediaAssetId")}/record`, { as })
        assert.deepStrictEqual(
          [medium.at("data.origin"), medium.at("data.filename"), medium.at("data.width")],
          ["imported", "front view.png", 40]
        )
        assert.lengthOf(tee.list("data.metadata.images"), 3)
        const asked = host.asked.length
        assert.deepStrictEqual(counts(yield* imported(file, shopify)), [0, 0, 1, 0])
        yield* onDatabase((sql) =>
          sql`insert into commerce_jobs (id, organization_id, queue, task_slug, input)
          select gen_random_uuid(), organization_id, queue, task_slug, input from commerce_jobs
          where task_slug = 'media/fetch-picture'`
        )
        yield* atRest
        assert.deepStrictEqual([host.asked.length, yield* jobs], [asked, { succeeded: 4 }])
        assert.deepStrictEqual(yield* kept, { waiting: 0, attached: 2, refused: 0, assets: 2, links: 2 })
      }))

    it.effect("that staff deleted are not fetched again, and the primary picture of the product stays", () =>
      Effect.gen(function*() {
        const host = yield* pictureHost
        host.put("/a.png", { bytes: yield* aPicture("png", 40, 30, 3) })
        const tee = yield* api("GET", "/api/catalog/entities/tee?include=media", { as })
        yield* api("DELETE", `/api/media/${tee.text("data.media.1.mediaAssetId")}`, { as })
        const metadata = tee.at("data.metadata") as { readonly images: ReadonlyArray<{ readonly src: string }> }
        const file = shopifyFile("tee", [`${host.url}/a.png`], ...metadata.images.map(({ src }) => [src] as const))
        yield* imported(file, shopify)
        yield* atRest
        assert.deepStrictEqual((yield* shownBy("tee")).map(([role]) => role), ["primary", "gallery"])
        assert.deepStrictEqual(yield* kept, { waiting: 0, attached: 3, refused: 0, assets: 2, links: 2 })
      }))

    it.effect("are attached once by two workers that fetched them both", () =>
      Effect.gen(function*() {
        const host = yield* pictureHost
        const letGo = host.hold()
        host.put("/twice.png", { bytes: yield* aPicture("png", 40, 30, 4) })
        const before = yield* kept
        yield* imported(shopifyFile("cap", [`${host.url}/twice.png`]), shopify)
        yield* eventually("one to be asked", Effect.sync(() => host.asked.length === 1))
        yield* onDatabase((sql) =>
          sql`insert into commerce_jobs (id, organization_id, queue, task_slug, input)
          select gen_random_uuid(), organization_id, queue, task_slug, input from commerce_jobs
          where task_slug = 'media/fetch-picture' and status = 'processing'`
        )
        yield* eventually("another one to be asked", Effect.sync(() => host.asked.length === 2))
        letGo()
        yield* atRest
        assert.deepStrictEqual(yield* shownBy("cap"), [["primary", 0, null]])
        const after = yield* kept
        assert.strictEqual(after?.assets, (before?.assets ?? 0) + 1)
      }))

    it.effect("stay addresses where there is no picture, with a reason for the operator", () =>
      Effect.gen(function*() {
        const host = yield* pictureHost
        host.put("/page.jpg", { bytes: aPage, type: "image/jpeg" })
        host.put("/large.png", { bytes: new Uint8Array(20_001).fill(0x89) })
        host.put("/announced.png", { announced: 20_001 })
        host.put("/endless.jpg", "endless")
        host.put("/round", { redirect: "/round" })
        host.put("/inside", { redirect: "file:///etc/passwd" })
        const names = ["gone.png", "page.jpg", "large.png", "announced.png", "endless.jpg", "round", "inside"]
        const pictures = names.map((name) => [`${host.url}/${name}`] as const)
        yield* imported(shopifyFile("bag", ...pictures, ["not an address"]), shopify)
        yield* atRest
        const recorded = (name: string, why: string) =>
          `The picture ${host.url}/${name} of 'bag' was not fetched. ${why}`
        assert.deepStrictEqual(
          yield* failures,
          [
            "The picture not an address of 'bag' was not fetched. Its address must be a URL.",
            recorded("announced.png", "It is larger than 20000 bytes."),
            recorded("endless.jpg", "It is larger than 20000 bytes."),
            recorded("gone.png", "Its host answered with 404."),
            recorded("inside", "Its address must begin with https:// or http://."),
            recorded("large.png", "It is larger than 20000 bytes."),
            recorded("page.jpg", "It is not a picture."),
            recorded("round", "Its host redirects more than 5 times.")
          ].toSorted()
        )
        const bag = yield* api("GET", "/api/catalog/entities/bag?include=media", { as })
        assert.deepStrictEqual([bag.list("data.media"), bag.list("data.metadata.images").length], [[], 8])
        yield* eventually("connections to close", Effect.sync(() => host.open() === 0))
        assert.deepStrictEqual(yield* arriving, [])
        const { body } = yield* api("GET", "/api/metrics", { headers: { "x-api-key": "dev-admin-key" } })
        assert.match(String(body), /stoa_picture_fetches_total\{outcome="refused"\} 8/)
        // A refused picture is tried again with the next import, or with a retry of its job.
        host.put("/gone.png", { bytes: yield* aPicture("png", 40, 30, 5) })
        yield* imported(shopifyFile("bag", ...pictures), shopify)
        yield* atRest
        assert.deepStrictEqual(yield* shownBy("bag"), [["primary", 0, null]])
      }))

    it.effect("wait for a host that is busy or breaks off", () =>
      Effect.gen(function*() {
        const host = yield* pictureHost
        host.put("/busy.png", { status: 503 })
        host.put("/torn.png", "torn")
        host.put("/moved.png", { redirect: "/there.png" })
        host.put("/there.png", { bytes: yield* aPicture("png", 40, 30, 6) })
        const names = ["busy.png", "torn.png", "moved.png"]
        yield* imported(shopifyFile("hat", ...names.map((name) => [`${host.url}/${name}`] as const)), shopify)
        const waits = onDatabase((sql) =>
          sql<{ error: string }>`select error from commerce_jobs where task_slug = 'media/fetch-picture'
          and status = 'pending' and attempts = 1 order by error`
        )
        const waiting = yield* eventually("two to wait", Effect.map(waits, (rows) => rows.length === 2 && rows))
        assert.match(
          JSON.stringify(waiting),
          /busy.png of 'hat' was not fetched\. Its host answered with 503.*torn.png of 'hat' was not fetched\. Its host broke off/
        )
        const shown = yield* eventually("the third", Effect.map(shownBy("hat"), (media) => media.length > 0 && media))
        assert.deepStrictEqual(shown, [["gallery", 2, null]])
        for (const name of ["busy.png", "torn.png"]) host.put(`/${name}`, { bytes: yield* aPicture("png", 40, 30, 7) })
        yield* onDatabase((sql) => sql`update commerce_jobs set wait_until = now() where status = 'pending'`)
        yield* atRest
        assert.deepStrictEqual((yield* shownBy("hat")).map(([role]) => role), ["primary", "gallery", "gallery"])
      }))

    it.effect("are not fetched when the import says so, is a rehearsal, or its sender may not upload", () =>
      Effect.gen(function*() {
        const host = yield* pictureHost
        const file = shopifyFile("sock", [`${host.url}/sock.png`])
        const keeper = { ...as, permissions: keeping }
        const tried = yield* imported(file, { query: "format=shopify&dryRun=true" })
        const left = yield* imported(file, { query: "format=shopify&pictures=false" })
        const unable = yield* imported(file, { ...shopify, as: keeper })
        assert.deepStrictEqual([tried, left, unable].map((one) => one.at("data.pictures")), [true, false, false])
        const refused = yield* upload(file, { query: "format=shopify&pictures=true", as: keeper })
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [403, "FORBIDDEN"])
        const strange = yield* upload("slug\nsock\n", { query: "pictures=true" })
        assert.deepStrictEqual([strange.status, strange.at("error.details.issues.0.path")], [422, "pictures"])
        yield* atRest
        assert.strictEqual(host.connections(), 0)
      }))
  }
)

const keeping = ["catalog:create", "catalog:update", "pricing:create", "inventory:adjust"]

withShelf()("pictures on internal addresses", (it) => {
  it.effect("are refused before any request", () =>
    Effect.gen(function*() {
      const host = yield* pictureHost
      host.put("/a.png", { bytes: yield* aPicture() })
      const targets = [`${host.url}/a.png`, `http://localhost:${host.port}/a.png`, "http://169.254.169.254/latest"]
      yield* imported(shopifyFile("tee", ...targets.map((target) => [target] as const)), shopify)
      yield* atRest
      const reasons = yield* failures
      assert.lengthOf(reasons, 3)
      for (const reason of reasons) assert.match(reason, /must not (lead to|name) an internal/)
      assert.deepStrictEqual([host.connections(), yield* shownBy("tee")], [0, []])
      assert.strictEqual(
        (yield* api("GET", "/api/catalog/entities/tee", { as })).list("data.metadata.images").length,
        3
      )
    }))
})

withShelf({ jobs: { autorun: { intervalMs: 250 } } }, reachable)("pictures of two tenants", (it) => {
  it.effect("belong to one tenant, also where two have the same product and address", () =>
    Effect.gen(function*() {
      const [host, other] = [yield* pictureHost, yield* anOrganization]
      for (const name of ["a", "b"]) host.put(`/${name}.png`, { bytes: yield* aPicture() })
      const file = shopifyFile("tee", [`${host.url}/a.png`])
      yield* imported(file, shopify)
      // A file of WooCommerce has all pictures in one cell.
      const woo = `Type,Name,Published,Images\nsimple,Tee,1,"${host.url}/a.png, ${host.url}/b.png"\n`
      yield* imported(woo, { query: "format=woocommerce", as: other })
      yield* atRest
      assert.deepStrictEqual(yield* shownBy("tee"), [["primary", 0, null]])
      assert.deepStrictEqual(yield* kept, { waiting: 0, attached: 3, refused: 0, assets: 3, links: 3 })
      const owners = yield* onDatabase((sql) =>
        sql<
          { ok: boolean }
        >`select e.organization_id = a.organization_id and a.organization_id = l.organization_id as ok
          from entity_media l join media_assets a on a.id = l.media_asset_id join catalog_entities e on e.id = l.entity_id`
      )
      assert.deepStrictEqual(owners.map(({ ok }) => ok), [true, true, true])
    }))

  it.effect("are not fetched by a job of another tenant", () =>
    Effect.gen(function*() {
      const [host, other] = [yield* pictureHost, yield* anOrganization]
      yield* imported(shopifyFile("cap", [`${host.url}/gone.png`]), shopify)
      yield* atRest
      const asked = host.asked.length
      yield* onDatabase((sql) =>
        sql`insert into commerce_jobs (id, organization_id, queue, task_slug, input)
          select gen_random_uuid(), ${other.organizationId ?? ""}, queue, task_slug, input from commerce_jobs
          where task_slug = 'media/fetch-picture' and status = 'failed'`
      )
      yield* atRest
      const outputs = yield* onDatabase((sql) =>
        sql<{ output: unknown }>`select output from commerce_jobs where organization_id = ${other.organizationId ?? ""}
          and task_slug = 'media/fetch-picture'`
      )
      assert.deepStrictEqual([outputs, host.asked.length], [[{ output: { state: "gone" } }], asked])
    }))
})
