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

/** A file of so many products from a number on, made while it is sent. */
export async function* fileOf(products: number, first = 0) {
  for (let from = first; from < first + products; from += batch) {
    const count = Math.min(batch, first + products - from)
    yield Buffer.from(Array.from({ length: count }, (_, n) => lineOf(productOf(from + n))).join(""))
  }
}

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
export const importInto = async (origin: string, pid: number, body: AsyncIterable<Uint8Array>) => {
  const before = (await memoryOf(pid)).now
  let [peak, began] = [before, performance.now()]
  const looking = setInterval(() => {
    void memoryOf(pid).then(({ now }) => {
      peak = Math.max(peak, now)
    })
  }, 100)
  const init = {
    method: "POST",
    headers: { ...key, "content-type": "application/x-ndjson" },
    body,
    duplex: "half" as const
  }
  let found = await answered(await fetch(`${origin}/api/imports?format=jsonl`, init))
  const received = seconds(began)
  began = performance.now()
  while (found.state !== "completed" && found.state !== "failed") {
    await new Promise((resolve) => setTimeout(resolve, 250))
    found = await answered(await fetch(`${origin}/api/imports/${found.id}`, { headers: key }))
  }
  clearInterval(looking)
  return { found, received, worked: seconds(began), before, peak }
}
