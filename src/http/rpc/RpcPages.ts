import { Context, Effect, Option, Stream } from "effect"
import type { PageOf, PageRequest } from "../../domain/paging/Paging.ts"

/**
 * What a stream waits for before it reads its next page: it counts as a request of its caller, and where that is one too
 * many the stream pauses until the next window instead of failing.
 */
export const PagePace = Context.Reference<Effect.Effect<void>>("stoa/http/rpc/PagePace", {
  defaultValue: () => Effect.void
})

/** Records of a page of a stream; read while the caller takes the ones before. */
const pageSize = 100

/**
 * All records of a list, page by page, as fast as the caller takes them. A record that is added meanwhile moves the
 * others down: those of the page before are not given again.
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
