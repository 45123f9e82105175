import { Schema, Struct } from "effect"
import { blank, type Fields, type ProductInput, readInput, statuses, types } from "./WooProductInput.ts"
import { dateOf, idsOf, oneOf, reading, wooDates, WooRefusal } from "./WooRequests.ts"

/** Services of the emulated shop that its parts share. */
export interface WooSite {
  readonly url: string
  readonly now: () => number
  readonly nextId: () => number
  /** The shop's zone ahead of UTC. */
  readonly offsetMs: number
  readonly currency: string
  readonly pricesIncludeTax: boolean
  readonly taxPercent: number
  readonly changed: (topic: string, id: number) => void
}

export interface WooProduct {
  readonly id: number
  readonly parent: number
  fields: Fields
  created: number
  modified: number
  trashed: boolean
}

export interface WooTerm {
  readonly id: number
  readonly name: string
  readonly slug: string
  readonly parent: number
}

/** Products, variations and their terms of the emulated WooCommerce. */
export class WooCatalog {
  readonly products = new Map<number, WooProduct>()
  /** Products that lists count and do not show, because WordPress cannot read them. */
  readonly broken = new Set<number>()
  /** By taxonomy: `categories`, `brands`, `attributes` and `attributes/{id}/terms`. */
  readonly terms = new Map<string, Array<WooTerm>>()
  private readonly site: WooSite

  constructor(site: WooSite) {
    this.site = site
  }

  addTerm(taxonomy: string, input: unknown): WooTerm {
    const { name, parent = 0, slug } = reading(Schema.Struct({
      name: Schema.String,
      slug: Schema.optionalKey(Schema.String),
      parent: Schema.optionalKey(Schema.Int)
    }))(input)
    const term = { id: this.site.nextId(), name, slug: slug ?? slugOf(name), parent }
    this.terms.set(taxonomy, [...this.terms.get(taxonomy) ?? [], term])
    return term
  }

  variationsOf(parent: number): ReadonlyArray<WooProduct> {
    return [...this.products.values()].filter((one) => one.parent === parent && !one.trashed)
  }

  create(input: unknown, parent = 0): WooProduct {
    const changes = readInput(input)
    if (parent > 0) this.get(parent)
    const id = this.site.nextId()
    const now = this.site.now()
    const type = parent > 0 ? "variation" : changes.type ?? "simple"
    const product = { id, parent, fields: { ...blank, type }, created: now, modified: now, trashed: false }
    this.assign(product, { slug: slugOf(changes.name ?? String(id)), ...changes, type })
    this.products.set(id, product)
    this.site.changed("product.created", id)
    this.touchParent(product)
    return product
  }

  change(id: number, input: unknown, parent?: number): WooProduct {
    const product = this.get(id, parent, 400)
    this.assign(product, Struct.omit(readInput(input), product.parent > 0 ? ["type"] : []))
    this.touch(product)
    return product
  }

  /** Changes the stock by an order, which is the parent's if the variation has none. */
  moveStock(id: number, by: number): void {
    const product = this.products.get(id)
    if (product === undefined) return
    const owner = this.stockOwner(product)
    if (!owner.fields.manage_stock) return
    this.assign(owner, { stock_quantity: (owner.fields.stock_quantity ?? 0) + by })
    this.touch(owner)
  }

  /** Without `force` a product goes to the trash. Only that sends `product.deleted`. */
  remove(id: number, force: boolean, parent?: number): WooProduct {
    const product = this.get(id, parent)
    if (force) {
      for (const one of [product, ...this.variationsOf(id)]) this.products.delete(one.id)
    } else {
      product.trashed = true
      product.modified = this.site.now()
      this.site.changed("product.deleted", id)
    }
    this.touchParent(product)
    return product
  }

  restore(id: number): void {
    const product = this.get(id)
    product.trashed = false
    product.modified = this.site.now()
    this.site.changed("product.restored", id)
  }

  get(id: number, parent?: number, status = 404): WooProduct {
    const product = this.products.get(id)
    if (product !== undefined && (parent === undefined || product.parent === parent)) return product
    const kind = parent === undefined ? "product" : "product_variation"
    throw new WooRefusal(status, `woocommerce_rest_${kind}_invalid_id`, "Invalid ID.")
  }

