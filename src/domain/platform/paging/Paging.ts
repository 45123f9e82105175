import { Schema } from "effect"
import { typedAs } from "../hints/Hints.ts"
import { isUuid } from "../ids/Id.ts"
import { unsaid } from "../text/Storable.ts"

/** A row's time, to the microsecond, and its id, in a list of the newest first. */
export interface Cursor {
  readonly at: string
  readonly id: string
}

/** 1-based number and size (spec §8: default 20, at most 100). */
export interface PageRequest {
  readonly page: number
  readonly limit: number
  readonly cursor?: Cursor | undefined
}

export interface PageOf<A> {
  readonly items: ReadonlyArray<A>
  readonly page: number
  readonly limit: number
  readonly total: number
  /** Set where the list has cursors and the page is full. */
  readonly nextCursor?: string | undefined
}

type Sent = string | number | ReadonlyArray<string> | undefined

export interface SentPage {
  readonly page?: Sent
  readonly limit?: Sent
  readonly cursor?: string | undefined
}

const whole = (sent: Sent): number => {
  const value = Number(typeof sent === "object" ? sent[0] : sent)
  return Number.isFinite(value) ? Math.floor(value) : 0
}

/** Below 1 or unreadable counts as 1, never an error (contract §0.1). */
export const pageNumber = (sent: Sent): number => Math.min(Math.max(1, whole(sent)), 1_000_000)

/** Below 1 or unreadable counts as 20, above 100 as 100, never an error (contract §0.1). */
export const pageSize = (sent: Sent, usual = 20): number => (whole(sent) < 1 ? usual : Math.min(whole(sent), 100))

const cursorOf = (text: string | undefined): Cursor | undefined => {
  const [at = "", id = ""] = (text ?? "").split("_")
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) || !isUuid(id)) return undefined
  const time = new Date(at)
  return Number.isNaN(time.getTime()) || time.toISOString().slice(0, 19) !== at.slice(0, 19) ? undefined : { at, id }
}

export const pageOf = (query: SentPage, usual = 20) => ({
  page: pageNumber(query.page),
  limit: pageSize(query.limit, usual),
  cursor: cursorOf(query.cursor)
} satisfies PageRequest)

/** Undefined for the complete list, the default of categories and brands (contract §0.1). */
export const pageOrAll = (query: SentPage): PageRequest | undefined =>
  query.page === undefined && query.limit === undefined && query.cursor === undefined ? undefined : pageOf(query)

export const offsetOf = ({ cursor, limit, page }: PageRequest): number => cursor === undefined ? (page - 1) * limit : 0

/** Any text, and the first of several; clients are asked to send a number. */
const counted = (description: string, bounds: { readonly maximum?: number; readonly default: number }) =>
  Schema.optional(
    Schema.Union([Schema.String, Schema.Array(Schema.String)])
      .annotate({ description, ...typedAs({ type: "integer", minimum: 1, ...bounds }) })
  )

/** How many rows a request asks for. */
export const limitOf = (usual = 20, what = "Rows per page", maximum = 100) =>
  counted(`${what}, 1 to ${maximum}. Default ${usual}.`, { maximum, default: usual })

export const pageQuery = {
  page: counted("Page number, from 1. Default 1.", { default: 1 }),
  limit: limitOf(),
  cursor: Schema.optional(
    Schema.String.check(
      Schema.isMaxLength(100),
      Schema.makeFilter(
        (text) => cursorOf(text) !== undefined || "must be a cursor that meta.pagination.nextCursor gave.",
        unsaid
      )
    ).annotate({
      description: "`meta.pagination.nextCursor` of the page before: the rows after it, as fast at any depth. " +
        "`page` is not used then. Lists in another order have none."
    })
  )
}

export const Pagination = Schema.Struct({
  page: Schema.Int.annotate({ description: "Number of this page, from 1." }),
  limit: Schema.Int.annotate({ description: "Rows per page." }),
  total: Schema.Int.annotate({ description: "Rows of all pages." }),
  totalPages: Schema.Int.annotate({ description: "How many pages there are, at least 1." }),
  nextCursor: Schema.optional(
    Schema.String.annotate({
      description: "For `cursor` of the next request, in lists that show the newest first. Absent on the last page."
    })
  )
}).annotate({ identifier: "Pagination" })

export const paginationOf = (page: Omit<PageOf<unknown>, "items">): typeof Pagination.Type => ({
  page: page.page,
  limit: page.limit,
  total: page.total,
  totalPages: Math.max(1, Math.ceil(page.total / page.limit)),
  ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor })
})

export const wholeList = <A>(items: ReadonlyArray<A>): PageOf<A> => ({
  items,
  page: 1,
  limit: Math.max(1, items.length),
  total: items.length
})
