import { pageOf, type PageRequest, type SentPage } from "../paging/Paging.ts"

/** The page of a list that is whole unless a page was asked for: categories and brands (contract §0.1). */
export const pageOrAll = (
  query: SentPage
): PageRequest | undefined => (query.page === undefined && query.limit === undefined ? undefined : pageOf(query))
