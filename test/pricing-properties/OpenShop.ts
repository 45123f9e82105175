import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { policyOf } from "../../src/domain/catalog/TypePolicy.ts"
import { EntityId, ShippingRateId, ShippingZoneId, VariantId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, asCustomer, inOrganization } from "../support/TestApp.ts"
import { groupIn, policies, type Shop, type ShopProduct, type ShopRate, type ShopZone, type Wish } from "./Shop.ts"

/** A shop that is open: its things have the ids that the service gave them. */
export interface OpenShop {
  readonly shop: Shop
  readonly organizationId: string
  /** Its administrator, who sells there. */
  readonly as: typeof asAdmin
  /** Ids of the profiles of its customers, by their names. */
  readonly customers: ReadonlyMap<string, string>
}

type Kind = Pick<Wish, "exempt" | "groups">

/** The name of the customer of a kind; undefined: the administrator, who is in no group and pays taxes, buys too. */
export const nameOf = ({ exempt, groups }: Kind): string | undefined =>
  groups.length === 0 && !exempt ? undefined : ["buyer", ...groups, ...(exempt ? ["exempt"] : [])].join("-")

export const buyerOf = (
  { as, organizationId }: Pick<OpenShop, "as" | "organizationId">,
  kind: Kind
): typeof asAdmin => {
  const name = nameOf(kind)
  return name === undefined ? as : inOrganization(organizationId, asCustomer(name))
}

/** All kinds of customers. */
const kinds: ReadonlyArray<Kind> = [false, true].flatMap((exempt) =>
  [[], [0], [1], [0, 1]].flatMap((groups) => exempt || groups.length > 0 ? [{ exempt, groups }] : [])
)

type Asker = (path: string, body: object) => Effect.Effect<Answer, never, never>

const made = (answer: Answer): string => {
  assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
  return answer.text("data.id")
}

const eachOf = <A, B, R>(list: ReadonlyArray<A>, body: (one: A, index: number) => Effect.Effect<B, never, R>) =>
  Effect.forEach(list, body, { concurrency: 4 })

/** Creates a generated shop in a new organization, through the API. */
export const openShop = Effect.fnUntraced(function*(organizationId: string, plan: Shop) {
  yield* onDatabase((sql) =>
    sql`insert into organizations (id, slug, name) values (${organizationId}, ${organizationId}, ${organizationId})`
  )
  const as = inOrganization(organizationId, asAdmin)
  const context = yield* Effect.context<Effect.Services<ReturnType<typeof api>>>()
  const post: Asker = (path, body) => Effect.provide(api("POST", `/api/${path}`, { as, body }), context)
  const warehouseId = made(yield* post("inventory/warehouses", { name: "Main", code: "MAIN" }))
  const categories = new Map<string | null, string>()
  for (const slug of ["shoes", "hats"]) {
    categories.set(slug, made(yield* post("catalog/categories", { slug })))
  }

  const groups = yield* eachOf(
    plan.groups,
    (_, n) => Effect.map(post("customers/groups", { name: `Group ${n}` }), made)
  )
  const customers = new Map<string, string>()
  for (const kind of kinds) {
    const buyer = buyerOf({ as, organizationId }, kind)
    const customerId = (yield* api("GET", "/api/me/profile", { as: buyer })).text("data.id")
    customers.set(nameOf(kind) ?? "", customerId)
    for (const group of kind.groups) {
      const path = `customers/groups/${groupIn(groups, group)}/members/${customerId}`
      assert.isBelow((yield* post(path, {})).status, 300)
    }
    const body = { taxExemption: kind.exempt ? { reason: "Public school" } : null }
    assert.strictEqual((yield* api("PATCH", `/api/customers/${customerId}`, { as, body })).status, 200)
  }

  const variantOf = Effect.fnUntraced(function*(entityId: string) {
    made(yield* post(`catalog/entities/${entityId}/options`, { name: "Size", values: ["S"] }))
    return made(yield* post(`catalog/entities/${entityId}/variants`, { options: { Size: "S" } }))
  })

  const taxClasses = plan.tax.classes.map(({ name }) => name)

  const productOf = Effect.fnUntraced(function*(plan: ShopProduct, n: number) {
    const { category, prices, taxClass, type, weightGrams } = plan
    const attributes = { title: `Thing ${n}` }
    const named = taxClasses.includes(taxClass ?? "") ? { taxClass } : {}
    const entity = { type, slug: `thing-${n}`, status: "active", metadata: { weightGrams }, ...named, attributes }
    const id = EntityId.make(made(yield* post("catalog/entities", entity)))
    const variantId = plan.variantId === null ? null : VariantId.make(yield* variantOf(id))
    const categoryId = categories.get(category)
    if (categoryId !== undefined) {
      assert.isBelow((yield* post(`catalog/entities/${id}/categories/${categoryId}`, {})).status, 300)
    }
    for (const { amount, currency, group, minQuantity, ofVariant } of prices) {
      made(
        yield* post("pricing/prices", {
          entityId: id,
          currency,
          amount,
          minQuantity,
          customerGroupId: groupIn(groups, group),
          variantId: ofVariant ? variantId : null
        })
      )
    }
    const stock = { entityId: id, variantId, warehouseId, type: "restock", quantity: 1_000_000 }
    if (policyOf(policies, type).manageInventory) {
      assert.isBelow((yield* post("inventory/adjust", stock)).status, 300)
    }
    return { ...plan, id, variantId }
  })

  const classes = new Map(
    yield* eachOf(
      plan.tax.classes,
      (one) => Effect.map(post("tax/classes", one), (answer) => [one.name, made(answer)] as const)
    )
  )
  const classOf = (name: string | null) => ({ taxClassId: name === null ? null : classes.get(name) ?? null })
  const rateBody = ({ taxClass, ...rate }: Omit<ShopRate, "id">, name: string, zoneId: string) => ({
    ...rate,
    ...classOf(taxClass),
    name,
    zoneId
  })

  const zoneOf = Effect.fnUntraced(function*(zone: ShopZone, n: number) {
    const { countries, states } = zone
    const asked = { name: `Zone ${n}`, countries, states, priority: n }
    const zoneId = ShippingZoneId.make(made(yield* post("shipping/zones", asked)))
    const rates = yield* eachOf(
      zone.rates,
      ({ id, ...rate }) =>
        Effect.map(post("shipping/rates", rateBody(rate, id, zoneId)), (answer): ShopRate => ({
          ...rate,
          id: ShippingRateId.make(made(answer))
        }))
    )
    return { ...zone, id: zoneId, rates }
  })

  const products = yield* eachOf(plan.products, productOf)
  for (const { group, minSubtotal, product, ...modifier } of plan.modifiers) {
    const customerGroupId = groupIn(groups, group)
    const entityId = product === null ? null : products[product]?.id
    const conditions = minSubtotal === null ? {} : { minSubtotal }
    made(yield* post("pricing/modifiers", { ...modifier, name: modifier.type, entityId, customerGroupId, conditions }))
  }
  yield* eachOf(
    plan.promotions,
    (promotion) => Effect.map(post("promotions", { ...promotion, name: promotion.code }), made)
  )
  const zones = yield* eachOf(plan.zones, zoneOf)
  yield* eachOf(
    plan.tax.rates,
    ({ inForce: _, taxClass, ...one }, n) =>
      Effect.map(post("tax/rates", { ...one, ...classOf(taxClass), name: `Tax ${n}` }), made)
  )
  const open: OpenShop = { shop: { ...plan, groups, products, zones }, organizationId, as, customers }
  return open
})
