import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CartRepo, cartRepoLayer } from "../../src/domain/carts/CartRepo.ts"
import { CustomerCartRepo, customerCartRepoLayer } from "../../src/domain/carts/CustomerCartRepo.ts"
import { OfferRepo, offerRepoLayer } from "../../src/domain/carts/OfferRepo.ts"
import { CategoryRepo } from "../../src/domain/catalog/categories/CategoryRepo.ts"
import { EntityLinkRepo } from "../../src/domain/catalog/EntityLinkRepo.ts"
import { EntityRepo } from "../../src/domain/catalog/EntityRepo.ts"
import { OptionRepo } from "../../src/domain/catalog/variants/OptionRepo.ts"
import { VariantRepo } from "../../src/domain/catalog/variants/VariantRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { PriceRepo, priceRepoLayer } from "../../src/domain/pricing/PriceRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, givenAway, here } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  cartRepoLayer,
  CategoryRepo.layer,
  customerCartRepoLayer,
  EntityLinkRepo.layer,
  EntityRepo.layer,
  OptionRepo.layer,
  StockRepo.layer,
  VariantRepo.layer,
  offerRepoLayer,
  priceRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

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

  it.effect("has no part in a thing of ours, and uses none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entities = yield* EntityRepo
      const { entity } = yield* aShelf("org_default")
      yield* aShelf("org_elsewhere")
      const [type, value, warehouse] = [newId(), newId(), newId()]
      const variant = yield* here((yield* VariantRepo).create(entity, [], { options: {} }))
      yield* sql`insert into option_types (id, organization_id, entity_id, name, display_name)
        values (${type}::uuid, 'org_default', ${entity}::uuid, 'Size', 'Size')`
      yield* sql`insert into option_values (id, organization_id, option_type_id, value, display_value)
        values (${value}::uuid, 'org_default', ${type}::uuid, 'S', 'S')`
      yield* sql`insert into variant_option_values (organization_id, variant_id, option_value_id)
        values ('org_default', ${variant?.id ?? null}::uuid, ${value}::uuid)`
      yield* sql`insert into warehouses (id, organization_id, name, code)
        values (${warehouse}::uuid, 'org_default', 'Main', ${warehouse})`
      yield* sql`insert into stock_items (organization_id, sellable_id)
        values ('org_default', ${entity}::uuid), ('org_elsewhere', ${entity}::uuid)`
      yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand, reserved)
        values (${newId()}::uuid, 'org_default', ${entity}::uuid, ${warehouse}::uuid, ${entity}::uuid, 5, 0)`
      yield* sql`insert into prices (id, organization_id, entity_id, currency, amount)
        values (${newId()}::uuid, 'org_default', ${entity}::uuid, 'USD', 5)`
      const parts = Effect.map(here(entities.findById(entity, ["variants", "inventory", "pricing"])), (view) => [
        view?.variants?.[0]?.optionValueIds.length,
        view?.inventory?.length,
        view?.pricing?.length
      ])
      assert.deepStrictEqual(yield* parts, [1, 1, 1])
      yield* givenAway("variant_option_values", "option_value_id", value)
      yield* givenAway("stock_levels", "entity_id", entity)
      yield* givenAway("prices", "entity_id", entity)
      assert.deepStrictEqual(yield* parts, [0, 0, 0])
      // Neither what lies in another organization's cart under this id keeps it, nor how that one's stock moved.
      const { cart } = yield* aShelf("org_elsewhere")
      yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
        values (${newId()}::uuid, 'org_elsewhere', ${cart}::uuid, ${entity}::uuid, 1, 5, 'USD')`
      yield* sql`insert into stock_movements (id, organization_id, entity_id, warehouse_id, type, quantity)
        values (${newId()}::uuid, 'org_elsewhere', ${entity}::uuid, ${warehouse}::uuid, 'receipt', 1)`
      assert.strictEqual((yield* here(entities.remove(entity)))._tag, "Removed")
    }))

  it.effect("puts nothing into our carts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [carts, ofCustomers] = [yield* CartRepo, yield* CustomerCartRepo]
      const { cart, entity } = yield* aShelf("org_default")
      yield* aShelf("org_elsewhere")
      const customer = newId()
      yield* sql`insert into customers (id, organization_id, user_id)
        values (${customer}::uuid, 'org_default', ${customer})`
      yield* sql`update carts set customer_id = ${customer}::uuid where id = ${cart}::uuid`
      yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
        values (${newId()}::uuid, 'org_default', ${cart}::uuid, ${entity}::uuid, 1, 5, 'USD')`
      const lines = Effect.all([
        Effect.map(here(carts.find(cart)), (found) => found?.lines.length),
        Effect.map(here(ofCustomers.of(customer, 9)), ([found]) => found?.lineItems.length)
      ])
      assert.deepStrictEqual(yield* lines, [1, 1])
      yield* givenAway("cart_lines", "cart_id", cart)
      assert.deepStrictEqual(yield* lines, [0, 0])
    }))

  it.effect("is not told of when a category above it goes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aShelf("org_elsewhere")
      const [parent, ours, theirs] = [newId(), newId(), newId()]
      yield* sql`insert into categories (id, organization_id, slug) values (${parent}::uuid, 'org_default', ${parent})`
      // The guard of the tree would not have one of them below the other; without it the statement has to know its own.
      yield* sql`alter table categories disable trigger categories_guard`
      yield* sql`insert into categories (id, organization_id, slug, parent_id)
        values (${ours}::uuid, 'org_default', ${ours}, ${parent}::uuid),
          (${theirs}::uuid, 'org_elsewhere', ${theirs}, ${parent}::uuid)`
      yield* sql`alter table categories enable trigger categories_guard`
      yield* here((yield* CategoryRepo).remove(parent))
      const recorded = yield* sql`select entity_id from outbox_events where entity_id = any(${[ours, theirs]}::text[])`
      assert.deepStrictEqual(recorded, [{ entity_id: ours }])
    }))

  it.effect("has prices of its own for a thing of ours, which none of ours is written over", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { entity } = yield* aShelf("org_default")
      yield* aShelf("org_elsewhere")
      yield* sql`insert into prices (id, organization_id, entity_id, currency, amount)
        values (${newId()}::uuid, 'org_elsewhere', ${entity}::uuid, 'USD', 7)`
      const at = new Date()
      const written = yield* here((yield* PriceRepo).set({
        id: newId(),
        organizationId: "org_default",
        entityId: entity,
        variantId: null,
        currency: "USD",
        amount: 5,
        compareAtAmount: null,
        customerGroupId: null,
        minQuantity: null,
        maxQuantity: null,
        validFrom: null,
        validUntil: null,
        metadata: {},
        createdAt: at,
        updatedAt: at
      }))
      assert.isTrue(written.created)
    }))
})
