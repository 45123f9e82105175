import {
  connection,
  gid,
  idIn,
  isoTime,
  matches,
  moneyBag,
  type PageArgs,
  priceText,
  type ShopifyContext,
  type ShopifySite
} from "./ShopifyPages.ts"
import {
  type Level,
  type MetafieldSent,
  type NewProduct,
  type NewVariant,
  type ProductFields,
  type ShopifyImage,
  type ShopifyLocation,
  type ShopifyMetafield,
  type ShopifyProduct,
  type ShopifyVariant,
  stockOf
} from "./ShopifyProduct.ts"

const imageView = ({ alt, id, url }: ShopifyImage) => ({
  __typename: "MediaImage",
  id: gid("MediaImage", id),
  alt,
  mediaContentType: "IMAGE",
  image: { id: gid("ImageSource", id), url }
})

const empty = {
  status: "ACTIVE",
  descriptionHtml: "",
  vendor: "",
  productType: "",
  tags: [],
  published: true,
  giftCard: false,
  category: null,
  seo: { title: null, description: null }
} as const

/** Products and stock of the emulated Shopify. */
export class ShopifyCatalog {
  readonly products = new Map<number, ShopifyProduct>()
  readonly locations: Array<ShopifyLocation> = []
  private readonly site: ShopifySite

  constructor(site: ShopifySite) {
    this.site = site
    this.locations.push({ id: site.nextId(), name: "Shop location" })
  }

  /** Locations that stand when a product is added stock it. */
  addLocation(name: string): ShopifyLocation {
    const location = { id: this.site.nextId(), name }
    this.locations.push(location)
    return location
  }

  add(
    { images = [], options = [{ name: "Title", values: ["Default Title"] }], variants, ...fields }: NewProduct
  ): ShopifyProduct {
    const [id, now] = [this.site.nextId(), this.site.now()]
    const handle = fields.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")
    const product: ShopifyProduct = {
      id,
      created: now,
      updated: now,
      options,
      images: images.map((one) => this.image(one)),
      metafields: [],
      variants: [],
      fields: {
        ...empty,
        handle,
        ...fields
      }
    }
    product.variants.push(...variants.map((one) => this.variant(product, one)))
    this.products.set(id, product)
    this.site.tell("products/create", this.payload(product))
    return product
  }

  change(product: ShopifyProduct, fields: Partial<ProductFields>): void {
    product.fields = { ...product.fields, ...fields }
    this.touch(product)
  }

  /** With a value of the first option that the product did not have. */
  addVariant(product: ShopifyProduct, variant: NewVariant): void {
    product.variants.push(this.variant(product, variant))
    this.showOptions(product)
  }

  removeVariant({ id, product }: ShopifyVariant): void {
    product.variants.splice(product.variants.findIndex((one) => one.id === id), 1)
    this.showOptions(product)
  }

  showImages(product: ShopifyProduct, images: NewProduct["images"] = []): void {
    product.images = images.map((one) => this.image(one))
    this.touch(product)
  }

  /** Sets metafields of a product, or removes those without a value; the others stay. */
  setMetafields(product: ShopifyProduct, sent: ReadonlyArray<MetafieldSent>): ReadonlyArray<ShopifyMetafield> {
    const isSame = (one: Omit<MetafieldSent, "value">) => ({ key, namespace }: MetafieldSent) =>
      one.namespace === namespace && one.key === key
    const set = sent.flatMap(({ key, namespace, type, value }) => {
      if (value === undefined) return []
      const before = product.metafields.find(isSame({ namespace, key }))
      const id = before?.id ?? this.site.nextId()
      return [{ id, namespace, key, value, type: type ?? before?.type ?? "" }]
    })
    product.metafields = [...product.metafields.filter((one) => !sent.some(isSame(one))), ...set]
    this.touch(product)
    return set
  }

  changePrice(variant: ShopifyVariant, price: number): void {
    Object.assign(variant, { price, updated: this.site.now() })
    this.touch(variant.product)
  }

  remove({ id }: ShopifyProduct): void {
    this.products.delete(id)
    this.site.tell("products/delete", { id })
  }

