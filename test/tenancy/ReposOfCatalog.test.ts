import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { CategoryRepo } from "../../src/domain/catalog/categories/CategoryRepo.ts"
import { EntityRepo } from "../../src/domain/catalog/EntityRepo.ts"
import { VariantRepo } from "../../src/domain/catalog/variants/VariantRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { WarehouseRepo } from "../../src/domain/inventory/WarehouseRepo.ts"
import { CacheInvalidation } from "../../src/domain/platform/access/CacheInvalidation.ts"
import {
  CartId,
  type CategoryId,
  type CustomerId,
  EntityId,
  newId,
  type PriceId,
  type VariantId
} from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { PriceRepo, priceRepoLayer } from "../../src/domain/pricing/PriceRepo.ts"
import { PriceCandidateRepo, priceCandidateRepoLayer } from "../../src/domain/pricing/PriceStatements.ts"
import { PromotionRepo, promotionRepoLayer } from "../../src/domain/promotions/PromotionRepo.ts"
import { ShippingRuleRepo } from "../../src/domain/shipping/ShippingRepo.ts"
import { TaxClasses } from "../../src/domain/tax/TaxClass.ts"
import { taxRecordsLayer, TaxRuleCache, TaxRuleRepo } from "../../src/domain/tax/TaxRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import {
  answersApart,
  asAnother,
  asOwner,
  giveAway,
  insert,
  isFound,
  leavesOut,
  openAnother,
  type Question
} from "./AnotherTenant.ts"

const Repos = Layer.mergeAll(
  Layer.provide(CartRepo.layer, StoreSettings.layerOf({})),
  CategoryRepo.layer,
  EntityRepo.layer,
  priceCandidateRepoLayer,
  priceRepoLayer,
  promotionRepoLayer,
  ShippingRuleRepo.layer,
  StockRepo.layer,
  Layer.provide(taxRecordsLayer, TaxRuleCache.layer),
  Layer.provide(VariantRepo.layer, CatalogSettings.layerOf({})),
  WarehouseRepo.layer
).pipe(
  Layer.provideMerge(TaxRuleRepo.layer),
  Layer.provide(CacheInvalidation.layer),
  Layer.provideMerge(TestDatabase)
)

const at = new Date("2026-01-01")

/** A product, the owner's with a variant, and a cart with the product in it. */
const aShelf = Effect.fnUntraced(function*(organization_id: string) {
  yield* openAnother
  const [entity, cart, variant] = [newId<EntityId>(), newId<CartId>(), newId<VariantId>()]
  const of = { organization_id }
  const open = { status: "active", currency: "USD", secret_hash: "hash", expires_at: new Date("2999-01-01") }
  const line = { quantity: 1, unit_price_snapshot: 1000, currency: "USD" }
  const product = { type: "product", slug: entity, status: "active", is_visible: true }
  yield* insert("catalog_entities", { id: entity, ...product, ...of })
  if (organization_id === "org_default") {
    yield* insert("variants", { id: variant, entity_id: entity, combination: variant })
  }
  yield* insert("carts", { id: cart, ...open, ...of })
  yield* insert("cart_lines", { id: newId(), cart_id: cart, entity_id: entity, ...line, ...of })
  return { entity, cart, variant }
})

