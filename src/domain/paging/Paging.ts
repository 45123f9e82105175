import { Schema } from "effect"

/** A page of a list: 1-based number and size (spec §8: default 20, at most 100). */
export interface PageRequest {
  readonly page: number
  readonly limit: number
}

/** One page of records and how many there are in all. */
export interface PageOf<A> {
  readonly items: ReadonlyArray<A>
  readonly page: number
  readonly limit: number
  readonly total: number
}

/** A query parameter: absent, once, or several times, of which the first one counts; the number of an RPC payload. */
type Sent = string | number | ReadonlyArray<string> | undefined

/** The paging parameters of a request. */
export interface SentPage {
  readonly page?: Sent
  readonly limit?: Sent
}

const whole = (sent: Sent): number => {
  const value = Number(typeof sent === "object" ? sent[0] : sent)
  return Number.isFinite(value) ? Math.floor(value) : 0
}

/** `page` as sent: below 1 or unreadable counts as 1, never an error (contract §0.1). */
export const pageNumber = (sent: Sent): number => Math.min(Math.max(1, whole(sent)), 1_000_000)

/** `limit` as sent: below 1 or unreadable counts as 20, above 100 as 100, never an error (contract §0.1). */
export const pageSize = (sent: Sent, usual = 20): number => (whole(sent) < 1 ? usual : Math.min(whole(sent), 100))

/** The query of a list route; `usual` is the page size when the query names none. */
export const pageOf = (query: SentPage, usual = 20): PageRequest => ({
  page: pageNumber(query.page),
  limit: pageSize(query.limit, usual)
})

/** The page of a list that is complete unless the query requests a page: categories and brands (contract §0.1). */
export const pageOrAll = (query: SentPage): PageRequest | undefined =>
  query.page === undefined && query.limit === undefined ? undefined : pageOf(query)

/** Rows to skip for a page. */
export const offsetOf = (request: PageRequest): number => (request.page - 1) * request.limit

const textOrTexts = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/** Query parameters of every list route. They accept any text, because a wrong value falls back instead of failing. */
export const pageQuery = {
  page: Schema.optional(textOrTexts.annotate({ description: "Page number, from 1. Default 1." })),
  limit: Schema.optional(textOrTexts.annotate({ description: "Rows per page, 1 to 100. Default 20." }))
}

/** `meta.pagination` (spec §8); `totalPages` is at least 1. */
export const Pagination = Schema.Struct({
  page: Schema.Int,
  limit: Schema.Int,
  total: Schema.Int,
  totalPages: Schema.Int
})

/** The pagination object of a page. */
export const paginationOf = (page: Omit<PageOf<unknown>, "items">): typeof Pagination.Type => ({
  page: page.page,
  limit: page.limit,
  total: page.total,
  totalPages: Math.max(1, Math.ceil(page.total / page.limit))
})

/** All rows as one page, for lists that are complete unless the query requests a page. */
export const wholeList = <A>(items: ReadonlyArray<A>): PageOf<A> => ({
  items,
  page: 1,
  limit: Math.max(1, items.length),
  total: items.length
})