  /** Sets or moves stock. Both webhooks tell of it, the product's too. */
  setLevel(
    variant: ShopifyVariant,
    level: Level,
    change: { readonly available: number; readonly committed?: number }
  ): void {
    Object.assign(level, change, { updated: this.site.now() })
    this.site.tell("inventory_levels/update", {
      inventory_item_id: variant.item,
      location_id: level.location.id,
      available: level.available,
      updated_at: isoTime(level.updated),
      admin_graphql_api_id: `${gid("InventoryLevel", level.id)}?inventory_item_id=${variant.item}`
    })
    this.touch(variant.product)
  }

  /** Sets the stock at the first location. */
  setStock(variant: ShopifyVariant, available: number): void {
    const [level] = variant.levels
    if (level !== undefined) this.setLevel(variant, level, { available })
  }

  variants(): ReadonlyArray<ShopifyVariant> {
    return [...this.products.values()].flatMap(({ variants }) => variants)
  }

  variantOf(id: string | null | undefined): ShopifyVariant | undefined {
    return this.variants().find((one) => id === gid("ProductVariant", one.id) || id === gid("InventoryItem", one.item))
  }

  list = (args: PageArgs & { query?: string | null; sortKey: string; reverse: boolean }, context: ShopifyContext) => {
    const keyOf = ({ created, fields, id, updated }: ShopifyProduct) =>
      args.sortKey === "TITLE"
        ? fields.title
        : args.sortKey === "UPDATED_AT"
        ? updated
        : args.sortKey === "CREATED_AT"
        ? created
        : id
    const rows = [...this.products.values()].filter((product) =>
      matches(args.query ?? "", {
        id: () => [product.id],
        status: () => [product.fields.status],
        tag: () => product.fields.tags,
        sku: () => product.variants.map(({ sku }) => sku),
        created_at: () => [product.created],
        updated_at: () => [product.updated]
      })
    ).toSorted((left, right) => {
      const [a, b] = [keyOf(left), keyOf(right)]
      return (a < b ? -1 : a > b ? 1 : left.id - right.id) * (args.reverse ? -1 : 1)
    })
    return connection(() => rows, (row) => this.view(row))(args, context)
  }

  locationList = connection(() => this.locations, (one) => this.locationView(one))

  product = (id: string) => {
    const product = this.products.get(idIn("Product", id) ?? 0)
    return product === undefined ? null : this.view(product)
  }

  view(product: ShopifyProduct): object {
    const { fields, id, images, options, variants } = product
    return {
      ...fields,
      __typename: "Product",
      id: gid("Product", id),
      legacyResourceId: String(id),
      createdAt: isoTime(product.created),
      updatedAt: isoTime(product.updated),
      publishedAt: fields.published ? isoTime(product.created) : null,
      isGiftCard: fields.giftCard,
      category: fields.category === null ? null : { id: gid("TaxonomyCategory", 1), fullName: fields.category },
      hasOnlyDefaultVariant: options[0]?.values[0] === "Default Title",
      totalInventory: variants.reduce((sum, one) => sum + stockOf(one), 0),
      options: options.map((one, index) => ({
        ...one,
        id: gid("ProductOption", id * 10 + index),
        position: index + 1
      })),
      variants: connection(() => variants, (one) => this.variantView(one)),
      metafields: (args: PageArgs & { keys?: ReadonlyArray<string> | null }, context: ShopifyContext) =>
        connection(
          () => product.metafields.filter(({ key, namespace }) => args.keys?.includes(`${namespace}.${key}`) ?? true),
          (one) => one
        )(args, context),
      media: connection(() => images, imageView)
    }
  }

  variantView(variant: ShopifyVariant): object {
    const { compareAt, id, options, oversells, price, product, sku } = variant
    return {
      __typename: "ProductVariant",
      id: gid("ProductVariant", id),
      legacyResourceId: String(id),
      title: options.join(" / "),
      sku,
      barcode: variant.barcode,
      price: priceText(price),
      compareAtPrice: compareAt === null ? null : priceText(compareAt),
      position: product.variants.indexOf(variant) + 1,
      inventoryPolicy: oversells ? "CONTINUE" : "DENY",
      inventoryQuantity: stockOf(variant),
      taxable: true,
      createdAt: isoTime(product.created),
      updatedAt: isoTime(variant.updated),
      selectedOptions: options.map((value, index) => ({ name: product.options[index]?.name ?? "Title", value })),
      inventoryItem: () => this.itemView(variant),
      media: connection(() => variant.image === null ? [] : [variant.image], imageView),
      product: () => this.view(product)
    }
  }