  /** Products, or the variations of `parent`, as a list request asks for them. */
  find(query: URLSearchParams, parent?: number): ReadonlyArray<WooProduct> {
    const [include, exclude] = [idsOf(query, "include"), idsOf(query, "exclude")]
    const [skus, search] = [query.get("sku")?.split(","), query.get("search")?.toLowerCase()]
    const status = oneOf(query, "status", ["any", "trash", ...statuses], "any")
    const type = oneOf(query, "type", ["", ...types, "variation"], "")
    const category = query.get("category")
    const after = dateOf(query, "modified_after", this.site.offsetMs)
    const stock = query.get("stock_status")
    const orderby = oneOf(query, "orderby", ["date", "id", "include", "title", "slug", "modified"], "date")
    const up = oneOf(query, "order", ["asc", "desc"], "desc") === "asc" ? 1 : -1
    const keyOf = ({ created, fields, id, modified }: WooProduct) =>
      ({ date: created, id, include: include?.indexOf(id) ?? 0, title: fields.name, slug: fields.slug, modified })[
        orderby
      ]
    return [...this.products.values()].filter((one) =>
      // A search by SKU finds variations too.
      (parent === undefined ? one.parent === 0 || skus !== undefined : one.parent === parent) &&
      one.trashed === (status === "trash") &&
      (status === "any" || status === "trash" || one.fields.status === status) &&
      (type === "" || one.fields.type === type) && (skus === undefined || skus.includes(one.fields.sku)) &&
      (include === undefined || include.includes(one.id)) && !(exclude?.includes(one.id) ?? false) &&
      (category === null || one.fields.categories.some(({ id }) => String(id) === category)) &&
      (stock === null || one.fields.stock_status === stock) && (after === undefined || one.modified > after) &&
      (search === undefined || one.fields.name.toLowerCase().includes(search))
    ).sort((left, right) => {
      const [a, b] = [keyOf(left), keyOf(right)]
      return (a < b ? -1 : a > b ? 1 : left.id - right.id) * (orderby === "include" ? 1 : up)
    })
  }

  view(product: WooProduct) {
    const { fields, id, parent } = product
    const { image, images, ...rest } = fields
    const owner = this.stockOwner(product)
    const above = this.products.get(parent)?.fields
    const variations = this.variationsOf(id)
    const named = (taxonomy: string, chosen: Fields["categories"]) =>
      (this.terms.get(taxonomy) ?? []).filter((term) => chosen.some((one) => one.id === term.id))
        .map(Struct.omit(["parent"]))
    const prices = fields.type === "variable" ? variations.map((one) => one.fields) : [fields]
    const price = prices.map((one) => one.sale_price || one.regular_price).filter((text) => text !== "")
      .toSorted((left, right) => Number(left) - Number(right))[0] ?? ""
    return {
      ...rest,
      id,
      parent_id: parent,
      status: product.trashed ? "trash" : fields.status,
      permalink: `${this.site.url}/product/${fields.slug}/`,
      ...wooDates("date_created", product.created, this.site.offsetMs),
      ...wooDates("date_modified", product.modified, this.site.offsetMs),
      price,
      on_sale: prices.some(({ sale_price }) => sale_price !== ""),
      manage_stock: owner === product ? fields.manage_stock : "parent",
      stock_quantity: owner.fields.stock_quantity,
      stock_status: owner.fields.stock_status,
      categories: named("categories", fields.categories),
      brands: named("brands", fields.brands),
      tags: named("tags", fields.tags),
      variations: variations.map((one) => one.id),
      // A variation shows what it takes over from its product as if it were its.
      ...above === undefined ? { images } : {
        image: image ?? above.images[0] ?? null,
        sku: fields.sku || above.sku,
        global_unique_id: fields.global_unique_id || above.global_unique_id,
        weight: fields.weight || above.weight,
        tax_class: fields.tax_class === "parent" ? above.tax_class : fields.tax_class
      }
    }
  }

  private stockOwner(product: WooProduct): WooProduct {
    const parent = this.products.get(product.parent)
    return parent !== undefined && parent.fields.manage_stock && !product.fields.manage_stock ? parent : product
  }

  private assign(product: WooProduct, changes: ProductInput): void {
    const { sku } = changes
    const other = sku ? [...this.products.values()].find((one) => one.fields.sku === sku && one !== product) : undefined
    if (other !== undefined) {
      const data = { resource_id: other.id, unique_sku: `${sku}-1` }
      throw new WooRefusal(400, "product_invalid_sku", "Invalid or duplicated SKU.", data)
    }
    const fields = {
      ...product.fields,
      ...changes,
      meta_data: mergedMeta(product.fields.meta_data, changes.meta_data ?? [])
    }
    const quantity = fields.stock_quantity ?? 0
    const managed = quantity > 0 ? "instock" : fields.backorders === "no" ? "outofstock" : "onbackorder"
    product.fields = {
      ...fields,
      stock_quantity: fields.manage_stock ? quantity : null,
      stock_status: fields.manage_stock ? managed : fields.stock_status
    }
  }

  private touch(product: WooProduct): void {
    product.modified = this.site.now()
    this.site.changed("product.updated", product.id)
    this.touchParent(product)
  }

  private touchParent({ parent }: WooProduct): void {
    const found = this.products.get(parent)
    if (found !== undefined) this.touch(found)
  }
}

/** Meta is written by its keys: others stay, and null removes one. */
const mergedMeta = (before: Fields["meta_data"], sent: Fields["meta_data"]): Fields["meta_data"] => [
  ...before.filter(({ key }) => !sent.some((one) => one.key === key)),
  ...sent.filter(({ value }) => value !== null)
]

const slugOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")
