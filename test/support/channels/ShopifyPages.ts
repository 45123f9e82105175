import { GraphQLError } from "graphql"
import type { ShopifyVersion } from "./ShopifySchema.ts"

/** Services of the emulated Shopify that its parts share. */
export interface ShopifySite {
  readonly url: string
  readonly domain: string
  readonly now: () => number
  readonly nextId: () => number
  readonly currency: string
  readonly taxesIncluded: boolean
  readonly tell: (topic: string, payload: object) => void
}

/** How a query is executed. A bulk operation gets whole connections. */
export interface ShopifyContext {
  readonly bulk: boolean
  readonly version: ShopifyVersion
}

/** Arguments of a connection. */
export interface PageArgs {
  readonly first?: number | null
  readonly after?: string | null
}

export const gid = (type: string, id: number): string => `gid://shopify/${type}/${id}`

/** The number in a global id of this type, or undefined. */
export const idIn = (type: string, id: string): number | undefined =>
  id.startsWith(`gid://shopify/${type}/`) ? Number(id.split("/").at(-1)) : undefined

export const isoTime = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z")

/** Decimals of `MoneyV2` have no trailing zeros but one, unlike prices of variants. */
export const moneyBag = (minor: number, currencyCode: string) => {
  const money = { amount: (minor / 100).toFixed(2).replace(/0$/, ""), currencyCode }
  return { shopMoney: money, presentmentMoney: money }
}

export const priceText = (minor: number): string => (minor / 100).toFixed(2)
export const minorOf = (amount: string | number): number => Math.round(Number(amount) * 100)

const badRequest = (message: string) => new GraphQLError(message, { extensions: { code: "BAD_USER_INPUT" } })

/** A connection over records that are sorted already. */
export const connection =
  <Row extends { readonly id: number }>(rows: () => ReadonlyArray<Row>, view: (row: Row) => object) =>
  ({ after, first }: PageArgs, { bulk }: ShopifyContext) => {
    const all = rows()
    if (!bulk && typeof first !== "number") throw badRequest("you must provide one of first or last")
    const size = bulk ? all.length : first ?? 0
    if (!bulk && (size < 1 || size > 250)) throw badRequest("first must be between 1 and 250")
    const last = after === undefined || after === null ? undefined : Number(Buffer.from(after, "base64").toString())
    // A record that is gone since leaves its place to the next one.
    const at = last === undefined
      ? 0
      : all.findIndex(({ id }) => id === last) + 1 || all.findIndex(({ id }) => id > last)
    const page = at < 0 ? [] : all.slice(at, at + size)
    const edges = page.map((row) => ({ cursor: Buffer.from(String(row.id)).toString("base64"), node: view(row) }))
    return {
      edges,
      nodes: edges.map(({ node }) => node),
      pageInfo: {
        hasNextPage: at >= 0 && at + size < all.length,
        hasPreviousPage: at !== 0,
        startCursor: edges[0]?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null
      }
    }
  }

/**
 * Whether a record fits a search such as `tag:'a b' updated_at:>=2026-01-01`. A term with an unknown name is ignored, as
 * Shopify does, so that a misspelt search finds everything.
 */
export const matches = (
  search: string,
  valuesOf: Readonly<Record<string, () => ReadonlyArray<string | number>>>
): boolean =>
  [...search.matchAll(/(\w+):(>=|<=|>|<)?(?:'([^']*)'|"([^"]*)"|(\S+))/g)].every(([, name = "", sign, ...texts]) => {
    const values = valuesOf[name]?.()
    const text = texts.find((one) => one !== undefined) ?? ""
    if (values === undefined) return true
    return values.some((value) => {
      if (typeof value === "string") return value.toLowerCase() === text.toLowerCase()
      const bound = /^\d+$/.test(text) ? Number(text) : Date.parse(text)
      if (sign === undefined) return value === bound
      return sign === ">"
        ? value > bound
        : sign === "<"
        ? value < bound
        : sign === ">="
        ? value >= bound
        : value <= bound
    })
  })
