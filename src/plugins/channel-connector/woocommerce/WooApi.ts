import { Effect, Option, Redacted, Schema, Stream } from "effect"
import type { OutboundError, OutboundRequest } from "stoa/plugin"
import type { StoreAccess } from "../ChannelAdapter.ts"
import { type ChannelError, channelError, ChannelRefused, ChannelUnavailable } from "../ChannelErrors.ts"

/** A key of the REST API that may read and write. */
export const WooCredentials = Schema.Struct({
  consumerKey: Schema.NonEmptyString,
  consumerSecret: Schema.NonEmptyString
})

type Row = { readonly id: number }
type List<A> = readonly [schema: Schema.Codec<A, unknown>, path: string, query?: Readonly<Record<string, string>>]

/** Plugins of WordPress make numbers of texts. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? `${value}` : ""

/** Nonsense is no refusal: an order may have been taken before the page of a proxy came in place of the answer. */
const errorOf = (error: OutboundError | Schema.SchemaError): ChannelError =>
  Schema.isSchemaError(error)
    ? new ChannelUnavailable({ message: "The store answers in another form." })
    : channelError(error)

/** Calls of the REST API v3. The key is for https: over http WooCommerce takes signed requests alone. */
export const wooApi = ({ credentials, domain, http }: StoreAccess<typeof WooCredentials.Type>) => {
  const { consumerKey, consumerSecret } = Redacted.value(credentials)
  const headers = {
    accept: "application/json",
    authorization: `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString("base64")}`
  }

  /** Undefined when it is not there. */
  const call = <A>(schema: Schema.Codec<A, unknown>, path: string, request: Omit<OutboundRequest, "url"> = {}) =>
    http.request({ ...request, url: `${domain}/wp-json/wc/v3/${path}`, headers }).pipe(
      Effect.flatMap(({ body, headers: { "x-wp-total": total } }) =>
        Effect.map(
          Schema.decodeEffect(Schema.fromJsonString(schema))(body),
          (value) => ({ value, total: Number(total) })
        )
      ),
      Effect.catch((error) =>
        error._tag === "OutboundRejected" && error.status === 404 ? Effect.undefined : Effect.fail(errorOf(error))
      )
    )
  const find = <A>(...[schema, path, request]: Parameters<typeof call<A>>) =>
    Effect.map(call(schema, path, request), (found) => found?.value)
  const send = <A>(...[schema, path, request]: Parameters<typeof call<A>>) =>
    Effect.flatMap(call(schema, path, request), (found) =>
      found === undefined
        ? Effect.fail(new ChannelRefused({ message: "The store answered 404." }))
        : Effect.succeed(found.value))

  /**
   * Rows behind a cursor `<last id>:<offset>`. A page begins with a row of the one before: with any other one, rows were removed
   * in front of it, and those that moved up would be left out. Rows that WordPress cannot show are counted and left out by it.
   */
  const page = Effect.fnUntraced(
    function*<A extends Row>([schema, path, query]: List<A>, cursor: string, limit: number) {
      const [last = 0, behind = 0] = cursor.split(":").map(Number)
      const size = Math.min(limit + 20, 100)
      for (let offset = Math.max(0, behind - 1), isJoined = offset > 0;;) {
        const place = { orderby: "id", order: "asc", per_page: `${size}`, offset: `${offset}` }
        const found = yield* call(Schema.Array(schema), `${path}?${new URLSearchParams({ ...query, ...place })}`)
        const { total, value: all } = found ?? { total: 0, value: [] }
        const fresh = all.filter(({ id }) => id > last)
        const isEnd = Number.isNaN(total) ? all.length < size : offset + size >= total
        if (isJoined && fresh.length === all.length) {
          offset = Math.max(0, offset - size + 1)
          isJoined = offset > 0
        } else if (fresh.length === 0 && !isEnd) {
          offset += size
          isJoined = false
        } else {
          const items = fresh.slice(0, limit)
          const next = `${items.at(-1)?.id ?? last}:${offset + all.length - fresh.length + items.length}`
          return { items, nextCursor: isEnd && items.length === fresh.length ? null : next }
        }
      }
    }
  )

  /** All rows of a list, read a page at a time. */
  const rows = <A extends Row>(...list: List<A>) =>
    Stream.paginate<string, A, ChannelError>(
      "0:0",
      (cursor) =>
        Effect.map(page(list, cursor, 100), ({ items, nextCursor }) => [items, Option.fromNullOr(nextCursor)] as const)
    )

  return { find, send, page, rows }
}
export type WooApi = ReturnType<typeof wooApi>
