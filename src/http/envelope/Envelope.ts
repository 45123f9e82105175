import { Schema, SchemaGetter, Struct } from "effect"
import { type PageOf, Pagination, paginationOf } from "../../domain/platform/paging/Paging.ts"

const answer = { description: "The answer." }

const PageMeta = Schema.Struct({
  pagination: Pagination.pipe(Schema.annotateKey({ description: "Part of the list that this is." }))
}).annotate({ identifier: "PageMeta", description: "Beside the answer." })

/** Wraps a handler's value in `{ data: value }` (spec §1). */
export const Data = <T, E, RD, RE>(schema: Schema.Codec<T, E, RD, RE>) =>
  Schema.Struct({ data: schema.pipe(Schema.annotateKey(answer)) }).pipe(
    Schema.decodeTo(Schema.toType(schema).annotate({ identifier: undefined }), {
      decode: SchemaGetter.transform(({ data }) => data),
      encode: SchemaGetter.transform((data) => ({ data }))
    })
  )

/** Wraps a `PageOf` in `{ data: [...], meta: { pagination } }` (spec §8). */
export const Page = <T, E, RD, RE>(schema: Schema.Codec<T, E, RD, RE>) => {
  const items = Schema.Array(Schema.toType(schema).annotate({ identifier: undefined }))
  return Schema.Struct({ data: Schema.Array(schema).annotate(answer), meta: PageMeta }).pipe(
    Schema.decodeTo(Schema.Struct({ items, ...Struct.omit(Pagination.fields, ["totalPages"]) }), {
      decode: SchemaGetter.transform(({ data, meta: { pagination: { totalPages: _, ...page } } }): PageOf<T> => ({
        items: data,
        ...page
      })),
      encode: SchemaGetter.transform((page: PageOf<T>) => ({
        data: [...page.items],
        meta: { pagination: paginationOf(page) }
      }))
    })
  )
}

/** An empty body is read as null. */
export const OptionalBody = <S extends Schema.Top>(schema: S) => [schema, Schema.Null] as const

/** 200, never 204 (contract, platform §1.1). */
export const Deleted = Data(Schema.Struct({ deleted: Schema.Literal(true) }))

export const deleted = { deleted: true } as const
