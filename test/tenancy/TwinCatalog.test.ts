import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { OfferRepo, offerRepoLayer } from "../../src/domain/carts/OfferRepo.ts"
import { EntityLinkRepo } from "../../src/domain/catalog/EntityLinkRepo.ts"
import { OptionRepo } from "../../src/domain/catalog/OptionRepo.ts"
import { VariantRepo } from "../../src/domain/catalog/VariantRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"

const Repos = Layer.mergeAll(EntityLinkRepo.layer, OptionRepo.layer, StockRepo.layer, VariantRepo.layer, offerRepoLayer)
  .pipe(
    Layer.provideMerge(TestDatabase)
  )

const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))
const here = as("org_default")
const elsewhere = as("org_elsewhere")

/** A product, a brand and a cart of an organization. */
const aShelf = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const [entity, brand, cart] = [newId(), newId(), newId()]
  yield* sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, 'A store')
    on conflict do nothing`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    values (${entity}::uuid, ${organization}, 'product', ${entity}, 'active', true)`
  yield* sql`insert into brands (id, organization_id, slug, display_name)
    values (${brand}::uuid, ${organization}, ${brand}, 'Maker')`
  yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
    values (${cart}::uuid, ${organization}, 'active', 'USD', 'hash', now() + interval '1 day')`
  return { entity, brand, cart }
})

/** The services in front of these repositories look first, and so would hide a repository that does not. */
it.layer(Repos, { excludeTestServices: true })("the catalog of another organization, asked past its services", (it) => {
  it.effect("is neither linked to nor unlinked", () =>
    Effect.gen(function*() {
      const links = yield* EntityLinkRepo
      const [ours, theirs] = [yield* aShelf("org_elsewhere"), yield* aShelf("org_default")]
      const found = (entity: string, brand: string) => elsewhere(links.link("brand", entity, brand))
      assert.deepStrictEqual(yield* found(theirs.entity, ours.brand), { entity: false, target: true })
      assert.deepStrictEqual(yield* found(ours.entity, theirs.brand), { entity: true, target: false })
      yield* here(links.link("brand", theirs.entity, theirs.brand))
      assert.isFalse(yield* elsewhere(links.unlink("brand", theirs.entity, theirs.brand)))
      assert.isTrue(yield* here(links.unlink("brand", theirs.entity, theirs.brand)))
    }))

  it.effect("gets no variants and shows no options", () =>
    Effect.gen(function*() {
      const [options, variants] = [yield* OptionRepo, yield* VariantRepo]
      const { entity } = yield* aShelf("org_default")
      assert.isUndefined(yield* elsewhere(options.axes(entity)))
      assert.isUndefined(yield* elsewhere(variants.create(entity, [], { options: {} })))
      assert.isUndefined(yield* elsewhere(variants.createMissing(entity, [[]], "all")))
      assert.isDefined(yield* here(variants.create(entity, [], { options: {} })))
    }))

  it.effect("is not stocked here", () =>
    Effect.gen(function*() {
      const [stock, variants] = [yield* StockRepo, yield* VariantRepo]
      const { entity } = yield* aShelf("org_default")
      const variant = yield* here(variants.create(entity, [], { options: {} }))
      const target = { entityId: entity, variantId: variant?.id ?? null, warehouseId: null }
      const known = Effect.map(stock.adjustable(target), ({ entityKnown, variantKnown }) => [entityKnown, variantKnown])
      assert.deepStrictEqual(yield* here(known), [true, true])
      assert.deepStrictEqual(yield* elsewhere(known), [false, false])
    }))

  it.effect("is not for sale in our carts, and its carts are none of ours", () =>
    Effect.gen(function*() {
      const offers = yield* OfferRepo
      const [ours, theirs] = [yield* aShelf("org_elsewhere"), yield* aShelf("org_default")]
      const refused = yield* elsewhere(offers.find(ours.cart, theirs.entity, null))
      assert.strictEqual(refused?.refusal?._tag, "NotFound")
      assert.isUndefined(yield* elsewhere(offers.find(theirs.cart, theirs.entity, null)))
      const offer = yield* elsewhere(offers.find(ours.cart, ours.entity, null))
      assert.deepStrictEqual([offer?.cart.cart.id, offer?.refusal], [ours.cart, null])
    }))
})
