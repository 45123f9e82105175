import type { Effect } from "effect"
import { type CoreServices, type CurrencyCode, exponentOf } from "stoa/plugin"
import { offeredUnits, ruledPrice } from "./StoreRules.ts"
import type { FeedFile, Store } from "./StoreTables.ts"

/** What a feed says of one thing that is sold, in the order of its columns; empty where it is not known. */
export type FeedItem = Readonly<Record<string, string>>

/** A product as the core lists it. */
export type Product = Effect.Success<ReturnType<CoreServices["catalog"]["list"]>>["items"][number]

/** What is sold of a product, with its price. */
export interface PricedUnit {
  readonly product: Product
  /** Null: the product has no variants. */
  readonly variantId: string | null
  readonly unitPrice: number
}

const price = (amount: number, currency: CurrencyCode): string => {
  const digits = exponentOf(currency)
  return `${(amount / 10 ** digits).toFixed(digits)} ${currency}`
}

/** The price before it was reduced; undefined where it is not. */
const reducedFrom = ({ product, unitPrice, variantId }: PricedUnit, currency: string): number | undefined => {
  const listed = (product.pricing ?? []).filter((one) =>
    one.currency === currency && one.customerGroupId === null && one.amount === unitPrice
  )
  const own = listed.find((one) => one.variantId === variantId) ?? listed.find((one) => one.variantId === null)
  const before = own?.compareAtAmount ?? 0
  return before > unitPrice ? before : undefined
}

/** Units of a warehouse, or of all; null where they are not counted. */
const availableUnits = ({ product, variantId }: PricedUnit, warehouseId: string | null): number | null => {
  const variant = product.variants?.find(({ id }) => id === variantId)
  if ((variant?.allowBackorder ?? product.allowBackorder) || !(variant?.manageInventory ?? product.manageInventory)) {
    return null
  }
  return (product.inventory ?? [])
    .filter((one) => one.variantId === variantId && (warehouseId === null || one.warehouseId === warehouseId))
    .reduce((sum, { available }) => sum + available, 0)
}

const imageOf = ({ product, variantId }: PricedUnit): string => {
  const pictures = (product.media ?? []).filter(({ contentType }) => contentType.startsWith("image/"))
    .toSorted((one, other) => one.sortOrder - other.sortOrder)
  return (pictures.find((one) => one.variantId === variantId) ?? pictures.find((one) => one.variantId === null))?.url ??
    ""
}

const isGtin = (code: string): boolean => /^(\d{8}|\d{12,14})$/.test(code)

/** One row of a feed, by the names of Google; Meta has others for two of them. */
export const feedItem = (unit: PricedUnit, store: Store, file: FeedFile, publicUrl: string): FeedItem => {
  const { product, unitPrice, variantId } = unit
  const { country, currency, form } = file
  const variant = product.variants?.find(({ id }) => id === variantId)
  const [texts] = product.attributes ?? []
  const amount = ruledPrice(store.priceRule, unitPrice)
  const before = reducedFrom(unit, currency)
  const units = offeredUnits(store, availableUnits(unit, store.warehouseId))
  const isThere = units === null || units > 0
  const path = (store.listing?.productPath ?? "/products/{slug}").replace("{slug}", encodeURIComponent(product.slug))
  const link = new URL(path, store.storeDomain)
  for (const [name, value] of Object.entries({ variant: variantId, country, currency })) {
    if (value !== null) link.searchParams.set(name, value)
  }
  const image = imageOf(unit)
  const code = variant?.barcode ?? ""
  const common = {
    id: variantId ?? product.id,
    item_group_id: variantId === null ? "" : product.id,
    title: texts?.title ?? product.slug,
    description: texts?.description ?? texts?.title ?? product.slug,
    link: link.href,
    image_link: image === "" ? "" : new URL(image, publicUrl).href,
    availability: form === "meta" ? (isThere ? "in stock" : "out of stock") : isThere ? "in_stock" : "out_of_stock",
    condition: "new",
    price: price(before === undefined ? amount : ruledPrice(store.priceRule, before), currency),
    sale_price: before === undefined ? "" : price(amount, currency),
    brand: product.brands?.[0]?.displayName ?? "",
    gtin: isGtin(code) ? code : "",
    mpn: variant?.sku ?? ""
  }
  return form === "meta"
    ? { ...common, quantity_to_sell_on_facebook: units === null ? "" : String(units) }
    : { ...common, identifier_exists: common.gtin === "" && common.mpn === "" ? "no" : "yes" }
}

/** A format of files: what stands before the items, how one is written, and what follows. */
interface FeedFormat {
  readonly contentType: string
  readonly head: (columns: ReadonlyArray<string>) => string
  readonly item: (item: FeedItem) => string
  readonly tail: string
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }
/** Text of XML, without signs that it cannot have. */
const xml = (text: string): string =>
  text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "").replace(
    /[&<>]/g,
    (sign) => escapes[sign] ?? ""
  )
const cell = (text: string): string => `"${text.replaceAll("\"", "\"\"")}"`
const known = (item: FeedItem) => Object.entries(item).filter(([, value]) => value !== "")

export const feedFormats: Readonly<Record<string, FeedFormat>> = {
  jsonl: {
    contentType: "application/jsonl; charset=utf-8",
    head: () => "",
    item: (item) => `${JSON.stringify(Object.fromEntries(known(item)))}\n`,
    tail: ""
  },
  csv: {
    contentType: "text/csv; charset=utf-8",
    head: (columns) => `${columns.join(",")}\n`,
    item: (item) => `${Object.values(item).map(cell).join(",")}\n`,
    tail: ""
  },
  xml: {
    contentType: "application/rss+xml; charset=utf-8",
    head: () =>
      `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n`,
    item: (item) =>
      `<item>${known(item).map(([name, value]) => `<g:${name}>${xml(value)}</g:${name}>`).join("")}</item>\n`,
    tail: "</channel></rss>\n"
  }
}

const shared =
  "id item_group_id title description link image_link availability condition price sale_price brand gtin mpn"

/** Columns of a form, in the order of its items. */
export const feedColumns: Readonly<Record<FeedFile["form"], ReadonlyArray<string>>> = {
  google: [...shared.split(" "), "identifier_exists"],
  meta: [...shared.split(" "), "quantity_to_sell_on_facebook"]
}
