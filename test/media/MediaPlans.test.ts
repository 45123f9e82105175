import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EntityRepo } from "../../src/domain/catalog/EntityRepo.ts"
import { includesOf } from "../../src/domain/catalog/EntityView.ts"
import { MediaFileRepo } from "../../src/domain/media/MediaFileRepo.ts"
import { MediaRepo } from "../../src/domain/media/MediaRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { type EntityId, newId } from "../../src/domain/platform/ids/Id.ts"
import { plansOf, recording } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { TestDatabase } from "../support/Postgres.ts"

const repos = Layer.mergeAll(MediaRepo.layer, MediaFileRepo.layer, EntityRepo.layer).pipe(
  Layer.provide(recording),
  Layer.provideMerge(TestDatabase)
)

/** 200 organizations, 40,000 pictures of 20,000 products, half of them with smaller versions, 5,000 files that have to go. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) select 'many-' || n, 'many-' || n, 'Many' from generate_series(1, 200) n`
  yield* sql`alter table catalog_entities disable trigger user`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'many-' || 1 + n % 200, 'product', 'p-' || n, 'active', true from generate_series(1, 20000) n`
  yield* sql`insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest, uploaded_at)
    select gen_random_uuid(), 'many-' || 1 + n % 200, '2026/' || n, 'f', case when n % 10 = 0 then 'application/pdf'
      else 'image/png' end, 1, 'd', now() - n * interval '1 second' from generate_series(1, 40000) n`
  yield* sql`insert into entity_media (organization_id, entity_id, media_asset_id, role)
    select a.organization_id, e.id, a.id, 'gallery'
    from (select *, row_number() over (partition by organization_id) as r from media_assets) a
    join (select *, row_number() over (partition by organization_id) as r from catalog_entities) e
      on e.organization_id = a.organization_id and e.r = a.r / 2`
  yield* sql`insert into media_renditions (organization_id, asset_id, width, storage_key, content_type, size, digest)
    select organization_id, id, 320, storage_key || '-320', 'image/webp', 1, 'd' from media_assets limit 20000`
  yield* sql`insert into media_removals (storage_key, organization_id, due_at)
    select 'gone/' || n, 'many-1', now() + (n - 100) * interval '1 minute' from generate_series(1, 5000) n`
  yield* sql`analyze`
}))

const inStore = Effect.provideService(CurrentActor, systemActor("many-7"))
const page = { page: 1, limit: 20 }

describe("media among 40,000", () => {
  it.layer(repos, { excludeTestServices: true })((it) => {
    it.effect("media are read and changed over indexes, in a fixed number of statements", () =>
      Effect.gen(function*() {
        yield* seedMany
        const sql = yield* SqlClient.SqlClient
        const [media, files, lists] = [yield* MediaRepo, yield* MediaFileRepo, yield* EntityRepo]
        const [first] = (yield* inStore(media.page({}, page))).items
        const [shown] = yield* sql<{ entity_id: EntityId }>`select entity_id from entity_media
          where organization_id = 'many-7' limit 1`
        if (first === undefined || shown === undefined) return assert.fail("no pictures")
        const entityId = shown.entity_id
        const { id } = first
        const view = { drafts: false, locales: undefined, warehouses: true, prices: "all" as const }
        const wanted = { categoryIds: null, brandId: null, publicOnly: true, include: includesOf("media"), view }
        const products = { ...page, ...wanted }
        const asked: ReadonlyArray<readonly [number, Effect.Effect<unknown, unknown>]> = [
          [2, inStore(media.page({}, page))],
          [2, inStore(media.page({}, { page: 9, limit: 20 }))],
          [2, inStore(media.page({ contentType: "application/pdf" }, page))],
          [2, inStore(media.page({ entityId: entityId }, page))],
          [1, inStore(media.find(id))],
          [1, inStore(media.record(id))],
          [1, inStore(media.update(id, { alt: "x" }))],
          [1, inStore(lists.page({ ...products, sort: { field: "createdAt", ascending: false } }))],
          [1, files.at("2026/77")],
          [1, files.at("2026/77-320")],
          [1, inStore(files.rendition(id, 320))],
          [1, inStore(media.attach({ entityId: entityId, mediaAssetId: newId(), role: "gallery" }))],
          [1, inStore(media.detach({ entityId: entityId, mediaAssetId: newId() }))],
          [1, files.claimRemovals(10)],
          [1, inStore(files.claimThese(["gone/1", "gone/2"]))],
          [1, inStore(media.remove(id))]
        ]
        for (const [count, work] of asked) {
          const plans = yield* plansOf(work)
          assert.strictEqual(plans.length, count)
          for (const plan of plans) assert.notMatch(plan, /Seq Scan on (media_\w+|entity_media|catalog_entities)/)
        }
      }))
  })
})
