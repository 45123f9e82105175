import { Context, Effect, Option, Stream } from "effect"
import type { PageOf, PageRequest } from "../../domain/paging/Paging.ts"

/** What a stream waits for before its next page: each page counts as a request, and the stream waits for the limit. */
export const PagePace = Context.Reference<Effect.Effect<void>>("stoa/http/rpc/PagePace", {
  defaultValue: () => Effect.void
})

const pageSize = 100

/** The page that a call asks for. */
export const askedPage = ({ limit = 20, page = 1 }: {
  readonly page?: number | undefined
  readonly limit?: number | undefined
}) => ({ page, limit })

/**
 * All records of a list, page by page, as fast as the caller takes them. A record that is added meanwhile moves the
 * others down, so records of the previous page are not sent again.
 */
export const allPages = <A extends { readonly id: string }, E, R>(
  read: (page: PageRequest) => Effect.Effect<PageOf<A>, E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginate(
    { page: 1, given: new Set<string>() },
    Effect.fnUntraced(function*({ given, page }) {
      if (page > 1) yield* yield* PagePace
      const { items } = yield* read({ page, limit: pageSize })
      const next = { page: page + 1, given: new Set(items.map(({ id }) => id)) }
      return [
        items.filter(({ id }) => !given.has(id)),
        items.length < pageSize ? Option.none() : Option.some(next)
      ] as const
    })
  )