/** The owner's shelf with a category, a price, a discount and promotions; its cart; and the shelf of another tenant. */
const shelves = Effect.gen(function*() {
  const [own, theirs] = [yield* aShelf("org_default"), yield* aShelf("org_another")]
  const [category, customer, promotion, code] = [newId(), newId<CustomerId>(), newId(), newId().toUpperCase()]
  yield* insert("categories", { id: category, slug: category })
  yield* insert("entity_categories", { entity_id: own.entity, category_id: category })
  yield* insert("prices", { id: newId(), entity_id: own.entity, currency: "USD", amount: 1000 })
  yield* insert("price_modifiers", { id: newId(), name: "Sale", type: "percentage_discount", value: 10 })
  const ten = { name: "Ten", type: "percentage_off_order", value: 10 }
  yield* insert("promotions", { id: promotion, code, is_automatic: false, ...ten })
  yield* insert("promotions", { id: newId(), is_automatic: true, ...ten })
  const used = { promotion_id: promotion, buyer: `customer:${customer}` }
  yield* insert("promotion_buyer_usages", { used_count: 1, ...used })
  yield* insert("promotion_buyer_usages", { organization_id: "org_another", used_count: 3, ...used })
  const zone = newId()
  yield* (yield* SqlClient.SqlClient)`insert into shipping_zones (id, organization_id, name, countries)
    values (${zone}::uuid, 'org_default', ${zone}, '{US}')`
  yield* insert("shipping_rates", { id: newId(), zone_id: zone, name: "Parcel", currency: "USD", amount: 5 })
  yield* insert("tax_classes", { id: newId(), name: zone, rate_bps: 900 })
  yield* insert("tax_rates", { id: newId(), name: zone, country: "NL", rate_bps: 2100 })
  const { find, state } = yield* CartRepo
  const [cart, shown] = [yield* asOwner(state(own.cart)), yield* asOwner(find(own.cart))]
  const line = shown?.lines[0]
  if (cart === undefined || line === undefined) return yield* Effect.die("no cart")
  // As it would be if it were another tenant's.
  const taken = { ...cart, cart: { ...cart.cart, organizationId: "org_another" } }
  return { ...own, state: cart, taken, line, theirs, customer, code }
})

type Records = Effect.Success<typeof shelves>

const candidates = (entityId: EntityId) =>
  PriceCandidateRepo.use((repo) =>
    Effect.map(
      repo.candidates([{ entityId, variantId: null }], "USD", at),
      (found) => [found.prices.length, found.modifiers.length, found.entities.size]
    )
  )

const promotions = ({ code, customer }: Records) =>
  PromotionRepo.use((repo) =>
    Effect.map(repo.candidates([code], customer, null), (all) => all.map(({ usage }) => usage.byCustomer).toSorted())
  )

const offer = (cart: string, entity: string) =>
  CartRepo.use((repo) =>
    Effect.map(
      repo.offer({ cart: CartId.make(cart), entity: EntityId.make(entity), variant: null, metadata: {}, now: at }),
      (found) => found && (found.isPublic === null ? "no product" : found.id)
    )
  )

const inStock = ({ entity, variant }: Records) =>
  StockRepo.use((repo) =>
    Effect.map(
      repo.adjustable({ entityId: entity, variantId: variant, warehouseId: null }),
      ({ entityKnown, variantKnown }) => [entityKnown, variantKnown]
    )
  )

const questions: ReadonlyArray<Question<Records, Layer.Success<typeof Repos>>> = [
  ["a cart", ({ cart }) => CartRepo.use((repo) => isFound(repo.find(cart))), false, true],
  ["the state of a cart", ({ cart }) => CartRepo.use((repo) => isFound(repo.state(cart))), false, true],
  ["an offer for the cart", ({ cart, entity }) => offer(cart, entity), undefined],
  ["an offer of the product", ({ entity, theirs }) => offer(theirs.cart, entity), "no product"],
  ["options", ({ entity }) => VariantRepo.use((repo) => Effect.isSuccess(repo.axes(entity))), false, true],
  ["stock", inStock, [false, false], [true, true]],
  ["prices", ({ entity }) => candidates(entity), [0, 0, 0], [1, 1, 1]],
  [
    "categories of a promotion",
    ({ entity }) => PromotionRepo.use((repo) => Effect.map(repo.categorySlugs([entity]), ({ size }) => size)),
    0,
    1
  ],
  // By code and automatic, with the uses of the customer at this tenant.
  ["promotions", promotions, [], [0, 1]],
  ["a line", ({ line, taken }) => CartRepo.use((repo) => repo.addLine(taken, { ...line, id: newId() })), "stale"],
  [
    "a quantity",
    ({ line, taken }) => CartRepo.use((repo) => repo.changeLine(taken, line.id, { quantity: 9 })),
    "no-line"
  ],
  ["no line", ({ line, taken }) => CartRepo.use((repo) => repo.removeLine(taken, line.id)), "no-line"],
  [
    "a variant",
    ({ entity }) => VariantRepo.use((repo) => Effect.isSuccess(repo.create(entity, [], { options: {} }))),
    false
  ],
  [
    "variants",
    ({ entity }) => VariantRepo.use((repo) => Effect.isSuccess(repo.createMissing(entity, [[]], "all"))),
    false,
    true
  ]
]

