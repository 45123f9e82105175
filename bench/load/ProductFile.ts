import { memoryOf } from "../measure/ProcessUse.ts"

/** Credentials of the store's own key. */
export const key = { "x-api-key": "dev-admin-key" }

/** Products of a batch. */
export const batch = 500

/** What is written of a product. */
export interface Product {
  readonly slug: string
  readonly title: string
  readonly description: string
  readonly category: string
  readonly sku: string
}

/** The product of a number. */
export const productOf = (n: number): Product => ({
  slug: `product-${String(n).padStart(7, "0")}`,
  title: `Product ${n} of word${n % 997} and word${n % 89}`,
  description: `Description ${n} `.repeat(12).trim(),
  category: `category-${n % 50}`,
  sku: `SKU-${n}`
})

/** As an export writes it, so that what comes out can be compared with what went in, byte for byte. */
const lineOf = ({ category, description, sku, slug, title }: Product): string => {
  const nothing = { subtitle: null, description, richDescription: null, seoTitle: null, seoDescription: null }
  return `${
    JSON.stringify({
      slug,
      type: "product",
      status: "active",
      isVisible: true,
      taxClass: null,
      metadata: {},
      customFields: {},
      attributes: [{ locale: "en", title, ...nothing }],
      categories: [category],
      brands: [],
      options: [],
      variants: [{ sku, barcode: null, taxClass: null, status: "active", metadata: {}, options: {} }],
      media: []
    })
  }\n`
}

async function* wholeLines(products: number, first: number) {
  for (let from = first; from < first + products; from += batch) {
    const count = Math.min(batch, first + products - from)
    yield Buffer.from(Array.from({ length: count }, (_, n) => lineOf(productOf(from + n))).join(""))
  }
}

/** A file of an import, and its form. */
export interface ImportFile {
  readonly format: "jsonl" | "shopify"
  readonly body: AsyncIterable<Uint8Array>
}

/** A file of so many products from a number on, made while it is sent. */
export const fileOf = (products: number, first = 0): ImportFile => ({
  format: "jsonl",
  body: wholeLines(products, first)
})

/** Products of two variants each in the form of Shopify, whose second lines all come after the first lines of the last product. */
async function* scatteredLines(products: number, first: number) {
  yield Buffer.from("Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n")
  for (const [size, title, price] of [["S", true, "9.90"], ["L", false, "10.90"]] as const) {
    for (let from = first; from < first + products; from += batch) {
      const lines = Array.from({ length: Math.min(batch, first + products - from) }, (_, n) => {
        const product = productOf(from + n)
        const names = title ? `${product.title},Size` : ","
        return `${product.slug},${names},${size},${product.sku}-${size},${price}\n`
      })
      yield Buffer.from(lines.join(""))
    }
  }
}

export const scatteredFileOf = (products: number, first = 0): ImportFile => ({
  format: "shopify",
  body: scatteredLines(products, first)
})

/** Since then. */
export const seconds = (began: number): number => (performance.now() - began) / 1000

interface Import {
  readonly id: string
  readonly state: string
  readonly created: number
  readonly unchanged: number
  readonly refused: number
}

const answered = async (response: Response): Promise<Import> => {
  const body = await response.json() as { readonly data: Import }
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`)
  return body.data
}

/** Sends a file and waits for the end; samples the memory of the service meanwhile. */
export const importInto = async (origin: string, pid: number, { body, format }: ImportFile) => {
  const before = (await memoryOf(pid)).now
  let [peak, began] = [before, performance.now()]
  const looking = setInterval(() => {
    void memoryOf(pid).then(({ now }) => {
      peak = Math.max(peak, now)
    })
  }, 100)
  const init = {
    method: "POST",
    headers: { ...key, "content-type": format === "jsonl" ? "application/x-ndjson" : "text/csv" },
    body,
    duplex: "half" as const
  }
  let found = await answered(await fetch(`${origin}/api/imports?format=${format}`, init))
  const received = seconds(began)
  began = performance.now()
  while (found.state !== "completed" && found.state !== "failed") {
    await new Promise((resolve) => setTimeout(resolve, 250))
    found = await answered(await fetch(`${origin}/api/imports/${found.id}`, { headers: key }))
  }
  clearInterval(looking)
  return { found, received, worked: seconds(began), before, peak }
}
