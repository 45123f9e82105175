import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aPicture } from "../media/Pictures.ts"
import { withShelf } from "../media/Shelf.ts"
import { anOrganization } from "../support/Organizations.ts"
import { pictureHost } from "../support/PictureHost.ts"
import { asAdmin } from "../support/TestApp.ts"
import { atRest, kept, shopifyFile, shownBy } from "./ForeignPictureCalls.ts"
import { imported } from "./ImportCalls.ts"

const environment = { webhooks: { keyring: undefined, allowPrivate: true } }
const query = "format=shopify"

withShelf({ jobs: { autorun: { intervalMs: 250 } } }, environment)("pictures of two stores", (it) => {
  it.effect("are each store's own, also where both have the same product and address", () =>
    Effect.gen(function*() {
      const [host, other] = [yield* pictureHost, yield* anOrganization]
      for (const name of ["a", "b"]) host.put(`/${name}.png`, { bytes: yield* aPicture() })
      const file = shopifyFile("tee", [`${host.url}/a.png`])
      yield* imported(file, { query })
      // From a shop of WooCommerce this time: its pictures are one cell.
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

  it.effect("are not fetched for another store, whose job names one", () =>
    Effect.gen(function*() {
      const [host, other] = [yield* pictureHost, yield* anOrganization]
      yield* imported(shopifyFile("cap", [`${host.url}/gone.png`]), { query, as: asAdmin })
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