it.layer(Repos, { excludeTestServices: true })("repositories of the catalog, carts and prices", (it) => {
  it.effect("repositories of the catalog, carts and prices answer another tenant nothing of the owner's shelf and change nothing on it", () =>
    Effect.gen(function*() {
      const records = yield* shelves
      const { cart, entity, line, state, theirs } = records
      yield* answersApart(records, questions)
      assert.strictEqual(yield* asAnother(offer(theirs.cart, theirs.entity)), theirs.cart)
      assert.isUndefined(yield* asOwner(offer(theirs.cart, entity)))
      // A line of the owner in another tenant's cart is in neither.
      yield* giveAway("carts", "id", cart)
      const { changeLine, removeLine } = yield* CartRepo
      assert.strictEqual(yield* asOwner(changeLine(state, line.id, { quantity: 9 })), "stale")
      assert.strictEqual(yield* asOwner(removeLine(state, line.id)), "stale")
    }))

  it.effect("repositories of the catalog, carts and prices read no part of a product that is in another tenant's name, and no such part keeps the product", () =>
    Effect.gen(function*() {
      const [{ entity, variant }, theirs] = [yield* aShelf("org_default"), yield* aShelf("org_another")]
      const sql = yield* SqlClient.SqlClient
      const { findById, remove } = yield* EntityRepo
      const [type, value, warehouse] = [newId(), newId(), newId()]
      yield* insert("option_types", { id: type, entity_id: entity, name: "Size", display_name: "Size" })
      yield* insert("option_values", { id: value, option_type_id: type, value: "S", display_value: "S" })
      yield* insert("variant_option_values", { variant_id: variant, option_value_id: value })
      yield* insert("warehouses", { id: warehouse, name: "Main", code: warehouse })
      yield* insert("stock_items", { sellable_id: entity }, { sellable_id: entity, organization_id: "org_another" })
      const level = { sellable_id: entity, warehouse_id: warehouse, entity_id: entity, on_hand: 5, reserved: 0 }
      yield* insert("stock_levels", { id: newId(), ...level })
      yield* insert("prices", { id: newId(), entity_id: entity, currency: "USD", amount: 5 })
      const parts = Effect.map(findById(entity, ["variants", "inventory", "pricing"]), (view) => [
        view?.variants?.[0]?.optionValueIds.length,
        view?.inventory?.length,
        view?.pricing?.length
      ])
      yield* leavesOut(
        parts,
        [1, 1, 1],
        ["variant_option_values", "option_value_id", value, [0, 1, 1]],
        ["stock_levels", "entity_id", entity, [0, 0, 1]],
        ["prices", "entity_id", entity, [0, 0, 0]]
      )
      yield* sql`update cart_lines set cart_id = ${theirs.cart}::uuid, organization_id = 'org_another'
        where entity_id = ${entity}::uuid`
      const receipt = { entity_id: entity, warehouse_id: warehouse, type: "receipt", quantity: 1 }
      yield* insert("stock_movements", { id: newId(), organization_id: "org_another", ...receipt })
      assert.strictEqual((yield* asOwner(remove(entity)))?.entity?.id, entity)
    }))

  it.effect("repositories of the catalog, carts and prices read no line of a cart that is in another tenant's name", () =>
    Effect.gen(function*() {
      const { cart } = yield* aShelf("org_default")
      const sql = yield* SqlClient.SqlClient
      const customer = newId<CustomerId>()
      yield* insert("customers", { id: customer, user_id: customer })
      yield* sql`update carts set customer_id = ${customer}::uuid where id = ${cart}::uuid`
      const lines = Effect.all([
        CartRepo.use((repo) => Effect.map(repo.find(cart), (found) => found?.lines.length)),
        CartRepo.use((repo) => Effect.map(repo.ofCustomer(customer, 9), ([found]) => found?.lineItems.length))
      ])
      yield* leavesOut(lines, [1, 1], ["cart_lines", "cart_id", cart, [0, 0]])
    }))

  it.effect("repositories of the catalog, carts and prices record nothing about another tenant's category when a category above it is removed", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const [parent, own, theirs] = [newId<CategoryId>(), newId(), newId()]
      yield* insert("categories", { id: parent, slug: parent })
      // The trigger forbids a category below another tenant's; without it the statement has to tell them apart.
      yield* sql`alter table categories disable trigger categories_guard`
      yield* insert("categories", { id: own, slug: own, parent_id: parent })
      yield* insert("categories", { id: theirs, slug: theirs, parent_id: parent, organization_id: "org_another" })
      yield* sql`alter table categories enable trigger categories_guard`
      yield* asOwner(CategoryRepo.use((repo) => repo.remove(parent)))
      const recorded = yield* sql`select entity_id from outbox_events where entity_id = any(${[own, theirs]}::text[])`
      assert.deepStrictEqual(recorded, [{ entity_id: own }])
    }))

  it.effect("repositories of the catalog, carts and prices write a price over none of another tenant, a default tax class over none, and a warehouse for each", () =>
    Effect.gen(function*() {
      const { entity } = yield* aShelf("org_default")
      const sql = yield* SqlClient.SqlClient
      const theirs = { organization_id: "org_another", id: newId() }
      yield* insert("prices", { entity_id: entity, currency: "USD", amount: 7, ...theirs })
      yield* insert("tax_classes", { name: "usual", rate_bps: 900, is_default: true, ...theirs })
      const own = { id: newId<PriceId>(), organizationId: "org_default", metadata: {}, createdAt: at, updatedAt: at }
      const price = { entityId: entity, variantId: null, currency: "USD", amount: 5, compareAtAmount: null }
      const always = { customerGroupId: null, minQuantity: null, maxQuantity: null, validFrom: null, validUntil: null }
      const set = PriceRepo.use((repo) => repo.set({ ...price, ...always, ...own }))
      assert.isTrue((yield* asOwner(set)).created)
      yield* asOwner(TaxClasses.use(({ create }) => create({ name: "usual", rateBps: 2_100, isDefault: true })))
      const defaults = yield* sql`select organization_id from tax_classes where is_default order by 1`
      assert.deepStrictEqual(defaults.map((row) => row["organization_id"]), ["org_another", "org_default"])
      const warehouses = WarehouseRepo.use((repo) =>
        Effect.andThen(repo.ensureDefault, Effect.map(repo.list({ page: 1, limit: 9 }), ({ total }) => total))
      )
      const before = yield* asOwner(warehouses)
      assert.deepStrictEqual([yield* asAnother(warehouses), yield* asOwner(warehouses)], [1, before])
    }))

  it.effect("repositories of the catalog, carts and prices read the shipping and tax rules of one tenant", () =>
    Effect.gen(function*() {
      const count = Effect.fnUntraced(function*(organization: string) {
        const { rates, zones } = yield* ShippingRuleRepo.use((repo) => repo.rules(organization))
        const tax = yield* TaxRuleRepo.use((repo) => repo.active(organization))
        return [zones.length, rates.length, tax.classes.length, tax.rates.length]
      })
      const [own, theirs] = [yield* count("org_default"), yield* count("org_another")]
      yield* shelves
      assert.deepStrictEqual(yield* count("org_default"), own.map((length) => length + 1))
      assert.deepStrictEqual(yield* count("org_another"), theirs)
    }))
})