  itemView(variant: ShopifyVariant): object {
    const { item, levels, sku, tracked } = variant
    const levelView = (level: Level): object => ({
      __typename: "InventoryLevel",
      id: `${gid("InventoryLevel", level.id)}?inventory_item_id=${item}`,
      location: this.locationView(level.location),
      item: () => this.itemView(variant),
      updatedAt: isoTime(level.updated),
      quantities: ({ names }: { readonly names: ReadonlyArray<string> }) =>
        names.map((name) => ({
          id: gid("InventoryQuantity", level.id),
          name,
          quantity: {
            available: level.available,
            committed: level.committed,
            on_hand: level.available + level.committed
          }[name] ?? 0,
          updatedAt: isoTime(level.updated)
        }))
    })
    return {
      __typename: "InventoryItem",
      id: gid("InventoryItem", item),
      sku,
      tracked,
      requiresShipping: true,
      unitCost: variant.unitCost === null ? null : moneyBag(variant.unitCost, this.site.currency).shopMoney,
      measurement: { id: gid("InventoryItemMeasurement", item), weight: variant.weight },
      variant: () => this.variantView(variant),
      variants: connection(() => [variant], (one) => this.variantView(one)),
      inventoryLevels: connection(() => levels, levelView),
      inventoryLevel: ({ locationId }: { readonly locationId: string }) => {
        const level = levels.find(({ location }) => gid("Location", location.id) === locationId)
        return level === undefined ? null : levelView(level)
      }
    }
  }

  locationView({ id, name }: ShopifyLocation): object {
    return { __typename: "Location", id: gid("Location", id), name, isActive: true, fulfillsOnlineOrders: true }
  }

  private showOptions(product: ShopifyProduct): void {
    const valuesOf = (at: number) => [...new Set(product.variants.map(({ options }) => options[at] ?? ""))]
    product.options = product.options.map(({ name }, at) => ({ name, values: valuesOf(at) }))
    this.touch(product)
  }

  private variant(product: ShopifyProduct, sent: NewVariant): ShopifyVariant {
    const { options = ["Default Title"], oversells = false, price, sku = "", stock } = sent
    const now = this.site.now()
    return {
      id: this.site.nextId(),
      item: this.site.nextId(),
      product,
      options,
      levels: this.locations.map((location, index) => ({
        id: this.site.nextId(),
        location,
        available: index === 0 ? stock ?? 0 : 0,
        committed: 0,
        updated: now
      })),
      sku,
      barcode: sent.barcode ?? null,
      price,
      compareAt: sent.compareAt ?? null,
      unitCost: sent.unitCost ?? null,
      weight: sent.weight ?? null,
      image: sent.image === undefined ? null : this.image(sent.image),
      tracked: stock !== undefined,
      oversells,
      updated: now
    }
  }

  private image(sent: string | { readonly url: string; readonly alt: string }): ShopifyImage {
    return { id: this.site.nextId(), alt: null, ...typeof sent === "string" ? { url: sent } : sent }
  }

  private touch(product: ShopifyProduct): void {
    product.updated = this.site.now()
    this.site.tell("products/update", this.payload(product))
  }

  private payload({ fields, id, updated, variants }: ShopifyProduct): object {
    return {
      id,
      admin_graphql_api_id: gid("Product", id),
      title: fields.title,
      handle: fields.handle,
      status: fields.status.toLowerCase(),
      updated_at: isoTime(updated),
      variants: variants.map((one) => ({
        id: one.id,
        admin_graphql_api_id: gid("ProductVariant", one.id),
        sku: one.sku,
        price: priceText(one.price),
        inventory_item_id: one.item,
        inventory_quantity: stockOf(one)
      }))
    }
  }
}
