import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MediaFileRepo } from "../../src/domain/media/MediaFileRepo.ts"
import { MediaRepo } from "../../src/domain/media/MediaRepo.ts"
import { type EntityId, type MediaAssetId, newId, type VariantId } from "../../src/domain/platform/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { asAnother as elsewhere, asOwner as here, openAnother as openElsewhere } from "../tenancy/AnotherTenant.ts"

const Repos = Layer.provideMerge(Layer.merge(MediaRepo.layer, MediaFileRepo.layer), TestDatabase)

const aKey = (extension: string) => `2026/${newId()}.${extension}`

const anAsset = (storageKey: string) => ({
  id: newId<MediaAssetId>(),
  storageKey,
  filename: "f.png",
  contentType: "image/png",
  size: 1,
  digest: "d",
  width: 1,
  height: 1,
  alt: null,
  isPublic: false
})

const aVersion = (assetId: MediaAssetId, storageKey: string) => ({
  assetId,
  width: 32,
  storageKey,
  contentType: "image/webp",
  size: 1,
  digest: "d"
})

/** The keys that are on the list of files that have to go. */
const listed = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ key: string }>`select storage_key as key from media_removals order by 1`,
    (rows) => rows.map(({ key }) => key)
  ))

const makeAllDue = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update media_removals set due_at = now()`)

/** An asset with its row, as an upload leaves it. */
const aStored = Effect.gen(function*() {
  const asset = anAsset(aKey("png"))
  yield* here((yield* MediaFileRepo).expectRemoval(asset.storageKey))
  assert.isDefined(yield* here((yield* MediaRepo).create(asset)))
  return asset
})

it.layer(Repos, { excludeTestServices: true })("files and those who remove them", (it) => {
  it.effect("an upload whose file is being removed gets no row", () =>
    Effect.gen(function*() {
      const [media, files] = [yield* MediaRepo, yield* MediaFileRepo]
      const asset = anAsset(aKey("png"))
      yield* here(files.expectRemoval(asset.storageKey))
      assert.deepStrictEqual(yield* files.claimRemovals(9), [])
      yield* makeAllDue
      assert.deepStrictEqual(yield* files.claimRemovals(9), [asset.storageKey])
      assert.isUndefined(yield* here(media.create(asset)))
      yield* files.removed([asset.storageKey])
      assert.isUndefined(yield* here(media.create(asset)))
      assert.deepStrictEqual(yield* listed, [])
    }))

  it.effect("a file with a row is not removed", () =>
    Effect.gen(function*() {
      const files = yield* MediaFileRepo
      yield* aStored
      yield* makeAllDue
      assert.deepStrictEqual(yield* files.claimRemovals(9), [])
    }))

  it.effect("concurrent removals claim different files, and none is claimed again before its time", () =>
    Effect.gen(function*() {
      const files = yield* MediaFileRepo
      const keys = Array.from({ length: 8 }, () => aKey("png"))
      yield* Effect.forEach(keys, (key) => here(files.expectRemoval(key)))
      yield* makeAllDue
      const sql = yield* SqlClient.SqlClient
      const beside = Effect.runPromiseWith(yield* Effect.context<never>())
      const both = Effect.gen(function*() {
        const first = yield* files.claimRemovals(4)
        // Another process does not wait for claims that are not committed.
        return [first, yield* Effect.promise(() => beside(files.claimRemovals(9)))]
      })
      const [first = [], second = []] = yield* sql.withTransaction(both)
      assert.deepStrictEqual([first.length, second.length], [4, 4])
      assert.sameMembers([...first, ...second], keys)
      assert.deepStrictEqual(yield* files.claimRemovals(9), [])
      assert.deepStrictEqual(yield* here(files.claimThese(keys)), [])
      yield* files.removed(keys)
    }))

  it.effect("a smaller version that came second or after its image was deleted stays on the removal list", () =>
    Effect.gen(function*() {
      const [files, media] = [yield* MediaFileRepo, yield* MediaRepo]
      const { id } = yield* aStored
      const [first, second, late] = [aKey("webp"), aKey("webp"), aKey("webp")]
      yield* Effect.forEach([first, second, late], (key) => here(files.expectRemoval(key)))
      assert.isTrue(yield* here(files.addRendition(aVersion(id, first))))
      assert.isFalse(yield* here(files.addRendition(aVersion(id, second))))
      assert.strictEqual((yield* here(files.rendition(id, 32)))?.storageKey, first)
      assert.sameMembers([...yield* listed], [second, late])
      const gone = yield* here(media.remove(id))
      assert.lengthOf(gone ?? [], 2)
      assert.isFalse(yield* here(files.addRendition(aVersion(id, late))))
      assert.sameMembers([...yield* listed], [...gone ?? [], second, late])
      yield* makeAllDue
      const due = yield* files.claimRemovals(9)
      assert.sameMembers([...due], [...gone ?? [], second, late])
      const given = aVersion((yield* aStored).id, late)
      assert.isFalse(yield* here(files.addRendition(given)))
      yield* files.removed(due)
    }))

  it.effect("an attachment of another organization shows nothing", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [sql, media, files] = [yield* SqlClient.SqlClient, yield* MediaRepo, yield* MediaFileRepo]
      const { id, storageKey } = yield* aStored
      const entity = newId<EntityId>()
      yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        values (${entity}::uuid, 'org_default', 'product', ${entity}, 'active', true)`
      yield* sql`insert into entity_media (organization_id, entity_id, media_asset_id, role)
        values ('org_another', ${entity}::uuid, ${id}::uuid, 'primary')`
      const page = { page: 1, limit: 9 }
      const seen = Effect.gen(function*() {
        const [found, record] = [yield* here(media.find(id)), yield* here(media.record(id))]
        const listed = yield* here(media.page({ entityId: entity }, page))
        return [found?.isShown, (yield* files.at(storageKey))?.isPublic, record?.attachments.length, listed.total]
      })
      assert.deepStrictEqual(yield* seen, [false, false, 0, 0])
      yield* sql`update entity_media set organization_id = 'org_default' where entity_id = ${entity}::uuid`
      assert.deepStrictEqual(yield* seen, [true, true, 1, 1])

      const variantId = newId<VariantId>()
      assert.isFalse(yield* elsewhere(media.detach({ entityId: entity, mediaAssetId: id })))
      assert.deepStrictEqual(yield* seen, [true, true, 1, 1])
      // A variant in another organization's name is none of the entity's.
      yield* sql`insert into variants (id, organization_id, entity_id, combination)
        values (${variantId}::uuid, 'org_another', ${entity}::uuid, 'x')`
      const onVariant = { entityId: entity, mediaAssetId: id, role: "gallery", variantId } as const
      const refused = { entity: true, variant: false, asset: true, attached: false }
      assert.deepStrictEqual(yield* here(media.attach(onVariant)), refused)
      yield* sql`update variants set organization_id = 'org_default' where id = ${variantId}::uuid`
      assert.isTrue((yield* here(media.attach(onVariant))).attached)
      assert.isTrue(yield* here(media.detach(onVariant)))
    }))

  it.effect("another tenant cannot touch files, rows and removals", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [files, media] = [yield* MediaFileRepo, yield* MediaRepo]
      const asset = yield* aStored
      const key = aKey("webp")
      yield* here(files.expectRemoval(key))
      assert.isUndefined(yield* elsewhere(media.create(anAsset(key))))
      assert.isFalse(yield* elsewhere(files.addRendition(aVersion(asset.id, key))))
      yield* makeAllDue
      assert.deepStrictEqual(yield* elsewhere(files.claimThese([key])), [])
      assert.isUndefined(yield* elsewhere(media.remove(asset.id)))
      assert.isUndefined(yield* elsewhere(media.record(asset.id)))
      const ours = aKey("webp")
      yield* elsewhere(files.expectRemoval(ours))
      assert.isFalse(yield* elsewhere(files.addRendition(aVersion(asset.id, ours))))
      assert.isTrue(yield* here(files.addRendition(aVersion(asset.id, key))))
      assert.isUndefined(yield* elsewhere(files.rendition(asset.id, 32)))
      assert.sameMembers([...yield* listed], [ours])
    }))
})
